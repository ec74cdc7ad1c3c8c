"""One repository at GitHub, as `gh api` shows it to the process of a test.

Tried with gh 2.86.0 against a local server: `--paginate --slurp` returns a list of pages with 100 entries each;
`--field body=@-` sends the standard input as the body of a POST, or of a PATCH with `--method PATCH`; the storage
behind the redirect of an artifact gets no token; a refused call ends with 1 and one line, `gh: MESSAGE (HTTP STATUS)`.
"""

from __future__ import annotations

import json
import re
import subprocess
from typing import Any, Final

REPOSITORY: Final = "acme/gpu-infra"
BOT: Final = {"login": "github-actions[bot]", "type": "Bot"}
BODY_LIMIT: Final = 65_536
PAGES: Final = ["--paginate", "--slurp"]
BODY: Final = ["--field", "body=@-"]


class FakeGitHub:
    """Pull requests, comments and artifacts."""

    def __init__(self) -> None:
        self.pulls: dict[int, dict[str, Any]] = {}
        self.comments: list[dict[str, Any]] = []
        self.artifacts: list[dict[str, Any]] = []
        self.contents: dict[str, bytes] = {}
        self.refused = ""
        """The start of a call that GitHub refuses."""
        self._last = 1000

    def comment(self, body: str, user: dict[str, str] = BOT, number: int = 7) -> dict[str, Any]:
        """Put a comment, and return it."""
        self._last += 1
        made = {"id": self._last, "body": body, "user": user, "issue": number}
        self.comments.append(made)
        return made

    def upload(self, name: str, content: bytes, *, expired: bool = False) -> None:
        """Put an artifact. GitHub lists the newest first."""
        self._last += 1
        made = {"id": self._last, "name": name, "expired": expired, "size_in_bytes": len(content)}
        self.artifacts.insert(0, made)
        self.contents[str(self._last)] = content

    def run(self, command: list[str], *, input: bytes, **_options: Any) -> subprocess.CompletedProcess[bytes]:  # noqa: A002  # as in subprocess.run
        """Execute a command as `subprocess.run` does."""
        assert command[:2] == ["gh", "api"]
        root, path = f"repos/{REPOSITORY}/", command[2]
        assert path.startswith(root)
        answer = self._answer(path.removeprefix(root), command[3:], input.decode())
        if isinstance(answer, str):
            return subprocess.CompletedProcess(command, 1, b"", f"gh: {answer}\n".encode())
        content = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        return subprocess.CompletedProcess(command, 0, content, b"")

    def _answer(self, path: str, options: list[str], body: str) -> Any:  # noqa: PLR0911  # a table of calls
        """Return the answer to a call; a text is the reason why it is refused."""
        if self.refused and path.startswith(self.refused):
            return "Resource not accessible by integration (HTTP 403)"
        if len(body) > BODY_LIMIT:
            return "Validation Failed (HTTP 422)"
        if options == PAGES and re.fullmatch(r"actions/runs/99/artifacts", path):
            return [{"artifacts": page} for page in _pages(self.artifacts)]
        if not options and (found := re.fullmatch(r"actions/artifacts/(\d+)/zip", path)):
            return self.contents[found[1]]
        if not options and (found := re.fullmatch(r"pulls/(\d+)", path)):
            return self.pulls.get(int(found[1]), "Not Found (HTTP 404)")
        if found := re.fullmatch(r"issues/(\d+)/comments", path):
            if options == PAGES:
                return _pages([one for one in self.comments if one["issue"] == int(found[1])])
            if options == BODY:
                return self.comment(body, number=int(found[1]))
        if options == ["--method", "PATCH", *BODY] and (found := re.fullmatch(r"issues/comments/(\d+)", path)):
            comment = next(one for one in self.comments if one["id"] == int(found[1]))
            comment["body"] = body
            return comment
        raise AssertionError(f"gh api {path} {options} is not a call that was tried")


def _pages(entries: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    return [entries[start : start + 100] for start in range(0, max(1, len(entries)), 100)]
