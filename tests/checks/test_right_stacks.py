"""Stack files that users of these clouds write have no fault, and no check refuses them."""

from __future__ import annotations

from typing import Any, Final

import pytest

from gpu_ci.knowledge.verdict import Level
from tests.checks.stacks import stack
from tests.mistakes.sound import verdicts
from tests.stack_file import stacks
from tests.stack_file.stacks import AWS, GCP, PRODUCTION, SHARED, STAGING

pytestmark = pytest.mark.pure

Changes = dict[str, Any]
RUNNER: Final = "runners/cirun-gcp-gpu"


def pools(types: list[str], gpu: str, *, cuda: str = "12.9", **needs: Any) -> Changes:
    """Return both pools of staging with other types, and its runners with their GPU."""
    changed = {"gpu": gpu, "cpu": 3, "memory": "12Gi", "cuda": cuda, **needs}
    return {
        "quotas": {},
        "gpu-pools/t4-spot/instance-types": types,
        "gpu-pools/t4-on-demand/instance-types": types[:1],
        "runners/gpu-t4/needs": changed,
        "runners/gpu-t4-steady/needs": changed,
    }


def nodes(*types: str) -> Changes:
    """Return other system nodes."""
    return {"quotas": {}, "system-nodes/instance-types": list(types)}


def region(name: str, letters: str = "abc") -> Changes:
    """Return staging in another region of AWS."""
    zones = [f"{name}{letter}" for letter in letters]
    return {
        "quotas": {},
        "aws/region": name,
        "network/zones": {zone: slot for slot, zone in enumerate(zones)},
        "cluster/zones": zones[:2],
        "system-nodes/zones": zones[:2],
        "gpu-pools/t4-spot/zones": zones,
        "gpu-pools/t4-on-demand/zones": zones,
    }


def ec2(types: list[str], gpu: str, *, regions: tuple[str, ...] = ("us-east-1",), **needs: Any) -> Changes:
    """Return a runner of cirun on EC2 with other types and regions."""
    path = "runners/cirun-aws-gpu"
    return {
        "quotas": {},
        f"{path}/needs": {"gpu": gpu, "cpu": 3, "memory": "12Gi", "cuda": "12.9", **needs},
        f"{path}/cirun-aws/instance-types": types,
        f"{path}/cirun-aws/regions": list(regions),
        f"{path}/cirun-aws/images": {one: f"ami-{number:017x}" for number, one in enumerate(regions, 1)},
        f"{path}/cirun-aws/zones": [f"{one}a" for one in regions],
        f"{path}/cirun-aws/subnets": {one: ["subnet-0123456789abcdef0"] for one in regions},
    }


def gce(
    types: list[str], gpu: str, *, zones: tuple[str, ...] = ("us-central1-b", "us-central1-a"), **needs: Any
) -> Changes:
    """Return a runner of cirun on Compute Engine with other types and zones."""
    return {
        "quotas": {},
        "gcp/region": zones[0].rpartition("-")[0],
        "host-image/zones": ["us-central1-b"],
        f"{RUNNER}/needs": {"gpu": gpu, "cpu": 3, "memory": "12Gi", "cuda": "12.9", **needs},
        f"{RUNNER}/cirun-gcp/machine-types": types,
        f"{RUNNER}/cirun-gcp/zones": list(zones),
    }


RIGHT: Final[list[tuple[str, Changes]]] = [
    # GPU pools of EKS.
    (STAGING, pools(["g5.xlarge", "g5.2xlarge"], "a10g")),
    (STAGING, pools(["g6.xlarge", "g6.2xlarge"], "l4")),
    (STAGING, pools(["g6e.xlarge", "g6e.2xlarge"], "l40s")),
    (STAGING, pools(["gr6.4xlarge", "gr6.8xlarge"], "l4", memory="96Gi")),
    (STAGING, pools(["g7e.2xlarge", "g7e.4xlarge"], "rtx-pro-6000")),
    (STAGING, pools(["g4dn.12xlarge"], "t4", gpus=4, cpu=40, memory="160Gi")),
    (STAGING, pools(["g5.48xlarge"], "a10g", gpus=8, cpu=180, memory="700Gi")),
    (STAGING, pools(["p4d.24xlarge"], "a100", gpus=8, cpu=90, memory="1000Gi")),
    (STAGING, pools(["p4de.24xlarge"], "a100-80gb", gpus=8, cpu=90, memory="1000Gi")),
    (STAGING, pools(["p5.4xlarge"], "h100", cpu=14, memory="200Gi")),
    (STAGING, pools(["p5.48xlarge"], "h100", gpus=8, cpu=180, memory="1800Gi")),
    (STAGING, pools(["p5en.48xlarge", "p5e.48xlarge"], "h200", gpus=8, cpu=180, memory="1800Gi")),
    (STAGING, pools(["p6-b200.48xlarge"], "b200", gpus=8, cpu=180, memory="1800Gi")),
    (STAGING, pools(["p6-b300.48xlarge"], "b300", gpus=8, cpu=180, memory="3500Gi")),
    # System nodes.
    *((STAGING, nodes(*types)) for types in (
        ("t3a.large",), ("t2.large",), ("m5.large", "m5a.large"), ("m6i.large", "m6a.large", "m5n.large"),
        ("m7i.large", "m7i-flex.large", "m7a.large"), ("m8i.large", "m8a.large"), ("c5.xlarge", "c5a.xlarge"),
        ("c6i.xlarge", "c6a.xlarge", "c6in.xlarge"), ("c7i.xlarge", "c7a.xlarge", "c7i-flex.xlarge"),
        ("c8i.xlarge",), ("r5.large", "r5a.large"), ("r6i.large", "r7i.large"), ("m6i.32xlarge",), ("t3.xlarge",),
    )),
    # Regions of AWS.
    *((STAGING, region(*place)) for place in (
        ("us-east-2",), ("us-east-1", "bdf"), ("eu-west-1",), ("eu-central-1",), ("eu-north-1",), ("ap-northeast-1", "acd"),
        ("ap-southeast-2",), ("ca-central-1", "abd"), ("sa-east-1",), ("ap-south-1",),
    )),
    # Options of a cluster.
    (STAGING, {"network/nat": "per-zone", "cluster/log-retention-days": 1096}),
    (STAGING, {"gpu-pools/t4-spot/disk": {"size": "500Gi", "iops": 16000, "throughput": 1000}}),
    (STAGING, {"gpu-pools/t4-spot/disk": {"size": "1Ti", "iops": 40_000, "throughput": 2000}}),
    (STAGING, {"autoscaler/expander": ["least-nodes", "random"]}),
    (STAGING, {"runners/gpu-t4-steady/timeout-minutes": 7200}),
    (PRODUCTION, {"quotas": {}, "budget": {"worst": 500_000}}),
    (SHARED, {"gpu-pools/t4-shared/instance-types": ["g4dn.4xlarge"], "quotas": {}}),
    (SHARED, {"gpu-pools/t4-shared/sharing/replicas": 4, "gpu-pools/t4-shared/instance-types": ["g4dn.4xlarge"],
              "quotas": {}, "runners/gpu-light/arc/max": 8}),
    # cirun on EC2.
    (AWS, ec2(["g5.xlarge", "g5.2xlarge"], "a10g", regions=("eu-west-1", "eu-central-1"))),
    (AWS, ec2(["g6.xlarge"], "l4", regions=("us-east-2",))),
    (AWS, ec2(["g6e.2xlarge"], "l40s", cpu=6, memory="50Gi")),
    (AWS, ec2(["g7e.2xlarge"], "rtx-pro-6000")),
    (AWS, ec2(["p4de.24xlarge"], "a100-80gb", gpus=8, cpu=90, memory="1000Gi")),
    (AWS, ec2(["p5.4xlarge"], "h100", cpu=14, memory="200Gi")),
    # cirun on Compute Engine.
    (GCP, gce(["n1-standard-8"], "t4", cpu=7, memory="24Gi")),
    (GCP, gce(["n1-highmem-4"], "t4", memory="20Gi")),
    (GCP, gce(["n1-highmem-8", "n1-standard-8"], "v100", memory="24Gi")),
    (GCP, gce(["n1-custom-8-32768"], "t4", memory="24Gi")),
    (GCP, gce(["custom-6-23040"], "t4", memory="16Gi")),
    (GCP, gce(["g2-standard-4", "g2-standard-8"], "l4")),
    (GCP, gce(["g2-standard-24"], "l4", gpus=2, cpu=20, memory="80Gi")),
    (GCP, gce(["a2-highgpu-1g"], "a100", cpu=10, memory="70Gi")),
    (GCP, gce(["a2-ultragpu-1g"], "a100-80gb", cpu=10, memory="140Gi", zones=("us-central1-a",))),
    (GCP, gce(["a2-megagpu-16g"], "a100", gpus=16, cpu=90, memory="1100Gi")),
    (GCP, gce(["a3-highgpu-1g"], "h100", cpu=20, memory="200Gi", zones=("us-central1-a",))),
    (GCP, gce(["a3-megagpu-8g"], "h100", gpus=8, cpu=200, memory="1600Gi", zones=("us-central1-a",))),
    (GCP, gce(["a3-ultragpu-8g"], "h200", gpus=8, cpu=200, memory="2500Gi", zones=("us-central1-b",))),
    (GCP, gce(["n1-standard-4"], "t4", zones=("europe-west4-a", "europe-west4-b"))),
    (GCP, gce(["g2-standard-8"], "l4", zones=("us-east4-a",))),
    (GCP, {"quotas": {}, "host-image/builder": {"machine-type": "n2-standard-8"}}),
    (GCP, {"quotas": {}, "host-image/builder": {"machine-type": "c3-standard-8"}}),
    (GCP, {"quotas": {}, "host-image/builder": {"machine-type": "n2d-custom-8-16384"}}),
    (GCP, {"quotas": {}, "host-image/verifier": {"machine-type": "g2-standard-4", "gpu": "l4"}}),
    (GCP, {"artifact-registry/gpu-tests/region": "us-central1", "quotas": {}, "host-image/keep": 1}),
    # Stated types.
    (STAGING, {**nodes("m6id.large"), "instance-types": {
        "m6id.large": {"cloud": "aws", "vcpus": 2, "memory": "8Gi", "max-pods": 29, "instance-store": "110Gi"},
    }}),
    (STAGING, {**pools(["g8e.2xlarge"], "l40s"), "instance-types": {
        "g8e.2xlarge": {"cloud": "aws", "vcpus": 8, "memory": "64Gi", "gpu": "l40s", "gpus": 1, "max-pods": 58},
    }}),
    (GCP, {**gce(["a3-highgpu-1g-nolssd"], "h100", cpu=20, memory="200Gi", zones=("us-central1-a",)), "instance-types": {
        "a3-highgpu-1g-nolssd": {"cloud": "gcp", "vcpus": 26, "memory": "234Gi", "gpu": "h100", "gpus": 1},
    }}),
]  # fmt: skip
"""A stack file and changes to it, each a valid choice of a user."""


def test_a_valid_stack_file_has_no_fault_and_no_error() -> None:
    def errors(name: str, changes: Changes) -> list[str]:
        found = verdicts(stack(changes, name).settings)
        return [str(verdict) for verdict in found if verdict.level is Level.ERROR]

    faults = [stacks.faults(stacks.sections(name, changes)) for name, changes in RIGHT]

    assert [(case, found) for case, found in zip(RIGHT, faults, strict=True) if found] == []
    assert [(name, changes, found) for name, changes in RIGHT if (found := errors(name, changes))] == []


def test_at_least_sixty_valid_stack_files_are_tested() -> None:
    assert len(RIGHT) >= 60
