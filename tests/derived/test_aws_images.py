"""The content of machine images on AWS: every option changes it, and Image Builder accepts its documents."""

from __future__ import annotations

import re
from typing import Any, Final

import pytest
import yaml

from components.aws.images.image_content import LIMIT, ImageContent
from gpu_ci.derived.aws_images import DOCUMENTS, ec2_content, eks_content
from gpu_ci.knowledge import pins
from gpu_ci.stack_file.sections.machine_images import Ec2ImageSettings, EksImageSettings
from ops.fakes.aws.image_builder import ACTIONS

pytestmark = pytest.mark.pure

DIGEST: Final = "sha256:" + "a" * 64
EKS: Final[dict[str, Any]] = {"version": "1.35", "zone": "us-west-2a"}
EC2: Final[dict[str, Any]] = {"serial": "20261105", "driver": "580", "zone": "us-west-2a", "regions": ("us-west-2",)}
FILES: Final = sorted(DOCUMENTS.glob("*-gpu/*.yaml"))
NOT_CONTENT: Final = {"zone", "instance_types", "keep"}
"""Options of the machine that builds, and of old images."""
COMMON: Final[dict[str, Any]] = {
    "disk": "60Gi",
    "sysctl": {"vm.max_map_count": 262144},
    "pre_pull": (f"ghcr.io/example-org/runner@{DIGEST}",),
    "build": 2,
}
CHANGES: Final = {
    "eks": {**COMMON, "version": "1.36", "packages": ("git",)},
    "ec2": {
        **COMMON,
        "os": "ubuntu-22.04",
        "serial": "20261106",
        "driver": "595",
        "packages": ("git",),
        "regions": ("us-west-2", "us-east-1"),
    },
}


def content(kind: str, **changes: Any) -> ImageContent:
    if kind == "eks":
        return eks_content(EksImageSettings.model_validate({**EKS, **changes}), "us-west-2")
    return ec2_content(Ec2ImageSettings.model_validate({**EC2, **changes}))


def scripts(document: str) -> list[str]:
    """Return the script of each step."""
    parsed = yaml.safe_load(document)
    steps = [step for phase in parsed["phases"] for step in phase["steps"] if step["action"] == "ExecuteBash"]
    return ["\n".join(step["inputs"]["commands"]) for step in steps]


@pytest.mark.parametrize(
    ("kind", "key", "value"), [(kind, key, value) for kind, keys in CHANGES.items() for key, value in keys.items()]
)
def test_every_option_changes_the_content_and_the_image_version(kind: str, key: str, value: Any) -> None:
    before, after = content(kind), content(kind, **{key: value})

    assert (before.build, before.test, before.parent, before.disk_gib, tuple(before.regions), before.number) != (
        after.build,
        after.test,
        after.parent,
        after.disk_gib,
        tuple(after.regions),
        after.number,
    )
    assert before.version != after.version


def test_every_key_of_the_sections_is_an_option_of_the_image_or_the_builder() -> None:
    for kind, section in (("eks", EksImageSettings), ("ec2", Ec2ImageSettings)):
        assert set(section.model_fields) == {*CHANGES[kind], *NOT_CONTENT}


@pytest.mark.parametrize("kind", ["eks", "ec2"])
@pytest.mark.parametrize("change", [{"zone": "us-west-2b"}, {"instance_types": ("g5.xlarge",)}, {"keep": 9}])
def test_options_of_the_builder_do_not_build_again(kind: str, change: dict[str, Any]) -> None:
    assert content(kind, **change).version == content(kind).version


@pytest.mark.parametrize("kind", ["eks", "ec2"])
def test_the_same_options_give_the_same_version(kind: str) -> None:
    assert content(kind).hash == content(kind).hash
    assert re.fullmatch(r"1\.0\.\d{1,10}", content(kind).version)
    assert int(content(kind).version.split(".")[2]) < 2**30


@pytest.mark.parametrize("kind", ["eks", "ec2"])
def test_the_largest_documents_are_accepted(kind: str) -> None:
    reference = "r" * (280 - len("a.b/@") - len(DIGEST))
    images = tuple(f"a.b/{number:02}{reference[2:]}@{DIGEST}" for number in range(15))
    largest = content(
        kind,
        pre_pull=images,
        packages=tuple(f"{number:02}{'p' * 58}" for number in range(30)),
        sysctl={f"k.{number:02}{'x' * 76}": 2**53 for number in range(20)},
    )

    assert max(len(largest.build), len(largest.test)) <= LIMIT


@pytest.mark.parametrize("version", sorted(pins.EKS_AMI_RELEASES))
def test_the_base_of_eks_nodes_is_one_exact_release(version: str) -> None:
    date = pins.EKS_AMI_RELEASES[version].rpartition("-")[2]

    assert content("eks", version=version).parent == (
        f"ssm:/aws/service/eks/optimized-ami/{version}/amazon-linux-2023/x86_64/nvidia/"
        f"amazon-eks-node-al2023-x86_64-nvidia-{version}-v{date}/image_id"
    )


def test_the_base_of_ec2_machines_is_one_exact_release() -> None:
    assert content("ec2").parent == (
        "ssm:/aws/service/canonical/ubuntu/server/24.04/stable/20261105/amd64/hvm/ebs-gp3/ami-id"
    )
    assert "/22.04/stable/20261105/amd64/hvm/ebs-gp2/" in content("ec2", os="ubuntu-22.04").parent


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.name}")
def test_no_step_swallows_a_failure(file: Any) -> None:
    text = file.read_text()

    assert [words for words in ("|| true", "|| :", "or echo", "|| echo", "onFailure", "set +e") if words in text] == []
    assert [script for script in scripts(text) if not script.startswith("set -euo pipefail\n")] == []


@pytest.mark.parametrize("kind", ["eks", "ec2"])
def test_the_test_document_only_tests_and_runs_a_kernel(kind: str) -> None:
    parsed = yaml.safe_load(content(kind).test)
    build = yaml.safe_load(content(kind).build)

    assert [phase["name"] for phase in parsed["phases"]] == ["test"]
    assert [phase["name"] for phase in build["phases"]] == ["build", "validate"]
    assert {step["action"] for phase in build["phases"] for step in phase["steps"]} <= ACTIONS
    assert {"Driver", "Kernel", "Content"} <= {step["name"] for step in parsed["phases"][0]["steps"]}
    assert "vectoradd-cuda" in str(parsed["constants"])


def test_nothing_is_writable_for_everyone() -> None:
    assert [file.name for file in FILES if re.search(r"777|a\+w|o\+w", file.read_text())] == []
