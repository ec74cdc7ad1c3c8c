"""From a runner as a team states it to the file that cirun reads."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_ci.knowledge.regions import Cloud
from gpu_ci.repository.cirun import TRIED_IN_STEP, read
from gpu_ci.repository.cirun_runners import GpuRunner, cirun_yml
from gpu_ci.repository.documents import FileError

pytestmark = pytest.mark.pure

T4 = GpuRunner(
    name="gpu-t4-gcp",
    cloud=Cloud.GCP,
    labels=("cirun-gpu-t4-gcp",),
    instance_types=("n1-standard-4",),
    places=("us-central1-b", "us-central1-a"),
    images=dict.fromkeys(("us-central1-b", "us-central1-a"), "runners:gpu-host-0a1b2c3d"),
    spot=(True, False),
    gpu="nvidia-tesla-t4",
    project="runners",
    service_account="runner@runners.iam.gserviceaccount.com",
)
G4DN = GpuRunner(
    name="gpu-t4-aws",
    cloud=Cloud.AWS,
    labels=("cirun-gpu-t4-aws",),
    instance_types=("g4dn.xlarge", "g4dn.2xlarge"),
    places=("us-west-2", "eu-west-1"),
    images={"us-west-2": "ami-2", "eu-west-1": "ami-1"},
    disk_gib=125,
)


def attempts(text: str) -> list[dict[str, Any]]:
    """Return the machines that cirun tries for the only runner of a file, in order."""
    (runner,) = read(text)
    values = {key: runner[key] for key in TRIED_IN_STEP}
    count = max(len(value) if isinstance(value, list) else 1 for value in values.values())
    return [
        {key: value[step] if isinstance(value, list) else value for key, value in values.items()}
        for step in range(count)
    ]


def test_every_zone_is_tried_on_spot_before_the_first_on_demand_machine() -> None:
    tried = attempts(cirun_yml([T4]))

    assert [(one["preemptible"], one["region"]) for one in tried] == [
        (True, "us-central1-b"),
        (True, "us-central1-a"),
        (False, "us-central1-b"),
        (False, "us-central1-a"),
    ]


def test_values_equal_for_all_attempts_are_scalars() -> None:
    runner = read(cirun_yml([T4]))[0]

    assert (runner["instance_type"], runner["machine_image"]) == ("n1-standard-4", "runners:gpu-host-0a1b2c3d")


@pytest.mark.parametrize(
    ("runners", "explained"), [([T4], True), ([G4DN], False), ([G4DN, T4], True)], ids=["gcp", "aws", "both"]
)
def test_only_a_file_with_a_machine_on_google_cloud_explains_its_zones(
    runners: list[GpuRunner], explained: bool
) -> None:
    assert ("On Google Cloud, `region` is a zone." in cirun_yml(runners)) is explained


def test_each_region_is_tried_with_its_own_ami() -> None:
    tried = attempts(cirun_yml([G4DN]))

    assert {(one["region"], one["machine_image"]) for one in tried} == {("us-west-2", "ami-2"), ("eu-west-1", "ami-1")}


@given(
    st.lists(st.sampled_from(["g4dn.xlarge", "g4dn.2xlarge", "g5.xlarge"]), min_size=1, unique=True),
    st.lists(st.sampled_from(["us-west-2", "eu-west-1", "eu-north-1"]), min_size=1, unique=True),
    st.sampled_from([(True,), (False,), (True, False), (False, True)]),
)
@settings(max_examples=40, deadline=None)
def test_every_combination_is_tried_once(types: list[str], places: list[str], spot: tuple[bool, ...]) -> None:
    images = {place: f"ami-{place}" for place in places}
    runner = replace(G4DN, instance_types=tuple(types), places=tuple(places), images=images, spot=spot)
    tried = attempts(cirun_yml([runner]))

    assert len(tried) == len({tuple(one.values()) for one in tried}) == len(types) * len(places) * len(spot)
    assert [one["preemptible"] for one in tried] == sorted((one["preemptible"] for one in tried), reverse=spot[0])


def test_the_file_has_the_documented_format() -> None:
    assert cirun_yml([T4]).splitlines()[2:] == [
        "runners:",
        "- name: gpu-t4-gcp",
        "  cloud: gcp",
        "  gpu: nvidia-tesla-t4",
        "  instance_type: n1-standard-4",
        "  machine_image: runners:gpu-host-0a1b2c3d",
        "  region:",
        "  - us-central1-b",
        "  - us-central1-a",
        "  - us-central1-b",
        "  - us-central1-a",
        "  preemptible:",
        "  - true",
        "  - true",
        "  - false",
        "  - false",
        "  labels:",
        "  - cirun-gpu-t4-gcp",
        "  extra_config:",
        "    project_id: runners",
        "    baseDisk:",
        "      diskSizeGb: 100",
        "      diskType: pd-balanced",
        "    serviceAccounts:",
        "    - email: runner@runners.iam.gserviceaccount.com",
        "      scopes:",
        "      - https://www.googleapis.com/auth/cloud-platform",
    ]


def test_the_root_disk_is_declared_by_its_device_name() -> None:
    extra = read(cirun_yml([G4DN]))[0]["extra_config"]

    assert extra["BlockDeviceMappings"] == [{"DeviceName": "/dev/sda1", "VolumeSize": 125, "VolumeType": "gp3"}]


@pytest.mark.parametrize(
    ("runner", "fault"),
    [
        (replace(T4, labels=("gpu",)), "write cirun-gpu"),
        (replace(T4, places=("us-central1",), images={"us-central1": "i"}), "is not a Google Cloud zone"),
        (replace(G4DN, places=("us-west-2a",), images={"us-west-2a": "i"}), "is not an AWS region"),
        (replace(G4DN, images={"us-west-2": "ami-2"}), "gpu-t4-aws.images: no image for eu-west-1"),
    ],
)
def test_a_runner_that_would_never_start_is_refused(runner: GpuRunner, fault: str) -> None:
    with pytest.raises(FileError) as error:
        cirun_yml([runner])

    assert fault in str(error.value)


def test_two_runners_with_the_same_name_are_refused() -> None:
    with pytest.raises(FileError, match="is a duplicate"):
        cirun_yml([T4, T4])


def test_every_subnet_is_tried_on_spot_before_the_first_on_demand_machine() -> None:
    subnets = {"us-west-2": ("subnet-1", "subnet-2"), "eu-west-1": ("subnet-3",)}
    runners = read(cirun_yml([replace(G4DN, subnets=subnets, spot=(True, False))]))

    assert [(one["preemptible"], one["region"], one["extra_config"]["SubnetId"]) for one in runners] == [
        (True, "us-west-2", "subnet-1"),
        (True, "us-west-2", "subnet-2"),
        (True, "eu-west-1", "subnet-3"),
        (False, "us-west-2", "subnet-1"),
        (False, "us-west-2", "subnet-2"),
        (False, "eu-west-1", "subnet-3"),
    ]
    assert {tuple(one["labels"]) for one in runners} == {G4DN.labels}
    assert len({one["name"] for one in runners}) == len(runners)
    assert {one["region"]: one["machine_image"] for one in runners} == dict(G4DN.images)
