"""Price tables and interruption rates."""

from __future__ import annotations

import math
from decimal import Decimal
from itertools import chain

import pytest

from gpu_ci.knowledge.cost.interruptions import Band, aws_rate
from gpu_ci.knowledge.cost.prices import HOSTED_RUNNER, NoPrice, Price, dollars
from gpu_ci.knowledge.cost.prices_aws import AWS_ITEMS, AWS_REGIONS, EC2_PRICES, aws_price, ebs_price, ec2_price
from gpu_ci.knowledge.cost.prices_gcp import GCP_ITEMS, gce_price, gcp_disk_price
from gpu_ci.knowledge.machines import EC2_TYPES
from gpu_ci.knowledge.machines.groups import Disk

pytestmark = pytest.mark.pure


def usd(price: Price | NoPrice) -> Decimal:
    assert isinstance(price, Price), price
    return price.usd


@pytest.mark.parametrize(
    ("name", "region", "spot", "expected"),
    [
        ("g4dn.xlarge", "us-west-2", False, "0.526"), ("g4dn.xlarge", "us-west-2", True, "0.2479"),
        ("g4dn.xlarge", "us-east-1", True, "0.2158"), ("g5.xlarge", "us-west-2", False, "1.006"),
        ("p5.48xlarge", "us-west-2", False, "55.04"), ("c7i-flex.8xlarge", "us-east-1", False, "1.3566"),
        ("m8a.48xlarge", "us-east-1", False, "11.68512"), ("r6in.8xlarge", "us-west-2", False, "2.78928"),
        ("t3a.medium", "us-west-2", False, "0.0376"), ("p4de.24xlarge", "us-east-1", False, "27.44705"),
 ("g5.2xlarge", "us-east-1", True, "0.46056"),
    ],
)  # fmt: skip
def test_an_instance_hour_has_the_published_price(name: str, region: str, spot: bool, expected: str) -> None:
    assert usd(ec2_price(name, region, spot=spot)) == Decimal(expected)


UNPRICED = {"g7e.4xlarge", "g7e.8xlarge", "g7e.12xlarge", "g7e.24xlarge", "g7e.48xlarge", "p5e.48xlarge",
            "p6-b300.48xlarge"}  # fmt: skip
"""Types whose price is in no list that was read."""


def test_a_type_without_a_known_price_is_reported() -> None:
    assert {name: ec2_price(name, "us-west-2") for name in UNPRICED} == {
        name: NoPrice(item=name, table="gpu_ci/knowledge/cost/prices_aws.py", known=()) for name in UNPRICED
    }


def test_every_other_instance_type_has_a_price_that_bounds_its_spot_price() -> None:
    def bounded(on_demand: Price | NoPrice, spot: Price | NoPrice) -> bool:
        if isinstance(on_demand, NoPrice) or isinstance(spot, NoPrice):
            return False
        return 0 < spot.usd <= on_demand.usd and spot.bound == (spot.usd == on_demand.usd)

    prices = {
        (name, region): (ec2_price(name, region), ec2_price(name, region, spot=True))
        for name in EC2_TYPES.keys() - UNPRICED
        for region in AWS_REGIONS
    }

    assert {key: pair for key, pair in prices.items() if not bounded(*pair)} == {}


@pytest.mark.parametrize(
    ("name", "gpu", "gpus", "on_demand", "spot"),
    [
        ("n1-standard-4", None, 0, "0.1900", "0.0892"),
        ("n1-standard-4", "t4", 1, "0.5400", "0.2642"),
        ("n1-standard-8", "t4", 1, "0.7300", "0.3534"),
        ("g2-standard-16", None, 0, "1.1472", "0.6881"),
        ("g2-standard-24", None, 0, "2.0008", "1.2001"),
        ("e2-medium", None, 0, "0.0335", "0.0134"),
    ],
)
def test_a_machine_in_us_central1_costs_the_sum_of_its_parts(
    name: str, gpu: str | None, gpus: int, on_demand: str, spot: str
) -> None:
    found = [usd(gce_price(name, "us-central1", spot=cheap, gpu=gpu, gpus=gpus)) for cheap in (False, True)]

    assert found == [Decimal(on_demand), Decimal(spot)]


def test_disks_cost_their_size_and_gp3_also_its_speed_above_what_is_included() -> None:
    assert usd(ebs_price(Disk(gib=200), "us-west-2")) == 16
    assert usd(ebs_price(Disk(gib=200, iops=4000, mibps=400), "us-west-2")) == 16 + 5 + 11
    assert usd(gcp_disk_price(Disk(gib=100, kind="pd-balanced"), "us-east4")) == 11


@pytest.mark.parametrize(
    ("found", "item", "known"),
    [
        (ec2_price("g4dn.xlarge", "us-west-1"), "AWS in us-west-1", ("us-east-1", "us-west-2")),
        (aws_price("nat-gateway", "eu-west-1"), "AWS in eu-west-1", ("us-east-1", "us-west-2")),
        (ebs_price(Disk(gib=1), "eu-west-1"), "AWS in eu-west-1", ("us-east-1", "us-west-2")),
        (gce_price("g2-standard-4", "us-east4"), "g2-standard in us-east4", ("us-central1",)),
        (gce_price("a2-highgpu-1g", "us-central1"), "a2-highgpu in us-central1", ()),
        (gce_price("n1-standard-4", "us-central1", gpu="v100", gpus=1), "v100 in us-central1", ()),
        (gcp_disk_price(Disk(gib=1, kind="pd-balanced"), "us-west4"), "pd-balanced in us-west4",
         ("us-central1", "us-east4", "europe-west4")),
    ],
)  # fmt: skip
def test_a_missing_price_is_named_with_the_regions_that_have_it(
    found: Price | NoPrice, item: str, known: tuple[str, ...]
) -> None:
    assert isinstance(found, NoPrice)
    assert (found.item, found.known) == (item, known)


def test_every_price_has_a_source_and_a_date() -> None:
    every = [*EC2_PRICES.values(), *AWS_ITEMS.values(), *GCP_ITEMS.values(), HOSTED_RUNNER]
    spot = [ec2_price(name, region, spot=True) for name in EC2_PRICES for region in AWS_REGIONS]
    sources = [price.source for price in chain(every, spot) if isinstance(price, Price)]

    assert len(sources) == len(every) + len(spot)
    assert [source for source in sources if not source.name or "20" not in source.read] == []


@pytest.mark.parametrize(
    ("amount", "text"), [("1234.5", "1,234.50 USD"), ("0.0614", "0.061 USD"), ("0", "0.00 USD"), ("73", "73.00 USD")]
)
def test_amounts_have_cents_and_small_ones_a_third_digit(amount: str, text: str) -> None:
    assert dollars(Decimal(amount)) == text


def test_a_band_is_the_share_reclaimed_after_a_month() -> None:
    rates = [band.per_hour for band in Band]

    assert math.exp(-Band.FROM_5.per_hour * 730) == pytest.approx(0.9)
    assert rates == sorted(rates)


@pytest.mark.parametrize(
    ("names", "region", "band"),
    [
        (("g6e.2xlarge",), "us-east-1", Band.FROM_5),
        (("g6e.2xlarge",), "us-west-2", Band.ABOVE_20),
        (("p5.4xlarge",), "us-west-2", Band.BELOW_5),
        (("p5.48xlarge", "g4dn.xlarge"), "us-west-2", Band.ABOVE_20),
    ],
)
def test_the_interruption_rate_is_the_worst_of_the_types_or_their_families(
    names: tuple[str, ...], region: str, band: Band
) -> None:
    assert aws_rate(names, region) == band.per_hour
