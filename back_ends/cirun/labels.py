"""Labels by which a workflow asks cirun for a runner."""

from __future__ import annotations

from typing import Final

from back_ends.protocol import RunsOn
from config.cirun import cirun_label
from kit.cirun import ADDED_BY_CIRUN

_RUN: Final = "--${{ github.run_id }}-${{ github.run_attempt }}"
"""The suffix that reserves a machine for one attempt of one run. Only GitHub reads it."""


def cirun_runs_on(runner: str) -> RunsOn:
    """Return how a workflow asks cirun for a runner."""
    label = cirun_label(runner)
    return RunsOn(line=f'runs-on: "{label}{_RUN}"', label=label, more=ADDED_BY_CIRUN, suffix=True, named=True)
