"""Google Cloud's REST APIs with the application default credentials."""

from __future__ import annotations

from typing import Any, Final

import google.auth
import httpx
from google.auth.exceptions import GoogleAuthError
from google.auth.transport.requests import Request

from ops.doctor.world.source import Unanswered

_SCOPE: Final = "https://www.googleapis.com/auth/cloud-platform.read-only"
_PAGES: Final = 10
_SIGN_IN: Final = "run `gcloud auth application-default login`"


class LiveGoogleCloud:
    """The project of the URL, with the credentials that google-auth finds."""

    def __init__(self, token: str = "", transport: httpx.BaseTransport | None = None) -> None:
        self._token = token
        self._client = httpx.Client(timeout=20, transport=transport)

    def ask(self, call: str, /, **arguments: Any) -> Any:
        """Return the answer to GET of a URL, with at most ten pages; with `body`, the answer to a POST."""
        found = self._get(call, arguments)
        following = found
        for _page in range(_PAGES):
            if not isinstance(following, dict) or "nextPageToken" not in following:
                break
            following = self._get(call, {**arguments, "pageToken": following["nextPageToken"]})
            for key, value in (following or {}).items():
                if isinstance(value, list):
                    found[key] = [*found.get(key, []), *value]
        return found

    def _get(self, call: str, arguments: dict[str, Any]) -> Any:
        try:
            headers = {"Authorization": f"Bearer {self._signed_in()}"}
            body = arguments.get("body")
            if body is not None:
                answer = self._client.post(call, json=body, headers=headers)
            else:
                answer = self._client.get(call, params=arguments, headers=headers)
        except GoogleAuthError as fault:
            raise Unanswered(f"there are no credentials of Google Cloud ({fault})", _SIGN_IN) from None
        except httpx.HTTPError as fault:
            raise Unanswered(
                f"Google Cloud cannot be reached ({fault})", "check the network, and run it again"
            ) from None
        if answer.status_code == 404:
            return None
        if answer.is_success:
            return answer.json()
        reason = f"Google Cloud answered {call} with {answer.status_code} ({_message(answer)})"
        fix = _SIGN_IN if answer.status_code == 401 else "grant the permission that the message names, and run it again"
        raise Unanswered(reason, fix)

    def _signed_in(self) -> str:
        if not self._token:
            credentials, _project = google.auth.default(scopes=[_SCOPE])
            credentials.refresh(Request())  # type: ignore[no-untyped-call]
            self._token = str(credentials.token)
        return self._token


def _message(answer: httpx.Response) -> str:
    try:
        return str(answer.json()["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return answer.reason_phrase
