"""Prices are those that were published, and what has none is refused by name."""

from __future__ import annotations

import math
from decimal import Decimal
from itertools import chain

import pytest

from gpu.cost.interruptions import Band, band, rate_per_hour
from gpu.cost.prices import HOSTED_RUNNERS, Price, Source, Unit, dollars, hosted_runner
from gpu.cost.prices_aws import AWS_ITEMS, AWS_REGIONS, EC2_PRICES, aws_price, ec2_price
from gpu.cost.prices_gcp import GCP_ITEMS, gce_price, gcp_disk_price, gcp_price
from gpu.machines import EC2_TYPES
from gpu.nearest import UnknownName

pytestmark = pytest.mark.pure


@pytest.mark.parametrize(
    ("name", "spot", "usd"),
    [
        ("g4dn.xlarge", False, "0.526"), ("g4dn.xlarge", True, "0.2479"), ("g5.xlarge", False, "1.006"),
        ("g6.xlarge", True, "0.4541"), ("p5.48xlarge", False, "55.04"), ("t3.medium", False, "0.0416"),
    ],
)  # fmt: skip
def test_an_instance_hour_in_oregon_costs_what_was_published(name: str, spot: bool, usd: str) -> None:
    assert ec2_price(name, "us-west-2", spot=spot).usd == Decimal(usd)


def test_the_regions_differ_on_spot() -> None:
    assert ec2_price("g4dn.xlarge", "us-east-1", spot=True).usd == Decimal("0.2158")


def test_a_spot_price_from_a_saving_is_exact() -> None:
    price = ec2_price("g5.2xlarge", "us-east-1", spot=True)

    assert price.usd == Decimal("1.212") * 38 / 100
    assert price.source.name.startswith("AWS Spot Instance Advisor")


@pytest.mark.parametrize("region", AWS_REGIONS)
@pytest.mark.parametrize("name", sorted(EC2_TYPES))
def test_every_instance_type_that_is_served_has_a_price_and_spot_is_never_dearer(name: str, region: str) -> None:
    on_demand, spot = ec2_price(name, region), ec2_price(name, region, spot=True)

    assert Decimal(0) < spot.usd <= on_demand.usd
    assert spot.bound == (spot.usd == on_demand.usd)


def test_a_spot_price_that_was_not_read_is_bounded_and_not_invented() -> None:
    price = ec2_price("g5.48xlarge", "us-west-2", spot=True)

    assert (price.usd, price.bound) == (Decimal("16.288"), True)


@pytest.mark.parametrize(
    ("name", "gpu", "gpus", "on_demand", "spot"),
    [
        ("n1-standard-4", None, 0, "0.1900", "0.0892"),
        ("n1-standard-8", None, 0, "0.3800", "0.1784"),
        ("n1-standard-4", "t4", 1, "0.5400", "0.2642"),
        ("n1-standard-8", "t4", 1, "0.7300", "0.3534"),
        ("g2-standard-16", None, 0, "1.1472", "0.6881"),
        ("g2-standard-24", None, 0, "2.0008", "1.2001"),
        ("e2-medium", None, 0, "0.0335", "0.0134"),
    ],
)
def test_a_machine_in_iowa_is_the_published_sum_of_its_parts(
    name: str, gpu: str | None, gpus: int, on_demand: str, spot: str
) -> None:
    def usd(*, cheap: bool) -> Decimal:
        return gce_price(name, "us-central1", spot=cheap, gpu=gpu, gpus=gpus).usd

    assert (usd(cheap=False), usd(cheap=True)) == (Decimal(on_demand), Decimal(spot))


def test_the_same_machine_elsewhere_costs_what_was_read_there() -> None:
    assert gce_price("n1-standard-4", "us-west4", spot=True, gpu="t4", gpus=1).usd == Decimal("0.0809") + Decimal(
        "0.1258"
    )


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (lambda: ec2_price("g4dn.xlrage", "us-west-2"), 'g4dn.xlrage is not a known EC2 instance type with a price; did you mean "g4dn.xlarge"?'),
        (lambda: ec2_price("g4dn.xlarge", "us-west-1"), 'us-west-1 is not a known AWS region with prices; did you mean "us-west-2"?'),
        (lambda: aws_price("nat-gatewy", "us-west-2"), 'nat-gatewy is not a known AWS price; did you mean "nat-gateway"?'),
        (lambda: aws_price("nat-gateway", "mars-1"), "mars-1 is not a known AWS region with prices; known: us-east-1, us-west-2"),
        (lambda: gce_price("n1-standart-4", "us-central1"), 'n1-standart-4 is not a known GCE machine type; did you mean "n1-standard-4"?'),
        (lambda: gce_price("g2-standard-4", "us-east4"), "us-east4 is not a known Google region with prices of g2-standard; known: us-central1"),
        (lambda: gce_price("a2-highgpu-1g", "us-central1"), "a2-highgpu is not a known machine family with a price at Google; known: e2-standard, g2-standard, n1-standard"),
        (lambda: gce_price("n1-standard-4", "us-central1", gpu="v100", gpus=1), "v100 is not a known GPU with a price at Google; known: l4, t4"),
        (lambda: gcp_disk_price("pd-balanced", "us-west4"), 'us-west4 is not a known Google region with disk prices; did you mean "us-east4"?'),
        (lambda: gcp_disk_price("pd-balance", "us-central1"), 'pd-balance is not a known kind of Google disk with a price; did you mean "pd-balanced"?'),
        (lambda: gcp_price("registry"), 'registry is not a known Google Cloud price; did you mean "registry-storage"?'),
        (lambda: hosted_runner("linux-gpu"), 'linux-gpu is not a known hosted GPU runner; did you mean "linux-4-core-gpu"?'),
    ],
)  # fmt: skip
def test_what_has_no_price_is_refused_by_name(asked: object, message: str) -> None:
    with pytest.raises(UnknownName) as fault:
        asked()  # type: ignore[operator]  # each is a question without arguments

    assert str(fault.value) == message


def test_every_price_has_a_source_and_the_day_it_was_read() -> None:
    every = [*EC2_PRICES.values(), *AWS_ITEMS.values(), *GCP_ITEMS.values(), *HOSTED_RUNNERS.values()]
    spot = [ec2_price(name, region, spot=True) for name in EC2_TYPES for region in AWS_REGIONS]

    assert [price for price in chain(every, spot) if not price.source.name or "20" not in price.source.read] == []


def test_prices_of_different_units_have_no_sum() -> None:
    source = Source(name="a test", read="2026")
    hour = Price(usd=Decimal(1), unit=Unit.HOUR, source=source)

    with pytest.raises(ValueError, match="a price for one hour and one for one month have no sum"):
        hour + Price(usd=Decimal(1), unit=Unit.MONTH, source=source)


@pytest.mark.parametrize(
    ("usd", "text"), [("1234.5", "1,234.50 USD"), ("0.0614", "0.061 USD"), ("0", "0.00 USD"), ("73", "73.00 USD")]
)
def test_amounts_are_written_for_people(usd: str, text: str) -> None:
    assert dollars(Decimal(usd)) == text


# How often spot machines are taken away.


def test_a_band_is_the_share_that_is_gone_after_a_month() -> None:
    assert math.exp(-Band.FROM_5.per_hour * 730) == pytest.approx(0.9)


def test_a_worse_band_is_a_higher_rate() -> None:
    rates = [each.per_hour for each in Band]

    assert rates == sorted(rates)
    assert len(rates) == 5


@pytest.mark.parametrize(
    ("name", "region", "expected"),
    [
        ("g6e.2xlarge", "us-east-1", Band.FROM_5),
        ("g6e.2xlarge", "us-west-2", Band.ABOVE_20),
        ("p5.4xlarge", "us-west-2", Band.BELOW_5),
        ("g4dn.xlarge", "us-west-2", Band.ABOVE_20),
    ],
)
def test_what_was_not_read_is_taken_to_be_the_worst_of_its_family(name: str, region: str, expected: Band) -> None:
    assert band(name, region) is expected


def test_of_several_types_the_worst_counts() -> None:
    assert rate_per_hour(("p5.48xlarge", "g4dn.xlarge"), "us-west-2") == Band.ABOVE_20.per_hour


def test_an_unknown_type_has_no_band() -> None:
    with pytest.raises(UnknownName):
        band("g4dn.huge", "us-west-2")
