"""The cost of a month, and the check against the budget."""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_ci.checks.cost.bill import bill
from gpu_ci.checks.cost.machine_groups import machine_groups
from gpu_ci.checks.cost.money import check
from gpu_ci.knowledge.cost.jobs import JobLoad
from gpu_ci.knowledge.cost.month import Bill, Case, Quantity, expected_machine, group_hours, machine_items
from gpu_ci.knowledge.cost.prices import NoPrice
from gpu_ci.knowledge.machines.groups import Disk, MachineGroup, Placement
from gpu_ci.knowledge.regions import Cloud
from gpu_ci.knowledge.verdict import Level, Verdict
from tests.checks.stacks import stack
from tests.stack_file.stacks import PRODUCTION
from tests.tables import OUT

pytestmark = pytest.mark.pure

POOL: Final = MachineGroup(
    path="gpu-pools.t4-spot",
    cloud=Cloud.AWS,
    types=("g4dn.xlarge", "g4dn.2xlarge"),
    placements=(Placement(region="us-west-2", spot=True),),
    max=5,
    disk=Disk(gib=200, mibps=400),
    idle_minutes=5,
)
OWN: Final = MachineGroup(
    path="runners.own",
    cloud=Cloud.GCP,
    types=("n1-standard-4",),
    placements=(Placement(region="us-central1", spot=True), Placement(region="us-central1", spot=False)),
    max=2,
    disk=Disk(gib=100, kind="pd-balanced"),
    attached_gpu="t4",
    attached_gpus=1,
)
JOBS: Final = JobLoad(path="runners.gpu-t4", group=POOL.path, jobs_per_month=600, mean_minutes=12)
GROUPS: Final = st.builds(
    lambda group, least, more: replace(group, min=least, max=least + more),
    st.sampled_from([POOL, OWN]),
    st.integers(0, 6),
    st.integers(1, 6),
)
LOADS: Final = st.builds(
    lambda jobs, minutes, idle: replace(JOBS, jobs_per_month=jobs, mean_minutes=minutes, idle=idle),
    st.integers(0, 20_000),
    st.floats(1, 600),
    st.integers(0, 4),
)


def month(group: MachineGroup, *loads: JobLoad) -> list[Decimal]:
    """Return the cost of a group in each month: idle, expected and worst."""
    found = Bill(items=tuple(machine_items(group, group_hours(group, loads))))
    return [found.total(case) for case in Case]


# The arithmetic of a group.


def test_expected_hours_are_those_of_jobs_with_start_and_idle_minutes() -> None:
    assert group_hours(POOL, [JOBS]).expected == 600 * Decimal("0.333333")


def test_the_worst_month_has_all_machines_of_the_most_expensive_type() -> None:
    items = machine_items(POOL, group_hours(POOL, [JOBS]))

    assert [(item.what, item.usd(Case.WORST)) for item in items if item.quantity.worst] == [
        ("g4dn.2xlarge, spot", 5 * 730 * Decimal("0.320")),
        ("root disk", 5 * Decimal(27)),
    ]


def test_the_worst_month_has_the_most_expensive_market_and_region_in_any_order() -> None:
    places = [Placement(region=region, spot=spot) for region in ("us-central1", "us-east4") for spot in (True, False)]
    alone = month(replace(OWN, placements=(Placement(region="us-east4", spot=False),)))[2]

    assert {month(replace(OWN, placements=order))[2] for order in (tuple(places), tuple(reversed(places)))} == {alone}
    assert month(OWN, JOBS)[1] < month(replace(OWN, placements=OWN.placements[1:]), JOBS)[1]


def test_always_running_machines_run_jobs_at_no_extra_cost() -> None:
    idle, expected, _ = month(replace(POOL, min=1), JOBS)

    assert idle == expected == Decimal("0.2479") * 730 + 27


def test_idle_runners_keep_as_many_machines_as_they_need() -> None:
    waiting = replace(JOBS, idle=3)

    assert month(POOL, waiting)[0] == month(replace(POOL, min=3))[0]
    assert month(replace(POOL, jobs_per_machine=2), waiting)[0] == month(replace(POOL, min=2))[0]


def test_interruptions_add_cost_on_spot_only() -> None:
    often = replace(POOL, interruptions_per_hour=1.0)
    on_demand = (Placement(region="us-west-2", spot=False),)

    assert month(often, JOBS)[1] > month(POOL, JOBS)[1]
    assert month(replace(often, placements=on_demand), JOBS) == month(replace(POOL, placements=on_demand), JOBS)


@given(GROUPS, LOADS, st.integers(0, 5))
def test_months_are_ordered_and_never_cheaper_with_a_larger_maximum(
    group: MachineGroup, load: JobLoad, more: int
) -> None:
    found, larger = month(group, load), month(replace(group, max=group.max + more), load)

    assert found == sorted(found)
    assert all(after >= before for before, after in zip(found, larger, strict=True))


def test_a_machine_without_a_price_is_missing_in_the_regions_of_its_placements() -> None:
    later = (*OWN.placements, Placement(region="asia-east1", spot=True))
    tried_later = list(machine_items(replace(OWN, placements=later), Quantity.always(Decimal(1))))
    tried_first = list(machine_items(replace(OWN, placements=later[::-1]), Quantity.always(Decimal(1))))

    assert [(item.worst_only, isinstance(item.price, NoPrice)) for item in tried_later] == [
        (True, True), (False, False), (False, False), (False, False), (False, False),
    ]  # fmt: skip
    assert [(item.worst_only, isinstance(item.price, NoPrice)) for item in tried_first] == [(False, True)]


# The bill of a stack.


def test_the_bill_has_every_part_that_costs_money() -> None:
    found = bill(stack())
    idle = {path: round(usd, 2) for path, usd in found.by_path(Case.IDLE).items() if usd}

    assert idle == {
        "cluster": Decimal("79.14"), "network": Decimal("36.50"), "system-nodes": Decimal("129.47"),
        "ecr.runner-gpu": Decimal("15.00"), "artifact-registry.gpu-tests": Decimal("5.00"),
        "host-image": Decimal("2.05"),
    }  # fmt: skip
    assert sum(found.by_path(Case.WORST).values()) == found.total(Case.WORST)


@pytest.mark.parametrize(
    ("change", "added"),
    [
        ({"cluster/support": "extended"}, (0, 0, 365)),
        ({"network/nat": "per-zone"}, (73, 73, 73)),
        ({"cluster/logs": []}, (Decimal("-5.14"),) * 3),
        ({"host-image/keep": 4}, (Decimal("0.50"),) * 3),
        ({"gpu-pools/t4-spot/min": 1}, (207.967, None, 0)),
    ],
)
def test_a_setting_changes_the_months(change: dict[str, Any], added: tuple[float | None, ...]) -> None:
    before, after = bill(stack()), bill(stack(change))
    found = [after.total(case) - before.total(case) for case in Case]

    assert [one for one, expected in zip(found, added, strict=True) if expected is not None] == pytest.approx(
        [Decimal(str(expected)) for expected in added if expected is not None]
    )


def test_images_of_other_registries_pay_for_traffic() -> None:
    image = {"reference": "ghcr.io/example-org/runner", "tag": "1.2.3", "cuda": "12.9", "compressed": "5Gi"}
    before, after = (
        {case: bill(one).by_path(case)["network"] for case in Case}
        for one in (stack(), stack({"images/runner-gpu": image}))
    )

    assert [after[case] - before[case] for case in Case] == [0, 144, 144]


def test_a_declared_image_whose_builder_is_removed_costs_its_storage() -> None:
    change = {"host-image/mode": "declared", "host-image/zones": ["us-central1-b"], "host-image/keep": OUT}
    built = {"host-image/phase": "image", "host-image/proved": "0a1b2c3d"}
    found = {
        item.what for item in bill(stack({**change, **built})).items if item.path == "host-image"
    }  # fmt: skip

    assert found == {"machine images"}
    assert len([item for item in bill(stack(change)).items if item.path == "host-image"]) == 5


def test_longer_jobs_and_a_long_tail_cost_more() -> None:
    tail = {"runners/gpu-t4/timeout-minutes": 600, "runners/gpu-t4/workload/p95-minutes": 200}

    assert bill(stack(tail)).total(Case.EXPECTED) > bill(stack()).total(Case.EXPECTED) + 50


# The check.

ELSEWHERE: Final = {
    "runners/cirun-gcp-gpu/cirun-gcp/zones": ["europe-west4-a", "us-central1-b"],
}
LATER: Final = {
    "runners/cirun-gcp-gpu/cirun-gcp/zones": ["us-central1-b", "europe-west4-a"],
}


def verdicts(change: dict[str, Any] | None = None) -> list[Verdict]:
    return list(check(stack(change)))


def warnings(change: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [(one.subject, one.reason, one.fix) for one in verdicts(change) if one.level is Level.WARNING]


def test_without_a_limit_all_three_months_are_shown() -> None:
    found, compared = verdicts()

    assert (found.check, found.level, found.subject) == ("money", Level.OK, "stack")
    assert found.reason == (
        "a month costs 267.16 USD without jobs, 415.23 USD with the stated jobs, 3,309.50 USD at most"
    )
    assert found.chain[0].startswith("system-nodes: t3.large, on-demand, 1460 x hour at 0.0832 USD: 121.47 USD (Karp")
    assert compared.level is Level.OK


def test_a_month_above_its_limit_is_an_error_that_names_the_machines_that_cost_most() -> None:
    expected, worst, _ = verdicts({"budget": {"expected": 500, "worst": 1000}})

    assert (expected.level, expected.subject) == (Level.OK, "budget.expected")
    assert expected.reason == "the expected month costs 415.23 USD, within the limit of 500.00 USD"
    assert (worst.level, worst.subject) == (Level.ERROR, "budget.worst")
    assert worst.reason == "the worst month costs 3,309.50 USD, over the limit of 1,000.00 USD"
    assert worst.fix == (
        "use fewer or cheaper machines in gpu-pools.t4-spot (1,303.00 USD), or raise the limit to 3310"
    )


def test_a_part_without_a_price_is_a_warning_and_the_month_names_it() -> None:
    first, second = verdicts(ELSEWHERE)

    assert (first.level, first.subject) == (Level.WARNING, "runners.cirun-gcp-gpu")
    assert first.reason == "no price is known for n1-standard in europe-west4, so the month does not include it"
    assert first.fix == (
        "estimate it yourself, or add the price to gpu_ci/knowledge/cost/prices_gcp.py, which has us-central1, us-east4, us-west4"
    )
    assert second.reason.endswith("; not included, because no price is known: runners.cirun-gcp-gpu")


def test_a_fallback_region_without_prices_is_missing_from_the_worst_month() -> None:
    assert verdicts(LATER)[0].reason.endswith("so the worst month does not include it")


def test_a_limit_that_cannot_be_checked_is_a_warning() -> None:
    (found,) = verdicts({**ELSEWHERE, "budget": {"expected": 9999}})

    assert (found.level, found.subject) == (Level.WARNING, "runners.cirun-gcp-gpu")
    assert found.reason.endswith("so the budget cannot be checked")
    assert found.fix.startswith("estimate it yourself, or add the price to gpu_ci/knowledge/cost/prices_gcp.py")


@pytest.mark.parametrize(
    ("change", "subject", "reason"),
    [
        ({"gpu-pools/t4-spot/min": 2}, "gpu-pools.t4-spot.min", "2 idle nodes cost 415.93 USD a month, "),
        ({"runners/gpu-t4/arc/min": 1}, "runners.gpu-t4.arc.min", "1 idle runner costs 207.97 USD a month, "),
    ],
)
def test_idle_gpu_machines_are_a_warning_unless_a_target_needs_them(
    change: dict[str, Any], subject: str, reason: str
) -> None:
    ((found, why, fix),) = warnings(change)

    assert (found, why) == (subject, f"{reason}with or without jobs")
    assert fix == "set it to 0, or state runners.gpu-t4.queue-target-minutes as the reason to keep them"
    assert warnings({**change, "runners/gpu-t4/queue-target-minutes": 5}) == []


@pytest.mark.parametrize(
    ("change", "subject"),
    [
        ({"gpu-pools/t4-spot/max": 1, "runners/gpu-t4/workload/jobs-per-month": 5000}, "gpu-pools.t4-spot.max"),
        ({"runners/cirun-gcp-gpu/workload/jobs-per-month": 9000}, "runners.cirun-gcp-gpu.cirun-gcp.at-once"),
    ],
)
def test_more_jobs_than_machine_hours_are_a_warning_with_a_sufficient_number(
    change: dict[str, Any], subject: str
) -> None:
    ((found, reason, fix),) = warnings(change)
    enough = re.fullmatch(r"set it to at least (\d+), or state fewer jobs", fix)

    assert enough is not None
    assert found == subject
    assert re.match(r"the stated jobs need \d+ machine hours a month, and at most (730|1460) are available", reason)
    assert warnings({**change, subject.replace(".", "/"): int(enough[1])}) == []
    assert len(warnings({**change, subject.replace(".", "/"): int(enough[1]) - 1})) == 1


def test_the_comparison_with_githubs_runners_has_both_costs() -> None:
    found = verdicts()[-1]

    assert found.reason == (
        "19,200 job minutes a month cost 415.23 USD here and 998.40 USD on GitHub's GPU runners; "
        "this stack is cheaper from 6,033 minutes a month"
    )
    idle = {
        "runners/gpu-t4/workload": OUT,
        "runners/gpu-t4-steady/workload": OUT,
        "runners/cirun-gcp-gpu/workload": OUT,
    }
    assert [one.subject for one in verdicts(idle)] == ["stack"]


def test_machines_that_cost_more_a_minute_are_never_cheaper_than_githubs() -> None:
    change = {"gpu-pools/t4-spot/instance-types": ["g4dn.metal"], "gpu-pools/t4-spot/capacity": "on-demand"}

    assert verdicts(change)[-1].reason.endswith("this stack is never cheaper")


def test_production_has_a_budget_that_is_met() -> None:
    of = stack(name=PRODUCTION)

    assert all(not isinstance(expected_machine(group), NoPrice) for group in machine_groups(of))
    assert {one.level for one in check(of)} <= {Level.OK, Level.WARNING}
