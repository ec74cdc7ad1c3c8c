"""What a stack asks of each quota, and what is said about it."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.quota import EKS_UPDATE_HEADROOM, Demand, QuotaNeed, judge, needs
from gpu.machines import EC2_TYPES, GPU_MODELS, ec2_type
from gpu.nearest import UnknownName
from gpu.quotas.aws import quota_code
from gpu.quotas.gcp import METRICS, Unattached
from gpu.regions import Cloud
from gpu.verdict import Level, Verdict

pytestmark = pytest.mark.pure

POOL = Demand(
    path="gpu-pools.t4-spot",
    cloud=Cloud.AWS,
    region="us-west-2",
    machines=("g4dn.xlarge", "g4dn.2xlarge"),
    spot=True,
    max_count=5,
    headroom=EKS_UPDATE_HEADROOM,
)
GOOGLE = Demand(
    path="runners.gpu-t4-gcp",
    cloud=Cloud.GCP,
    region="us-central1",
    machines=("n1-standard-4",),
    gpu="t4",
    gpus=1,
    spot=True,
    max_count=4,
    project="acme-ci",
)
LIMITED = replace(POOL, limit="gpu-pools.t4-spot.max")
GPU_TYPES = sorted(name for name, row in EC2_TYPES.items() if row.gpu)


def amounts(*demands: Demand) -> dict[str, int]:
    return {f"{need.quota.region}/{need.quota.name}": need.needed for need in needs(demands)}


# AWS ---------------------------------------------------------------------------------------------------------


def test_a_pool_is_reckoned_at_its_largest_type_with_room_to_update() -> None:
    assert amounts(POOL) == {"us-west-2/L-3819A6DF": (5 + 2) * 8}


def test_spot_and_on_demand_are_apart_and_regions_too() -> None:
    fallback = replace(POOL, path="gpu-pools.t4", spot=False)
    elsewhere = replace(POOL, region="eu-west-1")

    assert amounts(POOL, fallback, elsewhere) == {
        "eu-west-1/L-3819A6DF": 56,
        "us-west-2/L-3819A6DF": 56,
        "us-west-2/L-DB2E81BA": 56,
    }


def test_pools_of_one_quota_are_added_up() -> None:
    (need,) = needs([POOL, replace(POOL, path="gpu-pools.a10g", machines=("g5.12xlarge",), max_count=1, headroom=0)])

    assert need.needed == 56 + 48
    assert [claim.path for claim in need.claims] == ["gpu-pools.t4-spot", "gpu-pools.a10g"]
    assert need.claims[0].why == (
        "gpu-pools.t4-spot: 5 Spot machines and 2 while updating, at worst g4dn.2xlarge with 8 vCPUs each: 56"
    )


def test_a_pool_that_mixes_families_can_fill_either_quota() -> None:
    mixed = replace(POOL, machines=("g4dn.xlarge", "p3.2xlarge"), headroom=0)

    assert amounts(mixed) == {"us-west-2/L-3819A6DF": 20, "us-west-2/L-7212CCBC": 40}


@pytest.mark.parametrize(
    ("name", "on_demand", "spot"),
    [
        ("g4dn.xlarge", "L-DB2E81BA", "L-3819A6DF"),
        ("g6e.12xlarge", "L-DB2E81BA", "L-3819A6DF"),
        ("gr6.4xlarge", "L-DB2E81BA", "L-3819A6DF"),
        ("p3.2xlarge", "L-417A185B", "L-7212CCBC"),
        ("p4d.24xlarge", "L-417A185B", "L-7212CCBC"),
        ("p5.48xlarge", "L-417A185B", "L-C4BD4855"),
        ("m7i.large", "L-1216C47A", "L-34B43A08"),
        ("t3.medium", "L-1216C47A", "L-34B43A08"),
    ],
)
def test_each_family_has_its_quotas(name: str, on_demand: str, spot: str) -> None:
    assert (quota_code(name, spot=False), quota_code(name, spot=True)) == (on_demand, spot)


@pytest.mark.parametrize("name", ["inf2.xlarge", "trn1.2xlarge", "dl1.24xlarge", "p6-b200.48xlarge", "x2idn.16xlarge"])
def test_a_family_with_another_quota_is_not_taken_for_a_known_one(name: str) -> None:
    with pytest.raises(UnknownName, match="is not a known quota family of EC2"):
        quota_code(name, spot=True)


def test_every_type_in_the_table_has_a_quota() -> None:
    codes = {quota_code(name, spot=spot) for name in EC2_TYPES for spot in (True, False)}

    assert {"L-3819A6DF", "L-DB2E81BA", "L-1216C47A"} <= codes


@given(
    st.lists(st.sampled_from(GPU_TYPES), min_size=1, max_size=4), st.integers(0, 50), st.integers(0, 5), st.booleans()
)
def test_no_choice_of_types_can_need_more_than_what_is_reckoned(
    types: list[str], count: int, headroom: int, spot: bool
) -> None:
    found = amounts(replace(POOL, machines=tuple(types), max_count=count, headroom=headroom, spot=spot))
    for name in types:
        used = ec2_type(name).vcpus * (count + headroom)

        assert used <= found.get(f"us-west-2/{quota_code(name, spot=spot)}", 0)


@given(st.permutations([POOL, GOOGLE, replace(POOL, spot=False), replace(GOOGLE, region="us-east1")]))
def test_the_order_of_demands_does_not_matter(demands: list[Demand]) -> None:
    assert amounts(*demands) == amounts(*reversed(demands))
    assert list(amounts(*demands)) == list(amounts(*reversed(demands)))


# Google ------------------------------------------------------------------------------------------------------


def test_an_n1_with_a_t4_counts_against_three_quotas() -> None:
    assert amounts(GOOGLE) == {
        "global/GPUS_ALL_REGIONS": 4,
        "us-central1/CPUS": 16,
        "us-central1/PREEMPTIBLE_NVIDIA_T4_GPUS": 4,
    }


def test_on_demand_counts_against_the_models_own_quota() -> None:
    assert amounts(replace(GOOGLE, spot=False))["us-central1/NVIDIA_T4_GPUS"] == 4


def test_a_machine_that_brings_its_gpu_needs_no_cpu_quota() -> None:
    found = amounts(replace(GOOGLE, machines=("g2-standard-4", "g2-standard-24"), gpu=None, gpus=0))

    assert found == {"global/GPUS_ALL_REGIONS": 8, "us-central1/PREEMPTIBLE_NVIDIA_L4_GPUS": 8}


def test_all_regions_are_one_quota() -> None:
    other = replace(GOOGLE, path="runners.gpu-t4-east", region="us-east1")

    assert amounts(GOOGLE, other)["global/GPUS_ALL_REGIONS"] == 8


def test_markets_and_regions_that_are_tried_in_turn_are_no_further_machines() -> None:
    ways = [
        replace(GOOGLE, spot=spot, region=region) for spot in (True, False) for region in ("us-central1", "us-east1")
    ]

    assert amounts(*ways) == {
        "global/GPUS_ALL_REGIONS": 4,
        **{
            f"{region}/{name}": amount
            for region in ("us-central1", "us-east1")
            for name, amount in {"CPUS": 16, "NVIDIA_T4_GPUS": 4, "PREEMPTIBLE_NVIDIA_T4_GPUS": 4}.items()
        },
    }


def test_a_machine_without_a_gpu_by_intention_claims_cpus_alone() -> None:
    builder = replace(
        GOOGLE, path="host-image", machines=("e2-standard-8",), gpu=None, gpus=0, plain=True, spot=False, max_count=1
    )
    verifier = replace(GOOGLE, path="host-image", spot=False, max_count=1)

    assert amounts(builder) == {"us-central1/CPUS": 8}
    assert amounts(builder, verifier) == {
        "global/GPUS_ALL_REGIONS": 1,
        "us-central1/CPUS": 8,
        "us-central1/NVIDIA_T4_GPUS": 1,
    }


def test_an_h100_on_demand_is_asked_for_by_its_family() -> None:
    (need,) = [
        need
        for need in needs([replace(GOOGLE, machines=("a3-highgpu-8g",), gpu=None, gpus=0, spot=False, max_count=1)])
        if need.quota.region != "global"
    ]

    assert need.request == (
        "gcloud beta quotas preferences create --service=compute.googleapis.com --project=acme-ci "
        "--quota-id=GPUS-PER-GPU-FAMILY-per-project-region --preferred-value=8 "
        "--dimensions=region=us-central1,gpu_family=NVIDIA_H100"
    )


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"gpu": None}, Unattached),
        ({"gpu": "l4"}, Unattached),
        ({"gpus": 3}, Unattached),
        ({"machines": ("g2-standard-4",)}, Unattached),
        ({"gpu": "t5"}, UnknownName),
        ({"machines": ("n1-standard-5",)}, UnknownName),
    ],
)
def test_a_machine_that_cannot_be_is_not_reckoned(changed: dict[str, object], fault: type[Exception]) -> None:
    with pytest.raises(fault):
        needs([replace(GOOGLE, **changed)])  # type: ignore[arg-type]  # fields of a demand, given by this test


def test_every_model_that_google_rents_has_a_quota() -> None:
    assert {slug for slug, model in GPU_MODELS.items() if model.google} <= set(METRICS)


# Verdicts ----------------------------------------------------------------------------------------------------


def one(demand: Demand, **stated: int) -> tuple[Level, str, str]:
    verdict = judge([demand], stated={key.replace("_", "-"): value for key, value in stated.items()})[0]
    return verdict.level, verdict.reason, verdict.fix


def test_a_stated_quota_that_is_too_small_is_an_error_with_the_request() -> None:
    level, reason, fix = one(POOL, L_3819A6DF=40)

    assert level is Level.ERROR
    assert reason == (
        "the stack can ask for 56 vCPUs in us-west-2, quota L-3819A6DF (All G and VT Spot Instance Requests), "
        "and 40 are stated"
    )
    assert fix == (
        "ask for more and state 56 as quotas.L-3819A6DF: aws service-quotas request-service-quota-increase "
        "--region us-west-2 --service-code ec2 --quota-code L-3819A6DF --desired-value 56"
    )


def test_the_chapter_shows_what_is_really_said() -> None:
    chapter = (Path(__file__).parents[2] / "docs/explanation/checks/quota.md").read_text()
    verdict = judge([LIMITED], stated={"L-3819A6DF": 40})[0]

    assert str(verdict).rpartition(" (")[0] in chapter
    assert verdict.chapter == "explanation/checks/quota.md"


def test_a_stated_quota_that_is_enough_holds() -> None:
    assert one(POOL, L_3819A6DF=56)[0] is Level.OK
    assert one(POOL, L_3819A6DF=55)[0] is Level.ERROR


def test_a_quota_that_nobody_stated_is_a_warning_since_new_accounts_have_none() -> None:
    level, reason, fix = one(POOL)

    assert level is Level.WARNING
    assert reason.endswith("and a new account has 0")
    assert fix.startswith(
        "ask for it, and when it is granted state 56 as quotas.us-west-2/L-3819A6DF: aws service-quotas"
    )


def test_what_every_account_has_needs_no_statement() -> None:
    nodes = replace(POOL, machines=("t3.medium",), spot=False, max_count=2, headroom=0)

    assert one(nodes)[0] is Level.OK
    assert one(replace(nodes, max_count=3))[0] is Level.WARNING


def test_a_statement_for_a_region_goes_before_one_for_all() -> None:
    stated = {"L-3819A6DF": 100, "us-west-2/L-3819A6DF": 10}

    both = {verdict.level: verdict for verdict in judge([POOL, replace(POOL, region="us-east-1")], stated=stated)}

    assert "us-west-2" in both[Level.ERROR].reason
    assert "state 56 as quotas.us-west-2/L-3819A6DF:" in both[Level.ERROR].fix
    assert "us-east-1" in both[Level.OK].reason


def test_a_fault_hides_no_other_verdict() -> None:
    misspelt = replace(POOL, path="gpu-pools.bad", machines=("g4dm.xlarge",))
    verdicts = judge([misspelt, POOL])

    assert [(verdict.subject, verdict.level) for verdict in verdicts] == [
        ("gpu-pools.bad", Level.ERROR),
        ("gpu-pools.t4-spot", Level.WARNING),
    ]
    assert verdicts[0].fix == "write g4dn.xlarge"


def test_the_largest_claim_is_the_offender() -> None:
    small = replace(POOL, path="gpu-pools.small", max_count=1, headroom=0)

    assert judge([small, POOL])[0].subject == "gpu-pools.t4-spot"


def test_nothing_demanded_is_nothing_said() -> None:
    assert judge([replace(POOL, max_count=0, headroom=0)]) == ()
    assert judge([]) == ()


def test_a_request_is_a_command_that_a_shell_takes() -> None:
    found: list[QuotaNeed] = list(needs([POOL, GOOGLE, replace(POOL, machines=("p5.48xlarge",))]))
    words = [shlex.split(need.request) for need in found]

    assert {line[0] for line in words} == {"aws", "gcloud"}
    assert [line for line in words if any("{" in word for word in line)] == []


@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 300))
def test_more_machines_never_make_a_quota_enough(some: int, more: int, granted: int) -> None:
    def enough(count: int) -> bool:
        return all(need.enough for need in needs([replace(POOL, max_count=count)], stated={"L-3819A6DF": granted}))

    assert enough(some) or not enough(some + more)


def test_three_hundred_pools_cost_little() -> None:
    pools = [replace(POOL, path=f"gpu-pools.{index}", max_count=1) for index in range(300)]
    (verdict,) = judge(pools)

    assert len(verdict.chain) == 302
    assert "7200 vCPUs" in verdict.reason


@pytest.mark.parametrize(
    ("key", "fix"),
    [
        ("NVIDIA_T4_GPU", "did you mean NVIDIA_T4_GPUS?"),
        ("us-west-2/L-3819A6DE", "did you mean us-west-2/L-3819A6DF?"),
        ("nonsense", "leave it out"),
    ],
)
def test_what_is_stated_under_another_name_is_not_passed_over(key: str, fix: str) -> None:
    first = judge([], stated={key: 4})[0]

    assert (first.level, first.subject, first.fix) == (Level.WARNING, f"quotas.{key}", fix)


@pytest.mark.parametrize("key", ["L-3819A6DF", "us-west-2/L-417A185B", "PREEMPTIBLE_NVIDIA_L4_GPUS", "CPUS"])
def test_a_quota_that_nothing_uses_yet_may_be_stated(key: str) -> None:
    said = judge([replace(POOL, max_count=0, headroom=0)], stated={key: 4})

    assert said == ()


@pytest.mark.parametrize(
    ("key", "reason", "fix"),
    [
        ("us-west-22/L-3819A6DF", "nothing here runs in us-west-22", "did you mean us-west-2/L-3819A6DF?"),
        ("us-centrall/CPUS", "nothing here runs in us-centrall", "did you mean us-central1/CPUS?"),
        ("us-west-2/CPUS", "nothing here runs in us-west-2", "leave it out"),
        ("us-central1/GPUS_ALL_REGIONS", "GPUS_ALL_REGIONS is one quota for all regions", "did you mean GPUS_ALL_REGIONS?"),
    ],
)  # fmt: skip
def test_what_is_stated_for_a_region_without_machines_is_not_passed_over(key: str, reason: str, fix: str) -> None:
    said = next(verdict for verdict in judge([POOL, GOOGLE], stated={key: 4}) if verdict.subject == f"quotas.{key}")

    assert (said.level, said.reason, said.fix) == (Level.WARNING, reason, fix)


def test_a_region_whose_only_machine_is_misspelt_is_a_region_all_the_same() -> None:
    said = judge([replace(POOL, machines=("g4dm.xlarge",))], stated={"us-west-2/L-3819A6DF": 56})

    assert [(verdict.level, verdict.subject) for verdict in said] == [(Level.ERROR, POOL.path)]


# Way-outs, followed to the letter ----------------------------------------------------------------------------


def judged(demands: list[Demand], stated: dict[str, int], quota: str) -> Verdict:
    return next(verdict for verdict in judge(demands, stated=stated) if f"quota {quota} " in verdict.reason)


@given(st.integers(1, 8), st.integers(1, 8), st.integers(0, 130))
def test_the_number_that_is_to_be_lowered_is_enough_and_no_larger_one_is(most: int, other: int, granted: int) -> None:
    pools = [
        replace(LIMITED, max_count=most),
        replace(LIMITED, path="gpu-pools.o", limit="gpu-pools.o.max", max_count=other),
    ]
    stated = {"L-3819A6DF": granted}
    lower = re.match(r"lower (gpu-pools\.[\w-]+)\.max to (\d+), or", judged(pools, stated, "L-3819A6DF").fix)
    if lower is None:
        assert (min(most, other) + 1 + 4) * 8 > granted or (most + other + 4) * 8 <= granted
        return

    def level(count: int) -> Level:
        lowered = [replace(pool, max_count=count) if pool.path == lower[1] else pool for pool in pools]
        return judged(lowered, stated, "L-3819A6DF").level

    assert (level(int(lower[2])), level(int(lower[2]) + 1)) == (Level.OK, Level.ERROR)


def test_a_number_is_not_lowered_below_what_is_kept() -> None:
    assert judged([replace(LIMITED, least=4)], {"L-3819A6DF": 40}, "L-3819A6DF").fix.startswith("ask for more")


@pytest.mark.parametrize("stated", [{}, {"L-3819A6DF": 1}, {"L-3819A6DF": 99, "us-west-2/L-3819A6DF": 1}])
@pytest.mark.parametrize("demands", [[POOL], [LIMITED, GOOGLE], [GOOGLE]])
def test_what_is_to_be_stated_ends_every_verdict(demands: list[Demand], stated: dict[str, int]) -> None:
    followed = dict(stated)
    for verdict in judge(demands, stated=stated):
        if verdict.fix == "leave it out":
            followed.pop(verdict.subject.removeprefix("quotas."))
        found = re.search(r"state (\d+) as quotas\.(\S+):", verdict.fix)
        if found is not None:
            followed[found[2]] = int(found[1])

    assert {verdict.level for verdict in judge(demands, stated=followed)} == {Level.OK}
