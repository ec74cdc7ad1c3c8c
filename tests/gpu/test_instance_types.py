"""The tables of machines agree with published figures."""

from __future__ import annotations

import pytest

from gpu.machines import EC2_TYPES, GCE_TYPES, attach, ec2_type, gce_type, gpu_model
from gpu.machines.gcp import Unattachable
from gpu.nearest import UnknownName

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


@pytest.mark.parametrize(("name", "pods"), PUBLISHED_PODS.items())
def test_pods_follow_from_interfaces_as_the_network_plugin_publishes(name: str, pods: int) -> None:
    assert ec2_type(name).eni_pods == pods


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


def test_a_fraction_of_a_gpu_is_no_gpu_for_ec2_and_one_for_the_driver() -> None:
    machine = ec2_type("g6f.xlarge")

    assert (machine.gpus, machine.devices, machine.fractional, machine.gpu_memory_mib) == (0, 1, True, 2861)


def test_the_two_v100_types_differ_in_memory() -> None:
    assert (ec2_type("p3.2xlarge").gpu_memory_mib, ec2_type("p3dn.24xlarge").gpu_memory_mib) == (16384, 32768)


@pytest.mark.parametrize("name", sorted(EC2_TYPES))
def test_a_type_has_a_gpu_model_only_with_gpu_memory(name: str) -> None:
    machine = EC2_TYPES[name]

    assert (machine.gpu is None) == (machine.gpu_memory_mib == 0)
    assert machine.gpu is not None or machine.gpus == 0


def test_models_have_names_for_kubernetes_and_google_cloud() -> None:
    t4 = gpu_model("t4")

    assert (t4.label, t4.gcp, t4.sm) == ("nvidia-tesla-t4", "nvidia-tesla-t4", "sm_75")


def test_n1_machines_take_only_some_numbers_of_gpus() -> None:
    machine = attach(gce_type("n1-standard-4"), gpu_model("t4"), 1)

    assert (machine.gpus, machine.attached, machine.gpu_memory_mib) == (1, True, 16384)
    with pytest.raises(Unattachable, match="t4 attaches in 1, 2, 4"):
        attach(gce_type("n1-standard-4"), gpu_model("t4"), 3)


@pytest.mark.parametrize(
    ("machine", "model", "gpus"),
    [
        ("n1-standard-32", "t4", 2),
        ("n1-standard-96", "t4", 4),
        ("n1-standard-8", "v100", 1),
        ("n1-standard-96", "v100", 8),
    ],
)
def test_an_n1_machine_can_have_the_largest_allowed_size(machine: str, model: str, gpus: int) -> None:
    assert attach(gce_type(machine), gpu_model(model), gpus).gpus == gpus


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


@pytest.mark.parametrize("name", sorted(GCE_TYPES))
def test_the_memory_of_a_gce_machine_is_in_proportion_to_its_vcpus(name: str) -> None:
    machine = GCE_TYPES[name]

    assert 2 <= machine.memory_mib / 1024 / machine.vcpus <= 15
