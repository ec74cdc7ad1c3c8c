"""GPUs and prices of Jarvis Labs."""

from __future__ import annotations

from decimal import Decimal

import pytest

from gpu_ci.knowledge.cost.month import PricedMachine, expected_machine
from gpu_ci.knowledge.cost.prices import NoPrice, Price
from gpu_ci.knowledge.cost.prices_jarvis import jarvis_price, jarvis_storage_price
from gpu_ci.knowledge.machines import GPU_MODELS, TABLES
from gpu_ci.knowledge.machines.groups import Disk, MachineGroup, Placement
from gpu_ci.knowledge.machines.jarvis import (
    JARVIS_GPUS,
    MOST_GPUS,
    in_region,
    jarvis_gpu,
    jarvis_instance,
    jarvis_type,
)
from gpu_ci.knowledge.nearest import UnknownName
from gpu_ci.knowledge.regions import Cloud

pytestmark = pytest.mark.pure


def test_an_instance_has_the_cpus_and_the_memory_of_its_gpus() -> None:
    found = jarvis_instance("l4", 2)

    assert (found.name, found.vcpus, found.memory_mib, found.gpus) == ("2xL4", 56, 248 * 1024, 2)
    assert found.gpu is GPU_MODELS["l4"]
    assert jarvis_type("2xL4") == TABLES.machine(Cloud.JARVIS, "2xL4") == found


@pytest.mark.parametrize("slug", sorted(JARVIS_GPUS))
def test_every_gpu_has_a_model_and_every_instance_a_name(slug: str) -> None:
    assert jarvis_type(f"{MOST_GPUS}x{jarvis_gpu(slug).name}").gpu is GPU_MODELS[slug]


def test_a_gpu_that_is_not_rented_is_unknown_and_the_nearest_is_named() -> None:
    with pytest.raises(UnknownName) as found:
        jarvis_gpu("a10g")
    assert str(found.value) == 'a10g is not a known GPU of Jarvis Labs; did you mean "a100"?'
    with pytest.raises(UnknownName, match="9xL4 is not a known instance of Jarvis Labs"):
        jarvis_type("9xL4")


@pytest.mark.parametrize(
    ("slug", "gpus", "region", "offered"),
    [
        ("h100", 1, "europe-01", True),
        ("h100", 2, "europe-01", False),
        ("l4", 1, "europe-01", False),
        ("l4", 8, "india-noida-01", True),
        ("l4", 1, "", True),
    ],
)
def test_europe_has_single_h100_and_h200_only(slug: str, gpus: int, region: str, offered: bool) -> None:
    assert in_region(jarvis_instance(slug, gpus), region) is offered


@pytest.mark.parametrize(
    ("name", "usd"), [("1xL4", "0.44"), ("2xA100-80GB", "2.98"), ("1xH100", "3.49"), ("1xRTX-PRO6000", "2.19")]
)
def test_an_hour_costs_the_published_price_of_each_gpu(name: str, usd: str) -> None:
    found = jarvis_price(name)

    assert isinstance(found, Price)
    assert found.usd == Decimal(usd)


def test_a_gpu_without_a_published_price_is_reported() -> None:
    assert jarvis_price("1xRTX5000") == NoPrice(
        item="rtx-5000 of Jarvis Labs",
        table="gpu_ci/knowledge/cost/prices_jarvis.py",
        known=("l4", "a30", "a100", "a100-80gb", "rtx-pro-6000", "h100", "h200"),
    )


def test_storage_costs_ten_cents_for_each_gibibyte_of_a_month() -> None:
    assert jarvis_storage_price(Disk(gib=100)).usd == 10


def test_a_group_of_one_instance_is_priced_in_any_region() -> None:
    group = MachineGroup(
        path="runners.gpu",
        cloud=Cloud.JARVIS,
        types=("1xL4",),
        placements=(Placement(region="", spot=False),),
        max=1,
        disk=Disk(gib=50, kind="ssd"),
    )
    found = expected_machine(group)

    assert isinstance(found, PricedMachine)
    assert (found.hour.usd, found.disk.usd) == (Decimal("0.44"), Decimal(5))
