"""The builders of machine images on AWS: their quota, their cost and the driver that they install."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final

import pytest

from gpu_ci.checks.capacity import quota
from gpu_ci.checks.cost.bill import bill
from gpu_ci.checks.images import compatibility
from gpu_ci.knowledge.cost.month import Case
from gpu_ci.knowledge.verdict import Level
from tests.checks.stacks import stack, verdicts

pytestmark = pytest.mark.pure

EKS: Final[dict[str, Any]] = {"version": "1.35", "zone": "us-west-2a", "instance-types": ["p4d.24xlarge"]}
EC2: Final[dict[str, Any]] = {
    "serial": "20261105",
    "driver": "580",
    "zone": "us-west-2a",
    "regions": ["us-west-2", "us-east-1"],
}


def test_a_builder_counts_against_the_quota_of_on_demand_machines() -> None:
    found = [one for one in verdicts(quota, {"eks-image": EKS}) if one.subject == "eks-image"]

    assert [(one.level, "96 vCPUs in us-west-2, quota L-417A185B" in one.reason) for one in found] == [
        (Level.WARNING, True)
    ]


def test_a_month_contains_one_build_and_the_kept_images_of_each_region() -> None:
    found = bill(stack({"ec2-image": {**EC2, "keep": 4, "disk": "60Gi"}}))
    items = {item.what: item for item in found.items if item.path == "ec2-image"}

    assert {what: item.usd(Case.IDLE) for what, item in items.items() if "images" in what} == {
        "machine images in us-west-2": Decimal(60 * 4) * Decimal("0.05"),
        "machine images in us-east-1": Decimal(60 * 4) * Decimal("0.05"),
    }
    assert found.by_path(Case.WORST)["ec2-image"] > Decimal(24)


def test_a_driver_that_ubuntu_removed_is_refused() -> None:
    found = [
        one for one in verdicts(compatibility, {"ec2-image": {**EC2, "driver": "535"}}) if one.level is Level.ERROR
    ]

    assert [one.subject for one in found] == ["ec2-image.driver"]


def test_a_gpu_that_the_open_modules_do_not_support_is_refused_before_the_build() -> None:
    found = verdicts(compatibility, {"ec2-image": {**EC2, "instance-types": ["p3.2xlarge"]}})

    assert [(one.subject, one.fix) for one in found if one.level is Level.ERROR] == [
        ("ec2-image.driver", "use the GPU t4")
    ]
