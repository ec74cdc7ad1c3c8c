"""The part of the chain from the credentials of AWS to the runner's pod."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gpu_ci.knowledge.verdict import Level
from ops.doctor.chain import CHECKS
from tests.doctor.healthy import STACK, healthy
from tests.doctor.worlds import Question, lines, world

NAMES: Final = (
    "aws-account", "deployer-permissions", "live-quota", "eks-cluster", "node-groups", "asg-tags", "node-launches",
    "kubernetes-api", "nodes", "node-marks", "device-plugin", "device-plugin-log", "allocatable-gpu", "autoscaler",
    "arc-controller", "github-app-secret", "scale-sets", "listeners", "pending-pods", "pod-images", "runner-gpu",
    "runner-log",
)  # fmt: skip
CLUSTER_CHECKS: Final = tuple(one for one in CHECKS if one.name in NAMES)


def made(name: str, answers: Mapping[Question, Any], stack: str = STACK) -> list[str]:
    """Make one check, and return the findings that are not ok."""
    check = next(one for one in CHECKS if name == one.name)
    return lines([one for one in check.check(world(stack, answers)) if one.level is not Level.OK])


def differences(cases: Mapping[str, tuple[str, Mapping[Question, Any], list[str]]]) -> dict[str, list[str]]:
    """Return the findings of each case that are not the expected ones. A case changes answers of the healthy world."""
    found = {name: made(check, {**healthy(), **changes}) for name, (check, changes, _) in cases.items()}
    return {name: lines for name, lines in found.items() if lines != cases[name][2]}
