"""The catalogue of mistakes in a stack file.

Each mistake is a change that is merged into `tests/stacks/staging.yaml`, map by map. Exactly one line of the output has
the path and the words of the mistake. If the change causes other problems too, their paths are listed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from ops.outcome import Exit

OUT: Final = object()
"""Marks a key that the change removes."""


class Severity(StrEnum):
    """The kind of line that reports a mistake."""

    FAULT = "fault"
    """The stack file is refused when it is read."""
    ERROR = "error"
    """It cannot work."""
    RULE = "rule"
    """A resource of the plan violates a policy rule."""
    WARNING = "warning"
    """It works, but may surprise."""

    @property
    def exit(self) -> Exit:
        """The exit code of the command."""
        return {Severity.FAULT: Exit.WRONG, Severity.WARNING: Exit.GOOD}.get(self, Exit.FINDING)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistake:
    """One mistake."""

    name: str
    change: Mapping[str, Any]
    """The change to the sections of the stack file."""
    level: Severity = Severity.FAULT
    path: str
    """The path in the line."""
    words: tuple[str, ...]
    """Parts of the line, above all of the fix."""
    check: str = ""
    """The check that reports it; empty if the stack file is refused when it is read."""
    also_at: tuple[str, ...] = ()
    """The paths of other problems that the same change causes."""


def merge(below: Any, above: Any) -> Any:
    """Return `below` with a change merged into it, map by map."""
    if not (isinstance(below, Mapping) and isinstance(above, Mapping)):
        return above
    kept = {key: value for key, value in below.items() if above.get(key) is not OUT}
    changed = {key: merge(below.get(key, {}), value) for key, value in above.items() if value is not OUT}
    return {**kept, **changed}


def _runner(name: str = "gpu-t4", /, **change: Any) -> dict[str, Any]:
    return {"runners": {name: {key.replace("_", "-"): value for key, value in change.items()}}}


def _pool(name: str = "t4-spot", /, **change: Any) -> dict[str, Any]:
    return {"gpu-pools": {name: {key.replace("_", "-"): value for key, value in change.items()}}}


def _image(**change: Any) -> dict[str, Any]:
    return {"images": {"runner-gpu": {"digest": OUT, **change}}}


PUSHED: Final[Mapping[str, Any]] = {
    "pushed-by": {"repository": "example-org/gpu-images", "repository-id": 84632179, "owner-id": 9919}
}
"""The repository at GitHub that pushes to one in ECR."""


def _on_gcp(**change: Any) -> dict[str, Any]:
    return _runner("cirun-gcp-gpu", cirun_gcp={key.replace("_", "-"): value for key, value in change.items()})


SMALL: Final = {"cpu": 1, "memory": "2Gi"}
STEADY: Final[dict[str, Any]] = {
    "needs": {"gpu": "t4", "cpu": 3, "memory": "12Gi", "cuda": "12.9"},
    "timeout-minutes": 240,
    "queue-target-minutes": 9,
    "arc": {"pool": "t4-on-demand", "image": "runner-gpu"},
}
"""A valid runner on a pool that other runners use."""
GRANTED: Final = {"quotas": {"NVIDIA_V100_GPUS": 2, "PREEMPTIBLE_NVIDIA_V100_GPUS": 2}}
"""The quotas that machines with a V100 need, so that the quota check reports nothing."""
ON_AWS: Final[Mapping[str, Any]] = {
    "needs": {"gpu": "t4", "cpu": 3, "memory": "12Gi", "cuda": "12.9"},
    "timeout-minutes": 60,
    "cirun-aws": {
        "instance-types": ["g4dn.xlarge"],
        "regions": ["us-west-2"],
        "subnets": {"us-west-2": ["subnet-0123456789abcdef0"]},
        "images": {"us-west-2": "ami-0123456789abcdef0"},
        "spot": [False],
    },
}
"""A valid runner if cirun has access to AWS."""

NAMES: Final = (
    Mistake(
        name="a misspelt section",
        change={"cirn": {}},
        path="cirn",
        words=("unknown section", 'did you mean "cirun"?'),
    ),
    Mistake(
        name="a misspelt key",
        change=_pool(dsk={"size": "200Gi"}),
        path="gpu-pools.t4-spot.dsk",
        words=("unknown key", 'did you mean "disk"?'),
    ),
    Mistake(
        name="a key with underscores",
        change={"gpu-pools": {"t4-on-demand": {"scale_down_after_minutes": 5}}},
        path="gpu-pools.t4-on-demand.scale_down_after_minutes",
        words=("unknown key", 'did you mean "scale-down-after-minutes"?'),
    ),
    Mistake(
        name="an unknown pool",
        change=_runner(arc={"pool": "t4-spto"}),
        path="runners.gpu-t4.arc.pool",
        words=('"t4-spto" is not in gpu-pools', 'did you mean "t4-spot"?'),
    ),
    Mistake(
        name="an unknown image",
        change=_runner(arc={"image": "runner-gpuu"}),
        path="runners.gpu-t4.arc.image",
        words=('"runner-gpuu" is not in images', 'did you mean "runner-gpu"?'),
    ),
    Mistake(
        name="an unknown repository",
        change={"images": {"runner-gpu": {"repository": "runner-gpuu"}}},
        path="images.runner-gpu.repository",
        words=("is not in ecr", 'did you mean "runner-gpu"?'),
    ),
    Mistake(
        name="a built image that nothing may push",
        change={"images": {"runner-gpu": {"build": {}}}},
        path="ecr.runner-gpu.pushed-by",
        words=("the workflow of images.runner-gpu.build needs it to push", "state {repository: OWNER/NAME"),
    ),
    Mistake(
        name="a built image whose cache cannot be overwritten",
        change={"ecr": {"runner-gpu": {**PUSHED, "mutable-tags": ["v*"]}}, "images": {"runner-gpu": {"build": {}}}},
        path="ecr.runner-gpu.mutable-tags",
        words=("overwrites the tag cache-runtime, which is immutable", 'add "cache-*"'),
    ),
    Mistake(
        name="a built image in another registry",
        change=_image(repository=OUT, reference="ghcr.io/example-org/runner", tag="1", build={}),
        path="images.runner-gpu.build",
        words=("the workflow pushes to the stack's own ECR", "state repository in place of reference"),
    ),
    Mistake(
        name="a built image of a CUDA version without packages",
        change={
            "ecr": {"runner-gpu": PUSHED},
            "images": {"runner-gpu": {"cuda": "12.4", "build": {}}},
        },
        path="images.runner-gpu.cuda",
        words=("NVIDIA has no packages of CUDA 12.4 for Ubuntu 24.04", "use 12.5 or later"),
    ),
    Mistake(
        name="an unknown runner for the test of an image",
        change={"ecr": {"runner-gpu": PUSHED}, "images": {"runner-gpu": {"build": {"test-on": "gpu-t5"}}}},
        path="images.runner-gpu.build.test-on",
        words=('"gpu-t5" is not in runners', 'did you mean "gpu-t4"?'),
    ),
    Mistake(
        name="a secret for the registry of the account",
        change={"images": {"runner-gpu": {"image-pull-secret": "ecr-read"}}},
        path="images.runner-gpu.image-pull-secret",
        words=("nodes pull from the ECR of their account without a secret", "remove it"),
    ),
    Mistake(
        name="a secret for the pods of jobs that have none",
        change=_runner(arc={"image-pull-secret": "ghcr-read"}),
        path="runners.gpu-t4.arc.image-pull-secret",
        words=("is for the pods of jobs", "state images.runner-gpu.image-pull-secret"),
    ),
    Mistake(
        name="images of PyTorch in an unknown repository",
        change={"pytorch-images": {"repository": "pytorch", "combinations": ["2.14.1-cuda13.0"]}},
        path="pytorch-images.repository",
        words=('"pytorch" is not in ecr or artifact-registry',),
    ),
    Mistake(
        name="images of PyTorch whose tags cannot change",
        change={"pytorch-images": {"repository": "gpu-tests", "combinations": ["2.14.1-cuda13.0"]}},
        path="artifact-registry.gpu-tests.immutable-tags",
        words=("each build of pytorch-images overwrites its tags", "write false"),
    ),
    Mistake(
        name="a combination of torch and CUDA without wheels",
        change={
            "artifact-registry": {"gpu-tests": {"immutable-tags": False}},
            "pytorch-images": {"repository": "gpu-tests", "combinations": ["2.14.1-cuda12.9"]},
        },
        path="pytorch-images.combinations[0]",
        words=("torch 2.14.1 has no wheels for CUDA 12.9", 'did you mean "2.14.1-cuda12.6"?'),
    ),
    Mistake(
        name="an image family that the stack does not build",
        change=_on_gcp(image_family="gpu-hosts"),
        path="runners.cirun-gcp-gpu.cirun-gcp.image-family",
        words=("is not the family of host-image", 'write "gpu-host"'),
    ),
    Mistake(
        name="an unknown instance type",
        change=_pool("t4-on-demand", instance_types=["g4dn.xlrage"]),
        path="gpu-pools.t4-on-demand.instance-types[0]",
        words=("g4dn.xlrage is not a known EC2 instance type", 'did you mean "g4dn.xlarge"?'),
    ),
    Mistake(
        name="a stated instance type that contradicts the table",
        change={
            "instance-types": {
                "g4dn.xlarge": {"cloud": "aws", "vcpus": 8, "memory": "16Gi", "gpu": "t4", "gpus": 1, "max-pods": 29}
            }
        },
        path="instance-types.g4dn.xlarge",
        words=("contradicts the table of gpu-ci, which has vcpus: 4", "correct it, or remove it"),
    ),
    Mistake(
        name="an unknown machine type",
        change=_on_gcp(machine_types=["n1-standart-4"]),
        path="runners.cirun-gcp-gpu.cirun-gcp.machine-types[0]",
        words=("is not a known GCE machine type", 'did you mean "n1-standard-4"?'),
    ),
    Mistake(
        name="an unknown GPU",
        change=_runner("gpu-t4-steady", needs={"gpu": "t4g"}),
        path="runners.gpu-t4-steady.needs.gpu",
        words=('"t4g" is not a known GPU model', 'did you mean "t4"?'),
    ),
    Mistake(
        name="a GPU model that the pool does not have",
        change=_runner("gpu-t4-steady", needs={"gpu": "a10g"}),
        path="runners.gpu-t4-steady.needs.gpu",
        words=("g4dn.xlarge has the GPU t4, not a10g", "write t4, or remove g4dn.xlarge"),
    ),
    Mistake(
        name="a pool without a GPU",
        change=_pool("t4-on-demand", instance_types=["m6i.large"]),
        path="gpu-pools.t4-on-demand.instance-types[0]",
        words=("m6i.large has no GPU", "g4dn"),
    ),
    Mistake(
        name="a zone without a subnet",
        change=_pool(zones=["us-west-2a", "us-west-2d"]),
        path="gpu-pools.t4-spot.zones[1]",
        words=("us-west-2d has no subnet", 'did you mean "us-west-2'),
    ),
    Mistake(
        name="a control plane in only one zone",
        change={"cluster": {"zones": ["us-west-2a"]}},
        path="cluster.zones",
        words=("2",),
    ),
    Mistake(
        name="a control plane in a zone without a subnet",
        change={"cluster": {"zones": ["us-west-2a", "us-west-2d"]}},
        path="cluster.zones[1]",
        words=("us-west-2d has no subnet", 'did you mean "us-west-2'),
    ),
    Mistake(
        name="a zone of another region",
        change={"network": {"zones": {"us-east-1a": 3}}},
        path="network.zones.us-east-1a",
        words=("is not a zone of us-west-2", "write us-west-2a"),
    ),
    Mistake(
        name="more tags than an auto-scaling group takes",
        change={"stack": {"tags": {f"Tag{number}": "x" for number in range(37)}}},
        level=Severity.ERROR,
        check="scale-from-zero",
        path="gpu-pools.t4-spot",
        words=("tags, but the limit is 50", "remove tags of the stack"),
        also_at=("gpu-pools.t4-on-demand",),
    ),
    Mistake(
        name="a NAT gateway in a zone without a subnet",
        change={"network": {"nat-zone": "us-west-2d"}},
        path="network.nat-zone",
        words=("us-west-2d has no subnet", 'did you mean "us-west-2'),
    ),
    Mistake(
        name="an unknown CUDA version",
        change=_runner(needs={"cuda": "12.7"}),
        level=Severity.ERROR,
        check="compatibility",
        path="runners.gpu-t4",
        words=("12.7 is not a known CUDA version", 'did you mean "12.'),
    ),
    Mistake(
        name="an unknown point release of a CUDA image",
        change={"test-image": {"cuda-image": "13.0.9-base-ubuntu24.04"}},
        level=Severity.ERROR,
        check="compatibility",
        path="test-image.cuda-image",
        words=("13.0.9-base-ubuntu24.04 is not a known tag of nvidia/cuda", 'did you mean "13.0.3-base-ubuntu24.04"?'),
    ),
    Mistake(
        name="an unknown torch version",
        change=_runner(needs={"torch": "2.9.9"}),
        level=Severity.ERROR,
        check="compatibility",
        path="runners.gpu-t4",
        words=("2.9.9 is not a known torch version", 'did you mean "2.9.1"?'),
    ),
    Mistake(
        name="an unknown onnxruntime version",
        change=_runner(needs={"onnxruntime": "1.99.0"}),
        level=Severity.ERROR,
        check="compatibility",
        path="runners.gpu-t4",
        words=("1.99 is not a known onnxruntime-gpu version", 'did you mean "1.'),
    ),
    Mistake(
        name="an unknown Kubernetes version",
        change={"cluster": {"version": "1.34"}},
        path="cluster.version",
        words=("1.34 has no pinned node image and add-ons", 'did you mean "1.3'),
    ),
    Mistake(
        name="a scale set name that is too long for the chart",
        change={"runners": {"gpu-t4": OUT, f"gpu-{'t' * 42}": {
            "needs": {"gpu": "t4", "cpu": 3, "memory": "12Gi", "cuda": "12.9"},
            "timeout-minutes": 60,
            "arc": {"pool": "t4-spot", "max": 5, "image": "runner-gpu"},
        }}},
        path=f"runners.gpu-{'t' * 42}",
        words=("46 characters", "the chart allows 45"),
    ),
)  # fmt: skip
"""Unknown names. The message suggests a known one."""

WRITING: Final = (
    Mistake(
        name="a CUDA version without quotes",
        change=_runner(needs={"cuda": 12.9}),
        path="runners.gpu-t4.needs.cuda",
        words=('write it in quotes: "12.9"',),
    ),
    Mistake(
        name="a Kubernetes version without quotes",
        change={"cluster": {"version": 1.35}},
        path="cluster.version",
        words=('write it in quotes: "1.35"',),
    ),
    Mistake(
        name="an account ID without quotes",
        change={"aws": {"account": 123456789012}},
        path="aws.account",
        words=('write it in quotes: "123456789012"',),
    ),
    Mistake(
        name="a size in a decimal unit",
        change=_runner(needs={"memory": "12GB"}),
        path="runners.gpu-t4.needs.memory",
        words=('"12GB" is not a size', "12Gi"),
    ),
    Mistake(
        name="a taint effect in the spelling of the EKS API",
        change=_pool(taints={"team": "vision:NO_SCHEDULE"}),
        path="gpu-pools.t4-spot.taints.team",
        words=("NO_SCHEDULE", "write vision:NoSchedule"),
    ),
    Mistake(
        name="a taint without a value",
        change=_pool(taints={"team": ":NoSchedule"}),
        path="gpu-pools.t4-spot.taints.team",
        words=("the autoscaler ignores such a taint", "write true:NoSchedule"),
    ),
    Mistake(
        name="a pool label that gpu-ci sets",
        change=_pool(labels={"nvidia.com/gpu.product": "T4"}),
        path="gpu-pools.t4-spot.labels.nvidia.com/gpu.product",
        words=("is set by gpu-ci", "use another key"),
    ),
    Mistake(
        name="a pool taint that gpu-ci sets",
        change=_pool(taints={"nvidia.com/gpu": "t4:NoSchedule"}),
        path="gpu-pools.t4-spot.taints.nvidia.com/gpu",
        words=("is set by gpu-ci",),
    ),
    Mistake(
        name="a tag key with the reserved prefix aws:",
        change={"stack": {"tags": {"aws:team": "ml"}}},
        path="stack.tags.aws:team",
        words=("is not a tag's key", "not aws:"),
    ),
    Mistake(
        name="a region instead of a zone",
        change={"host-image": {"zones": ["us-central1"]}},
        path="host-image.zones[0]",
        words=('"us-central1" is not a Google Cloud zone', "us-central1-b"),
    ),
    Mistake(
        name="a host image without zones",
        change={"host-image": {"zones": []}},
        path="host-image.zones",
        words=("list at least 1",),
    ),
    Mistake(
        name="a network range with host bits",
        change={"network": {"cidr": "10.0.0.1/16"}},
        path="network.cidr",
        words=("write the network address: 10.0.0.0/16",),
    ),
    Mistake(
        name="a network range that overlaps a reserved range",
        change={"network": {"reserved": {"office": "10.0.128.0/20"}}},
        path="network.reserved.office",
        words=("overlaps network.cidr 10.0.0.0/16", "use ranges that do not overlap"),
    ),
    Mistake(
        name="two zones with one slot",
        change={"network": {"zones": {"us-west-2c": 1}}},
        path="network.zones.us-west-2c",
        words=("us-west-2b already uses slot 1", "use a free slot, for example 2"),
    ),
    Mistake(
        name="a disk throughput that is too high for its IOPS",
        change=_pool(disk={"throughput": 1000}),
        path="gpu-pools.t4-spot.disk",
        words=("1000 MiB/s needs 4000 IOPS", "state iops: 4000, or throughput: 750"),
    ),
    Mistake(
        name="a disk smaller than the node image",
        change=_pool(disk={"size": "10Gi"}),
        path="gpu-pools.t4-spot.disk",
        words=("10Gi is smaller than the node image of 20 GiB", "state size: 20Gi or more"),
    ),
    Mistake(
        name="disk IOPS that are too high for its size",
        change=_pool(disk={"size": "30Gi", "iops": 16000}),
        path="gpu-pools.t4-spot.disk",
        words=("16000 IOPS need 32 GiB, but size is 30Gi", "state size: 32Gi, or iops: 15000"),
    ),
    Mistake(
        name="a minimum of runners above the maximum",
        change=_runner(arc={"min": 6}),
        path="runners.gpu-t4.arc.min",
        words=("6 is more than max 5", "write at most 5, or raise max"),
    ),
    Mistake(
        name="a minimum of nodes above the maximum",
        change=_pool(min=6),
        path="gpu-pools.t4-spot.min",
        words=("6 is more than max 5",),
    ),
    Mistake(
        name="a runner with two back ends",
        change=_runner("gpu-t4-steady", cirun_aws=ON_AWS["cirun-aws"]) | {"cirun": {"aws": True}},
        path="runners.gpu-t4-steady",
        words=("states arc and cirun-aws", "keep arc, and move cirun-aws to another runner"),
    ),
    Mistake(
        name="a label that is the name of another runner",
        change=_runner(arc={"labels": ["gpu-t4-steady"]}),
        path="runners.gpu-t4.arc.labels[0]",
        words=("gpu-t4-steady is the name of another runner, whose jobs would run here too", "use a label"),
    ),
    Mistake(
        name="a runner without a back end",
        change=_runner(arc=OUT),
        path="runners.gpu-t4",
        words=("no back end serves it", "state one of arc, cirun-aws, cirun-gcp"),
    ),
    Mistake(
        name="a container mode that needs a volume",
        change=_runner(arc={"container-mode": "kubernetes"}),
        path="runners.gpu-t4.arc.container-mode",
        words=('"kubernetes" is not valid', "kubernetes-novolume"),
    ),
)
"""Values in a wrong form, and values that contradict each other within one section."""

WHOLES: Final = (
    Mistake(
        name="alerts without metrics",
        change={"monitoring": {"dcgm": {"alerts": True}}},
        path="monitoring.dcgm",
        words=("alerts needs metrics", "state service-monitor: true"),
    ),
    Mistake(
        name="a smoke test with an unknown image",
        change={"smoke-test": {"image": "runner-cpu"}},
        path="smoke-test.image",
        words=('"runner-cpu" is not in images', "runner-gpu"),
    ),
    Mistake(
        name="a dashboard without metrics",
        change={"monitoring": {"dcgm": {"dashboard": True}}},
        path="monitoring.dcgm",
        words=("dashboard needs metrics", "state service-monitor: true"),
    ),
    Mistake(
        name="pools without a device plugin",
        change={"device-plugin": OUT},
        path="device-plugin",
        words=("missing, but gpu-pools needs it", "state device-plugin"),
    ),
    Mistake(
        name="a pool without an autoscaler",
        change={"autoscaler": OUT} | _pool("t4-on-demand", min=2),
        path="gpu-pools.t4-spot.max",
        words=("the pool stays at 0 nodes, because there is no autoscaler", "state autoscaler: {}, or min: 5"),
    ),
    Mistake(
        name="an export by a machine without a public address",
        change={"gcp": {"public-addresses": False}, "host-image": {"export": {"bucket": "gpu-images-example"}}},
        path="host-image.export",
        words=("gives the exporting machine a public address", "use share-with instead"),
    ),
    Mistake(
        name="Docker for the account root",
        change={"host-image": {"docker-user": "root"}},
        path="host-image.docker-user",
        words=('"root" is an account of Ubuntu itself', "as in ci-gpu-runner"),
    ),
    Mistake(
        name="a cirun runner without cloud access for cirun",
        change={"cirun": {"gcp": False}},
        path="cirun.gcp",
        words=("not enabled, but runners.cirun-gcp-gpu needs it", "state cirun: {gcp: true}"),
    ),
    Mistake(
        name="two runners with one cirun label",
        change={"cirun": {"aws": True}, "runners": {"gcp-gpu": ON_AWS}},
        path="runners.gcp-gpu",
        words=("has the label cirun-gcp-gpu, as has runners.cirun-gcp-gpu", "rename one of them"),
    ),
    Mistake(
        name="a label that cirun parses as a machine",
        change={"cirun": {"aws": True}, "runners": {"aws-t4-ubuntu": ON_AWS}},
        path="runners.aws-t4-ubuntu",
        words=("cirun reads the label cirun-aws-t4-ubuntu as CLOUD-TYPE-IMAGE", "with the cloud's name last"),
    ),
    Mistake(
        name="GPU tests on a runner that does not exist",
        change={"gpu-tests": {"vision": {"runner": "gpu-t5"}}},
        path="gpu-tests.vision.runner",
        words=('"gpu-t5" is not in runners', 'did you mean "gpu-t4"?'),
    ),
    Mistake(
        name="a schedule of a smoke test that is off",
        change={"gpu-tests": {"vision": {"smoke-schedule": "23 5 * * 1"}}},
        path="gpu-tests.vision",
        words=("smoke-schedule has no effect without smoke-test", "state smoke-test: true"),
    ),
    Mistake(
        name="ccache without a cache",
        change={"gpu-tests": {"vision": {"ccache": True}}},
        path="gpu-tests.vision",
        words=("ccache has no effect without a cache", "state cache, or remove ccache"),
    ),
    Mistake(
        name="a Python version twice",
        change={"gpu-tests": {"vision": {"python": "3.13", "matrix": {"python": ["3.12", "3.13"]}}}},
        path="gpu-tests.vision",
        words=("python and matrix.python exclude each other", "remove one of them"),
    ),
    Mistake(
        name="a Python version for make",
        change={"gpu-tests": {"vision": {"tool": "make", "python": "3.13"}}},
        path="gpu-tests.vision",
        words=("make installs no Python", "use another tool"),
    ),
    Mistake(
        name="an environment variable of the matrix",
        change={"gpu-tests": {"vision": {"env": {"TORCH": "1"}, "matrix": {"torch": ["2.9.1"]}}}},
        path="gpu-tests.vision",
        words=("env.TORCH is a variable of the matrix", "use another name"),
    ),
    Mistake(
        name="a reusable workflow without a marker",
        change={"gpu-tests": {"vision": {"reusable": True, "tests": ["make test"]}}},
        path="gpu-tests.vision",
        words=("reusable needs a command with `-m gpu`", "add it to tests"),
    ),
    Mistake(
        name="a label that starts and skips the tests",
        change={"gpu-tests": {"vision": {"skip-label": "RUN-gpu-ci"}}},
        path="gpu-tests.vision.skip-label",
        words=("is the same as run-label", "use two different labels"),
    ),
    Mistake(
        name="a container for tests on a runner without Docker",
        change={
            "gpu-tests": {"vision": {"runner": "gpu-t4", "container": "ghcr.io/example-org/tests@sha256:" + "a" * 64}}
        },
        level=Severity.ERROR,
        check="gpu-tests",
        path="gpu-tests.vision.container",
        words=("gpu-t4 has no Docker", "container-mode: kubernetes-novolume"),
    ),
    Mistake(
        name="a folder for caches on machines that keep nothing",
        change={"gpu-tests": {"vision": {"runner": "gpu-t4", "cache": "/cache"}}},
        level=Severity.ERROR,
        check="gpu-tests",
        path="gpu-tests.vision.cache",
        words=("the machines of gpu-t4 keep no files between jobs", "write cache: actions"),
    ),
    Mistake(
        name="a bucket of another cloud for caches",
        change={"gpu-tests": {"vision": {"runner": "cirun-gcp-gpu", "cache": "s3://example-cache"}}},
        level=Severity.ERROR,
        check="gpu-tests",
        path="gpu-tests.vision.cache",
        words=("have no identity of AWS that could read s3://example-cache", "use another runner"),
    ),
    Mistake(
        name="ccache in the image for tests",
        change={"gpu-tests": {"vision": {"runner": "cirun-gcp-gpu", "cache": "actions", "ccache": True}}},
        level=Severity.ERROR,
        check="gpu-tests",
        path="gpu-tests.vision.ccache",
        words=("the image of test-image, which has no ccache", "remove ccache"),
    ),
    Mistake(
        name="a missing key of the GitHub App",
        change={"github-app-private-key": OUT},
        path="github-app-private-key",
        words=("missing, but arc needs it", "pulumi config set --secret"),
    ),
    Mistake(
        name="the key of the GitHub App in plain text",
        change={"github-app-private-key": "no longer secret"},
        path="github-app-private-key",
        words=("is in plain text", "pulumi config set --secret"),
    ),
    Mistake(
        name="a credential inside a section",
        change={"github": {"url": f"https://ghp_{'a1' * 18}@github.com/example-org"}},
        path="github.url",
        words=("contains a credential in plain text", "revoke it"),
    ),
    Mistake(
        name="an image tag that is not fixed",
        change=_image(tag="latest"),
        path="images.runner-gpu.tag",
        words=('"latest" is not a fixed tag', "name an exact version"),
    ),
    Mistake(
        name="an image that is not pinned",
        change=_image(),
        path="images.runner-gpu",
        words=("the image is not pinned", "state digest: sha256:… or an exact tag"),
    ),
    Mistake(
        name="a digest that is too short",
        change={"images": {"runner-gpu": {"digest": "sha256:9f86d081"}}},
        path="images.runner-gpu.digest",
        words=("is not an image digest", "64 hexadecimal digits"),
    ),
    Mistake(
        name="an image family as the base image",
        change={"host-image": {"source-image": "ubuntu-2404-lts-amd64"}},
        path="host-image.source-image",
        words=("is not an exact image of ubuntu-os-cloud", "ubuntu-2404-noble-amd64-v20261105"),
    ),
    Mistake(
        name="a region without an AMI",
        change={
            "cirun": {"aws": True},
            "runners": {
                "cirun-aws-gpu": merge(ON_AWS, {"cirun-aws": {"regions": ["us-west-2", "us-east-1"], "subnets": OUT}})
            },
        },
        path="runners.cirun-aws-gpu.cirun-aws.regions[1]",
        words=("us-east-1 has no image", "state images: {us-east-1: ami-…}"),
    ),
    Mistake(
        name="a protected cluster with an API open to the internet",
        change={
            "stack": {"protect": True},
            "ecr": {"runner-gpu": {"force-delete": False}},
            "cluster": {"endpoint": {"public": ["0.0.0.0/0"]}},
        },
        path="cluster.endpoint.public[0]",
        words=("exposes the API of a protected stack to the internet", "list only the ranges that need it"),
    ),
    Mistake(
        name="a cluster with an API open to the internet",
        change={"cluster": {"endpoint": {"public": ["0.0.0.0/0"]}}},
        level=Severity.RULE,
        check="no-ingress-from-everywhere",
        path="Cluster cluster",
        words=("publicAccessCidrs grants access to 0.0.0.0/0", "list the ranges that need access"),
    ),
    Mistake(
        name="a protected registry with force-delete",
        change={"stack": {"protect": True}},
        path="ecr.runner-gpu.force-delete",
        words=("contradicts stack.protect", "write false, or write stack.protect: false"),
    ),
    Mistake(
        name="machines only outside the region of their images",
        change=_on_gcp(zones=["us-east4-a"]),
        path="runners.cirun-gcp-gpu.cirun-gcp.zones[0]",
        words=("no zone is in us-central1, the region of its container images", "add a zone of us-central1"),
    ),
    Mistake(
        name="a declared image without the hash that its builder reported",
        change={"host-image": {"mode": "declared", "phase": "image", "keep": OUT, "zones": ["us-central1-b"]}},
        path="host-image",
        words=("phase: image needs proved", "write the hash that the builder reported after ok:, in quotes"),
    ),
    Mistake(
        name="options that a declared image does not use",
        change={
            "host-image": {"mode": "declared", "export": {"bucket": "gpu-images-example"}, "builder": {"attempts": 2}}
        },
        path="host-image",
        words=("does not use export, keep, builder.attempts, zones after the first", "state mode: controller"),
    ),
)
"""Sections that need another section, or contradict it."""

ERRORS: Final = (
    Mistake(
        name="an image with a runner version that GitHub refuses",
        change={"images": {"runner-gpu": {"runner": "2.321.0"}}},
        level=Severity.ERROR,
        check="runner-version",
        path="images.runner-gpu.runner",
        words=("2.321.0 cannot register at GitHub", "2.329.0 and later", "ghcr.io/actions/actions-runner:2.337.0"),
    ),
    Mistake(
        name="system nodes too small for the system pods",
        change={"system-nodes": {"instance-types": ["t3.micro"]}},
        level=Severity.ERROR,
        check="system-room",
        path="system-nodes",
        words=("4 x t3.micro have no room for", "use a larger type", "room for 0 pods left"),
    ),
    Mistake(
        name="a runner larger than its node",
        change=_runner("gpu-t4-steady", needs={"cpu": 4, "memory": "16Gi"}),
        level=Severity.ERROR,
        check="fit",
        path="runners.gpu-t4-steady",
        words=("a g4dn.xlarge of gpu-pools.t4-on-demand has at most 3.64 CPU and 14Gi", "it requests 4 CPU and 16Gi",
               "request cpu: 3 and memory: 14Gi", "g4dn.2xlarge"),
    ),
    Mistake(
        name="a runner larger than the smallest type of its pool",
        change=_runner(needs={"cpu": 6}, arc={"fallback": OUT}),
        level=Severity.ERROR,
        check="fit",
        path="runners.gpu-t4",
        words=("a g4dn.xlarge of gpu-pools.t4-spot has at most 3.64 CPU", "list only g4dn.2xlarge in gpu-pools.t4-spot"),
    ),
    Mistake(
        name="a job that needs more disk than its node has",
        change=_runner("gpu-t4-steady", needs={"disk": "300Gi"}),
        level=Severity.ERROR,
        check="fit",
        path="runners.gpu-t4-steady",
        words=("it requests 300Gi of disk", "set gpu-pools.t4-on-demand.disk.size: 341Gi"),
    ),
    Mistake(
        name="a job that needs more disk than the instance store has",
        change=_pool("t4-on-demand", fast_image_pull=True) | _runner("gpu-t4-steady", needs={"disk": "150Gi"}),
        level=Severity.ERROR,
        check="fit",
        path="runners.gpu-t4-steady",
        words=("103.4Gi of disk", "remove gpu-pools.t4-on-demand.fast-image-pull, so that pods use the root disk"),
    ),
    Mistake(
        name="an image larger than the disk of every node",
        change={"images": {"runner-gpu": {"compressed": "500Gi"}}},
        level=Severity.ERROR,
        check="fit",
        path="images.runner-gpu.compressed",
        words=("the image takes at least 500Gi", "has 178.9Gi of disk for it", "set gpu-pools.t4-spot.disk.size: 557Gi"),
    ),
    Mistake(
        name="a job that needs more disk than its machine has",
        change=_runner("cirun-gcp-gpu", needs={"disk": "300Gi"}),
        level=Severity.ERROR,
        check="fit",
        path="runners.cirun-gcp-gpu",
        words=("its machines have 90Gi of disk besides the system, and it asks for 300Gi",
               "state runners.cirun-gcp-gpu.cirun-gcp.disk: 310Gi"),
    ),
    Mistake(
        name="a machine disk smaller than its image",
        change=_on_gcp(disk="40Gi"),
        level=Severity.ERROR,
        check="fit",
        path="runners.cirun-gcp-gpu.cirun-gcp.disk",
        words=("40Gi is smaller than the 50Gi of the image", "state at least 50Gi"),
    ),
    Mistake(
        name="more GPUs than the node has",
        change=_runner("gpu-t4-steady", needs={"gpus": 2}),
        level=Severity.ERROR,
        check="fit",
        path="runners.gpu-t4-steady",
        words=("has at most 1 nvidia.com/gpu", "request gpus: 1, or list only g4dn.12xlarge"),
    ),
    Mistake(
        name="a runner larger than its machine",
        change=_runner("cirun-gcp-gpu", needs={"memory": "16Gi"}),
        level=Severity.ERROR,
        check="fit",
        path="runners.cirun-gcp-gpu",
        words=("n1-standard-4 has 15360 MiB of memory but the job needs 16384", "memory: 13Gi"),
    ),
    Mistake(
        name="more idle runners than the pool can hold",
        change=_runner(arc={"min": 7, "max": 7, "fallback": OUT}),
        level=Severity.ERROR,
        check="counts",
        path="runners.gpu-t4",
        words=("7 idle runners, but gpu-pools.t4-spot has room for 5", "lower its min to 5, or raise gpu-pools.t4-spot.max"),
    ),
    Mistake(
        name="more idle runners than the pool and its fallback can hold",
        change=_runner(arc={"min": 9, "max": 9}),
        level=Severity.ERROR,
        check="counts",
        path="runners.gpu-t4",
        words=("gpu-pools.t4-spot and gpu-pools.t4-on-demand together have room for 7", "lower its min to 7"),
    ),
    Mistake(
        name="more idle runners of several runner sets than their pool can hold",
        change={"runners": {
            name: {**STEADY, "arc": {**STEADY["arc"], "min": 1, "max": 1}}
            for name in ("gpu-t4-steady", "gpu-t4-nightly", "gpu-t4-release")
        }},
        level=Severity.ERROR,
        check="counts",
        path="gpu-pools.t4-on-demand.max",
        words=("3 idle runners (gpu-t4-nightly 1, gpu-t4-release 1 and gpu-t4-steady 1)",
               "gpu-pools.t4-on-demand has room for 2", "raise gpu-pools.t4-on-demand.max to 3"),
    ),
    Mistake(
        name="a driver branch too old for the CUDA version",
        change={"host-image": {"driver": "550"}},
        level=Severity.ERROR,
        check="compatibility",
        path="host-image.driver",
        words=("CUDA 13.0 cannot run on driver R550", "needs driver 580.65.06 or newer",
               'set host-image.driver to "580"'),
    ),
    Mistake(
        name="a V100 with CUDA 13",
        change=_runner("cirun-gcp-gpu", needs={"gpu": "v100", "cuda": "13.0"}) | GRANTED,
        level=Severity.ERROR,
        check="compatibility",
        path="runners.cirun-gcp-gpu",
        words=("CUDA 13.0 cannot run on v100: CUDA 13 dropped sm_70", 'use cuda: "12.9"'),
    ),
    Mistake(
        name="a GPU that no supported CUDA version supports",
        change=_runner("cirun-gcp-gpu", needs={"gpu": "p100"}),
        level=Severity.ERROR,
        check="floor",
        path="runners.cirun-gcp-gpu",
        words=("p100 has compute capability 6.0; the minimum is 7.0", "choose a newer GPU"),
    ),
    Mistake(
        name="an instance type with a fraction of a GPU",
        change=_pool("t4-on-demand", instance_types=["g6f.xlarge"])
        | {"runners": {
            "gpu-t4": {"arc": {"fallback": OUT}},
            "gpu-t4-steady": {"needs": {"gpu": "l4", "cpu": 2, "memory": "8Gi"}},
        }},
        level=Severity.ERROR,
        check="floor",
        path="runners.gpu-t4-steady",
        words=("g6f.xlarge has 3 GB of GPU memory; the minimum is 8", "choose a type with a whole GPU"),
    ),
    Mistake(
        name="a machine with too few vCPU and too little memory",
        change=_runner("cirun-gcp-gpu", needs=SMALL, cirun_gcp={"machine-types": ["n1-standard-2"]}),
        level=Severity.ERROR,
        check="floor",
        path="runners.cirun-gcp-gpu",
        words=("n1-standard-2 has 2 vCPUs; the minimum is 4", "choose a larger type"),
        also_at=("runners.cirun-gcp-gpu",),
    ),
    Mistake(
        name="an image with an older CUDA version than the job needs",
        change=_runner(needs={"cuda": "13.0"}),
        level=Severity.ERROR,
        check="compatibility",
        path="runners.gpu-t4",
        words=("the job needs CUDA 13.0, but the image has CUDA 12.9", 'use an image with CUDA 13.0.3, or cuda: "12.9"'),
    ),
    Mistake(
        name="a torch build without kernels for the GPU",
        change=_runner("cirun-gcp-gpu", needs={"gpu": "v100", "torch": "2.9.1+cu130"}) | GRANTED,
        level=Severity.ERROR,
        check="compatibility",
        path="runners.cirun-gcp-gpu",
        words=("cannot run on v100", "install torch=="),
    ),
    Mistake(
        name="an onnxruntime for another CUDA version",
        change=_runner(needs={"onnxruntime": "1.28.0"}),
        level=Severity.ERROR,
        check="compatibility",
        path="runners.gpu-t4",
        words=("loads CUDA 13 libraries, but the job has CUDA 12.9", "use onnxruntime-gpu 1."),
    ),
    Mistake(
        name="a Spot quota too small on AWS",
        change={"quotas": {"L-3819A6DF": 16}},
        level=Severity.ERROR,
        check="quota",
        path="gpu-pools.t4-spot",
        words=("40 vCPUs in us-west-2, quota L-3819A6DF", "the stack file states 16",
               "request more and state 40 as quotas.L-3819A6DF", "--desired-value 40"),
    ),
    Mistake(
        name="a GPU quota too small on Google Cloud",
        change={"quotas": {"NVIDIA_T4_GPUS": 1}},
        level=Severity.ERROR,
        check="quota",
        path="runners.cirun-gcp-gpu",
        words=("3 GPUs in us-central1, quota NVIDIA_T4_GPUS", "the stack file states 1", "--preferred-value=3"),
    ),
    Mistake(
        name="a Spot GPU quota too small on Google Cloud",
        change={"quotas": {"PREEMPTIBLE_NVIDIA_T4_GPUS": 1}},
        level=Severity.ERROR,
        check="quota",
        path="runners.cirun-gcp-gpu",
        words=("quota PREEMPTIBLE_NVIDIA_T4_GPUS", "--preferred-value=3"),
    ),
    Mistake(
        name="a GPU quota without a GPU for the image test",
        change={"quotas": {"NVIDIA_T4_GPUS": 2}},
        level=Severity.ERROR,
        check="quota",
        path="runners.cirun-gcp-gpu",
        words=("3 GPUs in us-central1, quota NVIDIA_T4_GPUS", "lower runners.cirun-gcp-gpu.cirun-gcp.at-once to 1"),
    ),
    Mistake(
        name="an expected month over the budget",
        change={"budget": {"expected": 100}},
        level=Severity.ERROR,
        check="money",
        path="budget.expected",
        words=("the expected month costs", "over the limit of 100.00 USD", "use fewer or cheaper machines in ", "or raise the limit to "),
    ),
    Mistake(
        name="a worst month over the budget",
        change={"budget": {"worst": 1000}},
        level=Severity.ERROR,
        check="money",
        path="budget.worst",
        words=("the worst month costs", "over the limit of 1,000.00 USD", "use fewer or cheaper machines in gpu-pools.t4-spot"),
    ),
    Mistake(
        name="a queue target below the start time of cirun",
        change=_runner("cirun-gcp-gpu", queue_target_minutes=1),
        level=Severity.ERROR,
        check="queue-time",
        path="runners.cirun-gcp-gpu.queue-target-minutes",
        words=("over the target of 1", "no setting makes it shorter; raise the target to 3"),
    ),
    Mistake(
        name="a fallback that exceeds the budget",
        change={"budget": {"worst": 3200}},
        level=Severity.ERROR,
        check="money",
        path="budget.worst",
        words=("the worst month costs", "over the limit of 3,200.00 USD", "raise the limit to "),
    ),
    Mistake(
        name="a queue target that most jobs exceed",
        change=_runner(queue_target_minutes=2),
        level=Severity.ERROR,
        check="queue-time",
        path="runners.gpu-t4.queue-target-minutes",
        words=("over the target of 2", "set gpu-pools.t4-spot.min: 1", "USD a month"),
    ),
    Mistake(
        name="a declared image with a stale content hash",
        change={"host-image": {"mode": "declared", "phase": "image", "proved": "ffffffff", "keep": OUT,
            "zones": ["us-central1-b"]}},
        level=Severity.ERROR,
        check="image-proof",
        path="host-image.proved",
        words=("the stated hash ffffffff is stale: the current content hashes to", "go back to phase: build"),
    ),
)  # fmt: skip
"""Stacks that cannot work: checks report errors."""

WARNINGS: Final = (
    Mistake(
        name="machines of cirun in a network that they share",
        change={
            "cirun": {"aws": True},
            "runners": {
                "own": {
                    "needs": {"gpu": "t4", "cpu": 3, "memory": "12Gi", "cuda": "12.9"},
                    "timeout-minutes": 60,
                    "cirun-aws": {key: value for key, value in ON_AWS["cirun-aws"].items() if key != "subnets"},
                }
            },
        },
        level=Severity.WARNING,
        check="untrusted-jobs",
        path="runners.own.cirun-aws.subnets",
        words=("start in the default network of the region", "state the subnets that its output lists"),
    ),
    Mistake(
        name="a runner group that every repository of the organisation may use",
        change={"arc": {"runner-group": "Default"}},
        level=Severity.WARNING,
        check="untrusted-jobs",
        path="arc.runner-group",
        words=("every repository of example-org may use the runners", "limit the runner group to named repositories"),
    ),
    Mistake(
        name="Spot with one type",
        change=_pool(instance_types=["g4dn.xlarge"]),
        level=Severity.WARNING,
        check="counts",
        path="gpu-pools.t4-spot.capacity",
        words=("spot with one type", "every job waits for a node of gpu-pools.t4-on-demand", "add more types"),
    ),
    Mistake(
        name="Spot with one type and no fallback",
        change=_pool(instance_types=["g4dn.xlarge"]) | _runner(arc={"fallback": OUT}),
        level=Severity.WARNING,
        check="counts",
        path="gpu-pools.t4-spot.capacity",
        words=("there are no runners", "add more types, or add an on-demand pool as the fallback of its runners"),
    ),
    Mistake(
        name="only Spot for machines of one type",
        change=_on_gcp(spot=[True]),
        level=Severity.WARNING,
        check="counts",
        path="runners.cirun-gcp-gpu.cirun-gcp.spot",
        words=("spot with one type and no fallback", "add more types, or state [true, false] to fall back"),
    ),
    Mistake(
        name="Spot in one zone",
        change=_pool(zones=["us-west-2a"]),
        level=Severity.WARNING,
        check="counts",
        path="gpu-pools.t4-spot.capacity",
        words=("spot with one zone", "add more zones"),
    ),
    Mistake(
        name="more jobs than the pools can hold",
        change=_runner(arc={"max": 9}),
        level=Severity.WARNING,
        check="counts",
        path="runners.gpu-t4",
        words=("11 jobs at most (gpu-t4 9 and gpu-t4-steady 2)",
               "gpu-pools.t4-spot and gpu-pools.t4-on-demand together have room for 7",
               "lower the max of these runners to 7 in total, or raise gpu-pools.t4-spot.max to"),
    ),
    Mistake(
        name="more jobs than the pool can hold, without a fallback",
        change=_runner(arc={"max": 9, "fallback": OUT}),
        level=Severity.WARNING,
        check="counts",
        path="runners.gpu-t4",
        words=("9 jobs at most, but gpu-pools.t4-spot has room for 5",
               "lower its max to 5, or raise gpu-pools.t4-spot.max to 9"),
    ),
    Mistake(
        name="more jobs of two runners than their pool can hold",
        change={"runners": {"gpu-t4-nightly": {**STEADY, "arc": {**STEADY["arc"], "max": 2}}}},
        level=Severity.WARNING,
        check="counts",
        path="gpu-pools.t4-on-demand.max",
        words=("4 jobs at most (gpu-t4-nightly 2 and gpu-t4-steady 2)", "raise gpu-pools.t4-on-demand.max to 4"),
    ),
    Mistake(
        name="more nodes than jobs can use",
        change=_pool("t4-on-demand", max=8) | {"quotas": {"L-DB2E81BA": 64}},
        level=Severity.WARNING,
        check="counts",
        path="gpu-pools.t4-on-demand.max",
        words=("up to 8 nodes, but its runners can use at most 7", "set it to 7"),
    ),
    Mistake(
        name="a job with several time slices of a GPU",
        change=_pool("t4-on-demand", sharing={"mode": "time-slicing", "replicas": 2})
        | _runner("gpu-t4-steady", needs={**SMALL, "gpus": 2}),
        level=Severity.WARNING,
        check="counts",
        path="runners.gpu-t4-steady",
        words=("it requests 2 shares of a GPU, which gives it no more of the GPU than one", "request one share"),
    ),
    Mistake(
        name="a share of a GPU that no job can use",
        change=_pool("t4-on-demand", sharing={"mode": "time-slicing", "replicas": 2}),
        level=Severity.WARNING,
        check="counts",
        path="runners.gpu-t4-steady",
        words=("only 1 of the 2 nvidia.com/gpu of a g4dn.xlarge can be used",
               "request cpu: 1 and memory: 7Gi, or remove gpu-pools.t4-on-demand.sharing"),
    ),
    Mistake(
        name="an idle GPU node without a queue target",
        change=_pool(min=1),
        level=Severity.WARNING,
        check="money",
        path="gpu-pools.t4-spot.min",
        words=("1 idle node costs", "USD a month", "set it to 0, or state runners.gpu-t4.queue-target-minutes"),
    ),
    Mistake(
        name="an idle GPU runner without a queue target",
        change=_runner(arc={"min": 1}),
        level=Severity.WARNING,
        check="money",
        path="runners.gpu-t4.arc.min",
        words=("1 idle runner costs", "set it to 0"),
    ),
    Mistake(
        name="more work than a pool has machine hours for",
        change=_pool(max=1) | _runner(arc={"max": 1}, workload={"jobs-per-month": 5000}),
        level=Severity.WARNING,
        check="money",
        path="gpu-pools.t4-spot.max",
        words=("machine hours a month, and at most 730 are available", "set it to at least"),
        also_at=("runners.gpu-t4.arc.max",),
    ),
    Mistake(
        name="Spot for jobs that are often interrupted",
        change=_pool(interruptions_per_hour=0.1) | _runner(timeout_minutes=240),
        level=Severity.WARNING,
        check="spot-plan",
        path="runners.gpu-t4",
        words=("a spot job of 240 minutes is interrupted", "name an on-demand pool in runners.gpu-t4.arc.pool and remove runners.gpu-t4.arc.fallback",
               "or lower runners.gpu-t4.timeout-minutes to 63"),
    ),
    Mistake(
        name="a queue target that some jobs exceed",
        change=_runner(queue_target_minutes=6),
        level=Severity.WARNING,
        check="queue-time",
        path="runners.gpu-t4.queue-target-minutes",
        words=("over the target of 6", "set gpu-pools.t4-spot."),
    ),
    Mistake(
        name="too few runners for the jobs of the working hours",
        change=_runner(workload={"jobs-per-month": 9000}),
        level=Severity.WARNING,
        check="queue-time",
        path="runners.gpu-t4.arc.max",
        words=("the queue grows all day", "set it to at least"),
    ),
    Mistake(
        name="parallel image pulls on a slow disk",
        change=_pool("t4-on-demand", fast_image_pull=True, instance_types=["p3.2xlarge"])
        | {"runners": {"gpu-t4": {"arc": {"fallback": OUT}}, "gpu-t4-steady": {"needs": {"gpu": "v100"}}},
           "quotas": {"L-417A185B": 64}},
        level=Severity.WARNING,
        check="queue-time",
        path="gpu-pools.t4-on-demand.fast-image-pull",
        words=("parallel image pulls are no faster", "they need a disk of 600 MiB/s", "remove fast-image-pull"),
        also_at=("gpu-pools.t4-on-demand.instance-types", "runners.gpu-t4-steady"),
    ),
    Mistake(
        name="a disk below the recommended minimum",
        change=_pool(disk={"size": "40Gi"}),
        level=Severity.WARNING,
        check="floor",
        path="runners.gpu-t4",
        words=("its machines have 42.9 GB of disk; the recommended minimum is 50", "state a larger disk"),
    ),
    Mistake(
        name="a driver older than the CUDA version but of the same major version",
        change=_runner("cirun-gcp-gpu", needs={"cuda": "13.1"}),
        level=Severity.WARNING,
        check="compatibility",
        path="runners.cirun-gcp-gpu",
        words=("CUDA 13.1 runs on driver R580 only through minor version compatibility",
               'use cuda: "13.0", or set host-image.driver to "595"'),
    ),
    Mistake(
        name="a CUDA image after its end of life",
        change={"test-image": {"cuda-image": "11.8.0-base-ubuntu22.04"}},
        level=Severity.WARNING,
        check="compatibility",
        path="test-image.cuda-image",
        words=("reached its end of life with its last driver branch", "copy it to your own registry"),
    ),
    Mistake(
        name="a CUDA image that a point release supersedes",
        change={"test-image": {"cuda-image": "13.0.0-base-ubuntu24.04"}},
        level=Severity.WARNING,
        check="compatibility",
        path="test-image.cuda-image",
        words=("CUDA 13.0.3 supersedes nvidia/cuda:13.0.0-base-ubuntu24.04", "use 13.0.3-base-ubuntu24.04"),
    ),
    Mistake(
        name="an image that is not built yet",
        change={"images": {"runner-gpu": {"digest": f"sha256:{'0' * 64}"}}},
        level=Severity.WARNING,
        check="image-pin",
        path="images.runner-gpu.digest",
        words=("64 zeros are the digest of no image", "write the digest that the build prints"),
    ),
    Mistake(
        name="an image by a tag that moves",
        change={"images": {"runner-gpu": {"digest": OUT, "tag": "cache-runtime"}}},
        level=Severity.WARNING,
        check="image-pin",
        path="images.runner-gpu.tag",
        words=("allows to overwrite cache-runtime", "state the digest"),
    ),
    Mistake(
        name="a quota that is not stated",
        change={"quotas": {"L-3819A6DF": OUT}},
        level=Severity.WARNING,
        check="quota",
        path="gpu-pools.t4-spot",
        words=("a new account has 0", "once it is granted state 40 as quotas.us-west-2/L-3819A6DF", "--desired-value 40"),
    ),
    Mistake(
        name="a quota with a misspelt name",
        change={"quotas": {"NVIDIA_T4_GPU": 4}},
        level=Severity.WARNING,
        check="quota",
        path="quotas.NVIDIA_T4_GPU",
        words=("no machine counts against a quota named NVIDIA_T4_GPU", 'did you mean "NVIDIA_T4_GPUS"?'),
    ),
    Mistake(
        name="a quota with a misspelt region",
        change={"quotas": {"us-west-22/L-3819A6DF": 64}},
        level=Severity.WARNING,
        check="quota",
        path="quotas.us-west-22/L-3819A6DF",
        words=("the stack has no machines in us-west-22", 'did you mean "us-west-2/L-3819A6DF"?'),
    ),
    Mistake(
        name="an image with an outdated runner version",
        change={"images": {"runner-gpu": {"runner": "2.330.0"}}},
        level=Severity.WARNING,
        check="runner-version",
        path="images.runner-gpu.runner",
        words=("2.330.0 is behind 2.337.0", "thirty days"),
    ),
    Mistake(
        name="more runner pods than the system nodes can hold",
        change={"runners": {"gpu-t4": {"arc": {"max": 5, "container-mode": "kubernetes-novolume"}}},
            "system-nodes": {"instance-types": ["t3.medium"], "min": 1, "max": 1}},
        level=Severity.WARNING,
        check="system-room",
        path="system-nodes",
        words=("1 x t3.medium has no room for", "x runner of gpu-t4", "raise system-nodes.max to 2"),
    ),
    Mistake(
        name="machines partly outside the region of their images",
        change=_on_gcp(zones=["us-central1-b", "us-east4-a"]) | {"quotas": {
            "us-east4/NVIDIA_T4_GPUS": 2, "us-east4/PREEMPTIBLE_NVIDIA_T4_GPUS": 2, "GPUS_ALL_REGIONS": 8}},
        level=Severity.WARNING,
        check="image-region",
        path="runners.cirun-gcp-gpu.cirun-gcp.zones",
        words=("machines in us-east4 pull their images from us-central1", "keep a repository in us-east4 as well"),
    ),
    Mistake(
        name="more work than cirun has machine hours for",
        change=_runner("cirun-gcp-gpu", workload={"jobs-per-month": 9000}),
        level=Severity.WARNING,
        check="money",
        path="runners.cirun-gcp-gpu.cirun-gcp.at-once",
        words=("machine hours a month, and at most 1460 are available", "set it to at least"),
    ),
    Mistake(
        name="a region without known prices",
        change=_on_gcp(zones=["europe-west4-a", "us-central1-b"]) | {"quotas": {"GPUS_ALL_REGIONS": 8}},
        level=Severity.WARNING,
        check="money",
        path="runners.cirun-gcp-gpu",
        words=("no price is known for n1-standard in europe-west4", "add the price to gpu_ci/knowledge/cost/prices_gcp.py"),
        also_at=("runners.cirun-gcp-gpu.cirun-gcp.zones",),
    ),
    Mistake(
        name="a budget with an unknown price",
        change=_on_gcp(zones=["europe-west4-a", "us-central1-b"])
        | {"budget": {"expected": 9999}, "quotas": {"GPUS_ALL_REGIONS": 8}},
        level=Severity.WARNING,
        check="money",
        path="runners.cirun-gcp-gpu",
        words=("no price is known for n1-standard in europe-west4", "so the budget cannot be checked", "or add the price"),
        also_at=("runners.cirun-gcp-gpu.cirun-gcp.zones",),
    ),
    Mistake(
        name="an image without a runner version",
        change={"images": {"runner-gpu": {"runner": OUT}}},
        level=Severity.WARNING,
        check="runner-version",
        path="images.runner-gpu",
        words=("no runner version is stated", "state as images.runner-gpu.runner what this command prints: docker run --rm"),
    ),
    Mistake(
        name="a job that uses all the memory of its machine",
        change=_runner("cirun-gcp-gpu", needs={"memory": "15Gi"}),
        level=Severity.WARNING,
        check="fit",
        path="runners.cirun-gcp-gpu",
        words=("n1-standard-4 has about 13441 MiB of memory for the job, which needs 15360", "ask for memory: 13Gi"),
    ),
)  # fmt: skip
"""Stacks that work but may surprise: checks report warnings."""

PARAMETER: Final = "/aws/service/deeplearning/ami/x86_64/base-oss-nvidia-driver-gpu-ubuntu-24.04/latest/ami-id"
"""The SSM parameter of the AWS images for GPUs: driver R595 with open kernel modules."""


def _found_by(parameter: str, **needs: Any) -> dict[str, Any]:
    """Return a runner of cirun on AWS with images from an SSM parameter."""
    runner = merge(ON_AWS, {"needs": needs, "cirun-aws": {"image-parameter": parameter}})
    return {"cirun": {"aws": True}, "quotas": {"L-DB2E81BA": 64}, "runners": {"cirun-aws-gpu": runner}}


def _published(reference: str, tag: str, **change: Any) -> dict[str, Any]:
    """Return a change of the runner image to an image from another registry."""
    return _image(repository=OUT, reference=reference, tag=tag, **change)


def _base(tag: str) -> dict[str, Any]:
    return {"test-image": {"cuda-image": tag}}


COMPATIBILITY: Final = (
    Mistake(
        name="a driver too old for every runner",
        change={"host-image": {"driver": "450"}},
        level=Severity.ERROR,
        check="compatibility",
        path="host-image.driver",
        words=("CUDA 13.0 cannot run on driver R450", 'set host-image.driver to "580"'),
    ),
    Mistake(
        name="a driver branch that Ubuntu no longer has",
        change={"host-image": {"driver": "570"}},
        level=Severity.ERROR,
        check="compatibility",
        path="host-image.driver",
        words=("R570 is not available", "only installs R580", 'set host-image.driver to "580"'),
    ),
    Mistake(
        name="a driver branch that never existed",
        change={"host-image": {"driver": "585"}},
        level=Severity.ERROR,
        check="compatibility",
        path="host-image.driver",
        words=("585 is not a known driver branch", 'did you mean "580"?'),
    ),
    Mistake(
        name="a driver branch after its end of life",
        change={"host-image": {"driver": "610"}},
        level=Severity.WARNING,
        check="compatibility",
        path="host-image.driver",
        words=("driver branch R610 reached its end of life on 2026-08-31", 'set host-image.driver to "580"'),
    ),
    Mistake(
        name="a GPU that the driver of the AWS image does not support",
        change=merge(
            _found_by(PARAMETER, gpu="v100"),
            {"runners": {"cirun-aws-gpu": {"cirun-aws": {"instance-types": ["p3.2xlarge"]}}}},
        ),
        level=Severity.ERROR,
        check="compatibility",
        path="runners.cirun-aws-gpu.cirun-aws.image-parameter",
        words=(
            "driver 595.91.07 does not support v100",
            "use images with driver R580",
            "remove runners.cirun-aws-gpu.cirun-aws.image-parameter",
        ),
    ),
    Mistake(
        name="a newer CUDA version than the driver of the AWS image supports",
        change=_found_by(PARAMETER, cuda="13.4"),
        level=Severity.WARNING,
        check="compatibility",
        path="runners.cirun-aws-gpu.cirun-aws.image-parameter",
        words=("CUDA 13.4 runs on driver 595.91.07 only through minor version compatibility", 'use cuda: "13.2"'),
    ),
    Mistake(
        name="an unknown image parameter",
        change=_found_by(PARAMETER.replace("24.04", "24.10")),
        level=Severity.ERROR,
        check="compatibility",
        path="runners.cirun-aws-gpu.cirun-aws.image-parameter",
        words=("is not a known machine image", f'did you mean "{PARAMETER}"?'),
    ),
    Mistake(
        name="the runner image of GitHub for jobs that need CUDA",
        change=_published("ghcr.io/actions/actions-runner", "2.337.0"),
        level=Severity.WARNING,
        check="compatibility",
        path="runners.gpu-t4",
        words=("has no CUDA libraries, but the job needs CUDA 12.9", "an image built on nvidia/cuda"),
        also_at=("runners.gpu-t4-steady",),
    ),
    Mistake(
        name="a CUDA version that differs from the image tag",
        change=_published("nvcr.io/nvidia/cuda", "13.0.3-runtime-ubuntu24.04"),
        level=Severity.ERROR,
        check="compatibility",
        path="images.runner-gpu.cuda",
        words=("has CUDA 13.0, but CUDA 12.9 is stated for it", "use a tag with CUDA 12.9.2", 'write "13.0"'),
    ),
    Mistake(
        name="an unknown CUDA version of an image",
        change={"images": {"runner-gpu": {"cuda": "12.7"}}},
        level=Severity.ERROR,
        check="compatibility",
        path="images.runner-gpu.cuda",
        words=("12.7 is not a known CUDA version", 'did you mean "12.'),
    ),
    Mistake(
        name="an unknown tag of nvidia/cuda for runners",
        change=_published("nvidia/cuda", "12.9.2-cudnn9-runtime-ubuntu24.04"),
        level=Severity.ERROR,
        check="compatibility",
        path="images.runner-gpu.tag",
        words=("is not a known tag of nvidia/cuda", 'did you mean "12.9.2-cudnn-runtime-ubuntu24.04"?'),
    ),
    Mistake(
        name="a base image tag with an old cuDNN name",
        change=_base("13.0.3-cudnn8-runtime-ubuntu24.04"),
        level=Severity.ERROR,
        check="compatibility",
        path="test-image.cuda-image",
        words=("is not a known tag of nvidia/cuda", 'did you mean "13.0.3-cudnn-runtime-ubuntu24.04"?'),
    ),
    Mistake(
        name="a base image tag with an unsupported Ubuntu version",
        change=_base("13.0.3-base-ubuntu20.04"),
        level=Severity.ERROR,
        check="compatibility",
        path="test-image.cuda-image",
        words=("is not a known tag of nvidia/cuda", 'did you mean "13.0.3-base-ubuntu2'),
    ),
    Mistake(
        name="a misspelt base image tag",
        change=_base("13.0.3-bse-ubuntu24.04"),
        level=Severity.ERROR,
        check="compatibility",
        path="test-image.cuda-image",
        words=("13.0.3-bse-ubuntu24.04 is not a known tag of nvidia/cuda", 'did you mean "13.0.3-base-ubuntu24.04"?'),
    ),
    Mistake(
        name="a base image that is not Ubuntu",
        change=_base("13.0.3-base-rockylinux9"),
        path="test-image.cuda-image",
        words=("is not based on Ubuntu, which the container needs", "as in 13.0.3-base-ubuntu24.04"),
    ),
    Mistake(
        name="a base image without a tag",
        change=_base("us-central1-docker.pkg.dev/project/gpu-tests/cuda"),
        path="test-image.cuda-image",
        words=("is not a base image with its tag", "13.0.3-base-ubuntu24.04", "REGISTRY/NAME:TAG@sha256:"),
    ),
)
"""Software and hardware that are not compatible. Each problem is reported once, at its path."""

PLACES_AND_TIMES: Final = (
    Mistake(
        name="an unknown AWS region",
        change={"aws": {"region": "us-west-9"}},
        path="aws.region",
        words=('"us-west-9" is not a known region', 'did you mean "us-west-2"?'),
    ),
    Mistake(
        name="an unknown zone of an AWS region",
        change={"network": {"zones": {"us-west-2z": 5}}},
        path="network.zones.us-west-2z",
        words=("us-west-2 has no zone us-west-2z", "write one of us-west-2a, us-west-2b, us-west-2c, us-west-2d"),
    ),
    Mistake(
        name="an unknown zone of a Google Cloud region",
        change=_on_gcp(zones=["us-central1-b", "us-central1-z"]),
        path="runners.cirun-gcp-gpu.cirun-gcp.zones[1]",
        words=("us-central1 has no zone us-central1-z", "write one of us-central1-a, us-central1-b"),
    ),
    Mistake(
        name="an unknown Google Cloud region",
        change={"gcp": {"region": "us-central7"}},
        path="gcp.region",
        words=('"us-central7" is not a known region', 'did you mean "us-central1"?'),
    ),
    Mistake(
        name="jobs longer than their timeout",
        change=_runner(workload={"minutes": 90}),
        path="runners.gpu-t4.workload.minutes",
        words=("90 is more than timeout-minutes 60", "write at most 60, or raise timeout-minutes"),
    ),
    Mistake(
        name="a 95th percentile below the typical duration",
        change=_runner(workload={"p95-minutes": 5}),
        path="runners.gpu-t4.workload.p95-minutes",
        words=("5 is less than minutes 12", "write at least 12, or lower minutes"),
    ),
    Mistake(
        name="more vCPUs than Google Cloud allows with one GPU",
        change=_on_gcp(machine_types=["n1-standard-96"]),
        path="runners.cirun-gcp-gpu.cirun-gcp.machine-types[0]",
        words=(
            "n1-standard-96 has 96 vCPU, and with 1 x t4 a machine has 48 at most",
            "take n1-standard-32 or smaller",
        ),
    ),
    Mistake(
        name="an API range that covers half of the internet",
        change={
            "stack": {"protect": True},
            "ecr": {"runner-gpu": {"force-delete": False}},
            "cluster": {"endpoint": {"public": ["203.0.113.0/24", "128.0.0.0/1"]}},
        },
        path="cluster.endpoint.public[1]",
        words=("128.0.0.0/1 exposes the API of a protected stack to the internet", "none wider than /8"),
    ),
    Mistake(
        name="an empty list of spot",
        change=_on_gcp(spot=[]),
        path="runners.cirun-gcp-gpu.cirun-gcp.spot",
        words=("list at least 1",),
    ),
    Mistake(
        name="a way of sharing a GPU that is not supported",
        change=_pool(sharing={"mode": "mps", "replicas": 2}),
        path="gpu-pools.t4-spot.sharing.mode",
        words=("need the same mount, /dev/shm", "write time-slicing, or remove sharing"),
    ),
    Mistake(
        name="a driver branch with the letter R",
        change={"host-image": {"driver": "R580"}},
        path="host-image.driver",
        words=('"R580" is not a driver branch', 'write its number alone, in quotes: "580"'),
    ),
    Mistake(
        name="an invalid name of the Docker user",
        change={"host-image": {"docker-user": "CI-runner"}},
        path="host-image.docker-user",
        words=('"CI-runner" is not a user\'s name', "lower-case letters, digits, hyphens and underscores"),
    ),
    Mistake(
        name="only zones without the GPU",
        change=_runner(
            "cirun-gcp-gpu",
            needs={"gpu": "l4"},
            cirun_gcp={"machine-types": ["g2-standard-8"], "zones": ["us-central1-f"]},
        )
        | {"quotas": {"NVIDIA_L4_GPUS": 2, "PREEMPTIBLE_NVIDIA_L4_GPUS": 2}},
        level=Severity.ERROR,
        check="gpu-zones",
        path="runners.cirun-gcp-gpu.cirun-gcp.zones",
        words=(
            "us-central1-f does not offer l4, and no other zone is stated",
            "use us-central1-a or us-central1-b",
        ),
    ),
    Mistake(
        name="a zone without the GPU",
        change=_runner(
            "cirun-gcp-gpu",
            needs={"gpu": "l4"},
            cirun_gcp={"machine-types": ["g2-standard-8"], "zones": ["us-central1-b", "us-central1-f"]},
        )
        | {"quotas": {"NVIDIA_L4_GPUS": 2, "PREEMPTIBLE_NVIDIA_L4_GPUS": 2}},
        level=Severity.WARNING,
        check="gpu-zones",
        path="runners.cirun-gcp-gpu.cirun-gcp.zones",
        words=("us-central1-f does not offer l4: launches there always fail", "or another GPU"),
    ),
    Mistake(
        name="more GPUs than cirun attaches to a machine",
        change=_runner("cirun-gcp-gpu", needs={"gpus": 2}) | {"quotas": {"NVIDIA_T4_GPUS": 4}},
        path="runners.cirun-gcp-gpu.needs.gpus",
        words=(
            "2 GPUs are stated, but cirun attaches one GPU to n1-standard-4",
            "write 1, or use machine types with 2 built-in GPUs",
        ),
    ),
    Mistake(
        name="a base image for another architecture",
        change={"host-image": {"source-image": "ubuntu-2404-noble-arm64-v20261105"}},
        path="host-image.source-image",
        words=("is for arm64, but machines with GPUs are amd64", "write ubuntu-2404-noble-amd64-v20261105"),
    ),
)
"""Invalid places, durations and spellings."""

DOMAINS: Final = (
    Mistake(
        name="more tags than AWS allows on an auto-scaling group",
        change={"stack": {"tags": {f"key-{index}": "x" for index in range(38)}}},
        level=Severity.ERROR,
        check="scale-from-zero",
        path="gpu-pools.t4-on-demand",
        words=("its auto-scaling group needs", "the limit is 50", "remove tags of the stack"),
        also_at=("gpu-pools.t4-spot",),
    ),
    Mistake(
        name="two tags that are one label",
        change={"stack": {"tags": {"Data Owner": "a", "Data.Owner": "b"}}},
        path="stack.tags.Data.Owner",
        words=("becomes the label data-owner on Google Cloud, as does stack.tags.Data Owner", "use another key"),
    ),
    Mistake(
        name="an administrator of another account",
        change={"cluster": {"administrators": {"other": "arn:aws:iam::210987654321:role/x"}}},
        level=Severity.WARNING,
        check="plausibility",
        path="cluster.administrators.other",
        words=("in the account 210987654321, not in 123456789012", "use a role of the stack's account"),
    ),
    Mistake(
        name="a role of another partition",
        change={"cluster": {"administrators": {"other": "arn:aws-cn:iam::123456789012:role/x"}}},
        path="cluster.administrators.other",
        words=("is not an IAM role's ARN", "write arn:aws:iam::123456789012:role/NAME"),
    ),
    Mistake(
        name="a wildcard of every tag",
        change={"ecr": {"runner-gpu": {"mutable-tags": ["*"]}}},
        level=Severity.WARNING,
        check="plausibility",
        path="ecr.runner-gpu.mutable-tags[0]",
        words=("no tag of the repository is immutable", "name a prefix, as in cache-*"),
    ),
    Mistake(
        name="more nodes than addresses",
        change=_pool(max=9000),
        path="gpu-pools.t4-spot.max",
        words=("9000 nodes need more than the 8182 addresses of their subnets", "write at most 8182"),
    ),
    Mistake(
        name="a volume above the largest",
        change=_pool(disk={"size": "100Ti"}),
        path="gpu-pools.t4-spot.disk.size",
        words=('"100Ti" is larger than any volume', "write at most 64Ti"),
    ),
    Mistake(
        name="an address without an organisation",
        change={"github": {"url": "https://github.com/enterprises"}},
        path="github.url",
        words=("is not a GitHub address", "write https://github.com/ORGANISATION"),
    ),
    Mistake(
        name="a blank runner group",
        change={"arc": {"runner-group": " "}},
        path="arc.runner-group",
        words=("is not the name of a runner group", "write the name as GitHub shows it"),
    ),
    Mistake(
        name="a runner with the name of GitHub's machines",
        change={"runners": {"ubuntu-latest": {**STEADY, "arc": {**STEADY["arc"], "max": 1}}}},
        path="runners.ubuntu-latest",
        words=("GitHub has this label on other runners", "use another name"),
    ),
    Mistake(
        name="a branch that Git refuses",
        change={"github-federation": {"branches": ["main..next"]}},
        path="github-federation.branches[0]",
        words=('"main..next" is not a branch', "write its name alone, as in main"),
    ),
    Mistake(
        name="two names of one repository",
        change={"github-federation": {"repositories": {"again": 84632176}}},
        path="github-federation.repositories.vision",
        words=("84632176 is also the id of again", "remove one of them, or write the other id"),
    ),
    Mistake(
        name="a member without an address",
        change={"host-image": {"share-with": {"jo": "user:jo"}}},
        path="host-image.share-with.jo",
        words=('"user:jo" is not an IAM member', "as in group:ci@example.org"),
    ),
    Mistake(
        name="a time that never occurs",
        change={"gpu-tests": {"vision": {"nightly": "17 3 30 2 *"}}},
        path="gpu-tests.vision.nightly",
        words=("never occurs: its months have at most 29 days", "write another day or month"),
    ),
    Mistake(
        name="an AMI with ten digits",
        change={
            "cirun": {"aws": True},
            "runners": {"on-aws": merge(ON_AWS, {"cirun-aws": {"images": {"us-west-2": "ami-0123456789"}}})},
        },
        path="runners.on-aws.cirun-aws.images.us-west-2",
        words=('"ami-0123456789" is not an AMI\'s id', "8 or 17 hexadecimal digits"),
    ),
)
"""Values that a service refuses, or that are seldom meant."""

NETWORKS: Final = (
    Mistake(
        name="a zone of another region than the runner's",
        change={
            "cirun": {"aws": True},
            "runners": {"on-aws": merge(ON_AWS, {"cirun-aws": {"zones": ["us-east-1a"]}})},
        },
        path="runners.on-aws.cirun-aws.zones[0]",
        words=("us-east-1a is in none of its regions", "add the region"),
    ),
    Mistake(
        name="a region without a subnet, next to one with a subnet",
        change={
            "cirun": {"aws": True},
            "runners": {
                "on-aws": merge(
                    ON_AWS,
                    {
                        "cirun-aws": {
                            "regions": ["us-west-2", "us-east-1"],
                            "images": {"us-east-1": "ami-0fedcba9876543210"},
                        }
                    },
                )
            },
        },
        path="runners.on-aws.cirun-aws.regions[1]",
        words=("us-east-1 has no subnet, but other regions have", "state subnets: {us-east-1: [subnet-…]}"),
    ),
    Mistake(
        name="a port that does not exist",
        change={"arc": {"ports": [443, 70000]}},
        path="arc.ports[1]",
        words=("70000", "65535"),
    ),
)
"""Networks of runners and jobs."""

OWN_IMAGE: Final[dict[str, Any]] = {"eks-image": {"version": "1.35", "zone": "us-west-2a"}}
"""A valid image of GPU nodes."""
MACHINE_IMAGES: Final = (
    Mistake(
        name="a pool with an image that nothing builds",
        change=_pool("t4-on-demand", image="own"),
        path="gpu-pools.t4-on-demand.image",
        words=("own needs eks-image, which is missing", "state eks-image, or image: stock"),
    ),
    Mistake(
        name="an image of another Kubernetes version",
        change=merge(_pool("t4-on-demand", image="own"), merge(OWN_IMAGE, {"eks-image": {"version": "1.36"}})),
        path="gpu-pools.t4-on-demand.image",
        words=("own is an image of Kubernetes 1.36, but the cluster has 1.35", 'write eks-image.version: "1.35"'),
    ),
    Mistake(
        name="nodes with a smaller disk than their image",
        change=merge(_pool("t4-on-demand", image="own"), merge(OWN_IMAGE, {"eks-image": {"disk": "300Gi"}})),
        path="gpu-pools.t4-on-demand.disk.size",
        words=("200Gi is smaller than the 300Gi of eks-image", "write 300Gi or more"),
    ),
    Mistake(
        name="an image of nodes by its name",
        change=_pool("t4-on-demand", image="gpu-nodes-v2"),
        path="gpu-pools.t4-on-demand.image",
        words=('"gpu-nodes-v2" is not an image of nodes', "write stock, own, or an AMI's id"),
    ),
    Mistake(
        name="a builder in another region",
        change=merge(OWN_IMAGE, {"eks-image": {"zone": "us-east-1a"}}),
        path="eks-image.zone",
        words=("us-east-1a is not a zone of us-west-2", "write us-west-2a"),
    ),
    Mistake(
        name="a builder without a GPU",
        change=merge(OWN_IMAGE, {"eks-image": {"instance-types": ["m7i.large"]}}),
        path="eks-image.instance-types[0]",
        words=("m7i.large has no GPU", "use one of the families"),
    ),
    Mistake(
        name="a container image by its tag",
        change=merge(OWN_IMAGE, {"eks-image": {"pre-pull": ["ghcr.io/example-org/runner:1.0"]}}),
        path="eks-image.pre-pull[0]",
        words=("is not an image with its digest", "registry/repository@sha256:"),
    ),
    Mistake(
        name="an image that pools do not go back to",
        change=merge(OWN_IMAGE, {"eks-image": {"keep": 1}}),
        path="eks-image.keep",
        words=("2",),
    ),
    Mistake(
        name="copies without the original",
        change={
            "ec2-image": {"serial": "20261105", "driver": "580", "zone": "us-west-2a", "regions": ["us-east-1"]},
        },
        path="ec2-image.regions",
        words=("does not contain us-west-2, where the image is built", "add us-west-2"),
    ),
    Mistake(
        name="nodes with the AMI of another region",
        change={
            "cirun": {"aws": True},
            "gpu-pools": {"t4-on-demand": {"image": "ami-0fedcba9876543210"}},
            "runners": {
                "on-aws": merge(
                    ON_AWS,
                    {
                        "cirun-aws": {
                            "regions": ["us-west-2", "us-east-1"],
                            "images": {"us-east-1": "ami-0fedcba9876543210"},
                        }
                    },
                )
            },
        },
        path="gpu-pools.t4-on-demand.image",
        words=("ami-0fedcba9876543210 is the image of us-east-1", "write the id of its copy in us-west-2"),
        also_at=("runners.on-aws.cirun-aws.regions[1]",),
    ),
    Mistake(
        name="a driver that has ended",
        change={
            "ec2-image": {"serial": "20261105", "driver": "535", "zone": "us-west-2a", "regions": ["us-west-2"]},
        },
        level=Severity.ERROR,
        path="ec2-image.driver",
        words=("only installs R580", 'set ec2-image.driver to "580"'),
        check="compatibility",
    ),
)
"""Machine images on AWS."""

ON_GCE: Final[Mapping[str, Any]] = {
    "needs": {"gpu": "l4", "cpu": 3, "memory": "12Gi", "cuda": "12.9"},
    "timeout-minutes": 60,
    "vm": {
        "cloud": "gcp",
        "zone": "us-central1-b",
        "machine-type": "g2-standard-4",
        "image": "stock",
        "driver": "580",
        "egress-ports": [80, 443],
    },
}
"""A valid runner on one machine of Compute Engine."""


def _on_gce(name: str = "on-gce", /, **change: Any) -> dict[str, Any]:
    return {"runners": {name: merge(ON_GCE, change)}}


DECLARED: Final = {"mode": "declared", "zones": ["us-central1-b"], "verifier": OUT, "export": OUT, "keep": OUT}
GOOGLE_MACHINES: Final = (
    Mistake(
        name="a name that is too long for an instance of Compute Engine",
        change=_on_gce("nightly-tests-of-the-vision-models"),
        path="runners.nightly-tests-of-the-vision-models.vm",
        words=("34 characters are too many", "use a name of at most 32"),
    ),
    Mistake(
        name="a machine type without GPUs that takes none on Compute Engine",
        change=_on_gce(needs={"gpu": "t4"}, vm={"machine-type": "n2-standard-4"}),
        path="runners.on-gce.vm.machine-type",
        words=("n2-standard-4", "use an n1 machine type, or one that includes the GPU"),
    ),
    Mistake(
        name="a zone of EC2 for a machine on Compute Engine",
        change=_on_gce(vm={"zone": "us-west-2a"}),
        path="runners.on-gce.vm.zone",
        words=("us-west-2a is a zone of EC2, but cloud is gcp", "as in us-central1-a"),
    ),
    Mistake(
        name="an AMI for a machine on Compute Engine",
        change=_on_gce(vm={"image": "ami-0123456789abcdef0", "driver": OUT}),
        path="runners.on-gce.vm.image",
        words=("is not an image of Compute Engine", "write projects/PROJECT/global/images/NAME, stock or own"),
    ),
    Mistake(
        name="the image of host-image before it exists",
        change={**_on_gce(vm={"image": "own", "driver": OUT}), "host-image": DECLARED},
        path="runners.on-gce.vm.image",
        words=("own needs an image", "write stock until host-image.phase is image"),
    ),
    Mistake(
        name="settings of a repository that is not the one in the address",
        change={
            "github": {"url": "https://github.com/example-org/vision", "repositories": {"speech": {}}},
            "arc": {"runner-group": "default"},
        },
        path="github.repositories.speech",
        words=("github.url is the repository vision", "write vision"),
    ),
    Mistake(
        name="settings of a repository of an enterprise",
        change={"github": {"url": "https://github.com/enterprises/example", "repositories": {"vision": {}}}},
        path="github.repositories.vision",
        words=("github.url is an enterprise, which has no repositories", "remove it"),
    ),
    Mistake(
        name="variables at GitHub that no runner uses",
        change={"github": {"set-variables": True}},
        path="github.set-variables",
        words=("has no effect, because vm serves no runner", "remove it"),
    ),
)
"""Machines with a runner of their own on Compute Engine."""

_T4_ON_EC2: Final[Mapping[str, Any]] = {
    "needs": {"gpu": "t4", "cpu": 3, "memory": "12Gi", "cuda": "12.9"},
    "timeout-minutes": 60,
    "vm": {
        "cloud": "aws", "zone": "us-west-2a", "machine-type": "g4dn.xlarge", "image": "stock", "driver": "580",
        "egress-ports": [80, 443], "runner-group": "gpu",
    },
}  # fmt: skip


def _on_ec2(**change: Any) -> dict[str, Any]:
    changed = {key.replace("_", "-"): value for key, value in change.items()}
    return {"runners": {"on-ec2": merge(_T4_ON_EC2, changed)}}


CHECKS_OF_MACHINES: Final = (
    Mistake(
        name="a machine whose GPU is below the minimum",
        change=_on_ec2(needs={"gpu": "l4"}, vm={"machine-type": "g6f.xlarge"}),
        level=Severity.ERROR,
        check="floor",
        path="runners.on-ec2",
        words=("g6f.xlarge has 3 GB of GPU memory; the minimum is 8", "choose a type with a whole GPU"),
    ),
    Mistake(
        name="a runner release that GitHub does not register, on a machine",
        change=_on_ec2(vm={"runner-version": "2.328.0", "runner-sha256": "0" * 64}),
        level=Severity.ERROR,
        check="runner-version",
        path="runners.on-ec2.vm.runner-version",
        words=("the runner 2.328.0 cannot register at GitHub", "2.329.0", 'write "2.337.0"'),
    ),
    Mistake(
        name="a driver of the first boot that is too old for CUDA",
        change=_on_ec2(needs={"cuda": "13.0"}, vm={"driver": "550"}),
        level=Severity.ERROR,
        check="compatibility",
        path="runners.on-ec2.vm.driver",
        words=("CUDA 13.0 cannot run on driver R550", 'set runners.on-ec2.vm.driver to "580"'),
    ),
    Mistake(
        name="a job that is too large for its machine",
        change=_on_ec2(needs={"disk": "95Gi"}),
        level=Severity.ERROR,
        check="fit",
        path="runners.on-ec2",
        words=("90Gi of disk besides the system, and it asks for 95Gi", "runners.on-ec2.vm.disk: 105Gi"),
    ),
    Mistake(
        name="a target for a machine that someone starts",
        change=_on_ec2(queue_target_minutes=10),
        level=Severity.WARNING,
        check="queue-time",
        path="runners.on-ec2.queue-target-minutes",
        words=("a job waits until someone starts the machine", "use a runner that starts for each job"),
    ),
    Mistake(
        name="more jobs than the hours of a schedule",
        change=_on_ec2(
            workload={"jobs-per-month": 5000, "minutes": 15},
            vm={"schedule": {"time-zone": "Europe/Prague", "start": "02:00", "stop": "06:00"}},
        ),
        level=Severity.WARNING,
        check="money",
        path="runners.on-ec2",
        words=(
            "need 1500 machine hours a month, and at most 87 are available",
            "lengthen runners.on-ec2.vm.schedule",
            "lower runners.on-ec2.workload.jobs-per-month to 289",
        ),
    ),
    Mistake(
        name="one machine on the spot market",
        change=_on_ec2(vm={"spot": True}),
        level=Severity.WARNING,
        check="counts",
        path="runners.on-ec2.vm.spot",
        words=("without spot capacity it does not start", "set it to false, unless jobs can wait"),
    ),
    Mistake(
        name="a machine in the runner group of every repository",
        change=_on_ec2(vm={"runner-group": "default"}),
        level=Severity.WARNING,
        check="untrusted-jobs",
        path="runners.on-ec2.vm.runner-group",
        words=("every repository of example-org may use the runners", "limit the runner group to named repositories"),
    ),
    Mistake(
        name="a GPU that the only zone of a machine does not offer",
        change=_on_gce(vm={"zone": "us-central1-f"}),
        level=Severity.ERROR,
        check="gpu-zones",
        path="runners.on-gce.vm.zone",
        words=("us-central1-f does not offer l4, and no other zone is stated", "use us-central1-a"),
    ),
)
"""Verdicts on machines that exist between jobs."""

EC2_MACHINES: Final = (
    Mistake(
        name="a machine on EC2 with a type of Compute Engine",
        change=_on_ec2(vm={"machine-type": "n1-standard-4"}),
        path="runners.on-ec2.vm.machine-type",
        words=("n1-standard-4 is a machine type of Compute Engine, but cloud is aws", "as in g4dn.xlarge"),
    ),
    Mistake(
        name="a machine on EC2 in a zone that does not exist",
        change=_on_ec2(vm={"zone": "us-west-2e"}),
        path="runners.on-ec2.vm.zone",
        words=("us-west-2 has no zone us-west-2e", "write one of us-west-2a"),
    ),
    Mistake(
        name="an own image without the section that builds it",
        change=_on_ec2(vm={"image": "own", "driver": OUT}),
        path="runners.on-ec2.vm.image",
        words=("own needs the section ec2-image", "or image: stock"),
    ),
    Mistake(
        name="Ubuntu without a driver",
        change=_on_ec2(vm={"driver": OUT}),
        path="runners.on-ec2.vm.driver",
        words=("missing, but image: stock installs it", 'state driver: "580"'),
    ),
    Mistake(
        name="Ubuntu without the port of its archive",
        change=_on_ec2(vm={"egress-ports": [443]}),
        path="runners.on-ec2.vm.egress-ports",
        words=("80 is missing", "write [80, 443]"),
    ),
    Mistake(
        name="a machine that cannot reach GitHub",
        change=_on_ec2(vm={"egress-ports": [80]}),
        path="runners.on-ec2.vm.egress-ports",
        words=("443 is missing, on which the runner reaches GitHub", "write [80, 443]"),
    ),
    Mistake(
        name="a malformed version of the runner",
        change=_on_ec2(vm={"runner-version": "v3.1.0"}),
        path="runners.on-ec2.vm.runner-version",
        words=("is not a release of GitHub's runner", "write it without v"),
    ),
    Mistake(
        name="a version of the runner without its checksum",
        change=_on_ec2(vm={"runner-version": "2.999.0"}),
        path="runners.on-ec2.vm.runner-sha256",
        words=("the checksum of the runner 2.999.0 is not known", "from the notes of the release"),
    ),
    Mistake(
        name="a schedule without a time zone",
        change=_on_ec2(vm={"schedule": {"start": "02:00", "stop": "06:00"}}),
        path="runners.on-ec2.vm.schedule.time-zone",
        words=("missing", "state time-zone"),
    ),
    Mistake(
        name="a schedule in an unknown time zone",
        change=_on_ec2(vm={"schedule": {"time-zone": "Europe/Praha", "start": "02:00", "stop": "06:00"}}),
        path="runners.on-ec2.vm.schedule.time-zone",
        words=("is not a time zone", 'did you mean "Europe/Prague"?'),
    ),
    Mistake(
        name="a schedule that ends when it begins",
        change=_on_ec2(vm={"schedule": {"time-zone": "UTC", "start": "02:00", "stop": "02:00"}}),
        path="runners.on-ec2.vm.schedule.stop",
        words=("is the same as start", "write another time"),
    ),
    Mistake(
        name="a limit below the longest job of a machine",
        change=_on_ec2(timeout_minutes=800),
        path="runners.on-ec2.vm.max-hours",
        words=("12 hours are shorter than the longest job of 800 minutes", "write at least 14"),
    ),
    Mistake(
        name="a persistent machine for jobs of forks",
        change=_on_ec2(vm={"registration": "persistent", "forks": True}),
        path="runners.on-ec2.vm.forks",
        words=("a persistent machine keeps the files of a fork's job", "write registration: ephemeral"),
    ),
    Mistake(
        name="a persistent machine with Docker",
        change=_on_ec2(vm={"registration": "persistent", "docker": True}),
        path="runners.on-ec2.vm.docker",
        words=("a persistent machine keeps what jobs do as root", "or remove docker"),
    ),
    Mistake(
        name="Docker for jobs of forks",
        change=_on_ec2(vm={"docker": True, "forks": True}),
        path="runners.on-ec2.vm.docker",
        words=("which can read the key of the GitHub App", "or remove forks"),
    ),
)
"""Machines with a runner of their own on EC2."""
_JARVIS_LABS: Final = {
    "needs": {"gpu": "l4", "cpu": 8, "memory": "32Gi", "cuda": "12.9"},
    "timeout-minutes": 60,
    "start-stop": {"jarvis": {"name": "ci gpu"}},
}


def _jarvis(change: Mapping[str, Any]) -> dict[str, Any]:
    return {"runners": {"at-jarvis": merge(_JARVIS_LABS, change)}}


JARVIS_LABS: Final = (
    Mistake(
        name="an option that the workflow of a machine does not have",
        change=_jarvis({}) | {"gpu-tests": {"vision": {"runner": "at-jarvis", "cpu": ["make test"]}}},
        path="gpu-tests.vision.cpu",
        words=("the workflow of at-jarvis, which starts and stops its machine, has no such option",),
    ),
    Mistake(
        name="a GPU that Jarvis Labs does not rent",
        change=_jarvis({"needs": {"gpu": "a10g"}}),
        path="runners.at-jarvis.needs.gpu",
        words=("Jarvis Labs does not rent a10g", 'did you mean "a100"?'),
    ),
    Mistake(
        name="more GPUs than an instance of Jarvis Labs has",
        change=_jarvis({"needs": {"gpus": 16}}),
        path="runners.at-jarvis.needs.gpus",
        words=("16 GPUs are stated, but an instance of Jarvis Labs has at most 8", "write 8 or fewer"),
    ),
    Mistake(
        name="an instance whose name Jarvis Labs refuses",
        change=_jarvis({"start-stop": {"jarvis": {"name": "ci/gpu"}}}),
        path="runners.at-jarvis.start-stop.jarvis.name",
        words=("use at most 40 letters, digits, spaces, _ and -",),
    ),
    Mistake(
        name="a virtual machine of Jarvis Labs",
        change=_jarvis({"start-stop": {"jarvis": {"template": "vm"}}}),
        path="runners.at-jarvis.start-stop.jarvis.template",
        words=("runs no startup script", "write pytorch"),
    ),
    Mistake(
        name="storage that Jarvis Labs does not rent",
        change=_jarvis({"start-stop": {"jarvis": {"storage": "50Gi"}}}),
        path="runners.at-jarvis.start-stop.jarvis.storage",
        words=("50Gi is outside the 100 to 5000 GiB", "write 100Gi to 5000Gi"),
    ),
    Mistake(
        name="a job that is longer than its instance runs",
        change=_jarvis({"timeout-minutes": 300}),
        path="runners.at-jarvis.start-stop.jarvis.max-hours",
        words=("the instance is paused after 4 h, but a job may take 300 min", "write 6, or lower timeout-minutes"),
    ),
    Mistake(
        name="an instance of two runners",
        change={"runners": {"at-jarvis": _JARVIS_LABS, "at-jarvis-too": _JARVIS_LABS}},
        path="runners.at-jarvis-too.start-stop.jarvis.name",
        words=('"ci gpu" is the instance of the runner at-jarvis', "write another name"),
    ),
    Mistake(
        name="an instance of an enterprise",
        change={"github": {"url": "https://github.com/enterprises/example"}, **_jarvis({})},
        path="github.url",
        words=("cannot register the runner", "write the address of an organisation or a repository"),
    ),
    Mistake(
        name="a region of Jarvis Labs without the GPU",
        change=_jarvis({"start-stop": {"jarvis": {"region": "europe-01"}}}),
        level=Severity.ERROR,
        path="runners.at-jarvis.start-stop.jarvis.region",
        words=("europe-01 offers no 1xL4", "remove it, so that Jarvis Labs chooses a region"),
        check="gpu-zones",
    ),
    Mistake(
        name="more cores than an instance of Jarvis Labs has",
        change=_jarvis({"needs": {"cpu": 32}}),
        level=Severity.ERROR,
        path="runners.at-jarvis",
        words=("1xL4 has 28 cores but the job needs 32",),
        check="fit",
    ),
)
"""Instances of Jarvis Labs."""
START_STOP: Final[Mapping[str, Any]] = {
    "needs": {"gpu": "t4", "cpu": 3, "memory": "12Gi", "cuda": "12.9"},
    "timeout-minutes": 60,
    "start-stop": {
        "repository": {"name": "vision", "id": 84632176, "owner-id": 9919},
        "machine": {
            "cloud": "aws",
            "zone": "us-west-2b",
            "machine-type": "g4dn.xlarge",
            "image": "stock",
            "driver": "580",
            "egress-ports": [80, 443],
        },
    },
}
"""A valid runner on a machine that a workflow starts."""
ON_L4: Final = {
    "needs": {"gpu": "l4"},
    "start-stop": {"machine": {"cloud": "gcp", "zone": "us-central1-b", "machine-type": "g2-standard-4"}},
}


def _start_stop(*changes: Mapping[str, Any], name: str = "on-start") -> dict[str, Any]:
    runner: Any = START_STOP
    for change in changes:
        runner = merge(runner, change)
    return {"runners": {name: runner}}


STARTED: Final = (
    Mistake(
        name="a machine that no repository starts",
        change=_start_stop({"start-stop": {"repository": OUT}}),
        path="runners.on-start.start-stop",
        words=("repository is missing, whose workflow starts the machine", "state repository"),
    ),
    Mistake(
        name="a machine and an instance of Jarvis Labs for one runner",
        change=_start_stop({"start-stop": {"jarvis": {"name": "ci"}}}),
        path="runners.on-start.start-stop",
        words=("exactly one of machine and jarvis is needed", "state machine (EC2, Compute Engine) or jarvis"),
    ),
    Mistake(
        name="a repository for an instance of Jarvis Labs",
        change=_start_stop({"start-stop": {"machine": OUT, "jarvis": {"name": "ci"}}}),
        path="runners.on-start.start-stop",
        words=("repository is for machine only", "remove repository"),
    ),
    Mistake(
        name="a repository that github.url does not have",
        change={
            **_start_stop({"start-stop": {"repository": {"name": "speech"}}}),
            "github": {"url": "https://github.com/example-org/vision"},
        },
        path="runners.on-start.start-stop.repository.name",
        words=("speech is not the repository in github.url", "write vision"),
    ),
    Mistake(
        name="a machine for a GitHub Enterprise Server",
        change={**_start_stop(), "github": {"url": "https://github.example.org/team"}},
        path="runners.on-start.start-stop.repository",
        words=("github.example.org is not github.com, whose tokens", "use another back end"),
    ),
    Mistake(
        name="a machine that never stops when it is idle",
        change=_start_stop({"start-stop": {"machine": {"idle-stop-minutes": 0}}}),
        path="runners.on-start.start-stop.machine.idle-stop-minutes",
        words=("0 keeps the machine running after it was created", "write 10 or more"),
    ),
    Mistake(
        name="jobs of forks on a machine that their workflow cannot start",
        change=_start_stop({"start-stop": {"machine": {"forks": True}}}),
        path="runners.on-start.start-stop.machine.forks",
        words=("GitHub gives the workflow of a fork no token", "remove it"),
    ),
    Mistake(
        name="a machine whose name is a common label",
        change=_start_stop(name="gpu"),
        path="runners.gpu",
        words=("other runners have this label and would get the jobs", "use another name"),
    ),
    Mistake(
        name="a machine on Compute Engine without github-federation",
        change={**_start_stop(ON_L4), "github-federation": OUT, "test-image": {"built-by": "stack"}},
        path="runners.on-start.start-stop.repository",
        words=("needs the section github-federation", "state github-federation with owner-id: 9919"),
    ),
    Mistake(
        name="another owner than that of github-federation",
        change=_start_stop(ON_L4, {"start-stop": {"repository": {"owner-id": 9918}}}),
        path="runners.on-start.start-stop.repository.owner-id",
        words=("9918 is not github-federation.owner-id", "write 9919"),
    ),
    Mistake(
        name="a repository that is not in github-federation",
        change=_start_stop(ON_L4, {"start-stop": {"repository": {"id": 84632100}}}),
        path="runners.on-start.start-stop.repository.id",
        words=("84632100 is not in github-federation.repositories", "state vision: 84632100 there"),
    ),
)
"""Machines that a workflow starts."""

CPU_POOL: Final[dict[str, Any]] = {
    "instance-types": ["m7i.2xlarge", "m6i.2xlarge"],
    "capacity": "on-demand",
    "min": 2,
    "max": 2,
    "zones": ["us-west-2a", "us-west-2b"],
}
CPU_JOBS: Final[dict[str, Any]] = {
    "needs": {"cpu": 3, "memory": "12Gi"},
    "timeout-minutes": 30,
    "arc": {"pool": "build", "max": 4, "image": "runner-gpu"},
}
"""A valid pool and runner for jobs without a GPU."""


def _without_gpu(runner: Mapping[str, Any], **pool: Any) -> dict[str, Any]:
    changed = merge(CPU_POOL, {key.replace("_", "-"): value for key, value in pool.items()})
    return {"cpu-pools": {"build": changed}, "runners": {"cpu": merge(CPU_JOBS, runner)}, "quotas": {"L-1216C47A": 64}}


CPU_RUNNERS: Final = (
    Mistake(
        name="a job without a GPU on a GPU pool",
        change=_without_gpu({"arc": {"pool": "t4-on-demand"}}),
        path="runners.cpu.arc.pool",
        words=("t4-on-demand is in gpu-pools, but the job has no GPU", "name a pool of cpu-pools, or state needs.gpu"),
    ),
    Mistake(
        name="a job with a GPU on a CPU pool",
        change=merge(_without_gpu({}), _runner(arc={"fallback": "build"})),
        path="runners.gpu-t4.arc.fallback",
        words=("build is in cpu-pools, but the job has a GPU", "name a pool of gpu-pools"),
    ),
    Mistake(
        name="an unknown CPU pool",
        change=_without_gpu({"arc": {"pool": "biuld"}}),
        path="runners.cpu.arc.pool",
        words=('"biuld" is not in cpu-pools', 'did you mean "build"?'),
    ),
    Mistake(
        name="jobs without a GPU and no CPU pool",
        change={"runners": {"cpu": CPU_JOBS}},
        path="cpu-pools",
        words=("missing, but runners.cpu needs it", "state cpu-pools, or remove runners.cpu"),
    ),
    Mistake(
        name="CUDA without a GPU",
        change=_without_gpu({"needs": {"cuda": "12.9"}}),
        path="runners.cpu.needs.cuda",
        words=("has no effect without gpu", "state gpu, as in gpu: t4, or remove it"),
    ),
    Mistake(
        name="a GPU without the CUDA version",
        change=_runner(needs={"cuda": OUT}),
        path="runners.gpu-t4.needs.cuda",
        words=("missing, but gpu needs it", 'state it in quotes, as in cuda: "12.9"'),
    ),
    Mistake(
        name="an image for GPUs without the CUDA version",
        change={"images": {"runner-gpu": {"cuda": OUT}}},
        path="images.runner-gpu.cuda",
        words=("missing, but runners.gpu-t4", "a GPU", 'state it in quotes, as in cuda: "12.9"'),
    ),
    Mistake(
        name="a job without a GPU on a back end that has only GPUs",
        change=_runner("cirun-gcp-gpu", needs={"gpu": OUT, "cuda": OUT}),
        path="runners.cirun-gcp-gpu.needs.gpu",
        words=("missing, but cirun-gcp only serves jobs with a GPU", "state it, as in gpu: t4, or state arc instead"),
    ),
    Mistake(
        name="a CPU pool with the name of a GPU pool",
        change={"cpu-pools": {"t4-spot": CPU_POOL}, "quotas": {"L-1216C47A": 64}},
        path="cpu-pools.t4-spot",
        words=("is the name of a pool in gpu-pools, too", "use another name"),
    ),
    Mistake(
        name="a type with a GPU in a CPU pool",
        change=_without_gpu({}, instance_types=["g4dn.xlarge"]),
        path="cpu-pools.build.instance-types[0]",
        words=("g4dn.xlarge has a GPU, which cpu-pools do not use", "use a type without a GPU"),
    ),
    Mistake(
        name="a job without a GPU that fits no node",
        change=_without_gpu({"needs": {"cpu": 8}}),
        level=Severity.ERROR,
        path="runners.cpu",
        words=("a m7i.2xlarge of cpu-pools.build has at most 7.7", "request cpu: 7"),
        check="fit",
    ),
    Mistake(
        name="a CPU pool over the quota",
        change={**_without_gpu({}), "quotas": {"L-1216C47A": 20}},
        level=Severity.ERROR,
        path="system-nodes",
        words=("quota L-1216C47A", "and the stack file states 20"),
        check="quota",
    ),
)
"""Runners without a GPU."""

EXISTING_VPC: Final[dict[str, Any]] = {
    "network": {
        "existing": {
            "vpc": "vpc-0123456789abcdef0",
            "subnets": {f"us-west-2{zone}": f"subnet-0123456789abcde{zone}0" for zone in "abc"},
        },
        "zones": OUT,
        "nat": OUT,
    }
}
"""A valid change to a VPC that exists."""

EXISTING_CLUSTER: Final[dict[str, Any]] = {
    **EXISTING_VPC,
    "cluster": {
        **dict.fromkeys(("zones", "endpoint", "administrators", "logs", "log-retention-days", "support"), OUT),
        "existing": {
            "name": "platform",
            "endpoint": "https://0123456789ABCDEF0123456789ABCDEF.gr7.us-west-2.eks.amazonaws.com",
            "certificate-authority": "LS0tLS1CRUdJTi" + "A" * 400,
            "add-ons": [
                *("eks-pod-identity-agent", "vpc-cni", "kube-proxy", "coredns"),
                *("metrics-server", "aws-ebs-csi-driver"),
            ],
        },
    },
    "system-nodes": OUT,
}
"""A valid change to a cluster that exists."""


def _existing_cluster(**existing: Any) -> dict[str, Any]:
    cluster = EXISTING_CLUSTER["cluster"]
    changed = {**cluster["existing"], **{key.replace("_", "-"): value for key, value in existing.items()}}
    return {**EXISTING_CLUSTER, "cluster": {**cluster, "existing": changed}}


EXISTING: Final = (
    Mistake(
        name="an existing cluster without an add-on that storage needs",
        change=_existing_cluster(
            add_ons=["eks-pod-identity-agent", "vpc-cni", "kube-proxy", "coredns", "metrics-server"]
        ),
        path="cluster.existing.add-ons",
        words=("aws-ebs-csi-driver is not listed, but storage needs it", "install and list it, or remove storage"),
    ),
    Mistake(
        name="an existing cluster without the agent of Pod Identity",
        change=_existing_cluster(add_ons=["vpc-cni", "kube-proxy", "coredns", "metrics-server", "aws-ebs-csi-driver"]),
        path="cluster.existing.add-ons",
        words=("eks-pod-identity-agent is not listed, but every stack needs it", "install and list it"),
    ),
    Mistake(
        name="a second autoscaler in an existing cluster",
        change=_existing_cluster(add_ons=[*EXISTING_CLUSTER["cluster"]["existing"]["add-ons"], "cluster-autoscaler"]),
        path="autoscaler",
        words=("the cluster already has cluster-autoscaler", "remove it, or remove cluster-autoscaler from"),
    ),
    Mistake(
        name="administrators of an existing cluster",
        change={
            **EXISTING_CLUSTER,
            "cluster": {key: value for key, value in EXISTING_CLUSTER["cluster"].items() if key != "administrators"},
        },
        path="cluster.administrators",
        words=("has no effect on an existing cluster", "remove it, or remove existing"),
    ),
    Mistake(
        name="system nodes of an existing cluster",
        change={key: value for key, value in EXISTING_CLUSTER.items() if key != "system-nodes"},
        path="system-nodes",
        words=("has no effect on an existing cluster", "remove it, or remove cluster.existing"),
    ),
    Mistake(
        name="an existing cluster in a new VPC",
        change={key: value for key, value in EXISTING_CLUSTER.items() if key != "network"},
        path="network.existing",
        words=("missing, but cluster.existing needs it", "state the VPC of the cluster"),
    ),
    Mistake(
        name="the cluster of another stack",
        change=_existing_cluster(name="gpu-ci-production"),
        path="cluster.existing.name",
        words=("is not the name of an EKS cluster that another tool manages", "which cannot share a cluster"),
    ),
    Mistake(
        name="a cluster without administrators",
        change={"cluster": {"administrators": OUT}},
        path="cluster.administrators",
        words=("missing", "state administrators, or existing for a cluster that exists"),
    ),
    Mistake(
        name="a NAT gateway in an existing VPC",
        change={"network": {**EXISTING_VPC["network"], "nat": "single"}},
        path="network.nat",
        words=("has no effect on an existing VPC", "remove it, or remove existing"),
    ),
    Mistake(
        name="flow logs of an existing VPC",
        change={"network": {**EXISTING_VPC["network"], "flow-logs": {"retention-days": 30}}},
        path="network.flow-logs",
        words=("has no effect on an existing VPC", "remove it, or remove existing"),
    ),
    Mistake(
        name="one subnet for two zones",
        change={
            "network": {
                **EXISTING_VPC["network"],
                "existing": merge(
                    EXISTING_VPC["network"]["existing"], {"subnets": {"us-west-2c": "subnet-0123456789abcdea0"}}
                ),
            }
        },
        path="network.existing.subnets.us-west-2c",
        words=("is the subnet of us-west-2a, too", "write the id of a subnet in us-west-2c"),
    ),
    Mistake(
        name="a VPC without NAT gateways",
        change={"network": {"nat": OUT}},
        path="network.nat",
        words=("missing", "state nat, or existing for a VPC that exists"),
    ),
    Mistake(
        name="Docker in a pod",
        change=_runner(arc={"container-mode": "dind"}),
        path="runners.gpu-t4.arc.container-mode",
        words=('"dind" is not supported', "write kubernetes-novolume and state container: in the workflow"),
    ),
)
"""Networks and clusters that exist, and Docker in jobs."""


def _exception(name: str = "image", /, **change: Any) -> dict[str, Any]:
    stated = {"check": "image-pin", "subject": "images.runner-gpu.digest", "until": "2026-12-18"}
    return {"exceptions": {name: {**stated, "reason": "the image is built on Friday", **change}}}


NOT_BUILT: Final = {"images": {"runner-gpu": {"digest": f"sha256:{'0' * 64}"}}}
"""A finding of the check `image-pin`. The tests run on 22 November 2026."""
EXCEPTIONS: Final = (
    Mistake(
        name="an exception without a reason",
        change=_exception(reason="later"),
        path="exceptions.image.reason",
        words=('"later" is not a reason', "why this is acceptable until then"),
    ),
    Mistake(
        name="an exception that ends on a day in words",
        change=_exception(until="18 December 2026"),
        path="exceptions.image.until",
        words=('"18 December 2026" is not a day', 'write it in quotes, as in "2026-12-31"'),
    ),
    Mistake(
        name="two exceptions for one finding",
        change={"exceptions": {**_exception("first")["exceptions"], **_exception("second")["exceptions"]}},
        path="exceptions.second",
        words=("is for the same finding as exceptions.first", "remove one of the two"),
    ),
    Mistake(
        name="an exception to an unknown check",
        change=merge(NOT_BUILT, _exception(check="image-pins")),
        level=Severity.ERROR,
        check="exceptions",
        path="exceptions.image.check",
        words=('"image-pins" is not a check or a policy rule that can have an exception', 'did you mean "image-pin"?'),
    ),
    Mistake(
        name="an exception to the end of exceptions",
        change=_exception(check="exceptions", subject="exceptions.old.until"),
        level=Severity.ERROR,
        check="exceptions",
        path="exceptions.image.check",
        words=('"exceptions" is not a check or a policy rule that can have an exception',),
    ),
    Mistake(
        name="an exception that is over",
        change=merge(NOT_BUILT, _exception(until="2026-11-21")),
        level=Severity.ERROR,
        check="exceptions",
        path="exceptions.image.until",
        words=(
            "it ended on 2026-11-21, so image-pin of images.runner-gpu.digest is not allowed any more",
            "fix the finding and remove the exception, or state a later day",
        ),
    ),
    Mistake(
        name="an exception for longer than a year",
        change=merge(NOT_BUILT, _exception(until="2027-11-24")),
        level=Severity.ERROR,
        check="exceptions",
        path="exceptions.image.until",
        words=("2027-11-24 is more than a year ahead", "state 2027-11-23 or an earlier day"),
    ),
    Mistake(
        name="an exception that ends soon",
        change=merge(NOT_BUILT, _exception(until="2026-12-06")),
        level=Severity.WARNING,
        check="exceptions",
        path="exceptions.image.until",
        words=("it ends in 14 days, on 2026-12-06", "image-pin of images.runner-gpu.digest is reported again"),
    ),
    Mistake(
        name="an exception to a finding that does not exist",
        change=_exception(),
        level=Severity.WARNING,
        check="exceptions",
        path="exceptions.image",
        words=("image-pin reports nothing at images.runner-gpu.digest", "remove it"),
    ),
    Mistake(
        name="an exception with a misspelt subject",
        change=merge(NOT_BUILT, _exception(subject="images.runner-gpu")),
        level=Severity.WARNING,
        check="exceptions",
        path="exceptions.image",
        words=("image-pin reports nothing at images.runner-gpu", 'did you mean "images.runner-gpu.digest"?'),
        also_at=("images.runner-gpu.digest",),
    ),
)
"""Exceptions to findings."""

MISTAKES: Final = (
    *EXCEPTIONS,
    *NAMES,
    *WRITING,
    *WHOLES,
    *ERRORS,
    *WARNINGS,
    *COMPATIBILITY,
    *PLACES_AND_TIMES,
    *DOMAINS,
    *NETWORKS,
    *MACHINE_IMAGES,
    *JARVIS_LABS,
    *GOOGLE_MACHINES,
    *CHECKS_OF_MACHINES,
    *EC2_MACHINES,
    *STARTED,
    *CPU_RUNNERS,
    *EXISTING,
)
