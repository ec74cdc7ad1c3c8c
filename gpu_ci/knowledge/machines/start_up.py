"""The steps from a queued job to its first command, and the time that each takes.

The figures are published timings, or estimates marked as such. Where a source gives one figure or a range, the median
is that figure or the middle of the range, and the 95th percentile is the end of the range or an estimate. No figure
was measured on a stack of this project: `kubectl get events` of a first job shows the real ones.

Parallel image pulls need 4 vCPUs and 7 GiB (nodeadm, 2026: it silently disables them on smaller machines), and are
faster only on a disk of about 600 MiB/s (AWS, SOCI documentation) or an instance store.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from gpu_ci.knowledge.machines.aws import InstanceType

USUAL_IMAGE_GIB: Final = 5.0
"""The compressed size of an image whose size is not stated: a CUDA runtime with a framework."""
FAST_PULL_VCPUS: Final = 4
FAST_PULL_MEMORY_GIB: Final = 7
FAST_PULL_DISK_MIBPS: Final = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step, in seconds."""

    name: str
    p50: float
    p95: float
    source: str
    estimate: bool = False
    """True where no published figure supports it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """The wait of a job for its first command, in seconds."""

    p50: float
    p95: float


def total(steps: Iterable[Step]) -> Wait:
    """Return the time of the steps one after another.

    Medians add up. Delays beyond the median are independent, so the root of the sum of their squares is taken.
    """
    listed = tuple(steps)
    median = math.fsum(step.p50 for step in listed)
    return Wait(p50=median, p95=median + math.hypot(*(step.p95 - step.p50 for step in listed)))


DISPATCH: Final = Step(
    name="GitHub assigns the job", p50=3, p95=15, estimate=True,
    source="GitHub publishes no figure; scale-set listeners poll without a pause",
)  # fmt: skip
POD: Final = Step(
    name="the controller creates the runner's pod", p50=4, p95=15, estimate=True,
    source="ARC publishes no figure; it creates three objects one after another",
)  # fmt: skip
AUTOSCALER: Final = Step(
    name="the autoscaler sees the pod", p50=10, p95=30,
    source="Cluster Autoscaler FAQ: a scan every 10 s, within 30 s on clusters of up to 100 nodes",
)  # fmt: skip
NODE: Final = Step(
    name="a GPU node starts and joins", p50=100, p95=180,
    source="Tensorfuse, August 2025: 80-120 s until a cloud GPU node has booted; the tail is an estimate",
)  # fmt: skip
CPU_NODE: Final = Step(
    name="a node without a GPU starts and joins", p50=75, p95=150, estimate=True,
    source="about 26 s until an instance boots (brevdev, small types), then the node joins; no figure is published",
)  # fmt: skip
DEVICE_PLUGIN: Final = Step(
    name="the device plugin offers the GPU", p50=15, p95=30, estimate=True,
    source="a small image to pull and a GPU to detect",
)  # fmt: skip
REGISTRATION: Final = Step(
    name="the runner starts and takes the job", p50=8, p95=25, estimate=True,
    source="GitHub publishes no figure; a just-in-time runner is registered when its pod is created",
)  # fmt: skip
OWN_MACHINE: Final = Step(
    name="a machine for the job starts", p50=60, p95=120,
    source="Ubicloud: 50-60 s cold; machine.dev: about a minute; the tail is an estimate",
)  # fmt: skip
OWN_RUNNER: Final = Step(
    name="the runner is installed and registered on it", p50=30, p95=75, estimate=True,
    source="the runner is downloaded and configured at boot",
)  # fmt: skip

START_JOB: Final = Step(
    name="the job that starts the machine gets a runner of GitHub", p50=15, p95=60, estimate=True,
    source="GitHub publishes no figure for its own runners",
)  # fmt: skip
STOPPED_MACHINE: Final = Step(
    name="the stopped machine starts", p50=45, p95=120,
    source="Brev: 26 s on average until a small EC2 machine answers; a GPU and the tail are an estimate",
)  # fmt: skip
PAUSED_INSTANCE: Final = Step(
    name="the paused instance resumes", p50=60, p95=240, estimate=True,
    source="Jarvis Labs publishes no figure; its SDK waits ten minutes at most",
)  # fmt: skip
STANDING_RUNNER: Final = Step(
    name="the machine registers its runner", p50=20, p95=60, estimate=True,
    source="a token and a registration at GitHub; the runner is installed already",
)  # fmt: skip
FIRST_BOOT: Final = Step(
    name="the first boot installs the driver and restarts the machine once", p50=300, p95=720, estimate=True,
    source="about 1 GB of packages of Ubuntu's archive",
)  # fmt: skip

_PULL_BASE = 3.0


def pull(gib: float) -> Step:
    """Return the pull of an image of `gib` GiB, compressed, on a node that has none of its layers."""
    return Step(
        name=f"the image of {gib:g} GiB is pulled",
        p50=_PULL_BASE + 15.6 * gib,
        p95=_PULL_BASE + 51 * gib,
        source="AWS, karpenter-blueprints: 131 s for about 9 GB on AL2023; Tensorfuse, August 2025: 7-10 min for 10 GB",
    )


def parallel_pull(gib: float) -> Step:
    """Return the same pull in parallel, through the SOCI snapshotter."""
    return Step(
        name=f"the image of {gib:g} GiB is pulled in parallel",
        p50=_PULL_BASE + 4.7 * gib,
        p95=_PULL_BASE + 15.6 * gib,
        source="AWS, karpenter-blueprints: 39.6 s for about 9 GB on AL2023; the tail is a pull that is no faster",
    )


def fast_pull_obstacle(types: Iterable[InstanceType], disk_mibps: int) -> str:
    """Return why parallel pulls are no faster on nodes of any of these types; empty where they are.

    `disk_mibps` is the throughput of the root disk. An instance store is used instead of the disk where all types
    have one.
    """
    listed = tuple(types)
    if any(machine.vcpus < FAST_PULL_VCPUS or machine.memory_mib < FAST_PULL_MEMORY_GIB * 1024 for machine in listed):
        return f"they need {FAST_PULL_VCPUS} vCPUs and {FAST_PULL_MEMORY_GIB} GiB of memory"
    if disk_mibps < FAST_PULL_DISK_MIBPS and not all(machine.nvme_gb for machine in listed):
        return f"they need a disk of {FAST_PULL_DISK_MIBPS} MiB/s, and this one has {disk_mibps}"
    return ""


def shared_node_steps(
    *, image_gib: float, idle_on_gpu: int, min_nodes: int, fast_pull: bool, gpu: bool = True
) -> tuple[Step, ...]:
    """Return the steps of a job whose runner is a pod on a Kubernetes node.

    `image_gib` is the compressed size of the runner's image; `fast_pull` is true where parallel pulls are enabled and
    work; `gpu` is true where the node has a GPU. An idle runner only has to get the job. A node that is kept has the
    image.
    """
    if idle_on_gpu:
        return (DISPATCH,)
    if min_nodes:
        return (DISPATCH, POD, REGISTRATION)
    image = parallel_pull(image_gib) if fast_pull else pull(image_gib)
    node = (NODE, DEVICE_PLUGIN) if gpu else (CPU_NODE,)
    return (DISPATCH, POD, AUTOSCALER, *node, image, REGISTRATION)


def standing_machine_steps(*, by_workflow: bool, start: Step = STOPPED_MACHINE) -> tuple[Step, ...]:
    """Return the steps of a job from the start of a machine that exists between jobs."""
    asked = (START_JOB,) if by_workflow else ()
    return (*asked, start, STANDING_RUNNER, DISPATCH)


def own_machine_steps() -> tuple[Step, ...]:
    """Return the steps of a job that gets a machine of its own, with everything already on it."""
    return (DISPATCH, OWN_MACHINE, OWN_RUNNER)
