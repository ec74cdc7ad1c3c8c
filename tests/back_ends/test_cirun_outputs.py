"""Outputs of the back ends of cirun."""

from __future__ import annotations

import shlex

import pytest

from gpu_ci.back_ends.cirun_aws.back_end import outputs
from gpu_ci.back_ends.shared.cirun.outputs import manual_steps
from tests.stack_file import stacks
from tests.tables import OUT

pytestmark = pytest.mark.pure

AWS = "examples/cirun-aws.yaml"
SUBNETS = {"us-east-1a": "subnet-1"}


def test_the_manual_steps_for_cirun_are_listed_in_order() -> None:
    found = manual_steps(key="gcloud iam service-accounts keys create cirun.json", cloud="Google Cloud")

    assert list(found) == ["repository", "key", "paste", "files"]
    assert "https://cirun.io" in found["repository"]
    assert "delete the file" in found["paste"]


def test_the_output_reads_the_newest_ami_of_each_region() -> None:
    parameter = "/aws/service/deeplearning/ami/x86_64/base-oss-nvidia-driver-gpu-ubuntu-24.04/latest/ami-id"
    found = outputs("cirun", stacks.settings(AWS), SUBNETS)

    assert shlex.split(found["key"]) == ["aws", "iam", "create-access-key", "--user-name", "cirun"]
    assert {key: value for key, value in found.items() if key.startswith("image-")} == {
        f"image-cirun-aws-gpu-{region}": f"aws ssm get-parameter --region {region} --name {parameter}"
        " --query Parameter.Value --output text"
        for region in ("us-east-1", "us-west-2")
    }


def test_the_output_lists_the_subnets_of_the_network() -> None:
    found = outputs("cirun", stacks.settings(AWS), SUBNETS)

    assert {key: value for key, value in found.items() if key.startswith("subnet-")} == {
        "subnet-us-east-1a": "subnet-1"
    }


def test_without_a_parameter_the_output_reads_no_ami() -> None:
    plain = stacks.settings(AWS, {"runners/cirun-aws-gpu/cirun-aws/image-parameter": OUT})

    assert [key for key in outputs("cirun", plain, SUBNETS) if key.startswith("image-")] == []
