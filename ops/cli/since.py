"""A stack compared with another commit, with progress: the work that several commands have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ops.cli.options import ROOT
from ops.cli.terminal import progress
from ops.engine import pulumi_cli
from ops.plan import isolation, planning, typed
from ops.plan.stack_file import StackFile
from ops.report.base import base as recorded_base
from ops.report.comparison import compare

if TYPE_CHECKING:
    from ops.report.comparison import Comparison


def since(base: str, stack_file: StackFile) -> tuple[planning.Planning | planning.RefusedPlan, Comparison]:
    """Plan a stack, and preview it over the state that another commit leaves.

    Raises:
        gpu_ci.stack_file.reading.load.StackFileError: the stack file has faults.
        ops.engine.engine.EngineNotReadyError: the engine could not be set up.
        ops.outcome.Stop: there is no CLI, or no such commit.

    """
    # A fault of the stack file must not wait for the program of the base, which can take minutes.
    typed.settings(stack_file)
    with progress("Looking for the Pulumi CLI") as line:
        cli = pulumi_cli.required(line)
        other = recorded_base(base, stack_file.path, ROOT, line.stage)
        line.stage(f"Planning {stack_file.name}, and loading its state at {base} into the engine")
        # The engine is another process, so both happen at the same time.
        planned = isolation.start(lambda: planning.attempt(stack_file))

        def refused() -> bool:
            made = planned.result()
            line.stage(f"The engine previews {stack_file.name} over its state at {base}")
            return isinstance(made, planning.RefusedPlan)

        comparison = compare(
            cli, other, stack_file, lambda step: line.step(f"The engine previews {step}"), refused=refused
        )
        return planned.result(), comparison
