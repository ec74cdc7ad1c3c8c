"""An operator who repairs a stack after an interruption, as the runbook and `state-check` say."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from ops.cli.commands import state_check as command
from ops.engine.engine import Engine
from ops.engine.events import Outcome
from ops.fakes.cloud.objects import CloudObject, Phase
from ops.fakes.protocol.faults import MUTATION, Fault, FaultKind
from ops.outcome import Exit
from ops.state.state_check import State, faults, read

KILLS: Final = (FaultKind.KILL, FaultKind.KILL_AFTER)
_URN: Final = re.compile(r"--absent '([^']+)'")
_QUIET: Final = 0.3
"""Seconds without a change after which the fake cloud has finished the calls of a killed engine."""


@dataclass(slots=True, kw_only=True)
class Operator:
    """The operator of one stack."""

    engine: Engine
    interrupted: list[str] = field(default_factory=list)
    """The failed steps, or the interrupted operations of the state, in order."""
    imported: int = 0
    """The created resources that the operator put into the state."""

    def interrupt(self, work: Callable[[], Outcome], kind: FaultKind, *places: int) -> int:
        """Repeat an operation with a fault at each of these mutations, or until it succeeds; return the failures.

        Each place counts from the mutation at which the previous operation was interrupted.
        """
        for count, nth in enumerate(places):
            self.engine.faults.arm(Fault(operation=MUTATION, nth=nth, kind=kind))
            outcome = work()
            unused = self.engine.faults.disarm()
            if outcome.ok:
                return count
            assert not unused, f"not interrupted, but failed: {outcome.fault}"
            self.interrupted += [f"{step.op} {step.name}" for step in outcome.failed]
            if kind in KILLS:
                self.repair()
        return len(places)

    def repair(self) -> None:
        """Remove the lock, and decide the interrupted creations that `state-check` reports."""
        engine = self.engine
        self._wait_for_the_cloud()
        engine.run("cancel", "--yes")
        engine.run("stack", "export", "--file", str(self._path))
        state = read(self._path)
        self.interrupted += [f"{one['type']} {one['resource']['urn'].rpartition('::')[2]}" for one in state.pending]
        urns = [match for one in faults(state, None) for match in _URN.findall(one.fix)]
        if not urns:
            assert self.lost(state) == []
            return
        found = {obj.urn: obj.id for obj in self._unknown(state) if obj.urn in urns}
        repaired = engine.folder / "repaired.json"
        code = command.main(
            self._path,
            exists=[f"{urn}={id_}" for urn, id_ in found.items()],
            absent=[urn for urn in urns if urn not in found],
            repair=repaired,
        )
        assert code is Exit.GOOD
        engine.run("stack", "import", "--file", str(repaired))
        self.imported += len(found)
        assert self.lost(read(repaired)) == []

    def lost(self, state: State) -> list[str]:
        """Return the objects of the cloud that the state does not contain: no update and no destroy finds them."""
        return [str(obj) for obj in self._unknown(state)]

    def _unknown(self, state: State) -> list[CloudObject]:
        # Only the type and the ID together are unique: a role and its instance profile can have the same name.
        known = {(row["type"], row.get("id")) for row in state.resources}
        return [obj for obj in self.engine.cloud.remaining() if obj.urn and (obj.type, obj.id) not in known]

    @property
    def _path(self) -> Path:
        return self.engine.folder / "state.json"

    def _wait_for_the_cloud(self) -> None:
        """Wait until calls that the killed engine had started have ended."""
        seen: list[Any] = []
        while True:
            now = [(obj.type, obj.id, obj.phase) for obj in self.engine.cloud]
            if now == seen and all(phase is Phase.READY for _, _, phase in now):
                return
            seen = now
            time.sleep(_QUIET)
