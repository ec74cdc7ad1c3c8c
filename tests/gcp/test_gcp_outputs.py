"""Outputs of a stack about Google Cloud, and its manual steps."""

from __future__ import annotations

from typing import Final

import pytest

from gpu_ci.derived import host_image
from gpu_ci.derived import outputs as exports
from tests.plan import stacks as plans
from tests.stack_file import stacks
from tests.tables import OUT

pytestmark = pytest.mark.plan

GCP: Final = "examples/cirun-gcp.yaml"
AWS: Final = "examples/cirun-aws.yaml"
NAME: Final = "gpu-host-01234567"
EXPORT: Final = {"host-image/export": {"bucket": "archive-of-images"}}


def test_storage_locations_list_every_billed_artifact() -> None:
    assert exports.storage_locations(stacks.settings(GCP, EXPORT), NAME) == {
        "host-image": f"projects/gpu-test-runners/global/images/{NAME}",
        "host-image-archive": f"gs://archive-of-images/images/{NAME}.tar.gz",
        "host-image-region": "us-central1",
        "test-image": "us-central1-docker.pkg.dev/gpu-test-runners/gpu-tests/gpu-tests:2026.11.1",
    }


def test_storage_locations_omit_missing_artifacts() -> None:
    assert list(exports.storage_locations(stacks.settings(GCP), None)) == ["test-image"]
    assert list(exports.storage_locations(stacks.settings(GCP, {"test-image": OUT}), NAME)) == [
        "host-image",
        "host-image-region",
    ]


def test_the_example_outputs_its_storage_locations() -> None:
    exported = plans.planned(GCP).outputs
    (command,) = (one for one in plans.planned(GCP).of("command:local:Command") if "update" in one.inputs)
    image = command.inputs["environment"]["GPU_IMAGE_NAME"]

    assert exported["storage_locations"]["host-image"] == f"projects/gpu-test-runners/global/images/{image}"
    assert exported["storage_locations"]["test-image"] == exported["test_image"]
    assert exported["host_image"]["name"] == image


def test_the_outputs_have_commands_to_list_describe_and_copy_the_image() -> None:
    image = stacks.settings(GCP).host_image
    assert image is not None

    assert host_image.facts(NAME, image, "gpu-test-runners") == {
        "name": NAME,
        "family": "gpu-host",
        "self_link": f"projects/gpu-test-runners/global/images/{NAME}",
        "list": "gcloud compute images list --project gpu-test-runners --no-standard-images --show-deprecated"
        " --filter family=gpu-host",
        "describe": f"gcloud compute images describe {NAME} --project gpu-test-runners",
        "use-elsewhere": "gcloud compute instances create NAME --project OTHER --zone us-central1-b"
        f" --image {NAME} --image-project gpu-test-runners",
    }


def test_the_import_command_keeps_the_guest_os_features() -> None:
    image = stacks.settings(GCP, EXPORT).host_image
    assert image is not None

    assert host_image.facts(NAME, image, "gpu-test-runners")["import-elsewhere"] == (
        f"gcloud compute images create {NAME} --project OTHER"
        f" --source-uri gs://archive-of-images/images/{NAME}.tar.gz"
        " --guest-os-features GVNIC,UEFI_COMPATIBLE,VIRTIO_SCSI_MULTIQUEUE"
    )


@pytest.mark.parametrize(("name", "output"), [(GCP, "cirun_gcp"), (AWS, "cirun_aws")])
def test_no_output_contains_a_key(name: str, output: str) -> None:
    exported = plans.planned(name).outputs[output]

    assert " create" in exported["key"]
    assert not any("PRIVATE" in line or "AKIA" in line for line in exported.values())
