"""GitHub's REST API for jobs of pipelines. It needs only the standard library, because these jobs install nothing.

A call is repeated after a rate limit, an error of the server or a lost connection. A POST is not repeated if the server
may have executed it; the caller looks first.
"""

from __future__ import annotations

import http.client
import json
import os
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import TYPE_CHECKING, Any, Final, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from email.message import Message

ATTEMPTS: Final = 5
LONGEST_WAIT: Final = 120.0
"""Seconds. A job does not wait longer for the end of a rate limit."""
ANSWER_LIMIT: Final = 20_000_000
"""Bytes of an answer."""
PAGE: Final = 100
"""Entries of a page, the largest number that GitHub allows."""
_TIMEOUT: Final = 30.0
_TRANSIENT: Final = frozenset({500, 502, 503, 504})


class RefusedError(Exception):
    """GitHub refused a call."""

    def __init__(self, status: int, message: str) -> None:
        self.status = status
        super().__init__(f"GitHub answers {status}: {message}")


class UnansweredError(Exception):
    """GitHub did not answer. A POST may have been executed."""


class TooLargeError(Exception):
    """An answer is larger than the caller accepts."""


class GitHub:
    """The API of one repository."""

    def __init__(
        self,
        repository: str,
        token: str,
        api: str = "https://api.github.com",
        *,
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        self._root = f"{api.rstrip('/')}/repos/{repository}/"
        self._token = token
        self._wait = wait

    @classmethod
    def of_job(cls) -> Self:
        """Return the API of the repository whose job runs this process."""
        environment = os.environ
        return cls(
            environment["GITHUB_REPOSITORY"],
            environment["GITHUB_TOKEN"],
            environment.get("GITHUB_API_URL", "https://api.github.com"),
        )

    def get(self, path: str) -> Any:
        """Return the answer to a GET."""
        return json.loads(self._send("GET", path))

    def listed(self, path: str, key: str | None = None) -> Iterator[dict[str, Any]]:
        """Yield the entries of all pages of a list; `key` is their key if the answer is an object."""
        page = 1
        while True:
            query = urllib.parse.urlencode({"per_page": PAGE, "page": page})
            answer = self.get(f"{path}{'&' if '?' in path else '?'}{query}")
            entries: list[dict[str, Any]] = answer[key] if key is not None else answer
            yield from entries
            if len(entries) < PAGE:
                return
            page += 1

    def post(self, path: str, body: dict[str, Any]) -> Any:
        """Create something.

        Raises:
            UnansweredError: it may exist or not.

        """
        return json.loads(self._send("POST", path, body))

    def patch(self, path: str, body: dict[str, Any]) -> Any:
        """Change something."""
        return json.loads(self._send("PATCH", path, body))

    def delete(self, path: str) -> None:
        """Delete something."""
        self._send("DELETE", path)

    def download(self, path: str, limit: int) -> bytes:
        """Return a file of at most `limit` bytes.

        Raises:
            TooLargeError: it has more.

        """
        return self._send("GET", path, limit=limit)

    def _send(self, method: str, path: str, body: dict[str, Any] | None = None, *, limit: int = ANSWER_LIMIT) -> bytes:
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return self._once(method, path, body, limit)
            except urllib.error.HTTPError as error:
                if method == "POST" and error.code in _TRANSIENT:
                    raise UnansweredError(f"GitHub answers {error.code}") from None
                seconds = _seconds(error, attempt)
                if seconds is None or attempt == ATTEMPTS or seconds > LONGEST_WAIT:
                    raise RefusedError(error.code, _message(error)) from None
            except (OSError, http.client.HTTPException) as error:
                if method == "POST" or attempt == ATTEMPTS:
                    raise UnansweredError(f"GitHub does not answer: {error}") from None
                seconds = 2.0**attempt
            self._wait(seconds)
        raise AssertionError("the last attempt returns or raises")

    def _once(self, method: str, path: str, body: dict[str, Any] | None, limit: int) -> bytes:
        request = urllib.request.Request(  # noqa: S310  # the address is GitHub's
            self._root + path,
            data=json.dumps(body).encode() if body is not None else None,
            method=method,
            headers={
                "Accept": "application/vnd.github+json",
                "Content-Type": "application/json",
                "X-GitHub-Api-Version": "2022-11-28",
            },
        )
        # A download is redirected to a storage that must not get the token.
        request.add_unredirected_header("Authorization", f"Bearer {self._token}")
        with urllib.request.urlopen(request, timeout=_TIMEOUT) as answer:  # noqa: S310  # the address is GitHub's
            content: bytes = answer.read(limit + 1)
        if len(content) > limit:
            raise TooLargeError(f"the answer has more than {limit} bytes")
        return content


def _seconds(error: urllib.error.HTTPError, attempt: int) -> float | None:
    """Return the seconds after which a call can be repeated; None if GitHub refuses it for good.

    GitHub answers 403 or 429 to a call over its limits (GitHub Docs, "Rate limits for the REST API", 2026).
    """
    if error.code in _TRANSIENT:
        return 2.0**attempt
    headers: Message = error.headers
    if error.code not in {403, 429}:
        return None
    if (after := headers.get("Retry-After", "")).isdigit():
        return float(after)
    if headers.get("X-RateLimit-Remaining") == "0" and (reset := headers.get("X-RateLimit-Reset", "")).isdigit():
        return max(1.0, float(reset) - time.time())
    return 2.0**attempt if error.code == 429 else None


def _message(error: urllib.error.HTTPError) -> str:
    """Return the reason in an answer, on one line."""
    try:
        said = json.loads(error.read(10_000))["message"]
    except (OSError, ValueError, KeyError, TypeError):
        said = error.reason
    return " ".join(str(said).split())
