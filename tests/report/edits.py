"""One deliberate edit of each kind in `tests/stacks/staging.yaml`, for golden files of the report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

Replacements = Sequence[tuple[str, str]]

EDITS: Final[dict[str, Replacements]] = {
    "nothing": [],
    "minimum-from-0-to-1": [
        ("capacity: spot\n      min: 0", "capacity: spot\n      min: 1"),
    ],
    "maximum": [
        ("min: 0\n      max: 5", "min: 0\n      max: 6"),
        (
            "pool: t4-spot, fallback: t4-on-demand, min: 0, max: 5",
            "pool: t4-spot, fallback: t4-on-demand, min: 0, max: 6",
        ),
    ],
    "instance-types": [
        ("instance-types: [g4dn.xlarge, g4dn.2xlarge]", "instance-types: [g4dn.xlarge]"),
    ],
    "disk-size": [
        ("disk: {size: 200Gi, iops: 3000, throughput: 400}", "disk: {size: 250Gi, iops: 3000, throughput: 400}"),
    ],
    "tag": [
        ("CostCentre: ci-staging", "CostCentre: ci-other"),
    ],
    "zone": [
        ("us-west-2c: 2}", "us-west-2c: 2, us-west-2d: 3}"),
        ("zones: [us-west-2a, us-west-2b]\n      disk", "zones: [us-west-2a, us-west-2b, us-west-2d]\n      disk"),
    ],
    "network-range": [
        ("cidr: 10.0.0.0/16", "cidr: 10.2.0.0/16"),
    ],
    "nat": [
        ("nat: single", "nat: per-zone"),
    ],
    "renamed-pool": [
        ("    t4-spot:\n", "    t4-cheap:\n"),
        ("pool: t4-spot", "pool: t4-cheap"),
    ],
    "renamed-runner": [
        ("    gpu-t4-steady:\n", "    gpu-t4-long:\n"),
    ],
    "removed-runner": [
        (
            """    gpu-t4-steady:
      needs: {gpu: t4, gpus: 1, cpu: 3, memory: 12Gi, cuda: "12.9"}
      timeout-minutes: 240
      workload: {jobs-per-month: 40, minutes: 150}
      arc: {pool: t4-on-demand, min: 0, max: 2, image: runner-gpu}
""",
            "",
        ),
    ],
    "container-mode": [
        (
            "arc: {pool: t4-on-demand, min: 0, max: 2, image: runner-gpu}",
            "arc: {pool: t4-on-demand, min: 0, max: 2, image: runner-gpu, container-mode: kubernetes-novolume}",
        ),
    ],
    "kubernetes-version": [
        ('version: "1.35"', 'version: "1.36"'),
    ],
    "administrator": [
        (
            "      platform: arn:aws:iam::123456789012:role/platform-engineer\n",
            (
                "      platform: arn:aws:iam::123456789012:role/platform-engineer\n"
                "      partner: arn:aws:iam::210987654321:role/partner\n"
            ),
        ),
    ],
    "host-image-driver": [
        ('driver: "580"\n    cuda: "13.0"', 'driver: "570"\n    cuda: "12.8"'),
    ],
    "host-image-source": [
        ("ubuntu-2404-noble-amd64-v20261105", "ubuntu-2404-noble-amd64-v20261112"),
    ],
    "policy-violation": [
        ("public: [203.0.113.0/24]", 'public: ["0.0.0.0/0"]'),
    ],
    "silenced-violation": [
        ("public: [203.0.113.0/24]", 'public: ["0.0.0.0/0"]'),
        (
            "  gpu-ci:quotas:\n",
            """  gpu-ci:exceptions:
    office:
      check: no-ingress-from-everywhere
      subject: Cluster cluster
      reason: the new office has no fixed range before December
      until: "2026-12-18"
  gpu-ci:quotas:
""",
        ),
    ],
    "service-range": [
        (
            "    zones: [us-west-2a, us-west-2b, us-west-2c] # cannot",
            "    service-cidr: 172.21.0.0/16\n    zones: [us-west-2a, us-west-2b, us-west-2c] # cannot",
        ),
    ],
}
"""By name, the texts that the edit replaces in `tests/stacks/staging.yaml`, and their replacements."""


def edited(text: str, name: str) -> str:
    """Return the stack file with one edit.

    Raises:
        ValueError: the stack file does not contain the text of the edit.

    """
    for old, new in EDITS[name]:
        if old not in text:
            raise ValueError(f"{name}: the stack file of staging has no {old!r}")
        text = text.replace(old, new)
    return text
