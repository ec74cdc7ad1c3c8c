"""Rules of machines with a runner of their own: each reports what breaks it, and nothing else."""

from __future__ import annotations

from typing import Any, Final

import pytest

from gpu_ci.knowledge.software.runner_releases import NEWEST
from tests.stack_file import stacks
from tests.stack_file.stacks import MACHINE, Broken, broken
from tests.tables import OUT

pytestmark = pytest.mark.pure

VM: Final = "runners/gpu-vm/vm"
AT: Final = "runners.gpu-vm.vm"
ON_GCP: Final[dict[str, Any]] = {
    "gcp": {"project": "gpu-test-runners", "region": "us-central1"},
    f"{VM}/cloud": "gcp",
    f"{VM}/zone": "us-central1-a",
    f"{VM}/machine-type": "n1-standard-4",
}
GCE: Final = "examples/vm-gcp.yaml"
AMI: Final = "ami-0123456789abcdef0"
IMAGE: Final = "projects/my-project/global/images/gpu-host"


def wrong(rule: str, changes: dict[str, Any], *reported: str) -> Broken:
    """Return a case with changes to the machine of the example."""
    return broken(
        rule,
        {path if path.startswith(("runners/", "g")) else f"{VM}/{path}": value for path, value in changes.items()},
        *reported,
        stack=MACHINE,
    )


LONG: Final = "gpu-" + "m" * 32

CASES = (
    broken(
        "variables_have_a_machine",
        {"github/set-variables": True, "github/repositories": OUT},
        "github.set-variables: has no effect, because vm serves no runner; remove it",
        stack="examples/start-stop.yaml",
    ),
    broken(
        "names_fit_compute_engine",
        {"runners": {LONG: stacks.sections(GCE)["runners"]["gpu-vm"]}},
        f"runners.{LONG}.vm: 36 characters are too many for the name of an instance of Compute Engine; use a name of at"
        " most 32",
        stack=GCE,
    ),
    broken(
        "own_images_are_built",
        {
            "host-image": {
                "mode": "declared",
                "family": "gpu-host",
                "source-image": "ubuntu-2404-noble-amd64-v20261105",
                "zones": ["us-central1-a"],
                "driver": "580",
                "cuda": "12.9",
                "keep-on-destroy": False,
            },
            f"{VM}/image": "own",
            f"{VM}/driver": OUT,
        },
        f"{AT}.image: own needs an image, but host-image.phase: build creates only its builder; write stock until"
        " host-image.phase is image",
        stack=GCE,
    ),
    wrong(
        "amis_are_in_one_region",
        {
            "image": AMI,
            "driver": OUT,
            "runners/other": {
                "needs": {"gpu": "t4", "cpu": 4, "memory": "14Gi", "cuda": "12.9"},
                "timeout-minutes": 60,
                "start-stop": {
                    "repository": {"name": "vision", "id": 456789, "owner-id": 123456},
                    "machine": {"cloud": "aws", "zone": "us-east-1a", "machine-type": "g4dn.xlarge", "image": AMI},
                },
            },
        },
        f"runners.other.start-stop.machine.image: {AMI} is the image of us-west-2 in {AT}.image, and an AMI exists in"
        " one region only; write the id of its copy in us-east-1",
    ),
    wrong(
        "machines_have_a_cloud",
        {path: value for path, value in ON_GCP.items() if path != "gcp"},
        f"{AT}.cloud: gcp needs the section gcp; state gcp",
    ),
    wrong(
        "machine_types_are_known",
        {"machine-type": "g4dn.xlrge"},
        f'{AT}.machine-type: g4dn.xlrge is not a known EC2 instance type; did you mean "g4dn.xlarge"? If not, state its facts, as in'
        " gpu-ci:instance-types: {g4dn.xlrge: {cloud: aws, vcpus: 8, memory: 32Gi, gpu: t4, gpus: 1, max-pods: 58}}",
    ),
    wrong(
        "machine_types_are_known",
        {"machine-type": "n1-standard-4"},
        f"{AT}.machine-type: n1-standard-4 is a machine type of Compute Engine, but cloud is aws; write one of EC2, as"
        " in g4dn.xlarge",
    ),
    wrong(
        "machine_types_are_known",
        {"machine-type": "g5.xlarge"},
        "runners.gpu-vm.needs.gpu: g5.xlarge has the GPU a10g, not t4; write a10g, or remove g5.xlarge",
    ),
    wrong(
        "machine_types_are_known",
        {**ON_GCP, f"{VM}/machine-type": "e2-standard-4"},
        f"{AT}.machine-type: no GPU can be attached to e2-standard-4; only to n1 machines; use an n1 machine type, or"
        " one that includes the GPU",
    ),
    wrong(
        "machines_are_in_a_zone",
        {"zone": "us-west-2e"},
        f"{AT}.zone: us-west-2 has no zone us-west-2e; write one of us-west-2a, us-west-2b, us-west-2c, us-west-2d",
    ),
    wrong(
        "machines_are_in_a_zone",
        {"zone": "us-central1-a"},
        f"{AT}.zone: us-central1-a is a zone of Compute Engine, but cloud is aws; write a zone of EC2, as in"
        " us-west-2a",
    ),
    wrong(
        "images_fit_the_cloud",
        {"image": IMAGE, "driver": OUT},
        f"{AT}.image: {IMAGE} is not an image of EC2; write ami-…, stock or own",
    ),
    wrong(
        "images_fit_the_cloud",
        {**ON_GCP, f"{VM}/image": AMI, f"{VM}/driver": OUT},
        f"{AT}.image: {AMI} is not an image of Compute Engine; write projects/PROJECT/global/images/NAME, stock or own",
    ),
    wrong(
        "images_fit_the_cloud",
        {"image": "own", "driver": OUT},
        f"{AT}.image: own needs the section ec2-image, which builds it; state ec2-image, or image: stock",
    ),
    broken(
        "images_fit_the_cloud",
        {
            "ec2-image": {"serial": "20261105", "driver": "580", "zone": "us-west-2a", "regions": ["us-west-2"]},
            f"{VM}/image": "own",
            f"{VM}/driver": OUT,
            f"{VM}/zone": "eu-central-1a",
        },
        f"{AT}.image: own has no copy in eu-central-1; add eu-central-1 to ec2-image.regions",
        stack=MACHINE,
    ),
    wrong(
        "images_fit_the_cloud",
        {"driver": OUT},
        f'{AT}.driver: missing, but image: stock installs it; state driver: "580"',
    ),
    wrong(
        "images_fit_the_cloud",
        {"image": AMI},
        f"{AT}.driver: has no effect with image: {AMI}; remove it",
    ),
    wrong(
        "images_fit_the_cloud",
        {"egress-ports": [443]},
        f"{AT}.egress-ports: 80 is missing, but image: stock installs packages from Ubuntu's archive over HTTP; write"
        " [80, 443]",
    ),
    wrong(
        "images_fit_the_cloud",
        {"image": AMI, "driver": OUT, "packages": ["make"]},
        f"{AT}.packages: has no effect with image: {AMI}; remove it",
    ),
    wrong(
        "stock_machines_have_the_commands_of_tests",
        {"gpu-tests/vision": {"tool": "make", "cache": "actions", "ccache": True}, "packages": ["jq"]},
        f"{AT}.packages: gpu-tests.vision runs ccache and make, which image: stock does not have; write [ccache, jq,"
        " make]",
    ),
    wrong(
        "machines_reach_github",
        {"egress-ports": [80]},
        f"{AT}.egress-ports: 443 is missing, on which the runner reaches GitHub; write [80, 443]",
    ),
    wrong(
        "runner_archives_have_a_checksum",
        {"runner-version": "2.999.0"},
        f"{AT}.runner-sha256: the checksum of the runner 2.999.0 is not known; state it, from the notes of the release"
        f' at GitHub, or write runner-version: "{NEWEST}"',
    ),
    wrong(
        "runner_archives_have_a_checksum",
        {"runner-sha256": "0" * 64},
        f"{AT}.runner-sha256: is not the checksum of the runner {NEWEST}; remove it",
    ),
    wrong(
        "limits_leave_room_for_the_longest_job",
        {"runners/gpu-vm/timeout-minutes": 800},
        f"{AT}.max-hours: 12 hours are shorter than the longest job of 800 minutes; write at least 14, or lower"
        " runners.gpu-vm.timeout-minutes",
    ),
    wrong(
        "runners_register_where_github_allows_it",
        {"runner-group": "gpu"},
        f"{AT}.runner-group: gpu cannot exist: https://github.com/example-org/vision is a repository, which has only"
        " the group default; remove it, or write the organisation in github.url",
    ),
    wrong(
        "runners_register_where_github_allows_it",
        {"github/url": "https://github.com/enterprises/example"},
        f"{AT}: needs an organisation or a repository in github.url, because no App registers runners at"
        " https://github.com/enterprises/example; write https://github.com/ORGANISATION or"
        " https://github.com/OWNER/REPOSITORY",
    ),
    wrong(
        "jobs_of_forks_have_no_rights_of_root",
        {"forks": True, "docker": True},
        f"{AT}.docker: gives jobs of forks the rights of root, which can read the key of the GitHub App; remove"
        " docker, or remove forks",
    ),
    wrong(
        "schedules_have_hours",
        {"schedule/time-zone": "Europe/Praha"},
        f'{AT}.schedule.time-zone: "Europe/Praha" is not a time zone of the IANA database; did you mean'
        ' "Europe/Prague"?',
    ),
    wrong(
        "schedules_have_hours",
        {"schedule/stop": "02:00"},
        f"{AT}.schedule.stop: is the same as start; write another time, or remove schedule",
    ),
    wrong(
        "schedules_have_hours",
        {"schedule/stop": "23:30"},
        f"{AT}.max-hours: 12 hours are shorter than the 1290 minutes from start to stop; write at least 22",
    ),
    wrong(
        "persistent_machines_are_for_trusted_jobs",
        {"registration": "persistent", "forks": True},
        f"{AT}.forks: a persistent machine keeps the files of a fork's job, which the next job uses; write"
        " registration: ephemeral, or remove forks",
    ),
    wrong(
        "persistent_machines_are_for_trusted_jobs",
        {"registration": "persistent", "docker": True},
        f"{AT}.docker: a persistent machine keeps what jobs do as root, and Docker gives jobs the rights of root; write"
        " registration: ephemeral, or remove docker",
    ),
    broken(
        "names_are_no_common_labels",
        {"runners/gpu-vm": OUT, "runners/gpu": stacks.sections(MACHINE)["runners"]["gpu-vm"]},
        "runners.gpu: other runners have this label and would get the jobs; use another name",
        stack=MACHINE,
    ),
)


def test_a_broken_rule_of_a_machine_is_reported_at_its_path_with_the_fix() -> None:
    assert stacks.not_as_stated(CASES) == []


def test_a_schedule_without_a_time_zone_is_reported_once() -> None:
    assert stacks.faults(stacks.sections(MACHINE, {f"{VM}/schedule/time-zone": OUT})) == [
        f"{AT}.schedule.time-zone: missing; state time-zone"
    ]


@pytest.mark.parametrize("version", ["3.1.0", "v2.337.0", "2.337"])
def test_a_malformed_runner_version_is_reported_once(version: str) -> None:
    (found,) = stacks.faults(stacks.sections(MACHINE, {f"{VM}/runner-version": version}))

    assert found == (
        f'{AT}.runner-version: "{version}" is not a release of GitHub\'s runner; write it without v, in quotes:'
        f' "{NEWEST}"'
    )


def test_a_machine_may_be_in_another_region_than_the_provider() -> None:
    assert stacks.faults(stacks.sections(MACHINE, {f"{VM}/zone": "eu-central-1a"})) == []


def test_a_machine_needs_no_key_of_the_app_in_the_stack() -> None:
    assert stacks.faults(stacks.sections(MACHINE), secrets=()) == []
