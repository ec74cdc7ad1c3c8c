"""The back ends by the name of their package, and the stack with their offers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gpu_ci.back_ends.arc.back_end import BACK_END as ARC
from gpu_ci.back_ends.cirun_aws.back_end import BACK_END as CIRUN_AWS
from gpu_ci.back_ends.cirun_gcp.back_end import BACK_END as CIRUN_GCP
from gpu_ci.back_ends.protocol import BackEnd
from gpu_ci.back_ends.stack import Stack
from gpu_ci.back_ends.start_stop.back_end import BACK_END as START_STOP
from gpu_ci.back_ends.vm.back_end import BACK_END as VM
from gpu_ci.stack_file.identity import Identity
from gpu_ci.stack_file.sections.settings import Settings

BACK_ENDS: Final[Mapping[str, BackEnd]] = {
    "arc": ARC,
    "cirun_aws": CIRUN_AWS,
    "cirun_gcp": CIRUN_GCP,
    "vm": VM,
    "start_stop": START_STOP,
}
"""Every back end, in the order of the fields of `gpu_ci.back_ends.stack_file.RunnerSettings`."""


def stack_of(settings: Settings, identity: Identity) -> Stack:
    """Ask the back end of each runner for its offer."""
    offers = {
        name: BACK_ENDS[runner.back_end].offer(name, runner, settings) for name, runner in settings.runners.items()
    }
    return Stack(settings=settings, identity=identity, offers=offers)
