"""GitHub's REST API through httpx."""

from __future__ import annotations

import os
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import urlsplit

import httpx

from ops.doctor.world.source import Unanswered

_PAGES: Final = 10
"""The largest number of pages that are read."""
_LOG: Final = 500_000
"""The largest number of characters of a log; its end has the reason of a failure."""
_TOKEN: Final = "set GITHUB_TOKEN, for example to the output of `gh auth token`"  # noqa: S105 - not a token


def token() -> str:
    """Return the token of the environment; empty without one."""
    return os.environ.get("GITHUB_TOKEN") or os.environ.get("GH_TOKEN") or ""


def api_of(url: str) -> str:
    """Return the address of the API for the URL of an organisation or a repository."""
    host = urlsplit(url).netloc
    return "https://api.github.com" if host == "github.com" else f"https://{host}/api/v3"


class LiveGitHub:
    """The API, with or without a token."""

    def __init__(self, api: str, token: str) -> None:
        headers = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        self._token = bool(token)
        self._client = httpx.Client(base_url=api, headers=headers, timeout=20, follow_redirects=True)

    def ask(self, call: str, /, **arguments: Any) -> Any:
        """Return the answer to GET of a path, with all pages."""
        try:
            answer = self._client.get(call, params={"per_page": "100", **arguments})
            found = self._content(call, answer)
            for _page in range(_PAGES):
                following = answer.links.get("next", {}).get("url")
                if following is None:
                    break
                answer = self._client.get(following)
                found = _joined(found, self._content(call, answer))
        except httpx.HTTPError as fault:
            raise Unanswered(f"GitHub cannot be reached ({fault})", "check the network, and run it again") from None
        return found

    def _content(self, call: str, answer: httpx.Response) -> Any:
        if answer.status_code == 404:
            return None
        if answer.is_success:
            is_json = "json" in answer.headers.get("content-type", "")
            return answer.json() if is_json else answer.text[-_LOG:]
        message = answer.json().get("message", "") if "json" in answer.headers.get("content-type", "") else ""
        reason = f"GitHub answered {call} with {answer.status_code} ({message or answer.reason_phrase})"
        if answer.headers.get("x-ratelimit-remaining") == "0" or answer.status_code == HTTPStatus.TOO_MANY_REQUESTS:
            raise Unanswered(reason, "wait an hour, or use a token")
        needed = answer.headers.get("x-accepted-github-permissions", "")
        if needed and self._token:
            raise Unanswered(reason, f"give the token the permission {needed.replace('=', ': ')}")
        if answer.status_code in {401, 403}:
            fix = "give the token the permission to read it, or use another one" if self._token else _TOKEN
            raise Unanswered(reason, fix)
        raise Unanswered(reason, "run it again")


def _joined(first: Any, more: Any) -> Any:
    """Return two pages as one: lists are joined, also those in an object."""
    if isinstance(first, list) and isinstance(more, list):
        return [*first, *more]
    if isinstance(first, dict) and isinstance(more, dict):
        return {key: [*value, *more.get(key, [])] if isinstance(value, list) else value for key, value in first.items()}
    return first
