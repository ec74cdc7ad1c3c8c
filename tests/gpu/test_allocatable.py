"""The resources that a node offers to pods match the published figures of the EKS image."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu.kubernetes.allocatable import max_pods, node_room, reserved_cpu, reserved_memory_mib
from gpu.kubernetes.quantities import CPU, EPHEMERAL_STORAGE, GIB, MEMORY, MIB, PODS, Resources
from gpu.machines import EC2_TYPES, ec2_type

pytestmark = pytest.mark.pure

PUBLISHED = {
    "g4dn.xlarge": (3920, 14481), "g4dn.2xlarge": (7910, 29636), "g4dn.4xlarge": (15890, 59946),
    "g4dn.8xlarge": (31850, 120248), "g4dn.12xlarge": (47810, 178933), "g4dn.16xlarge": (63770, 241490),
    "g4dn.metal": (95690, 355262), "g5.xlarge": (3920, 14162), "g5.2xlarge": (7910, 29317), "g5.4xlarge": (15890, 57691),
    "g5.8xlarge": (31850, 118312), "g5.12xlarge": (47810, 173400), "g5.16xlarge": (63770, 239554),
    "g5.24xlarge": (95690, 355262), "g5.48xlarge": (191450, 723299), "g6.xlarge": (3920, 14162),
    "g6.2xlarge": (7910, 29317), "g6.4xlarge": (15890, 57691), "g6.8xlarge": (31850, 118312),
    "g6.12xlarge": (47810, 178933), "g6.16xlarge": (63770, 234021), "g6.24xlarge": (95690, 355262),
    "g6.48xlarge": (191450, 718987), "g6e.xlarge": (3920, 29317), "g6e.2xlarge": (7910, 59627),
    "g6e.4xlarge": (15890, 118312), "g6e.8xlarge": (31850, 239554), "g6e.12xlarge": (47810, 360157),
    "g6e.16xlarge": (63770, 476504), "g6e.24xlarge": (95690, 721682), "g6e.48xlarge": (191450, 1449132),
    "g6f.large": (1930, 7002), "g6f.xlarge": (3920, 14162), "g6f.2xlarge": (7910, 29317), "g6f.4xlarge": (15890, 57691),
    "gr6.4xlarge": (15890, 118312), "gr6.8xlarge": (31850, 239554), "gr6f.4xlarge": (15890, 118312),
    "t3.nano": (1930, 74), "t3.micro": (1930, 548), "t3.small": (1930, 1418), "t3.medium": (1930, 3246),
    "t3.large": (1930, 6837), "t3.xlarge": (3920, 14162), "t3.2xlarge": (7910, 29317),
}  # fmt: skip
"""CPU in millicores and memory in MiB, from Karpenter's instance-types page (2026)."""


@pytest.mark.parametrize(("name", "room"), PUBLISHED.items())
def test_cpu_and_memory_match_the_table_of_karpenter(name: str, room: tuple[int, int]) -> None:
    given_ = node_room(ec2_type(name), disk_gib=20).allocatable

    assert (given_[CPU], given_[MEMORY] // MIB) == room


def test_a_disk_of_20_gib_offers_17() -> None:
    assert node_room(ec2_type("g4dn.xlarge"), disk_gib=20).allocatable[EPHEMERAL_STORAGE] == 17 * GIB


def test_the_instance_store_replaces_the_root_disk_where_there_is_one() -> None:
    with_store = node_room(ec2_type("g4dn.xlarge"), disk_gib=20, nvme_storage=True)
    without = node_room(ec2_type("p3.2xlarge"), disk_gib=20, nvme_storage=True)

    assert with_store.capacity[EPHEMERAL_STORAGE] == 125 * 10**9
    assert without.capacity[EPHEMERAL_STORAGE] == 20 * GIB


@pytest.mark.parametrize(("cores", "kept"), [(1, 60), (2, 70), (4, 80), (8, 90), (96, 310), (192, 550)])
def test_cpu_is_reserved_in_steps(cores: int, kept: int) -> None:
    assert reserved_cpu(cores * 1000) == kept


@pytest.mark.parametrize(("pods", "kept"), [(29, 574), (58, 893), (17, 442), (737, 8362)])
def test_memory_is_reserved_by_pods(pods: int, kept: int) -> None:
    assert reserved_memory_mib(pods) == kept


@pytest.mark.parametrize(
    ("name", "pods"), [("g4dn.xlarge", 29), ("g5.4xlarge", 110), ("g5.8xlarge", 234), ("g5.48xlarge", 250)]
)
def test_a_managed_node_group_limits_pods_by_cores(name: str, pods: int) -> None:
    assert max_pods(ec2_type(name)) == pods
    assert node_room(ec2_type(name), disk_gib=100).allocatable[PODS] == pods


def test_the_capacity_is_less_than_the_advertised_memory() -> None:
    assert node_room(ec2_type("g4dn.xlarge"), disk_gib=200).capacity == Resources.of(
        {CPU: 4000, MEMORY: (16384 - 1229) * MIB, EPHEMERAL_STORAGE: 200 * GIB, PODS: 29}
    )


def test_the_chain_has_the_figures_of_every_step() -> None:
    chain = "\n".join(node_room(ec2_type("g4dn.xlarge"), disk_gib=200).chain)

    for figure in ("3920m", "80m", "1229Mi", "574Mi", "100Mi", "14481Mi", "200Gi", "179Gi", "29 pods"):
        assert figure in chain


def test_the_chain_names_the_disk_and_the_limit_of_pods() -> None:
    plain = "\n".join(node_room(ec2_type("g4dn.xlarge"), disk_gib=200).chain)
    capped = "\n".join(node_room(ec2_type("g5.4xlarge"), disk_gib=200, nvme_storage=True).chain)

    assert ("root disk of 200Gi" in plain, "managed node group" in plain) == (True, False)
    assert ("instance store of 558.7Gi" in capped, "234 pods, of which a managed node group uses 110" in capped) == (
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
def test_more_cores_never_leave_less(one: int, other: int) -> None:
    few, many = sorted((one, other))

    assert many - reserved_cpu(many) >= few - reserved_cpu(few)
