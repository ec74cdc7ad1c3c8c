"""Every type of value accepts valid values, and reports the fix for the others."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError, create_model

from gpu_ci.stack_file.reading.translate import faults
from gpu_ci.stack_file.sections import aws, exceptions, machines, settings
from gpu_ci.stack_file.sections.section import Section
from gpu_ci.stack_file.sections.settings import Settings
from gpu_ci.stack_file.values import gcp as values_gcp
from gpu_ci.stack_file.values import general as values
from gpu_ci.stack_file.values import github as values_github
from gpu_ci.stack_file.values.general import gibibytes, mebibytes

pytestmark = pytest.mark.pure

KINDS = {
    **vars(values),
    **{
        name: kind
        for part in (aws, exceptions, machines, settings, values_gcp, values_github)
        for name, kind in vars(part).items()
    },
}


@cache
def model(kind: str) -> type[Section]:
    """Return a section with one value of a type."""
    return create_model("Model", __base__=Section, value=(KINDS[kind], ...))


def answer(kind: str, value: Any) -> str:
    """Return the faults of a value; empty where it is valid."""
    try:
        model(kind).model_validate_json(json.dumps({"value": value}))
    except ValidationError as error:
        return "\n".join(str(fault).removeprefix("value: ") for fault in faults(error, model(kind)))
    return ""


VALID = [
    ("Day", "2026-12-31"),
    ("Day", "2028-02-29"),
    ("Reason", "0123456789"),
    ("Reason", "the image is built on Friday"),
    ("AddOnName", "vpc-cni"),
    ("CertificateAuthority", f"LS0tLS1CRUdJTi{'A' * 240}=="),
    ("ClusterName", "platform"),
    ("EksEndpoint", "https://0123456789ABCDEF0123456789ABCDEF.gr7.us-east-1.eks.amazonaws.com"),
    ("SecretName", "ghcr.io-pull"),
    ("VpcId", "vpc-0a1b2c3d4e5f60718"),
    ("EnvironmentName", "staging"),
    ("EnvironmentName", "GPU_ci.2"),
    ("FullName", "example-org/vision"),
    ("FullName", "jo/.github"),
    ("NodeImage", "stock"),
    ("NodeImage", "own"),
    ("NodeImage", "ami-0123456789abcdef0"),
    ("Name", "t4-spot"),
    ("Name", "a"),
    ("Name", "a" * 36),
    ("RunnerName", "gpu-t4"),
    ("RunnerName", "4-gpus"),
    ("Region", "us-west-2"),
    ("Region", "us-gov-east-1"),
    ("Zone", "us-west-2a"),
    ("GcpRegion", "us-central1"),
    ("GcpRegion", "europe-west4"),
    ("RegistryLocation", "europe-west4"),
    ("RegistryLocation", "us"),
    ("GcpZone", "us-central1-b"),
    ("GcpProject", "my-project-1"),
    ("Account", "012345678901"),
    ("Network", "203.0.113.0/24"),
    ("Network", "203.0.113.7"),
    ("PrivateNetwork", "10.0.0.0/16"),
    ("PrivateNetwork", "100.64.0.0/16"),
    ("KubernetesVersion", "1.35"),
    ("CudaVersion", "12.9"),
    ("Version", "2.9.1"),
    ("Version", "2.9.1+cu129"),
    ("InstanceType", "g4dn.xlarge"),
    ("InstanceType", "m7i-flex.large"),
    ("InstanceType", "u-6tb1.56xlarge"),
    ("MachineType", "n1-standard-4"),
    ("RoleArn", "arn:aws:iam::123456789012:role/gpu-ci-deploy"),
    ("RoleArn", "arn:aws:iam::123456789012:role/a/path/name"),
    ("Size", "12Gi"),
    ("Size", "512Mi"),
    ("Size", "1Ti"),
    ("Size", "64Ti"),
    ("Dollars", 10**9),
    ("SubnetId", "subnet-0123456789abcdef0"),
    ("RetentionDays", 3653),
    ("QuotaKey", "L-3819A6DF"),
    ("QuotaKey", "us-east-1/L-3819A6DF"),
    ("QuotaKey", "us-central1/NVIDIA_T4_GPUS"),
    ("GitHubId", 84632176),
    ("RunnerGroup", "GPU runners"),
    ("RunnerGroup", "équipe"),
    ("Repository", ".github"),
    ("Who", "core_team"),
    ("Login", "octocat"),
    ("Cron", "17 3 * * *"),
    ("Cron", "17 3 * * MON-FRI"),
    ("Cron", "*/15 0-6/2 1,15 jan,FEB 1-5"),
    ("Cron", "0 0 29 2 *"),
    ("Cron", "0 0 30 2 MON"),
    ("Taint", "vision:NoSchedule"),
    ("Taint", "true:PreferNoSchedule"),
    ("LabelKey", "team"),
    ("LabelKey", "example.org/team"),
    ("LabelValue", "vision"),
    ("Digest", f"sha256:{'0' * 64}"),
    ("Tag", "2.336.0-cuda12.9"),
    ("Tag", "latest-but-pinned"),
    ("GitHubUrl", "https://github.com/example-org"),
    ("GitHubUrl", "https://github.com/example-org/vision"),
    ("GitHubUrl", "https://github.example.org/enterprises/all"),
    ("TagKey", "CostCentre"),
    ("TagKey", "a b:c/d=e+f-g@h"),
    ("Count", 0),
    ("Positive", 1),
    ("RepositoryName", "runner-gpu"),
    ("RepositoryName", "team/runner_gpu.2"),
    ("TagWildcard", "cache-*"),
    ("ImageReference", "ghcr.io/example-org/runner"),
    ("ImageReference", "localhost:5000/runner"),
    ("Ami", "ami-0123456789abcdef0"),
    ("ImageParameter", "/aws/service/deeplearning/ami/x86_64/base/latest/ami-id"),
    ("ImageParameter", "/images/gpu/ami-id"),
    ("Markets", [True, False]),
    ("Member", "group:ci@example.org"),
    ("Branch", "release/1.0"),
    ("BucketName", "gpu-images.example.org"),
    ("DockerRepositoryName", "gpu--tests"),
    ("DockerRepositoryName", "r" * 63),
    ("ImageName", "ubuntu-2404-noble-amd64-v20261105"),
    ("DriverBranch", "580"),
    ("ContentHash", "0a1b2c3d"),
    ("UserName", "ci-gpu-runner"),
    ("UserName", "_ci_runner"),
    ("UserName", "c" * 31),
    ("BaseImage", "13.0.3-base-ubuntu24.04"),
    ("BaseImage", f"12.9.1-cudnn-runtime-ubuntu22.04@sha256:{'0' * 64}"),
    ("BaseImage", "nvcr.io/nvidia/cuda:13.0.3-base-ubuntu24.04"),
    ("BaseImage", f"localhost:5000/mirror_1/cuda:13.0.3-base-ubuntu24.04@sha256:{'0' * 64}"),
]


def test_a_valid_value_is_accepted() -> None:
    assert [(kind, value, found) for kind, value in VALID if (found := answer(kind, value))] == []


NAME = "is not a name; use lower-case letters, digits and single hyphens, letter first"
RUNNER = "is not a runner's name; use lower-case letters, digits and single hyphens"
REGION = "is not an AWS region; write it as us-west-2, without a zone's letter"
ZONE = "is not an availability zone; write the region with a letter: us-west-2a"
ACCOUNT = 'is not an AWS account id; write twelve digits in quotes: "123456789012"'
KUBERNETES = 'is not a Kubernetes minor version; write it as "1.35", in quotes'
ARN = "is not an IAM role's ARN; write arn:aws:iam::123456789012:role/NAME"
PRIVATE = "is not a private range; use one inside 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, 100.64.0.0/10"
LABEL = (
    "is not the key of a Kubernetes label; write name or domain/name: letters, digits, dots, hyphens and underscores"
)
LABEL_VALUE = "use at most 63 letters, digits, dots, hyphens and underscores, a letter or digit at both ends"
TAG = "is not a fixed tag; name an exact version"
ADDRESS = "is not a GitHub address; write https://github.com/ORGANISATION or https://github.com/OWNER/REPOSITORY"
CRON = 'write five fields of cron, as in "17 3 * * *" or "17 3 * * MON-FRI"'
SIZE = "is not a size; write whole binary units, as in"
USER = "is not a user's name; use at most 31 lower-case letters, digits, hyphens and underscores, no digit first"
TEXT = "is not valid; write text; a number, a version, true and false need quotes"

INVALID = [
    ("Day", "2026-12-31T00:00:00Z", '"2026-12-31T00:00:00Z" is not a day; write it in quotes: "2026-12-31"'),
    (
        "Day",
        "2026-12-31 00:00:00 +0000 UTC",
        '"2026-12-31 00:00:00 +0000 UTC" is not a day; write it in quotes: "2026-12-31"',
    ),
    ("Day", "31.12.2026", '"31.12.2026" is not a day; write it in quotes, as in "2026-12-31"'),
    ("Day", "2026-02-29", '"2026-02-29" is not in the calendar; write a day that exists'),
    ("Day", 20261231, 'it is not a day; write it in quotes, as in "2026-12-31"'),
    ("Reason", "later", '"later" is not a reason; write 10 to 300 characters: why this is acceptable until then'),
    ("AddOnName", "VPC_CNI", '"VPC_CNI" is not the name of an add-on; write it as EKS does, as in vpc-cni'),
    (
        "CertificateAuthority",
        "abc",
        (
            '"abc" is not a certificate in base64; write what aws eks describe-cluster --name NAME --query '
            "cluster.certificateAuthority.data prints"
        ),
    ),
    (
        "ClusterName",
        "gpu-ci-staging",
        (
            '"gpu-ci-staging" is not the name of an EKS cluster that another tool manages; write its name; names that '
            "begin with gpu-ci- are those of stacks, which cannot share a cluster"
        ),
    ),
    (
        "EksEndpoint",
        "http://x",
        (
            '"http://x" is not the endpoint of an EKS cluster; write what aws eks describe-cluster --name NAME --query '
            "cluster.endpoint prints"
        ),
    ),
    (
        "SecretName",
        "My_Secret",
        (
            '"My_Secret" is not the name of a Kubernetes Secret; use lower-case letters, digits, hyphens and dots, a '
            "letter or digit first and last"
        ),
    ),
    (
        "VpcId",
        "vpc",
        '"vpc" is not a VPC\'s id; write vpc- and its 8 or 17 hexadecimal digits, as in vpc-0123456789abcdef0',
    ),
    (
        "EnvironmentName",
        "staging:main",
        '"staging:main" is not an environment that a subject of OpenID Connect contains unchanged; use letters, digits and _.-',
    ),
    ("FullName", "vision", '"vision" is not a repository with its owner; write OWNER/NAME, as in acme/gpu-infra'),
    (
        "NodeImage",
        "ami-1",
        '"ami-1" is not an image of nodes; write stock, own, or an AMI\'s id, as in ami-0123456789abcdef0',
    ),
    ("Name", "T4-Spot", f'"T4-Spot" {NAME}'),
    ("Name", "t4--spot", f'"t4--spot" {NAME}'),
    ("Name", "4t", f'"4t" {NAME}'),
    ("Name", "t4_spot", f'"t4_spot" {NAME}'),
    ("Name", "t4\n", f'"t4\\n" {NAME}'),
    ("Name", "a" * 37, f'"{"a" * 37}" is not valid; write at most 36 characters'),
    ("Name", 4, f"4 {TEXT}"),
    ("RunnerName", "GPU", f'"GPU" {RUNNER}'),
    ("RunnerName", "gpu t4", f'"gpu t4" {RUNNER}'),
    ("Region", "us-west-2a", f'"us-west-2a" {REGION}'),
    ("Region", "us-west", f'"us-west" {REGION}'),
    ("Region", "us-west-२", f'"us-west-२" {REGION}'),
    ("Zone", "us-west-2", f'"us-west-2" {ZONE}'),
    (
        "RegistryLocation",
        "africa",
        '"africa" is not a location of Artifact Registry; write a region as us-central1, or one of asia, europe, us',
    ),
    (
        "GcpRegion",
        "us-central1-b",
        '"us-central1-b" is not a Google Cloud region; write it as us-central1, without a zone\'s letter',
    ),
    (
        "GcpZone",
        "us-central1",
        '"us-central1" is not a Google Cloud zone; write the region with a letter: us-central1-b',
    ),
    (
        "GcpProject",
        "My Project",
        '"My Project" is not a Google Cloud project id; write the project\'s id, 6 to 30 characters',
    ),
    ("Account", "1234", f'"1234" {ACCOUNT}'),
    ("Account", 123456789012, f"123456789012 is a number; {values.IN_QUOTES}"),
    ("Network", "10.0.0.0/33", '"10.0.0.0/33" is not an IPv4 range; write it as 10.0.0.0/16'),
    ("Network", "::/0", '"::/0" is not an IPv4 range; write it as 10.0.0.0/16'),
    ("Network", "office", '"office" is not an IPv4 range; write it as 10.0.0.0/16'),
    ("Network", 10, '"10" is not an IPv4 range; write it as 10.0.0.0/16'),
    ("Network", "10.0.1.0/16", '"10.0.1.0/16" has host bits set; write the network address: 10.0.0.0/16'),
    ("PrivateNetwork", "8.8.8.0/24", f"8.8.8.0/24 {PRIVATE}"),
    ("PrivateNetwork", "10.0.0.0/7", f"10.0.0.0/7 {PRIVATE}"),
    ("KubernetesVersion", 1.35, f"1.35 is a number; {values.IN_QUOTES}"),
    ("KubernetesVersion", "1.35.2", f'"1.35.2" {KUBERNETES}'),
    ("KubernetesVersion", True, f"true {TEXT}"),
    ("CudaVersion", "12", '"12" is not a CUDA version; write it as "12.9", in quotes'),
    ("CudaVersion", 12.9, f"12.9 is a number; {values.IN_QUOTES}"),
    ("Version", "v2.9.1", '"v2.9.1" is not a version; write it in quotes, as in "2.9.1"'),
    ("Version", 2.9, f"2.9 is a number; {values.IN_QUOTES}"),
    ("InstanceType", "g4dn", '"g4dn" is not an EC2 instance type; write family.size, as in g4dn.xlarge'),
    ("InstanceType", "G4dn.xlarge", '"G4dn.xlarge" is not an EC2 instance type; write family.size, as in g4dn.xlarge'),
    ("MachineType", "n1", '"n1" is not a GCE machine type; write it as n1-standard-4'),
    ("RoleArn", "deploy", f'"deploy" {ARN}'),
    ("RoleArn", "arn:aws:iam::1234:role/deploy", f'"arn:aws:iam::1234:role/deploy" {ARN}'),
    ("Size", "65Ti", '"65Ti" is larger than any volume; write at most 64Ti'),
    ("Dollars", 0, "0 is not valid; write at least 1"),
    (
        "SubnetId",
        "subnet-1",
        (
            '"subnet-1" is not a subnet\'s id; write subnet- and its 8 or 17 hexadecimal digits, as in '
            "subnet-0123456789abcdef0"
        ),
    ),
    ("RetentionDays", True, "true is not a number; write a whole number"),
    (
        "QuotaKey",
        "vCPUs",
        '"vCPUs" is not the code of a quota; write it as L-3819A6DF or NVIDIA_T4_GPUS, or REGION/CODE for one region',
    ),
    ("GitHubId", 0, "0 is not valid; write at least 1"),
    (
        "RunnerGroup",
        " ",
        '" " is not the name of a runner group; write the name as GitHub shows it, without spaces around it',
    ),
    ("Repository", "..", '".." is not a repository\'s name; write it without its owner, as in vision'),
    ("Who", "@core", '"@core" is not a GitHub name; write the team, role or user as GitHub spells it'),
    ("Login", "@jo", '"@jo" is not a GitHub user; write the user\'s name without @, as in octocat'),
    ("Cron", "@daily", f'"@daily" is not a time; {CRON}'),
    ("Cron", "60 3 * * *", f'"60" is not a minute; write 0 to 59; {CRON}'),
    ("Cron", "17 3 * * FRI-MON", f'"FRI-MON" is not a day of the week: FRI-MON ends before it begins; {CRON}'),
    ("Cron", "17 3 30 2 *", '"17 3 30 2 *" never occurs: its months have at most 29 days; write another day or month'),
    ("Size", "12GB", f'"12GB" {SIZE} 12Gi'),
    ("Size", "12G", f'"12G" {SIZE} 12Gi'),
    ("Size", "12gb", f'"12gb" {SIZE} 12Gi'),
    ("Size", "12 GiB", f'"12 GiB" {SIZE} 12Gi'),
    ("Size", "512MB", f'"512MB" {SIZE} 512Mi'),
    ("Size", "1.5Ti", f'"1.5Ti" {SIZE} 1536Gi'),
    ("Size", "0.5Gi", f'"0.5Gi" {SIZE} 512Mi'),
    ("Size", "2048K", f'"2048K" {SIZE} 2Mi'),
    ("Size", "0Gi", f'"0Gi" {SIZE} 1Gi'),
    ("Size", "-1Gi", f'"-1Gi" {SIZE} 12Gi'),
    ("Size", "much", f'"much" {SIZE} 12Gi'),
    ("Size", 12, f'"12" {SIZE} 12Gi'),
    (
        "Taint",
        "true:NO_SCHEDULE",
        "NO_SCHEDULE is the spelling of the EKS API, not of Kubernetes; write true:NoSchedule",
    ),
    (
        "Taint",
        "vision:PREFER_NO_SCHEDULE",
        ("PREFER_NO_SCHEDULE is the spelling of the EKS API, not of Kubernetes; write vision:PreferNoSchedule"),
    ),
    (
        "Taint",
        "NoSchedule",
        '"NoSchedule" has no value, and the autoscaler ignores such a taint; write true:NoSchedule',
    ),
    (
        "Taint",
        "vision",
        '"vision" is not a taint; write value:Effect with one of NoSchedule, NoExecute, PreferNoSchedule',
    ),
    ("Taint", "a b:NoSchedule", f'"a b" is not a taint\'s value; {LABEL_VALUE}'),
    ("LabelKey", "a team", f'"a team" {LABEL}'),
    ("LabelKey", "Example.org/team", f'"Example.org/team" {LABEL}'),
    ("LabelValue", "-vision", f'"-vision" is not the value of a Kubernetes label; {LABEL_VALUE}'),
    ("LabelValue", "v" * 64, f'"{"v" * 64}" is not the value of a Kubernetes label; {LABEL_VALUE}'),
    ("LabelValue", True, f"true {TEXT}"),
    ("Digest", "sha256:0", '"sha256:0" is not an image digest; write sha256: and 64 hexadecimal digits'),
    ("Tag", "latest", f'"latest" {TAG}'),
    ("Tag", ".hidden", f'".hidden" {TAG}'),
    ("GitHubUrl", "github.com/example-org", f'"github.com/example-org" {ADDRESS}'),
    ("GitHubUrl", "https://github.com/", f'"https://github.com/" {ADDRESS}'),
    (
        "TagKey",
        "aws:name",
        '"aws:name" is not a tag\'s key; use at most 128 letters, digits and .:/=+@-, not aws:',
    ),
    ("Count", -1, "-1 is not valid; write at least 0"),
    ("Count", 10_001, "10001 is not valid; write at most 10000"),
    ("Count", "5", '"5" is text; remove the quotes: 5'),
    ("Count", 1.5, "1.5 is not valid; write a whole number"),
    ("Positive", 0, "0 is not valid; write at least 1"),
    ("Positive", None, "nothing is not valid; write a whole number"),
    (
        "RepositoryName",
        "Runner",
        (
            '"Runner" is not a repository\'s name; '
            "use lower-case letters and digits, with dots, hyphens, underscores or slashes between them"
        ),
    ),
    ("RepositoryName", "r", '"r" is not valid; write at least 2 characters'),
    (
        "TagWildcard",
        "cache *",
        '"cache *" is not a wildcard of tags; use letters, digits, dots, hyphens, underscores and at most two *, as in cache-*',
    ),
    (
        "ImageReference",
        "ghcr.io/example-org/runner:1.0",
        (
            '"ghcr.io/example-org/runner:1.0" is not an image without its tag; '
            "write registry/repository, as in ghcr.io/example-org/runner; state tag or digest separately"
        ),
    ),
    (
        "Ami",
        "ubuntu-24.04",
        (
            '"ubuntu-24.04" is not an AMI\'s id; write ami- and its 8 or 17 hexadecimal digits, as in ami-0123456789abcdef0'
        ),
    ),
    (
        "ImageParameter",
        "latest",
        (
            '"latest" is not a parameter of SSM; '
            "write its whole path, as in /aws/service/…/latest/ami-id or /images/gpu/ami-id"
        ),
    ),
    ("Markets", [], "an empty list is not valid; list at least 1"),
    ("Markets", [True, False, True], "a list is not valid; list at most 2"),
    (
        "Member",
        "ci@example.org",
        (
            '"ci@example.org" is not an IAM member; '
            "write the kind and the address, as in group:ci@example.org or user:jo@example.org"
        ),
    ),
    ("Branch", "main branch", '"main branch" is not a branch; write its name alone, as in main'),
    (
        "BucketName",
        "GPU",
        (
            '"GPU" is not a bucket\'s name; use 3 to 63 lower-case letters, digits, dots, hyphens and underscores, '
            "a letter or digit at both ends"
        ),
    ),
    (
        "DockerRepositoryName",
        "gpu_tests",
        (
            '"gpu_tests" is not a repository\'s name; '
            "use at most 63 lower-case letters, digits and hyphens, letter first, no hyphen at the end"
        ),
    ),
    (
        "ImageName",
        "ubuntu-os-cloud/ubuntu-2404",
        (
            '"ubuntu-os-cloud/ubuntu-2404" is not the name of an image of Google Cloud; '
            "write it alone, without project or family, as in ubuntu-2404-noble-amd64-v20261105"
        ),
    ),
    ("DriverBranch", "R580", '"R580" is not a driver branch; write its number alone, in quotes: "580"'),
    ("DriverBranch", 580, f"580 is a number; {values.IN_QUOTES}"),
    (
        "ContentHash",
        "ok:0a1b2c3d",
        (
            '"ok:0a1b2c3d" is not the hash of an image\'s content; '
            "write the eight digits that the builder reported after ok:"
        ),
    ),
    ("UserName", "1runner", f'"1runner" {USER}'),
    ("UserName", "c" * 32, f'"{"c" * 32}" {USER}'),
    (
        "BaseImage",
        "13.0.3-base-ubi9",
        (
            '"13.0.3-base-ubi9" is not based on Ubuntu, which the container needs; '
            "use a tag that ends with an Ubuntu version, as in 13.0.3-base-ubuntu24.04"
        ),
    ),
    (
        "BaseImage",
        "nvcr.io/nvidia/cuda",
        (
            '"nvcr.io/nvidia/cuda" is not a base image with its tag; write a tag of nvidia/cuda, as in '
            "13.0.3-base-ubuntu24.04, or a full reference REGISTRY/NAME:TAG@sha256:…"
        ),
    ),
]


def test_an_invalid_value_is_reported_with_the_fix() -> None:
    found = [(kind, value, reported, answer(kind, value)) for kind, value, reported in INVALID]

    assert [row for row in found if row[2] != row[3]] == []


def test_every_type_has_a_valid_and_an_invalid_value() -> None:
    kinds = {name for name, kind in KINDS.items() if hasattr(kind, "__metadata__") and name[0].isupper()}

    assert kinds - {"Types", "TypeName"} == {kind for kind, _ in VALID} == {kind for kind, *_ in INVALID}


def patterns(schema: Any) -> list[str]:
    """Return the patterns that pydantic itself checks; its message would show them."""
    if isinstance(schema, dict):
        own = [str(schema["pattern"])] if schema.get("type") == "str" and "pattern" in schema else []
        return [*own, *(found for inner in schema.values() for found in patterns(inner))]
    return [found for inner in schema for found in patterns(inner)] if isinstance(schema, list) else []


def test_no_message_shows_a_pattern() -> None:
    assert patterns(Settings.__pydantic_core_schema__) == []


@given(st.from_regex(r"[1-9][0-9]{0,5}(Mi|Gi|Ti)", fullmatch=True))
def test_a_size_is_rounded_up_to_the_next_gibibyte(size: str) -> None:
    assert 0 <= gibibytes(size) * 1024 - mebibytes(size) < 1024


@given(st.from_regex(r"[0-9]{1,4}(\.[0-9]{1,3})? ?[KMGTkmgt]?i?[Bb]?", fullmatch=True))
def test_the_suggested_size_is_valid_and_large_enough(text: str) -> None:
    reported = answer("Size", text)
    offered = reported.rpartition(" ")[2] or text
    exponent = {"k": 1, "m": 2, "g": 3, "t": 4}.get(text.rstrip("iBb").strip()[-1:].lower(), 3)
    meant = float(text.rstrip("KMGTkmgtiBb ")) * 1024 ** (exponent - 2)

    assert answer("Size", offered) == ""
    assert mebibytes(offered) >= min(meant, mebibytes("64Ti"))


def test_an_unchecked_size_is_an_error() -> None:
    with pytest.raises(ValueError, match="12GB"):
        mebibytes("12GB")
