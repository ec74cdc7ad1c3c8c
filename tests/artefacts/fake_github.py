"""GitHub's REST API on localhost: pull requests, issues and comments in pages, artifacts behind a redirect, and its failures."""

from __future__ import annotations

import json
import re
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Final, Self
from urllib.parse import parse_qs, urlsplit

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

REPOSITORY: Final = "acme/gpu-infra"
TOKEN: Final = "ghs_of_the_job"
BOT: Final = {"login": "github-actions[bot]", "type": "Bot"}
BODY_LIMIT: Final = 65_536


@dataclass
class Fault:
    """An answer instead of the real one, once."""

    call: str
    """The start of the method and path, as in `PATCH issues/comments`."""
    status: int
    headers: dict[str, str] = field(default_factory=dict)
    executed: bool = False
    """The call is executed, but its answer is lost."""


class FakeGitHub:
    """The API of one repository, as a context manager."""

    def __init__(self) -> None:
        self.pulls: dict[int, dict[str, Any]] = {}
        self.comments: list[dict[str, Any]] = []
        self.issues: list[dict[str, Any]] = []
        self.artifacts: list[dict[str, Any]] = []
        self.contents: dict[int, bytes] = {}
        self.faults: list[Fault] = []
        self.calls: list[str] = []
        self.before: dict[str, Callable[[], object]] = {}
        """Something that happens once, before a call with this start: another run, or a person."""
        self.body_limit = BODY_LIMIT
        self.tokens_at_the_storage: list[str] = []
        self._last = 1000

    def __enter__(self) -> Self:
        world = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                pass

            def _answer(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                body = json.loads(self.rfile.read(length)) if length else {}
                status, headers, content = world.answer(
                    self.command, self.path, body, self.headers.get("Authorization", "")
                )
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST = do_PATCH = do_DELETE = _answer  # noqa: N815

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def api(self) -> str:
        """The address of the API."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def comment(self, body: str, user: dict[str, str] = BOT, number: int = 7) -> dict[str, Any]:
        """Put a comment, and return it."""
        self._last += 1
        made = {"id": self._last, "body": body, "user": user, "issue": number}
        self.comments.append(made)
        return made

    def issue(self, body: str, user: dict[str, str] = BOT, **more: Any) -> dict[str, Any]:
        """Put an open issue, and return it."""
        made = {
            "number": len(self.issues) + 1,
            "title": "an issue",
            "body": body,
            "user": user,
            "state": "open",
            **more,
        }
        self.issues.append(made)
        return made

    def upload(self, name: str, content: bytes, *, expired: bool = False) -> None:
        """Put an artifact."""
        self._last += 1
        self.artifacts.append({"id": self._last, "name": name, "expired": expired, "size_in_bytes": len(content)})
        self.contents[self._last] = content

    def answer(self, method: str, path: str, body: dict[str, Any], token: str) -> tuple[int, dict[str, str], bytes]:
        """Return the status, the headers and the content of an answer."""
        parts = urlsplit(path)
        if parts.path.startswith("/storage/"):
            self.tokens_at_the_storage.append(token)
            return (200, {}, self.contents[int(parts.path[9:])]) if not token else (400, {}, b"InvalidAuthentication")
        if token != f"Bearer {TOKEN}":
            return 401, {}, b'{"message": "Bad credentials"}'
        call = f"{method} {parts.path.removeprefix(f'/repos/{REPOSITORY}/')}"
        self.calls.append(call)
        for start in [one for one in self.before if call.startswith(one)]:
            self.before.pop(start)()
        fault = next((one for one in self.faults if call.startswith(one.call)), None)
        if fault is not None:
            self.faults.remove(fault)
            if fault.executed:
                self._real(call, body, parts.query)
            return fault.status, fault.headers, json.dumps({"message": f"fault {fault.status}"}).encode()
        status, content = self._real(call, body, parts.query)
        headers = {"Location": f"{self.api}/storage/{content}"} if status == 302 else {}
        return status, headers, json.dumps(content).encode() if status != 204 else b""

    def _real(self, call: str, body: dict[str, Any], query: str) -> tuple[int, Any]:  # noqa: C901, PLR0911  # a table of calls
        if found := re.fullmatch(r"GET pulls/(\d+)", call):
            pull = self.pulls.get(int(found[1]))
            return (200, pull) if pull else (404, {"message": "Not Found"})
        if re.fullmatch(r"GET actions/runs/\d+/artifacts", call):
            return 200, {"total_count": len(self.artifacts), "artifacts": _page(self.artifacts, query)}
        if found := re.fullmatch(r"GET actions/artifacts/(\d+)/zip", call):
            return 302, int(found[1])
        if found := re.fullmatch(r"GET issues/(\d+)/comments", call):
            return 200, _page([one for one in self.comments if one["issue"] == int(found[1])], query)
        if call == "GET issues":
            # GitHub lists the newest first unless it is asked otherwise, and pull requests, too.
            wanted = [one for one in self.issues if one["state"] in parse_qs(query).get("state", ["open"])]
            oldest = "asc" in parse_qs(query).get("direction", [])
            return 200, _page(wanted if oldest else wanted[::-1], query)
        if len(body.get("body", "")) > self.body_limit:
            return 422, {"message": "Validation Failed", "errors": [{"message": "body is too long"}]}
        if call == "POST issues":
            return 201, self.issue(body["body"], title=body["title"])
        if found := re.fullmatch(r"PATCH issues/(\d+)", call):
            self.issues[int(found[1]) - 1].update(body)
            return 200, self.issues[int(found[1]) - 1]
        if found := re.fullmatch(r"POST issues/(\d+)/comments", call):
            return 201, self.comment(body["body"], number=int(found[1]))
        if found := re.fullmatch(r"(PATCH|DELETE) issues/comments/(\d+)", call):
            comment = next((one for one in self.comments if one["id"] == int(found[2])), None)
            if comment is None:
                return 404, {"message": "Not Found"}
            if found[1] == "DELETE":
                self.comments.remove(comment)
                return 204, None
            comment["body"] = body["body"]
            return 200, comment
        return 404, {"message": "Not Found"}


def _page(entries: list[dict[str, Any]], query: str) -> list[dict[str, Any]]:
    """Return one page. Without `per_page` it has 30 entries, and never more than 100."""
    asked = parse_qs(query)
    size, page = min(100, int(asked.get("per_page", ["30"])[0])), int(asked.get("page", ["1"])[0])
    return entries[(page - 1) * size : page * size]
