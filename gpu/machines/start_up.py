"""How long each step from a queued job to its first command takes: published timings, and estimates marked as such.

A step has a median and a 95th percentile in seconds and is taken to be log-normal between and beyond them. Where a
source gives a single figure or a range, the median is that figure or the middle, and the 95th percentile the range's
end or an estimate. None was measured on this project's own stack: `kubectl get events` of a first job gives the true
ones. Which steps a runner goes through is known in `checks.queue_time`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

_Z95 = NormalDist().inv_cdf(0.95)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step, in seconds."""

    name: str
    p50: float
    p95: float
    source: str
    estimate: bool = False
    """Whether it rests on no published figure."""

    @property
    def moments(self) -> tuple[float, float]:
        """Mean and variance of the log-normal distribution through both percentiles."""
        spread = math.log(self.p95 / self.p50) / _Z95 if self.p50 else 0.0
        mean = self.p50 * math.exp(spread**2 / 2)
        return mean, mean**2 * math.expm1(spread**2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """How long a job waits for its first command, in seconds."""

    p50: float
    p95: float


@lru_cache(maxsize=4096)
def wait(stages: tuple[Step, ...]) -> Wait:
    """The steps one after another, by Fenton and Wilkinson's approximation.

    The sum of independent log-normal times is taken to be log-normal with the sum's own mean and variance; for the
    spreads here both percentiles are within 3 % of a simulation's, and the same question has the same answer always.
    """
    mean = math.fsum(stage.moments[0] for stage in stages)
    variance = math.fsum(stage.moments[1] for stage in stages)
    if not mean:
        return Wait(p50=0.0, p95=0.0)
    spread = math.sqrt(math.log1p(variance / mean**2))
    median = mean * math.exp(-(spread**2) / 2)
    return Wait(p50=median, p95=median * math.exp(_Z95 * spread))


DISPATCH = Step(
    name="GitHub hands the job out", p50=3, p95=15, estimate=True,
    source="GitHub publishes no figure; scale-set listeners poll without a pause",
)  # fmt: skip
POD = Step(
    name="the controller makes the runner's pod", p50=4, p95=15, estimate=True,
    source="ARC publishes no figure; three objects are made one after another",
)  # fmt: skip
AUTOSCALER = Step(
    name="the autoscaler sees the pod", p50=10, p95=30,
    source="Cluster Autoscaler FAQ: a scan every 10 s, within 30 s on clusters of up to 100 nodes",
)  # fmt: skip
LAUNCH = Step(
    name="a GPU node starts and joins", p50=100, p95=180,
    source="Tensorfuse, August 2025: 80-120 s until a cloud GPU node has booted; the tail is an estimate",
)  # fmt: skip
DEVICE_PLUGIN = Step(
    name="the device plugin offers the GPU", p50=15, p95=30, estimate=True,
    source="a small image, and a GPU to find",
)  # fmt: skip
REGISTRATION = Step(
    name="the runner starts and takes the job", p50=8, p95=25, estimate=True,
    source="GitHub publishes no figure; a just-in-time runner registers when its pod is made",
)  # fmt: skip
CLOUD_MACHINE = Step(
    name="a machine of its own starts", p50=60, p95=120,
    source="Ubicloud: 50-60 s cold; machine.dev: about a minute; the tail is an estimate",
)  # fmt: skip
CLOUD_RUNNER = Step(
    name="cirun registers the runner on it", p50=30, p95=75, estimate=True,
    source="the runner is downloaded and configured at boot",
)  # fmt: skip

_PULL_BASE = 3.0


def pull(gib: float) -> Step:
    """Pulling an image of that size, as it lies in the registry, on a node that has nothing of it."""
    return Step(
        name=f"the image of {gib:g} GiB is pulled",
        p50=_PULL_BASE + 15.6 * gib,
        p95=_PULL_BASE + 51 * gib,
        source="AWS, karpenter-blueprints: 131 s for about 9 GB on AL2023; Tensorfuse, August 2025: 7-10 min for 10 GB",
    )


def fast_pull_step(gib: float) -> Step:
    """The same in parallel, through the SOCI snapshotter."""
    return Step(
        name=f"the image of {gib:g} GiB is pulled in parallel",
        p50=_PULL_BASE + 4.7 * gib,
        p95=_PULL_BASE + 15.6 * gib,
        source="AWS, karpenter-blueprints: 39.6 s for about 9 GB on AL2023; the tail is a pull that gains nothing",
    )


USUAL_IMAGE_GIB = 5.0
"""The compressed size of an image whose size is not stated: a CUDA runtime with a framework."""


def own_machine_steps() -> tuple[Step, ...]:
    """Return the steps of a job that gets a new machine which boots with everything."""
    return (DISPATCH, CLOUD_MACHINE, CLOUD_RUNNER)


def shared_node_steps(*, image_gib: float, idle_on_gpu: int, min_nodes: int, fast_pull: bool) -> tuple[Step, ...]:
    """Return the steps of a job that gets a pod on a node group.

    Args:
        image_gib: the compressed size of the runner's image.
        idle_on_gpu: idle runners that already have a GPU.
        min_nodes: nodes that always run.
        fast_pull: whether image layers are pulled in parallel, with effect.

    """
    if idle_on_gpu:
        return (DISPATCH,)
    if min_nodes:
        return (DISPATCH, POD, REGISTRATION)
    image = fast_pull_step(image_gib) if fast_pull else pull(image_gib)
    return (DISPATCH, POD, AUTOSCALER, LAUNCH, DEVICE_PLUGIN, image, REGISTRATION)
