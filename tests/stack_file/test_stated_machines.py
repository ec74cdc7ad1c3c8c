"""Machine types that the stack file states: their catalogue, and the rules of their facts."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final

import pytest

from gpu_ci.knowledge.machines import InstanceType, MachineType, ec2_type
from tests.stack_file import stacks
from tests.tables import OUT

pytestmark = pytest.mark.pure

G8E: Final[dict[str, Any]] = {"cloud": "aws", "vcpus": 8, "memory": "64Gi", "gpu": "l40s", "gpus": 1, "max-pods": 58}
GOOGLE: Final[dict[str, Any]] = {"cloud": "gcp", "vcpus": 8, "memory": "32Gi"}
IN_USE: Final = {"gpu-pools/t4-spot/instance-types": ["g8e.2xlarge"], "runners/gpu-t4/needs/gpu": "l40s",
                 "runners/gpu-t4/arc/fallback": OUT}  # fmt: skip
LINES: Final = "{cloud: aws, vcpus: 8, memory: 32Gi, gpu: t4, gpus: 1, max-pods: 58}"


def faults(name: str, facts: dict[str, Any], changes: dict[str, Any] | None = None) -> list[str]:
    return stacks.faults(stacks.sections(changes={"instance-types": {name: facts}, **(changes or {})}))


def test_a_stated_type_has_the_stated_facts() -> None:
    stated = {**G8E, "instance-store": "450Gi", "price-per-hour": 2.5, "quota-family": "g"}
    found = stacks.settings(changes={"instance-types": {"g8e.2xlarge": stated}}).machines.ec2("g8e.2xlarge")

    assert (found.vcpus, found.memory_mib, found.gpus, found.gpu_memory_mib) == (8, 65536, 1, 45776)
    assert (found.eni_pods, found.nvme_gb, found.hour, found.quota_family) == (58, 483, Decimal("2.5"), "g")
    assert found.stated
    assert found.pods_source == "the addresses as stated"


def test_a_stated_type_of_google_cloud_has_its_boot_disk() -> None:
    stated = {**GOOGLE, "gpu": "l4", "gpus": 1, "boot-disk": "hyperdisk-balanced"}
    machines = stacks.settings(changes={"instance-types": {"g9-standard-8": stated}}).machines
    found = machines.gce("g9-standard-8")

    assert (found.vcpus, found.memory_mib, found.gpus, found.boot_disk) == (8, 32768, 1, "hyperdisk-balanced")
    assert isinstance(machines.stated["g9-standard-8"], MachineType)


def test_every_other_type_comes_from_the_tables() -> None:
    machines = stacks.settings(changes={"instance-types": {"g8e.2xlarge": G8E}}).machines

    assert machines.ec2("g4dn.xlarge") is ec2_type("g4dn.xlarge")
    assert isinstance(machines.ec2_types["g8e.2xlarge"], InstanceType)


def test_a_stated_type_can_be_used_everywhere() -> None:
    assert faults("g8e.2xlarge", G8E, IN_USE) == []
    assert faults("m9x.large", {"cloud": "aws", "vcpus": 2, "memory": "8Gi", "max-pods": 29},
                  {"system-nodes/instance-types": ["m9x.large"]}) == []  # fmt: skip
    assert faults("e9-standard-8", GOOGLE, {"host-image/builder": {"machine-type": "e9-standard-8"}}) == []


def test_an_unknown_type_is_reported_with_the_lines_that_state_it() -> None:
    assert stacks.faults(stacks.sections(changes=IN_USE)) == [
        (
            "gpu-pools.t4-spot.instance-types[0]: g8e.2xlarge is not a known EC2 instance type; did you mean "
            f'"g7e.2xlarge"? If not, state its facts, as in gpu-ci:instance-types: {{g8e.2xlarge: {LINES}}}'
        )
    ]


@pytest.mark.parametrize(
    ("name", "facts", "reported"),
    [
        ("g8e.2xlarge", {"gpu": None}, "instance-types.g8e.2xlarge: gpu is missing; state both gpu and gpus, or neither"),
        ("g8e.2xlarge", {"gpus": None}, "instance-types.g8e.2xlarge: gpus is missing; state both gpu and gpus, or neither"),
        ("g8e.2xlarge", {"max-pods": None},
         "instance-types.g8e.2xlarge: max-pods is missing; state max-pods, which decides how many pods fit on a node"),
        ("g8e.2xlarge", {"gpu": "l40"},
         'instance-types.g8e.2xlarge.gpu: "l40" is not a known GPU model; did you mean "l40s"?'),
        ("g8e.2xlarge", {"memory": "640Gi"},
         ("instance-types.g8e.2xlarge.memory: 640Gi for 8 vCPUs is not plausible; state the memory of the whole machine, "
         "as its cloud publishes it")),
        ("g8e.2xlarge", {"boot-disk": "pd-balanced"},
         "instance-types.g8e.2xlarge: boot-disk is not for cloud: aws; remove boot-disk"),
        ("g8e.2xlarge", {"quota-family": "standard"},
         ("instance-types.g8e.2xlarge.quota-family: the name g8e.2xlarge belongs to the quota family g; remove "
         "quota-family")),
        ("g8e.2xlarge", {"cloud": "gcp"},
         "instance-types.g8e.2xlarge: max-pods is not for cloud: gcp; remove max-pods"),
        ("g9-standard-8", {},
         ('instance-types.g9-standard-8: "g9-standard-8" is not how aws spells its machine types; write family.size, as '
         "in g4dn.xlarge")),
        ("g4dn.3xlarge", {}, "instance-types.g4dn.3xlarge.gpu: types of g4dn have t4; state that"),
        ("g6e.2xlarge", {"vcpus": 4, "max-pods": 60, "memory": "64Gi"},
         ("instance-types.g6e.2xlarge: contradicts the table of gpu-ci, which has vcpus: 8 and max-pods: 58; correct it, "
         "or remove it")),
        ("g6e.2xlarge", {"instance-store": "100Gi"},
         ("instance-types.g6e.2xlarge.instance-store: contradicts the table of gpu-ci, which has 450 GB; correct it, or "
         "remove it")),
        ("g5g.2xlarge", {"gpu": "t4"},
         ("instance-types.g5g.2xlarge: g5g.2xlarge has an arm64 processor, but node images and GPU images are for "
         "x86_64; remove it")),
    ],
)  # fmt: skip
def test_a_fact_that_is_not_plausible_is_refused(name: str, facts: dict[str, Any], reported: str) -> None:
    stated = {key: value for key, value in {**G8E, **facts}.items() if value is not None}

    assert faults(name, stated) == [reported]


def test_a_gpu_that_google_does_not_offer_is_refused_on_google_cloud() -> None:
    assert faults("g9-standard-8", {**GOOGLE, "gpu": "l40s", "gpus": 1}) == [
        "instance-types.g9-standard-8.gpu: Google Cloud does not offer l40s; state the GPU that it has"
    ]


def test_the_facts_of_the_tables_may_be_repeated_with_a_price() -> None:
    facts = {**G8E, "instance-store": "419Gi", "price-per-hour": 3.1}

    assert faults("g6e.2xlarge", facts) == []


def test_a_faulty_statement_causes_no_second_fault_where_it_is_used() -> None:
    assert faults("g8e.2xlarge", {**G8E, "vcpus": 0}, IN_USE) == [
        "instance-types.g8e.2xlarge.vcpus: 0 is not valid; write at least 1"
    ]
