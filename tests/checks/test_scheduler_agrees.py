"""The checks and the scheduler agree on every GPU instance type, and a printed fix really fits.

The scheduler is stated again here, in few words and on plain manifests, without the modules that the checks use.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis
from hypothesis import strategies as st

from components.kubernetes.arc.scale_set_values import job_pod, runner_pod
from gpu_ci.back_ends.arc.section import ArcSection
from gpu_ci.back_ends.arc.values import scale_set
from gpu_ci.back_ends.stack import Stack
from gpu_ci.checks.nodes import fit, scale_from_zero
from gpu_ci.knowledge.machines import EC2_TYPES, InstanceType, ec2_type
from gpu_ci.knowledge.verdict import Level, Verdict
from tests.checks.stacks import stack
from tests.tables import OUT

pytestmark = pytest.mark.pure

POOL, RUNNER = "gpu-pools/t4-spot", "runners/gpu-t4"
UNITS: Final[Mapping[str, Fraction | int]] = {"": 1, "m": Fraction(1, 1000), "Mi": 2**20, "Gi": 2**30}
DAEMONSETS: Final[Mapping[str, Fraction | int]] = {"cpu": Fraction(280, 1000), "memory": 376 * 2**20, "pods": 6}
"""The network, kube-proxy, Pod Identity, EBS, the metrics of GPUs and the device plugin in the staging stack."""
TYPES: Final = sorted(name for name, machine in EC2_TYPES.items() if machine.gpu)


def amount(text: str) -> Fraction:
    """Return a quantity as a number."""
    number, unit = re.fullmatch(r"(\d+)([A-Za-z]*)", text).groups()  # type: ignore[union-attr]  # always a quantity
    return Fraction(number) * UNITS[unit]


def allocatable(machine: InstanceType, disk_gib: int, *, store: bool, shares: int) -> dict[str, Fraction]:
    """Return what the kubelet of AL2023 reports, for the least memory and disk that the plan expects."""
    cores = [Fraction(6, 100), Fraction(1, 100)] + [Fraction(5, 1000)] * 2 + [Fraction(25, 10_000)] * 400
    memory = machine.memory_mib - 280 - -(-machine.memory_mib * 4 // 100) - (255 + 11 * machine.eni_pods) - 100
    disk = machine.nvme_gb * 10**9 * 999 // 1000 - 200 * 2**20 if store else disk_gib * 2**30 - 77 * 2**20
    return {
        "cpu": Fraction(int((machine.vcpus - sum(cores[: machine.vcpus])) * 1000 + Fraction(1, 2)), 1000),
        "memory": Fraction(max(0, memory) * 2**20),
        "ephemeral-storage": Fraction(max(0, disk * 9 // 10 - 2**30)),
        "nvidia.com/gpu": Fraction(max(1, machine.gpus) * shares),
        "pods": Fraction(min(machine.eni_pods, 110 if machine.vcpus < 30 else 250)),
    }


def schedules(template: Mapping[str, Any], node: Mapping[str, Any]) -> bool:
    """Return whether kube-scheduler binds a pod of the template to a node that only runs DaemonSets."""
    spec = template["spec"]
    asked = {"pods": Fraction(1)}
    for container in spec["containers"]:
        for name, text in container["resources"]["requests"].items():
            asked[name] = asked.get(name, Fraction(0)) + amount(text)
    room = all(size + DAEMONSETS.get(name, 0) <= node["allocatable"][name] for name, size in asked.items())
    tolerated = all(
        any(
            one["key"] == key
            and (one["operator"] == "Exists" or one["value"] == value)
            and one.get("effect") in {None, effect}
            for one in spec["tolerations"]
        )
        for key, value, effect in node["taints"]
    )
    selected = all(node["labels"].get(key) == value for key, value in spec.get("nodeSelector", {}).items())
    return room and tolerated and selected


SHAPES: Final[dict[str, tuple[dict[str, Any], dict[str, Any]]]] = {
    "small": ({"cpu": 1, "memory": "2Gi"}, {}),
    "usual": ({"cpu": 3, "memory": "12Gi"}, {}),
    "all cores": ({"cpu": 4, "memory": "12Gi"}, {}),
    "most memory of 16 GiB": ({"cpu": 3, "memory": "14Gi"}, {}),
    "all memory of 16 GiB": ({"cpu": 3, "memory": "16Gi"}, {}),
    "most memory of 32 GiB": ({"cpu": 7, "memory": "29Gi"}, {}),
    "four GPUs": ({"cpu": 40, "memory": "170Gi", "gpus": 4}, {}),
    "eight GPUs": ({"cpu": 90, "memory": "340Gi", "gpus": 8}, {}),
    "a disk that is nearly enough": ({"cpu": 1, "memory": "2Gi", "disk": "44Gi"}, {"disk": {"size": "50Gi"}}),
    "a disk that is just enough": ({"cpu": 1, "memory": "2Gi", "disk": "43Gi"}, {"disk": {"size": "50Gi"}}),
    "instance store": (
        {"cpu": 1, "memory": "2Gi", "disk": "104Gi"},
        {"disk": {"size": "50Gi"}, "fast-image-pull": True},
    ),
    "shared": ({"cpu": 1, "memory": "2Gi", "gpus": 2}, {"sharing": {"mode": "time-slicing", "replicas": 2}}),
    "tainted": ({"cpu": 1, "memory": "2Gi"}, {"taints": {"team": "vision:NoExecute"}}),
}


def planned(name: str, needs: Mapping[str, Any], pool: Mapping[str, Any], mode: str = "none") -> Stack:
    """Return the staging stack with one pool of one type and one runner on it."""
    model = ec2_type(name).gpu
    assert model is not None
    return stack(
        {
            f"{POOL}/instance-types": [name],
            **{f"{POOL}/{key}": value for key, value in pool.items()},
            f"{RUNNER}/needs": {"gpu": model.slug, "cuda": "12.9", **needs},
            f"{RUNNER}/arc/fallback": OUT,
            f"{RUNNER}/arc/container-mode": mode,
        }
    )


def refused(made: Stack) -> list[Verdict]:
    """Return the errors of both checks on the runner."""
    found = [*fit.check(made), *scale_from_zero.check(made)]
    return [one for one in found if one.level is Level.ERROR and one.subject == "runners.gpu-t4"]


def bound(name: str, shape: str, made: Stack) -> bool:
    """Return whether the scheduler binds the runner of this shape to a node of the type."""
    _, pool = SHAPES[shape]
    machine = ec2_type(name)
    runner = made.settings.runners["gpu-t4"]
    values = scale_set("gpu-t4", runner, runner.section(ArcSection), made.settings)
    template = job_pod(values) if values.container_mode != "none" else runner_pod(values, "")
    node = {
        "allocatable": allocatable(
            machine,
            int(pool.get("disk", {"size": "200Gi"})["size"].removesuffix("Gi")),
            store=bool(pool.get("fast-image-pull")) and machine.nvme_gb > 0,
            shares=2 if "sharing" in pool else 1,
        ),
        "taints": [("nvidia.com/gpu", "true", "NoSchedule")] + [("team", "vision", "NoExecute")] * ("taints" in pool),
        "labels": {"gpu-ci/pool": "t4-spot"},
    }
    return schedules(template, node)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_plan_accepts_a_runner_exactly_where_the_scheduler_does(shape: str) -> None:
    mode = "kubernetes-novolume" if shape == "small" else "none"
    stacks = {name: planned(name, *SHAPES[shape], mode=mode) for name in TYPES}

    assert {
        name: refused(made) for name, made in stacks.items() if bool(refused(made)) is bound(name, shape, made)
    } == {}


NEEDS: Final = {"cpu": r"cpu: (\d+)", "memory": r"memory: (\d+Gi)", "disk": r"disk: (\d+Gi)", "gpus": r"gpus: (\d+)"}


def applied(fix: str, needs: Mapping[str, Any], pool: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return needs and pool after one printed fix."""
    wanted, there = dict(needs), dict(pool)
    if fix.startswith("request "):
        found = {key: match[1] for key, form in NEEDS.items() if (match := re.search(form, fix))}
        wanted |= {key: int(value) if value.isdecimal() else value for key, value in found.items()}
    if match := re.search(r"list only (.+) in gpu-pools", fix):
        there["instance-types"] = match[1].split(", ")
    if match := re.search(r"disk\.size: (\d+Gi)", fix):
        there["disk"] = {"size": match[1]}
    if "remove gpu-pools.t4-spot.fast-image-pull" in fix:
        there["fast-image-pull"] = False
    return wanted, there


@given(
    types=st.lists(
        st.sampled_from([name for name in TYPES if name.startswith("g4dn")]), min_size=1, max_size=3, unique=True
    ),
    needs=st.fixed_dictionaries(
        {
            "cpu": st.integers(1, 40),
            "memory": st.integers(1, 200).map("{}Gi".format),
            "gpus": st.sampled_from([1, 1, 4]),
        },
        optional={"disk": st.integers(1, 900).map("{}Gi".format)},
    ),
    disk=st.integers(20, 400),
    image=st.none() | st.integers(1, 200),
    store=st.booleans(),
)
@hypothesis(max_examples=150, deadline=None)
def test_every_printed_fix_makes_the_runner_fit(
    types: list[str], needs: dict[str, Any], disk: int, image: int | None, *, store: bool
) -> None:
    def errors(wanted: Mapping[str, Any], there: Mapping[str, Any]) -> list[Verdict]:
        changes = {f"{POOL}/{key}": value for key, value in there.items()} | {
            f"{RUNNER}/needs": {"gpu": "t4", "cuda": "12.9", **wanted},
            f"{RUNNER}/arc/fallback": OUT,
            "images/runner-gpu/compressed": f"{image}Gi" if image else OUT,
            "gpu-pools/t4-on-demand/disk": {"size": "900Gi"},
        }
        return [one for one in fit.check(stack(changes)) if one.level is Level.ERROR and "steady" not in one.subject]

    pool = {"instance-types": types, "disk": {"size": f"{disk}Gi"}, "fast-image-pull": store}
    before = errors(needs, pool)
    for verdict in before:
        for fix in verdict.fix.split(", or "):
            if not fix.startswith(("make the image smaller", "split the job")):
                left = {one.subject for one in errors(*applied(fix, needs, pool))}
                assert left <= {one.subject for one in before} - {verdict.subject}, fix
