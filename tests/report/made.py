"""Comparisons and reports made by hand."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from gpu_ci.knowledge.verdict import Verdict, ok, warning
from gpu_ci.policy.rules import Finding
from ops.engine.events import Step
from ops.engine.running_cluster import refusal
from ops.report.base import Base
from ops.report.changes import changes
from ops.report.comparison import Comparison
from ops.report.report import Report, report

COST: Final = {
    "total": {"idle": 267.16, "expected": 415.23, "worst": 3309.5},
    "parts": {"idle": {}, "expected": {"cluster": 79.14, "gpu-pools.t4": 57.0}, "worst": {}},
    "unpriced": [],
}
DEARER: Final = {
    "total": {"idle": 267.16, "expected": 440.0, "worst": 3400.0},
    "parts": {"idle": {}, "expected": {"cluster": 79.14, "gpu-pools.t4": 81.77}, "worst": {}},
    "unpriced": [],
}
WARNING: Final = warning("spot-plan", "gpu-pools.t4", "one type may run out", "add a type")


def urn(type_: str, name: str, parent: str = "gpu-ci:aws:GpuPool") -> str:
    """The URN of a resource in a component."""
    return f"urn:pulumi:staging::gpu-ci::{parent}${type_}::{name}"


def step(op: str, type_: str, name: str, **more: Any) -> Step:
    """One step of the engine."""
    more = {"parent": f"urn:pulumi:staging::gpu-ci::gpu-ci:aws:GpuPool::{name}", **more}
    return Step(op=op, urn=urn(type_, name), type=type_, **{"was": urn(type_, name) if op != "create" else "", **more})


GROUP: Final = "aws:eks/nodeGroup:NodeGroup"
LOG: Final = "aws:cloudwatch/logGroup:LogGroup"
REPLACED: Final = step(
    "replace",
    GROUP,
    "pool-t4",
    changed={"instanceTypes[0]": "update-replace"},
    old={"instanceTypes": ["g4dn.xlarge"]},
    new={"instanceTypes": ["g5.xlarge"]},
)
UPDATED: Final = step(
    "update",
    LOG,
    "cluster",
    changed={"retentionInDays": "update"},
    old={"retentionInDays": 14},
    new={"retentionInDays": 30},
)


def comparison(*steps: Step, base: Base | None = None, fault: str = "", unchanged: int = 150) -> Comparison:
    """A comparison with these steps."""
    plan = {"verdicts": [], "findings": [], "cost": COST}
    return Comparison(
        base=base or Base(name="origin/main", commit="0123456789", plan=plan),
        stack="staging",
        changes=changes(steps),
        unchanged=unchanged,
        fault=fault,
        refusal=refusal(steps),
    )


def made(
    *steps: Step, verdicts: Iterable[Verdict] = (ok("fit", "a", "b"),), findings: Iterable[Finding] = (), **more: Any
) -> Report:
    """A report on these steps."""
    return report(comparison(*steps, **more), verdicts, findings, DEARER)
