"""The plan of an update, saved by a preview, and the facts that decide whether it may still be applied.

The engine refuses an update that deviates from its plan. It does not check for which commit, stack, state and CLI the
plan was made (tried with 3.258). `docs/adr/0013-an-update-follows-its-plan.md` lists its limits.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, Self

from ops.engine.property_path import parts
from ops.fakes.protocol.wire import UNKNOWN_MARK
from ops.outcome import Exit, Stop

LIFETIME: Final = timedelta(hours=24)
"""The retention of the artifact in `.github/workflows/deploy.yml`."""
PLAN: Final = "plan.json"
FACTS: Final = "facts.json"
AGAIN: Final = "re-run all jobs of this workflow, so that it makes a new plan and asks for a new approval"


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """The circumstances of a plan."""

    stack: str
    commit: str
    state: str
    """A digest of the state, in which secrets are encrypted."""
    cli: str
    """The version of the Pulumi CLI."""
    made: str
    """The time, as ISO 8601 in UTC."""

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read the facts of a saved plan.

        Raises:
            Stop: there is none, or it is not readable.

        """
        try:
            return cls(**json.loads((folder / FACTS).read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            problem = f"{folder} has no saved plan, for example because it expired"
            raise Stop(Exit.WRONG, f"{problem}: {AGAIN}") from None

    def write(self, folder: Path) -> None:
        """Write the facts next to the plan."""
        (folder / FACTS).write_text(json.dumps(asdict(self), indent=2), encoding="utf-8")

    def refusal(self, now: Self) -> str:
        """Return the reason why the plan may not be applied in the circumstances of now; empty if it may."""
        return next(self._reasons(now), "")

    def _reasons(self, now: Self) -> Iterator[str]:
        age = datetime.fromisoformat(now.made) - datetime.fromisoformat(self.made)
        if self.stack != now.stack:
            yield f"the plan is for the stack {self.stack}, not for {now.stack}; apply it to {self.stack}"
        if self.commit != now.commit:
            yield f"the plan is of the commit {self.commit}, and this is {now.commit}: {AGAIN}"
        if self.cli != now.cli:
            yield f"the plan was made with the Pulumi CLI {self.cli}, and this is {now.cli}: {AGAIN}"
        if age > LIFETIME:
            yield f"the plan is {age.total_seconds() / 3600:.0f} hours old; a plan is valid for 24: {AGAIN}"
        if self.state != now.state:
            yield f"the state of {self.stack} has changed since the plan was made: {AGAIN}"


def digest(exported: str) -> str:
    """Return a digest of the output of `pulumi stack export`."""
    deployment = json.loads(exported).get("deployment")
    return hashlib.sha256(json.dumps(deployment, sort_keys=True).encode()).hexdigest()


def now() -> str:
    """Return the time in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def changes_something(path: Path) -> bool:
    """Return True if a saved plan has a step other than `same`, or changes an output of the stack."""
    plans = json.loads(path.read_text(encoding="utf-8"))["resourcePlans"].values()
    return any(set(plan.get("steps") or ()) - {"same"} or (plan.get("goal") or {}).get("outputDiff") for plan in plans)


def free_ignored_values(path: Path) -> None:
    """Let a saved plan accept any value at the paths of `ignoreChanges`.

    The engine writes the value of the cloud into the plan, and then refuses the update if it has changed since: after
    a preview, the autoscaler starts a node, and the update of its group "violates the plan". An unknown value in a plan
    accepts every value.
    """
    saved = json.loads(path.read_text(encoding="utf-8"))
    for plan in saved["resourcePlans"].values():
        goal = plan.get("goal") or {}
        difference = goal.get("inputDiff") or {}
        for ignored in goal.get("ignoreChanges") or ():
            for kind in ("adds", "updates"):
                _free(difference.get(kind), parts(ignored))
    path.write_text(json.dumps(saved), encoding="utf-8")


def _free(inputs: Any, path: Iterable[str | int]) -> None:
    *above, last = path
    for part in above:
        inputs = inputs.get(part) if isinstance(inputs, dict) else None
    if isinstance(inputs, dict) and last in inputs:
        inputs[last] = UNKNOWN_MARK
