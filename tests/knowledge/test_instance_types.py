"""The tables of machines agree with published figures."""

from __future__ import annotations

import pytest

from gpu_ci.knowledge.machines import EC2_TYPES, GCE_TYPES, MachineType, attach, ec2_type, gce_type, gpu_model
from gpu_ci.knowledge.machines.aws import unsuitable
from gpu_ci.knowledge.machines.gcp import Unattachable
from gpu_ci.knowledge.nearest import UnknownName

pytestmark = pytest.mark.pure

PUBLISHED_PODS = {
    "g4dn.12xlarge": 234, "g4dn.16xlarge": 58, "g4dn.2xlarge": 29, "g4dn.4xlarge": 29, "g4dn.8xlarge": 58,
    "g4dn.metal": 737, "g4dn.xlarge": 29, "g5.12xlarge": 737, "g5.16xlarge": 234, "g5.24xlarge": 737, "g5.2xlarge": 58,
    "g5.48xlarge": 345, "g5.4xlarge": 234, "g5.8xlarge": 234, "g5.xlarge": 58, "g6.12xlarge": 234, "g6.16xlarge": 737,
    "g6.24xlarge": 737, "g6.2xlarge": 58, "g6.48xlarge": 737, "g6.4xlarge": 234, "g6.8xlarge": 234, "g6.xlarge": 58,
    "p3.16xlarge": 234, "p3.2xlarge": 58, "p3.8xlarge": 234, "p5.48xlarge": 100, "p5.4xlarge": 118, "t3.2xlarge": 58,
    "t3.large": 35, "t3.medium": 17, "t3.micro": 4, "t3.nano": 4, "t3.small": 11, "t3.xlarge": 58,
}  # fmt: skip
"""From `eni-max-pods.txt` of the Amazon VPC CNI v1.23.2."""


DESCRIBED = {
    "p4de.24xlarge": (96, 1179648, 8, 81920, 8000, 15, 50), "p5e.48xlarge": (192, 2097152, 8, 144384, 30400, 2, 50),
    "p5en.48xlarge": (192, 2097152, 8, 144384, 30400, 4, 50), "g7e.12xlarge": (48, 524288, 2, 98304, 3800, 10, 64),
    "p6-b200.48xlarge": (192, 2097152, 8, 183359, 30400, 4, 50),
    "p6-b300.48xlarge": (192, 4194304, 8, 275040, 30400, 4, 50),
    "g6e.48xlarge": (192, 1572864, 8, 45776, 7600, 10, 50), "gr6.8xlarge": (32, 262144, 1, 22888, 900, 8, 30),
    "t3a.small": (2, 2048, 0, 0, 0, 2, 4), "m5a.large": (2, 8192, 0, 0, 0, 3, 10), "c5.9xlarge": (36, 73728, 0, 0, 0, 8, 30),
    "c6i.large": (2, 4096, 0, 0, 0, 3, 10), "r5.24xlarge": (96, 786432, 0, 0, 0, 15, 50),
    "m6in.32xlarge": (128, 524288, 0, 0, 0, 8, 50), "m7a.medium": (1, 4096, 0, 0, 0, 2, 4),
    "m8a.2xlarge": (8, 32768, 0, 0, 0, 4, 40), "c8i-flex.large": (2, 4096, 0, 0, 0, 3, 20),
}  # fmt: skip
"""vCPUs, MiB, GPUs, MiB of a GPU, NVMe, interfaces and addresses in DescribeInstanceTypes (moto 5.2.5)."""


def test_a_type_has_the_figures_that_ec2_describes() -> None:
    found = {name: ec2_type(name) for name in DESCRIBED}

    assert {
        name: (one.vcpus, one.memory_mib, one.gpus, one.gpu_memory_mib, one.nvme_gb, one.enis, one.addresses)
        for name, one in found.items()
    } == DESCRIBED


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("g5g.xlarge", "arm64"), ("m7g.large", "arm64"), ("t4g.medium", "arm64"), ("c8gn.large", "arm64"),
        ("a1.large", "arm64"), ("p6e-gb200.36xlarge", "arm64"), ("g4ad.xlarge", "AMD"), ("g7.2xlarge", "driver 595"),
        ("inf2.xlarge", "no NVIDIA GPU"), ("trn1.2xlarge", "no NVIDIA GPU"), ("p2.xlarge", "CUDA 12"),
    ],
)  # fmt: skip
def test_a_type_that_cannot_work_is_not_in_the_table_and_has_a_reason(name: str, reason: str) -> None:
    assert name not in EC2_TYPES
    assert reason in unsuitable(name)


def test_no_known_type_is_unsuitable() -> None:
    assert {name: reason for name in EC2_TYPES if (reason := unsuitable(name))} == {}


def test_pods_follow_from_interfaces_as_the_network_plugin_publishes() -> None:
    assert {name: ec2_type(name).eni_pods for name in PUBLISHED_PODS} == PUBLISHED_PODS


def test_a_misspelt_type_names_the_nearest_one() -> None:
    with pytest.raises(
        UnknownName, match=r'g4dn\.xlrge is not a known EC2 instance type; did you mean "g4dn\.xlarge"\?'
    ):
        ec2_type("g4dn.xlrge")


def test_an_unknown_name_names_its_kind() -> None:
    with pytest.raises(UnknownName, match=r'GPU model; did you mean "l40s'):
        gpu_model("l40")
    with pytest.raises(UnknownName, match=r'GCE machine type; did you mean "n1-standard-4'):
        gce_type("n1-standart-4")


def test_a_fraction_of_a_gpu_is_zero_gpus_in_ec2_and_one_in_the_driver() -> None:
    machine = ec2_type("g6f.xlarge")

    assert (machine.gpus, machine.devices, machine.fractional, machine.gpu_memory_mib) == (0, 1, True, 2861)


def test_the_two_v100_types_differ_in_memory() -> None:
    assert (ec2_type("p3.2xlarge").gpu_memory_mib, ec2_type("p3dn.24xlarge").gpu_memory_mib) == (16384, 32768)


def test_a_type_has_a_gpu_model_only_with_gpu_memory() -> None:
    without = {name: one for name, one in EC2_TYPES.items() if one.gpu is None}

    assert [name for name, one in EC2_TYPES.items() if (one.gpu_memory_mib == 0) != (name in without)] == []
    assert [name for name, one in without.items() if one.gpus] == []


def test_models_have_names_for_kubernetes_and_google_cloud() -> None:
    t4 = gpu_model("t4")

    assert (t4.label, t4.gcp, t4.sm) == ("nvidia-tesla-t4", "nvidia-tesla-t4", "sm_75")


def test_n1_machines_take_only_some_numbers_of_gpus() -> None:
    machine = attach(gce_type("n1-standard-4"), gpu_model("t4"), 1)

    assert (machine.gpus, machine.attached, machine.gpu_memory_mib) == (1, True, 16384)
    with pytest.raises(Unattachable, match="t4 attaches in 1, 2, 4"):
        attach(gce_type("n1-standard-4"), gpu_model("t4"), 3)


def test_an_n1_machine_can_have_the_largest_allowed_size() -> None:
    largest = {
        ("n1-standard-32", "t4"): 2,
        ("n1-standard-96", "t4"): 4,
        ("n1-standard-8", "v100"): 1,
        ("n1-standard-96", "v100"): 8,
    }

    assert {key: attach(gce_type(key[0]), gpu_model(key[1]), gpus).gpus for key, gpus in largest.items()} == largest


@pytest.mark.parametrize(
    ("machine", "model", "gpus", "most"),
    [
        ("n1-standard-96", "t4", 1, 48),
        ("n1-standard-64", "t4", 2, 48),
        ("n1-standard-16", "v100", 1, 12),
        ("n1-standard-32", "p4", 1, 24),
        ("n1-standard-32", "p100", 1, 16),
    ],
)
def test_gpus_limit_the_vcpus_of_an_n1_machine(machine: str, model: str, gpus: int, most: int) -> None:
    with pytest.raises(Unattachable, match=f"a machine has {most} at most") as refused:
        attach(gce_type(machine), gpu_model(model), gpus)
    taken = refused.value.fix.split()[1]

    assert attach(gce_type(taken), gpu_model(model), gpus).vcpus <= most


def test_a_machine_with_its_own_gpu_takes_no_other() -> None:
    g2 = gce_type("g2-standard-4")

    assert attach(g2, gpu_model("l4"), 1) is g2
    with pytest.raises(Unattachable, match="brings 1 x l4"):
        attach(g2, gpu_model("t4"), 1)


def test_no_gpu_attaches_to_another_family() -> None:
    with pytest.raises(Unattachable, match="only to n1 machines"):
        attach(gce_type("e2-standard-4"), gpu_model("t4"), 1)


def test_some_models_are_never_attached() -> None:
    with pytest.raises(Unattachable, match="l4 is never attached"):
        attach(gce_type("n1-standard-4"), gpu_model("l4"), 1)


GOOGLE = {
    "n1-highmem-8": (8, 53248, 0), "n1-highcpu-16": (16, 14745, 0), "n2-standard-8": (8, 32768, 0),
    "n2-highmem-128": (128, 884736, 0), "n2d-standard-224": (224, 917504, 0), "c3-standard-22": (22, 90112, 0),
    "c3d-highcpu-30": (30, 60416, 0), "c2d-highmem-56": (56, 458752, 0), "e2-highmem-16": (16, 131072, 0),
    "a2-megagpu-16g": (96, 1392640, 16), "a3-megagpu-8g": (208, 1916928, 8), "a3-edgegpu-8g": (208, 1916928, 8),
    "a3-ultragpu-8g": (224, 3022848, 8), "a4-highgpu-8g": (224, 4063232, 8), "g4-standard-96": (96, 368640, 2),
    "n1-custom-8-32768": (8, 32768, 0), "custom-4-5120": (4, 5120, 0), "n2-custom-36-18432": (36, 18432, 0),
    "n1-custom-2-61440-ext": (2, 61440, 0), "n2d-custom-16-65536": (16, 65536, 0), "e2-custom-6-3072": (6, 3072, 0),
}  # fmt: skip


def test_a_machine_type_has_the_figures_of_google() -> None:
    found = {name: gce_type(name) for name in GOOGLE}

    assert {name: (one.vcpus, one.memory_mib, one.gpus) for name, one in found.items()} == GOOGLE


@pytest.mark.parametrize(
    "name",
    ["n1-custom-7-32768", "n1-custom-8-1024", "n1-custom-8-32767", "n1-custom-98-98304", "n2-custom-34-34816",
     "n2d-custom-6-6144", "e2-custom-34-34816", "n1-custom-8-65536", "n4-custom-8-16384"],
)  # fmt: skip
def test_a_custom_type_that_google_refuses_is_unknown(name: str) -> None:
    with pytest.raises(UnknownName, match="with numbers that Google accepts"):
        gce_type(name)


@pytest.mark.parametrize(
    ("name", "reason"), [("c4-standard-8", "Hyperdisk"), ("n4-standard-4", "Hyperdisk"), ("t2a-standard-4", "arm64")]
)
def test_a_family_that_cannot_be_used_has_a_reason(name: str, reason: str) -> None:
    with pytest.raises(UnknownName, match=reason):
        gce_type(name)


def test_gpus_attach_to_every_kind_of_n1() -> None:
    for name in ("n1-highmem-8", "n1-highcpu-8", "n1-custom-8-32768", "custom-8-32768"):
        assert attach(gce_type(name), gpu_model("t4"), 1).gpus == 1


def test_the_memory_of_a_gce_machine_is_in_proportion_to_its_vcpus() -> None:
    each = {name: round(one.memory_mib / 1024 / one.vcpus, 2) for name, one in GCE_TYPES.items()}

    assert {name: gib for name, gib in each.items() if not 0.9 <= gib <= 18} == {}


def test_machine_types_of_the_third_generation_need_a_google_virtual_nic() -> None:
    older = ("n1-standard-4", "g2-standard-4", "a2-highgpu-1g")
    newer = ("a3-highgpu-1g", "a4-highgpu-8g", "c3-standard-8", "g4-standard-48")

    assert [name for name in older if gce_type(name).gvnic] == []
    assert [name for name in newer if not gce_type(name).gvnic] == []


def test_a_stated_machine_type_gets_a_google_virtual_nic() -> None:
    """It is newer than the tables."""
    assert MachineType(name="n9-standard-4", vcpus=4, memory_mib=16384, stated=True).gvnic
