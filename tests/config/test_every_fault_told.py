"""No fault hides another, in the same entry or elsewhere, and none is told of twice."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.config import stacks
from tests.config.stacks import STAGING
from tests.mistakes.catalogue import MISTAKES, Mistake, Told, put_over

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

pytestmark = pytest.mark.pure

SOUND: Final = stacks.sections(STAGING)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        (
            {
                "runners/gpu-t4/needs/memory": "12GB",
                "runners/gpu-t4/needs/gpu": "t44",
                "runners/gpu-t4/arc/pool": "nope",
                "runners/gpu-t4/arc/image": "zip",
            },
            [
                'runners.gpu-t4.arc.image: "zip" is not in images; known: runner-gpu',
                'runners.gpu-t4.arc.pool: "nope" is not in gpu-pools; known: t4-on-demand, t4-spot',
                'runners.gpu-t4.needs.gpu: "t44" is not a known GPU model; did you mean "t4"?',
                'runners.gpu-t4.needs.memory: "12GB" is not a size; write whole binary units, as in 12Gi',
            ],
        ),
        (
            {
                "gpu-pools/t4-spot/capacity": "sometimes",
                "gpu-pools/t4-spot/instance-types": ["g4dn.xlage", 5, "m6i.large"],
                "gpu-pools/t4-spot/zones": ["us-west-2a", "us-west-2"],
                "gpu-pools/t4-spot/labels": {"role": "gpu", "a team": "vision"},
                "gpu-pools/t4-spot/min": 6,
            },
            [
                "gpu-pools.t4-spot.capacity: ",
                'gpu-pools.t4-spot.instance-types[0]: g4dn.xlage is not a known EC2 instance type; did you mean "g4dn.xl',
                "gpu-pools.t4-spot.instance-types[1]: 5 is not valid",
                "gpu-pools.t4-spot.instance-types[2]: m6i.large has no GPU",
                "gpu-pools.t4-spot.labels.a team: ",
                "gpu-pools.t4-spot.labels.role: is set by the program",
                "gpu-pools.t4-spot.min: 6 is over max 5",
                'gpu-pools.t4-spot.zones[1]: "us-west-2" is not an availability zone',
            ],
        ),
        (
            {
                "runners/cirun-gcp-gpu/needs/gpu": "t44",
                "runners/cirun-gcp-gpu/cirun-gcp/machine-types": ["n1-standrad-4"],
                "runners/cirun-gcp-gpu/cirun-gcp/image-family": "gpu-hosts",
                "runners/cirun-gcp-gpu/cirun-gcp/disk": "100G",
                "host-image/verifier": {"gpu": "t5", "gpus": 0, "machine-type": "n1-standrad-4"},
                "host-image/keep": 0,
            },
            [
                "host-image.keep: 0 is not valid",
                'host-image.verifier.gpu: t5 is not known; did you mean "t4"?',
                "host-image.verifier.gpus: 0 is not valid",
                "host-image.verifier.machine-type: n1-standrad-4 is not a known GCE machine type",
                "runners.cirun-gcp-gpu.cirun-gcp.disk: ",
                'runners.cirun-gcp-gpu.cirun-gcp.image-family: "gpu-hosts" is not built here; write "gpu-host"',
                "runners.cirun-gcp-gpu.cirun-gcp.machine-types[0]: n1-standrad-4 is not a known GCE machine type",
                "runners.cirun-gcp-gpu.needs.gpu: ",
            ],
        ),
        (
            {"images/runner-gpu": {"repository": "runner-gpus", "digest": "sha256:1", "cuda": 12.9}},
            [
                "images.runner-gpu.cuda: 12.9 is a number",
                "images.runner-gpu.digest: ",
                'images.runner-gpu.repository: "runner-gpus" is not in ecr; did you mean "runner-gpu"?',
            ],
        ),
        ({"runners/gpu-t4/arc": 5}, ["runners.gpu-t4.arc: 5 is not valid"]),
        ({"runners/gpu-t4/needs": 5}, ["runners.gpu-t4.needs: 5 is not valid"]),
        ({"gpu-pools/t4-spot": 5}, ["gpu-pools.t4-spot: 5 is not valid"]),
        ({"runners/gpu-t4/arc/pool": "T4"}, ['runners.gpu-t4.arc.pool: "T4" is not a name']),
        ({"cluster/version": "1.3"}, ['cluster.version: "1.3" is not a Kubernetes minor version']),
        ({"artifact-registry": stacks.OUT}, ["artifact-registry: missing, and test-image needs it"]),
        (
            {"gpu-pools/t4-on-demand/fast_image_pull": True},
            ['gpu-pools.t4-on-demand.fast_image_pull: unknown key; did you mean "fast-image-pull"?'],
        ),
    ],
    ids=[
        "a runner with four",
        "a pool with eight",
        "a runner and an image on Google with eight",
        "an image with three",
        "no map for a back end",
        "no map for needs",
        "no map for a pool",
        "a name that is none",
        "a version that is none",
        "a section missing",
        "a key as Python spells it",
    ],
)
def test_every_fault_is_told_and_each_once(changes: Mapping[str, Any], told: list[str]) -> None:
    faults = stacks.faults(stacks.sections(STAGING, changes))

    assert [line[: len(start)] for line, start in zip(faults, told, strict=False)] == told
    assert len(faults) == len(told)


def changed(change: Any, above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The places that a change alters."""
    for key, value in change.items():
        if isinstance(value, dict) and value:
            yield from changed(value, (*above, key))
        else:
            yield (*above, key)


RESTS_ON: Final[Mapping[str, list[tuple[str, ...]]]] = {
    "another GPU than the pool's": [("gpu-pools", "t4-on-demand", "instance-types")],
    "a pool that nothing ever scales": [("gpu-pools", "t4-spot", "min")],
    "more GPUs than cirun gives a machine": [("runners", "cirun-gcp-gpu", "cirun-gcp", "machine-types")],
    "a zone of another region": [("aws", "region")],
    "a zone of AWS that its region has not": [("aws", "region")],
    "machines that all stand elsewhere than their images": [("gcp", "region")],
    "longest jobs shorter than a typical one": [("runners", "gpu-t4", "workload", "minutes")],
    "a repository's tests on a runner that cirun does not serve": [
        ("runners", "gpu-t4"),
        ("runners", "gpu-t4-steady"),
    ],
}
"""What has to be sound for a mistake to be one, where it is neither altered nor told of."""


def places(mistake: Mistake) -> list[tuple[str, ...]]:
    """What a mistake alters, what it is told of, and what it rests on."""
    steps = tuple(mistake.path.replace("[", ".").replace("]", "").split("."))
    return [*changed(mistake.change), steps, *RESTS_ON.get(mistake.name, [])]


def apart(one: Mistake, other: Mistake) -> bool:
    """Whether neither alters or is told of what the other does."""
    return not any(a[: len(b)] == b or b[: len(a)] == a for a in places(one) for b in places(other))


def told_of(mistake: Mistake, faults: list[str]) -> list[str]:
    """The lines that tell of a mistake."""
    lines = (line for line in faults if line.startswith(f"{mistake.path}: "))
    return [line for line in lines if all(words in line for words in mistake.words)]


FAULTS: Final = [
    mistake
    for mistake in MISTAKES
    if mistake.told is Told.FAULT and told_of(mistake, stacks.faults(put_over(SOUND, mistake.change)))
]
"""Those that sections alone tell of; some are found as a file is read."""
PAIRS: Final = [pair for pair in combinations(FAULTS, 2) if apart(*pair)]


def test_most_mistakes_are_apart() -> None:
    assert len(PAIRS) > len(FAULTS) * (len(FAULTS) - 1) / 2 * 0.9
    assert not apart(FAULTS[0], FAULTS[0])


def test_of_any_two_mistakes_both_are_told_and_nothing_else() -> None:
    """Every pair is tried, because a pair that is left out by chance fails on another day."""
    amiss: dict[tuple[str, str], list[str]] = {}
    for one, other in PAIRS:
        faults = stacks.faults(put_over(put_over(SOUND, one.change), other.change))
        each_once = [len(told_of(mistake, faults)) for mistake in (one, other)] == [1, 1]
        if not each_once or len(faults) > len((one, other)) + len(one.beside) + len(other.beside):
            amiss[one.name, other.name] = faults

    assert amiss == {}
