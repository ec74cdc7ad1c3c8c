"""The runners and the workflow runs of a repository, by GitHub's REST API."""

from __future__ import annotations

import http.client
import json
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from gpu_ci.back_ends.start_stop.gpu_instance.problems import Denied, Problem, Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

TIMEOUT: Final = 30
"""Seconds for one request."""
TRANSIENT: Final = frozenset({408, 429, 500, 502, 503, 504})
DEFAULT_GROUP: Final = 1
"""The id of the runner group `default`. A repository has no other."""
PAGE: Final = 100
UNFINISHED: Final = ("queued", "in_progress", "waiting", "pending", "requested")
_NOT_FOUND: Final = 404
_DENIED: Final = frozenset({401, 403})


@dataclass(frozen=True, slots=True, kw_only=True)
class Registered:
    """A runner as GitHub lists it."""

    id: int
    name: str
    online: bool
    busy: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class JustInTime:
    """A registration for one job."""

    id: int
    config: str
    """Starts the runner once. It is a secret until then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GitHub:
    """GitHub's API with one token."""

    token: str
    owner: str
    """`repos/OWNER/REPOSITORY` or `orgs/ORGANISATION`: where the runners are registered."""
    api: str = "https://api.github.com"

    def register(self, name: str, labels: Sequence[str]) -> JustInTime:
        """Register a runner for one job.

        The name must be free, so an earlier registration with it is removed first.
        """
        for runner in self.runners(name):
            self.remove(runner.id)
        asked = {"name": name, "runner_group_id": DEFAULT_GROUP, "labels": list(labels), "work_folder": "_work"}
        answer = self._ask("POST", f"{self.owner}/actions/runners/generate-jitconfig", asked)
        return JustInTime(id=answer["runner"]["id"], config=answer["encoded_jit_config"])

    def runners(self, prefix: str) -> list[Registered]:
        """Return the runners whose names begin with `prefix`."""
        pages = self._pages(f"{self.owner}/actions/runners", "runners")
        return [_registered(one) for one in pages if one["name"].startswith(prefix)]

    def runner(self, runner: int) -> Registered | None:
        """Return one runner; None after its job, when GitHub has removed it."""
        try:
            return _registered(self._ask("GET", f"{self.owner}/actions/runners/{runner}"))
        except _Missing:
            return None

    def remove(self, runner: int) -> None:
        """Remove a runner. One that GitHub has already removed is no problem."""
        try:
            self._ask("DELETE", f"{self.owner}/actions/runners/{runner}")
        except _Missing:
            return

    def active_since(self, workflow: str, job: str) -> datetime | None:
        """Return the latest start of `job` in the unfinished runs of a workflow; None if no such job has started."""
        path = f"{self.owner}/actions/workflows/{urllib.parse.quote(workflow)}/runs"
        # A run with a finished and a queued job can have any of these states.
        runs = {run["id"] for state in UNFINISHED for run in self._pages(path, "workflow_runs", status=state)}
        starts = [
            datetime.fromisoformat(one["started_at"])
            for run in runs
            for one in self._pages(f"{self.owner}/actions/runs/{run}/jobs", "jobs")
            if one["name"] == job and one["status"] in {"in_progress", "completed"} and one["started_at"]
        ]
        return max(starts, default=None)

    def job(self, run: str, attempt: str, job: str) -> str | None:
        """Return the status of a job in one attempt of a run; None before GitHub has created it."""
        jobs = self._pages(f"{self.owner}/actions/runs/{run}/attempts/{attempt}/jobs", "jobs")
        return next((str(one["status"]) for one in jobs if one["name"] == job), None)

    def cancel(self, run: str) -> None:
        """Cancel a run. Its jobs with `if: always()` still run."""
        self._ask("POST", f"{self.owner}/actions/runs/{run}/cancel")

    def _pages(self, path: str, key: str, **query: str) -> Iterator[dict[str, Any]]:
        """Yield the entries of a list; at most the first 1000, which is GitHub's limit."""
        for page in range(1, 11):
            asked = urllib.parse.urlencode({**query, "per_page": PAGE, "page": page})
            entries = self._ask("GET", f"{path}?{asked}")[key]
            yield from entries
            if len(entries) < PAGE:
                return

    def _ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return the answer to one request.

        Raises:
            Problem: in one line, without the token and without the body of the request.

        """
        request = urllib.request.Request(  # noqa: S310 - the address of GitHub's API, from the workflow
            f"{self.api}/{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={
                "Accept": "application/vnd.github+json",
                "Authorization": f"Bearer {self.token}",
                "Content-Type": "application/json",
                "X-GitHub-Api-Version": "2022-11-28",
            },
        )
        shown = f"{method} {path.partition('?')[0]}"
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:  # noqa: S310
                text = answer.read()
            found: dict[str, Any] = json.loads(text) if text else {}
        except urllib.error.HTTPError as error:
            raise _problem(error.code, shown, limited=error.headers.get("x-ratelimit-remaining") == "0") from None
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise Unavailable(f"GitHub did not answer to {shown}: {type(error).__name__}") from None
        return found


class _Missing(Problem):
    """GitHub does not know the object, or the token must not see it."""


def _problem(code: int, request: str, *, limited: bool) -> Problem:
    if limited or code in TRANSIENT:
        return Unavailable(f"GitHub answered {code} to {request}")
    if code in _DENIED:
        return Denied(f"GitHub answered {code} to {request}; check the permissions and the key of the GitHub App")
    kind = _Missing if code == _NOT_FOUND else Problem
    return kind(f"GitHub answered {code} to {request}; check that the GitHub App is installed there")


def _registered(entry: dict[str, Any]) -> Registered:
    return Registered(id=entry["id"], name=entry["name"], online=entry["status"] == "online", busy=entry["busy"])
