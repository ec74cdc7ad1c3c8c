"""The quotas that a stack uses, and the check against the stated values."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_ci.checks.capacity.quota import check, needs
from gpu_ci.knowledge.machines import EC2_TYPES, GPU_MODELS, ec2_type
from gpu_ci.knowledge.machines.groups import Disk, MachineGroup, Placement
from gpu_ci.knowledge.quotas.aws import TITLES, quota_code
from gpu_ci.knowledge.quotas.gcp import METRICS
from gpu_ci.knowledge.regions import Cloud
from gpu_ci.knowledge.verdict import Level, Verdict
from ops.cli.options import ROOT
from tests.checks.stacks import stack
from tests.tables import OUT

pytestmark = pytest.mark.pure

POOL: Final = MachineGroup(
    path="gpu-pools.t4-spot",
    cloud=Cloud.AWS,
    types=("g4dn.xlarge", "g4dn.2xlarge"),
    placements=(Placement(region="us-west-2", spot=True),),
    max=5,
    disk=Disk(gib=200),
)
OWN: Final = MachineGroup(
    path="runners.own",
    cloud=Cloud.GCP,
    types=("n1-standard-4",),
    placements=(Placement(region="us-central1", spot=True),),
    max=4,
    disk=Disk(gib=100, kind="pd-balanced"),
    attached_gpu="t4",
    attached_gpus=1,
)


def amounts(*groups: MachineGroup) -> dict[str, int]:
    return {f"{need.quota.region}/{need.quota.name}": need.needed for need in needs(groups, {}, project="acme-ci")}


def placed(group: MachineGroup, *places: tuple[str, bool], **changes: Any) -> MachineGroup:
    return replace(group, placements=tuple(Placement(region=region, spot=spot) for region, spot in places), **changes)


# AWS.


def test_a_pool_needs_its_largest_type() -> None:
    (need,) = needs([POOL], {})

    assert need.needed == 5 * 8
    assert need.claims[0].why == "gpu-pools.t4-spot: 5 Spot machines, g4dn.2xlarge at most, with 8 vCPUs each: 40"


@pytest.mark.parametrize(("zones", "during"), [(["us-west-2a"], 2), (["us-west-2a", "us-west-2b"], 4)])
def test_an_update_of_the_system_nodes_needs_two_nodes_in_each_zone(zones: list[str], during: int) -> None:
    found = verdict({}, "L-1216C47A", **{"system-nodes__zones": zones, "system-nodes__max": 3})

    assert f"3 on-demand machines and {during} during an update" in found.chain[0]


def test_markets_and_regions_have_separate_quotas() -> None:
    assert amounts(placed(POOL, ("us-west-2", True), ("us-west-2", False), ("eu-west-1", True))) == {
        "eu-west-1/L-3819A6DF": 40,
        "us-west-2/L-3819A6DF": 40,
        "us-west-2/L-DB2E81BA": 40,
    }


def test_the_pools_of_one_quota_are_added() -> None:
    assert amounts(POOL, replace(POOL, path="gpu-pools.a10g", types=("g5.12xlarge",), max=1)) == {
        "us-west-2/L-3819A6DF": 40 + 48
    }


def test_a_pool_that_mixes_families_can_fill_either_quota() -> None:
    mixed = replace(POOL, types=("g4dn.xlarge", "p3.2xlarge"))

    assert amounts(mixed) == {"us-west-2/L-3819A6DF": 20, "us-west-2/L-7212CCBC": 40}


@pytest.mark.parametrize(
    ("name", "on_demand", "spot"),
    [
        ("g6e.12xlarge", "L-DB2E81BA", "L-3819A6DF"),
        ("gr6.4xlarge", "L-DB2E81BA", "L-3819A6DF"),
        ("p4d.24xlarge", "L-417A185B", "L-7212CCBC"),
        ("p5.48xlarge", "L-417A185B", "L-C4BD4855"),
        ("p5en.48xlarge", "L-417A185B", "L-C4BD4855"),
        ("p6-b200.48xlarge", "L-417A185B", None),
        ("m7i.large", "L-1216C47A", "L-34B43A08"),
        ("c6in.large", "L-1216C47A", "L-34B43A08"),
        ("t3a.medium", "L-1216C47A", "L-34B43A08"),
    ],
)
def test_each_family_has_its_quotas(name: str, on_demand: str, spot: str | None) -> None:
    assert (quota_code(ec2_type(name), spot=False), quota_code(ec2_type(name), spot=True)) == (on_demand, spot)


def test_every_instance_type_has_a_quota() -> None:
    assert {quota_code(ec2_type(name), spot=spot) for name in EC2_TYPES for spot in (True, False)} == {*TITLES, None}
    assert {name for name in EC2_TYPES if quota_code(ec2_type(name), spot=True) is None} == {
        "p6-b200.48xlarge",
        "p6-b300.48xlarge",
    }


def test_a_quota_that_is_not_known_is_reported() -> None:
    p6 = {"gpu-pools/t4-spot/instance-types": ["p6-b200.48xlarge"], "runners/gpu-t4/needs/gpu": "b200"}
    changes = {**p6, "runners/gpu-t4/arc/fallback": OUT, "runners/gpu-t4/needs/cuda": "13.0"}
    found = [one for one in check(stack(changes)) if "not known" in one.reason]

    assert [(one.subject, one.level) for one in found] == [("gpu-pools.t4-spot", Level.WARNING)]
    assert found[0].reason == "the quota of p6-b200.48xlarge (Spot) is not known, so it is not checked"


WITH_QUOTAS = sorted(name for name in EC2_TYPES if quota_code(ec2_type(name), spot=True))


@given(st.lists(st.sampled_from(WITH_QUOTAS), min_size=1, max_size=4), st.integers(1, 50), st.booleans())
def test_no_instance_type_of_a_pool_needs_more_than_the_quota(types: list[str], most: int, spot: bool) -> None:
    found = amounts(placed(POOL, ("us-west-2", spot), types=tuple(types), max=most))

    for name in types:
        assert ec2_type(name).vcpus * most <= found[f"us-west-2/{quota_code(ec2_type(name), spot=spot)}"]


# Google Cloud.


def test_an_n1_with_a_t4_counts_against_three_quotas() -> None:
    assert amounts(OWN) == {
        "global/GPUS_ALL_REGIONS": 4,
        "us-central1/CPUS": 16,
        "us-central1/PREEMPTIBLE_NVIDIA_T4_GPUS": 4,
    }


def test_a_machine_that_brings_its_gpu_needs_no_cpu_quota() -> None:
    own = replace(OWN, types=("g2-standard-4", "g2-standard-24"), attached_gpu=None, attached_gpus=0)

    assert amounts(own) == {"global/GPUS_ALL_REGIONS": 8, "us-central1/PREEMPTIBLE_NVIDIA_L4_GPUS": 8}


def test_placements_of_a_group_are_alternatives_that_share_common_quotas() -> None:
    places = [(region, spot) for region in ("us-central1", "us-east1") for spot in (True, False)]

    assert amounts(placed(OWN, *places)) == {
        "global/GPUS_ALL_REGIONS": 4,
        **{
            f"{region}/{name}": amount
            for region in ("us-central1", "us-east1")
            for name, amount in {"CPUS": 16, "NVIDIA_T4_GPUS": 4, "PREEMPTIBLE_NVIDIA_T4_GPUS": 4}.items()
        },
    }


def test_groups_with_one_path_run_one_after_another() -> None:
    builder = placed(OWN, ("us-central1", False), types=("e2-standard-8",), attached_gpu=None, attached_gpus=0, max=1)
    verifier = placed(OWN, ("us-central1", False), max=1)

    assert amounts(builder, verifier) == {
        "global/GPUS_ALL_REGIONS": 1,
        "us-central1/CPUS": 8,
        "us-central1/NVIDIA_T4_GPUS": 1,
    }


def test_an_h100_on_demand_is_requested_by_its_family() -> None:
    own = placed(OWN, ("us-central1", False), types=("a3-highgpu-8g",), attached_gpu=None, attached_gpus=0, max=1)
    need = next(need for need in needs([own], {}, project="acme-ci") if need.quota.region != "global")

    assert need.quota.request(need.needed) == (
        "gcloud beta quotas preferences create --service=compute.googleapis.com --project=acme-ci "
        "--quota-id=GPUS-PER-GPU-FAMILY-per-project-region --preferred-value=8 "
        "--dimensions=region=us-central1,gpu_family=NVIDIA_H100"
    )


def test_every_model_that_google_offers_has_a_quota() -> None:
    assert set(METRICS) == {slug for slug, model in GPU_MODELS.items() if model.gcp}
    assert METRICS["a100-80gb"] == "NVIDIA_A100_80GB_GPUS"


def test_every_request_is_a_valid_command_line() -> None:
    found = needs([POOL, OWN, replace(POOL, types=("p5.48xlarge",))], {}, project="acme-ci")
    words = [shlex.split(need.quota.request(need.needed)) for need in found]

    assert {line[0] for line in words} == {"aws", "gcloud"}
    assert [word for line in words for word in line if "{" in word] == []


# The check.


def verdict(quotas: dict[str, int], quota: str, **changes: Any) -> Verdict:
    """Return the verdict on one quota in a stack that states only these quotas."""
    found = check(stack({"quotas": quotas, **{key.replace("__", "/"): value for key, value in changes.items()}}))
    return next(one for one in found if f"quota {quota} " in one.reason)


def test_a_stated_quota_that_is_too_small_is_an_error_as_on_the_docs_page() -> None:
    found = verdict({"L-3819A6DF": 32}, "L-3819A6DF")
    page = (ROOT / "docs/explanation/checks/quota.md").read_text(encoding="utf-8")

    assert (found.level, found.subject) == (Level.ERROR, "gpu-pools.t4-spot")
    assert str(found).rpartition(" (")[0] in page


@pytest.mark.parametrize(("granted", "level"), [(40, Level.OK), (39, Level.ERROR)])
def test_the_stated_quota_must_cover_what_the_stack_can_use(granted: int, level: Level) -> None:
    assert verdict({"L-3819A6DF": granted}, "L-3819A6DF").level is level


def test_a_quota_that_is_not_stated_is_a_warning_with_the_request() -> None:
    found = verdict({}, "L-3819A6DF")

    assert found.level is Level.WARNING
    assert found.reason.endswith("and a new account has 0")
    assert found.fix.startswith(
        "request it, and once it is granted state 40 as quotas.us-west-2/L-3819A6DF: aws service-quotas"
    )


def test_the_value_of_a_new_account_may_suffice() -> None:
    assert verdict({}, "CPUS", **{"runners__cirun-gcp-gpu": OUT, "cirun": OUT}).level is Level.OK


def test_a_value_for_a_region_overrides_the_value_for_all_regions() -> None:
    found = verdict({"L-3819A6DF": 100, "us-west-2/L-3819A6DF": 10}, "L-3819A6DF")

    assert found.level is Level.ERROR
    assert "state 40 as quotas.us-west-2/L-3819A6DF:" in found.fix


@given(st.integers(1, 8), st.integers(1, 8), st.integers(0, 130))
def test_the_suggested_number_of_machines_is_the_largest_within_the_quota(most: int, other: int, granted: int) -> None:
    pools = [
        replace(POOL, max=most, max_key="gpu-pools.t4-spot.max"),
        replace(POOL, path="gpu-pools.o", max=other, max_key="gpu-pools.o.max"),
    ]

    def enough(path: str, number: int) -> bool:
        lowered = [replace(pool, max=number) if pool.max_key == path else pool for pool in pools]
        (need,) = needs(lowered, {"L-3819A6DF": granted})
        return need.granted >= need.needed

    (need,) = needs(pools, {"L-3819A6DF": granted})
    lower = re.fullmatch(r"lower (\S+) to (\d+)", need.lowered)
    if need.granted < need.needed:
        assert (lower is None) == (not any(enough(pool.max_key, 1) for pool in pools))
        assert lower is None or (enough(lower[1], int(lower[2])) and not enough(lower[1], int(lower[2]) + 1))


def test_no_suggestion_is_below_the_minimum_of_machines() -> None:
    changes = {"gpu-pools__t4-spot__min": 4, "runners__gpu-t4__queue-target-minutes": 60}

    assert verdict({"L-3819A6DF": 24}, "L-3819A6DF", **changes).fix.startswith("request more")


@pytest.mark.parametrize(
    ("key", "reason", "fix"),
    [
        ("NVIDIA_T4_GPU", "no machine counts against a quota named NVIDIA_T4_GPU", 'did you mean "NVIDIA_T4_GPUS"?'),
        ("us-west-2/L-3819A6DE", "no machine counts against a quota named L-3819A6DE",
         'did you mean "us-west-2/L-3819A6DF"?'),
        ("DISKS_TOTAL_GB", "no machine counts against a quota named DISKS_TOTAL_GB", "remove it"),
        ("us-west-22/L-3819A6DF", "the stack has no machines in us-west-22", 'did you mean "us-west-2/L-3819A6DF"?'),
        ("us-central2/CPUS", "the stack has no machines in us-central2", 'did you mean "us-central1/CPUS"?'),
        ("us-west-2/CPUS", "the stack has no machines in us-west-2", "remove it"),
        ("us-central1/GPUS_ALL_REGIONS", "GPUS_ALL_REGIONS is one quota for all regions",
         'did you mean "GPUS_ALL_REGIONS"?'),
    ],
)  # fmt: skip
def test_a_key_without_effect_is_a_warning(key: str, reason: str, fix: str) -> None:
    found = next(one for one in check(stack({"quotas": {key: 4}})) if one.subject == f"quotas.{key}")

    assert (found.level, found.reason, found.fix) == (Level.WARNING, reason, fix)


def test_a_quota_that_no_machine_uses_yet_may_be_stated() -> None:
    unused = {"us-west-2/L-417A185B": 4, "PREEMPTIBLE_NVIDIA_L4_GPUS": 4}

    assert [one for one in check(stack({"quotas": unused})) if one.subject.startswith("quotas.")] == []


# The host image.

ALONE: Final = {"runners/cirun-gcp-gpu": OUT, "cirun": OUT, "quotas": {}}
DECLARED: Final = {"host-image/mode": "declared", "host-image/zones": ["us-central1-b"], "host-image/keep": OUT}


@pytest.mark.parametrize(
    ("change", "quotas"),
    [
        ({}, {"CPUS", "NVIDIA_T4_GPUS", "PREEMPTIBLE_NVIDIA_T4_GPUS", "GPUS_ALL_REGIONS"}),
        ({"host-image/builder": {"spot": False}, "host-image/verifier": {"machine-type": "g2-standard-4", "gpu": "l4"}},
         {"CPUS", "NVIDIA_L4_GPUS", "GPUS_ALL_REGIONS"}),
        (DECLARED, {"CPUS"}),
        ({**DECLARED, "host-image/phase": "image", "host-image/proved": "0a1b2c3d"}, set()),
    ],
)  # fmt: skip
def test_builder_and_verifier_of_the_host_image_count(change: dict[str, Any], quotas: set[str]) -> None:
    found = [one for one in check(stack({**ALONE, **change})) if one.subject == "host-image"]

    assert {name for one in found for name in re.findall(r"quota (\S+) \(", one.reason)} == quotas
    assert [one for one in found if "can use 8 CPUs" not in one.reason and "can use 1 GPUs" not in one.reason] == []
