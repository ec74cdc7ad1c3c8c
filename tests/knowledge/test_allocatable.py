"""The resources that a node offers to pods match the published figures of the EKS image."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_ci.knowledge.kubernetes.allocatable import (
    file_system,
    max_pods,
    node_room,
    reserved_cpu,
    reserved_memory_mib,
)
from gpu_ci.knowledge.kubernetes.quantities import CPU, EPHEMERAL_STORAGE, GIB, MEMORY, MIB, PODS, Resources
from gpu_ci.knowledge.machines import EC2_TYPES, ec2_type

pytestmark = pytest.mark.pure

MEASURED = {
    "g4dn.xlarge": 733085696, "g4dn.2xlarge": 1203826688, "g4dn.4xlarge": 2145304576, "g4dn.8xlarge": 3927588864,
    "g4dn.12xlarge": 5808451584, "g4dn.16xlarge": 7525875712, "g4dn.metal": 6974574592, "g5.xlarge": 617742336,
    "g5.2xlarge": 1088483328, "g5.4xlarge": 2029961216, "g5.8xlarge": 3812245504, "g5.12xlarge": 5693108224,
    "g5.16xlarge": 7477497856, "g5.24xlarge": 11040006144, "g5.48xlarge": 21549379584, "p3.2xlarge": 1255772160,
    "p3.8xlarge": 4454129664, "p3.16xlarge": 8346714112, "t3.nano": 92966912, "t3.micro": 108433408,
    "t3.small": 137269248, "t3.medium": 264945664, "t3.large": 382386176, "t3.xlarge": 617746432,
    "t3.2xlarge": 1088487424, "m5.large": 585805824, "m5.xlarge": 909246464, "m5.2xlarge": 1203826688,
    "m5.4xlarge": 2849939456, "m5.8xlarge": 5336875008, "m5.12xlarge": 5808451584, "m6a.large": 470466560,
    "m6a.xlarge": 793907200, "m6a.2xlarge": 1440804864, "m6a.4xlarge": 2734596096, "m6a.8xlarge": 5139886080,
    "m6a.12xlarge": 7807037440, "m6i.large": 424321024, "m6i.xlarge": 703729664, "m6i.2xlarge": 1262546944,
    "m6i.4xlarge": 2380177408, "m6i.8xlarge": 4514795520, "m6i.12xlarge": 6750072832,
}  # fmt: skip
"""Bytes of the sold memory that a node does not have: Karpenter's measurements (`zz_generated.memory_overhead.go`)."""


def test_the_plan_counts_no_more_memory_than_a_measured_node_has() -> None:
    def excess(name: str) -> int:
        machine = ec2_type(name)
        return machine.memory_mib * MIB - node_room(machine, disk_gib=20).capacity[MEMORY] - MEASURED[name]

    bounds = {name: 280 * MIB + ec2_type(name).memory_mib * MIB // 40 for name in MEASURED}

    assert {name: excess(name) for name, most in bounds.items() if not 0 <= excess(name) <= most} == {}


@pytest.mark.parametrize(
    ("name", "cpu"), [("t3.large", 1930), ("g4dn.xlarge", 3920), ("g5.2xlarge", 7910), ("g6e.48xlarge", 191450)]
)
def test_the_cpu_matches_the_table_of_karpenter(name: str, cpu: int) -> None:
    assert node_room(ec2_type(name), disk_gib=20).allocatable[CPU] == cpu


def test_the_computed_disk_of_20_gib_is_close_to_a_real_node() -> None:
    """A managed node of AL2023 has a file system of 20,893,676 KiB and 18,181,869,946 bytes for pods."""
    room = node_room(ec2_type("g4dn.xlarge"), disk_gib=20)

    assert 20_893_676 * 1024 - MIB < room.capacity[EPHEMERAL_STORAGE] <= 20_893_676 * 1024
    assert 18_181_869_946 - MIB < room.allocatable[EPHEMERAL_STORAGE] <= 18_181_869_946


@pytest.mark.parametrize(
    ("name", "disks"),
    [("g4dn.xlarge", 1), ("g4dn.12xlarge", 1), ("g4dn.metal", 2), ("g5.48xlarge", 2), ("p4d.24xlarge", 8)],
)
def test_the_array_of_instance_stores_keeps_room_for_its_metadata_and_journal(name: str, disks: int) -> None:
    """`mdadm` keeps up to 129 MiB of each disk; the journal of XFS is 1/2048 of the size, from 64 MiB to 2 GiB."""
    machine = ec2_type(name)
    size = machine.nvme_gb * 10**9
    journal = min(max(size // 2048, 64 * MIB), 2 * GIB)

    assert file_system(machine, disk_gib=20, nvme_storage=True) <= size - disks * 129 * MIB - journal


def test_the_instance_store_replaces_the_root_disk_where_there_is_one() -> None:
    with_store = node_room(ec2_type("g4dn.xlarge"), disk_gib=20, nvme_storage=True)
    without = node_room(ec2_type("p3.2xlarge"), disk_gib=20, nvme_storage=True)

    assert 124 * 10**9 < with_store.capacity[EPHEMERAL_STORAGE] < 125 * 10**9
    assert without.capacity[EPHEMERAL_STORAGE] == 20 * GIB - 77 * MIB


@pytest.mark.parametrize(("cores", "kept"), [(1, 60), (2, 70), (4, 80), (8, 90), (96, 310), (192, 550)])
def test_cpu_is_reserved_in_steps(cores: int, kept: int) -> None:
    assert reserved_cpu(cores * 1000) == kept


@pytest.mark.parametrize(("pods", "kept"), [(29, 574), (58, 893), (17, 442), (737, 8362)])
def test_reserved_memory_grows_with_the_number_of_pods(pods: int, kept: int) -> None:
    assert reserved_memory_mib(pods) == kept


@pytest.mark.parametrize(
    ("name", "pods"), [("g4dn.xlarge", 29), ("g5.4xlarge", 110), ("g5.8xlarge", 234), ("g5.48xlarge", 250)]
)
def test_a_managed_node_group_limits_pods_by_cores(name: str, pods: int) -> None:
    assert max_pods(ec2_type(name)) == pods
    assert node_room(ec2_type(name), disk_gib=100).allocatable[PODS] == pods


def test_the_capacity_is_less_than_the_advertised_memory() -> None:
    assert node_room(ec2_type("g4dn.xlarge"), disk_gib=200).capacity == Resources.of(
        {CPU: 4000, MEMORY: (16384 - 936) * MIB, EPHEMERAL_STORAGE: 200 * GIB - 77 * MIB, PODS: 29}
    )


def test_the_chain_has_the_figures_of_every_step() -> None:
    chain = "\n".join(node_room(ec2_type("g4dn.xlarge"), disk_gib=200).chain)

    for figure in ("3920m", "80m", "936Mi", "574Mi", "100Mi", "14774Mi", "199.9Gi", "178.9Gi", "29 pods"):
        assert figure in chain


def test_the_chain_names_the_disk_and_the_limit_of_pods() -> None:
    plain = "\n".join(node_room(ec2_type("g4dn.xlarge"), disk_gib=200).chain)
    capped = "\n".join(node_room(ec2_type("g5.4xlarge"), disk_gib=200, nvme_storage=True).chain)

    assert ("199.9Gi on the root disk" in plain, "managed node group" in plain) == (True, False)
    assert ("on the instance store" in capped, "234 pods, of which a managed node group uses 110" in capped) == (
        True,
        True,
    )


@given(st.sampled_from(sorted(EC2_TYPES)), st.integers(10, 2000), st.booleans())
def test_a_node_never_offers_more_than_it_has(name: str, disk: int, nvme: bool) -> None:
    room = node_room(ec2_type(name), disk_gib=disk, nvme_storage=nvme)

    assert all(0 <= room.allocatable[resource] <= room.capacity[resource] for resource in room.capacity.names)


@given(st.sampled_from(sorted(EC2_TYPES)), st.integers(10, 2000), st.integers(0, 500))
def test_a_larger_disk_never_offers_less(name: str, disk: int, more: int) -> None:
    small = node_room(ec2_type(name), disk_gib=disk).allocatable
    large = node_room(ec2_type(name), disk_gib=disk + more).allocatable

    assert large[EPHEMERAL_STORAGE] >= small[EPHEMERAL_STORAGE]


@given(st.integers(0, 448_000), st.integers(0, 448_000))
def test_more_cores_never_reduce_the_allocatable_resources(one: int, other: int) -> None:
    few, many = sorted((one, other))

    assert many - reserved_cpu(many) >= few - reserved_cpu(few)
