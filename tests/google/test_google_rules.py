"""What a stack file may not say of Google Cloud: each fault at its path, in one line, with the way out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import judge
import refusal
from ami.builder.content_hash import FAMILY_LIMIT, checked_family
from config.cirun_rules import CIRUN_RULES
from config.gcp import HostImageSettings
from config.gcp_rules import GOOGLE_RULES
from config.identity import Identity
from gpu.verdict import Level
from tests.config import stacks
from tests.config.stacks import OUT

if TYPE_CHECKING:
    from collections.abc import Mapping

pytestmark = pytest.mark.pure

GOOGLE = "examples/cirun-gcp.yaml"
AMAZON = "examples/cirun-aws.yaml"
RUNNER = "runners/cirun-gcp-gpu"
RULES = (*GOOGLE_RULES, *CIRUN_RULES)
DECLARED = {"host-image/mode": "declared", "host-image/zones": ["us-central1-b"]}
AMIS = "runners/cirun-aws-gpu/cirun-aws"


@dataclass(frozen=True, kw_only=True)
class Broken:
    """A stack file with a fault, and everything that is told of it."""

    rule: str = ""
    """The rule between sections that finds it; none where the value alone is wrong."""
    stack: str = GOOGLE
    changes: Mapping[str, Any] = field(default_factory=dict)
    told: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.rule}:{','.join(self.changes)}"


CASES = (
    Broken(
        changes={"gcp/region": "us-central1-b"},
        told=(
            '"us-central1-b" is not a Google Cloud region; write it as us-central1, without a zone\'s letter',
            "gcp.region: ",
        ),
    ),
    Broken(
        changes={"host-image/zones": ["us-central1"]},
        told=(
            (
                'host-image.zones[0]: "us-central1" is not a Google Cloud zone; '
                "write the region with a letter: us-central1-b"
            ),
        ),
    ),
    Broken(
        changes={f"{RUNNER}/cirun-gcp/zones": ["us-central1-b", "us-central1"]},
        told=(
            (
                'runners.cirun-gcp-gpu.cirun-gcp.zones[1]: "us-central1" is not a Google Cloud zone; '
                "write the region with a letter: us-central1-b"
            ),
        ),
    ),
    Broken(
        changes={"artifact-registry/gpu-tests/region": "us-central1-b"},
        told=('artifact-registry.gpu-tests.region: "us-central1-b" is not a Google Cloud region; ',),
    ),
    Broken(
        changes={"host-image/family": "GPU_Host", f"{RUNNER}/cirun-gcp/image-family": "GPU_Host"},
        told=(
            (
                'host-image.family: "GPU_Host" is not a name; '
                "use lower-case letters, digits and single hyphens, letter first"
            ),
            'runners.cirun-gcp-gpu.cirun-gcp.image-family: "GPU_Host" is not a name; ',
        ),
    ),
    Broken(
        changes={"host-image/family": "g" * 41},
        told=("host-image.family: ", "write at most 36 characters"),
    ),
    Broken(
        rule="image_families_exist",
        changes={f"{RUNNER}/cirun-gcp/image-family": "gpu-hosts"},
        told=('runners.cirun-gcp-gpu.cirun-gcp.image-family: "gpu-hosts" is not built here; write "gpu-host"',),
    ),
    Broken(
        changes={"host-image": OUT},
        told=("host-image: missing, and runners.cirun-gcp-gpu needs it",),
    ),
    Broken(
        changes={"artifact-registry/gpu-tests/readers": {"runners": "group:x@example.org"}},
        told=("artifact-registry.gpu-tests: readers.runners would take the place of the stack's own; give it another",),
    ),
    Broken(
        changes={"artifact-registry/gpu-tests/writers": {"github-vision-main": "group:x@example.org"}},
        told=("artifact-registry.gpu-tests: writers.github-vision-main would take the place of the stack's own; ",),
    ),
    Broken(
        stack=AMAZON,
        changes={"aws": OUT},
        told=("aws: missing, and runners.cirun-aws-gpu and cirun.aws need it; state aws, or leave them out",),
    ),
    Broken(
        stack=AMAZON,
        changes={"cirun/gcp": True},
        told=("gcp: missing, and cirun.gcp needs it; state gcp, or leave cirun.gcp out",),
    ),
    Broken(
        rule="cirun_is_let_in",
        changes={"cirun/gcp": False},
        told=("cirun.gcp: not on, and runners.cirun-gcp-gpu needs it; state cirun: {gcp: true}",),
    ),
    Broken(
        rule="cirun_is_let_in",
        stack=AMAZON,
        changes={"cirun": OUT},
        told=("cirun.aws: not on, and runners.cirun-aws-gpu needs it; state cirun: {aws: true}",),
    ),
    Broken(
        rule="machines_take_their_gpu",
        changes={f"{RUNNER}/cirun-gcp/machine-types": ["g2-standard-4"]},
        told=(
            (
                "runners.cirun-gcp-gpu.cirun-gcp.machine-types[0]: g2-standard-4 brings 1 x l4, and nothing else can be "
                "attached to it; take an n1 machine, or one that brings the GPU asked for"
            ),
        ),
    ),
    Broken(
        rule="machines_take_their_gpu",
        changes={f"{RUNNER}/cirun-gcp/machine-types": ["n1-standard-4", "n1-standrad-8"]},
        told=("runners.cirun-gcp-gpu.cirun-gcp.machine-types[1]: n1-standrad-8 is not a known ", '"n1-standard-8"?'),
    ),
    Broken(
        rule="machines_take_their_gpu",
        changes={f"{RUNNER}/cirun-gcp/machine-types": ["e2-standard-8"]},
        told=("no GPU can be attached to e2-standard-8; only to n1 machines",),
    ),
    Broken(
        rule="cirun_attaches_one_gpu",
        changes={f"{RUNNER}/needs/gpus": 2, f"{RUNNER}/cirun-gcp/machine-types": ["n1-standard-8", "n1-standard-16"]},
        told=(
            (
                "runners.cirun-gcp-gpu.needs.gpus: 2 are asked for, and cirun gives one GPU to n1-standard-8 and "
                "n1-standard-16; write 1, or take machine types that bring 2"
            ),
        ),
    ),
    Broken(
        rule="machines_take_their_gpu",
        changes={"host-image/verifier": {"gpus": 3}},
        told=("host-image.verifier.machine-type: n1-standard-4 cannot have 3 x t4: t4 attaches in 1, 2, 4",),
    ),
    Broken(
        rule="machines_take_their_gpu",
        changes={f"{RUNNER}/cirun-gcp/machine-types": ["n1-standard-64"]},
        told=(
            (
                "runners.cirun-gcp-gpu.cirun-gcp.machine-types[0]: n1-standard-64 has 64 vCPU, and with 1 x t4 a machine "
                "has 48 at most; take n1-standard-32 or smaller"
            ),
        ),
    ),
    Broken(
        rule="machines_take_their_gpu",
        changes={"host-image/verifier": {"gpu": "v100", "machine-type": "n1-standard-16"}},
        told=("n1-standard-16 has 16 vCPU, and with 1 x v100 a machine has 12 at most; take n1-standard-8 or smaller",),
    ),
    Broken(
        rule="machines_take_their_gpu",
        changes={"host-image/verifier": {"gpu": "t5"}},
        told=('host-image.verifier.gpu: t5 is not known; did you mean "t4"?',),
    ),
    Broken(
        rule="machines_take_their_gpu",
        changes={"host-image/verifier": {"machine-type": "n1-standard-5"}},
        told=("host-image.verifier.machine-type: n1-standard-5 is not a known ", 'did you mean "n1-standard-'),
    ),
    Broken(
        rule="machines_take_their_gpu",
        changes={"host-image/builder": {"machine-type": "e2-standrad-8"}},
        told=('host-image.builder.machine-type: e2-standrad-8 is not known; did you mean "e2-standard-8"?',),
    ),
    Broken(
        rule="a_test_image_has_a_repository",
        changes={"test-image/repository": "gpu-test"},
        told=('test-image.repository: "gpu-test" is not in artifact-registry; did you mean "gpu-tests"?',),
    ),
    Broken(
        rule="a_workflow_can_push",
        changes={"github-federation": OUT},
        told=(
            (
                "github-federation: missing, and a workflow that pushes test-image needs it to be let in; "
                "state github-federation, or test-image.built-by: stack"
            ),
        ),
    ),
    Broken(
        rule="images_and_machines_share_a_region",
        changes={f"{RUNNER}/cirun-gcp/zones": ["us-east1-c", "us-east1-d"]},
        told=(
            (
                "runners.cirun-gcp-gpu.cirun-gcp.zones[0]: no zone is in us-central1, where its images are kept; "
                "name a zone of us-central1, or state artifact-registry.gpu-tests.region"
            ),
        ),
    ),
    Broken(
        rule="every_region_has_an_image",
        stack=AMAZON,
        changes={f"{AMIS}/images": {"us-east-1": "ami-0756bd122da9b2618", "us-east-2": "ami-0756bd122da9b2618"}},
        told=(
            "runners.cirun-aws-gpu.cirun-aws.images.us-east-2: is in no region of regions; did you mean ",
            "runners.cirun-aws-gpu.cirun-aws.regions[1]: us-west-2 has no image; state images: {us-west-2: ami-…}",
        ),
    ),
    Broken(
        rule="access_leads_to_runners",
        stack=stacks.STAGING,
        changes={
            "cirun/access": {
                "core": {"repository": "vision", "teams": ["core"], "runners": ["cirun-gcp-gpus", "gpu-t4"]},
            }
        },
        told=(
            'cirun.access.core.runners[0]: no runner is called "cirun-gcp-gpus"; did you mean "cirun-gcp-gpu"?',
            "cirun.access.core.runners[1]: cirun does not serve gpu-t4; ",
            "runners.cirun-gcp-gpu: no entry of cirun.access names it; name it in one, or nobody can start it",
        ),
    ),
    Broken(
        changes={"cirun/access": {"core": {"repository": "example-org/vision", "runners": ["cirun-gcp-gpu"]}}},
        told=('cirun.access.core.repository: "example-org/vision" is not a repository\'s name; write it without its',),
    ),
    Broken(
        changes={"cirun/access": {"core": {"repository": "vision", "runners": ["cirun-gcp-gpu"]}}},
        told=("cirun.access.core: lets nobody in; state teams, roles or users",),
    ),
    Broken(
        rule="source_images_are_exact",
        changes={"host-image/source-image": "ubuntu-2404-lts-amd64"},
        told=(
            (
                'host-image.source-image: "ubuntu-2404-lts-amd64" names no exact image of ubuntu-os-cloud; '
                "write the name with its date, as in ubuntu-2404-noble-amd64-v20261105"
            ),
        ),
    ),
    Broken(
        changes={"host-image/proved": "0a1b2c3d"},
        told=("host-image: proved belongs to mode: declared; leave proved out, or state mode: declared",),
    ),
    Broken(
        changes={"host-image/mode": "declared", "host-image/keep": 3},
        told=(
            (
                "host-image: mode: declared makes no use of keep, zones after the first; "
                "leave that out, or state mode: controller"
            ),
        ),
    ),
    Broken(
        changes={**DECLARED, "host-image/export": {"bucket": "gpu-images"}, "host-image/verifier": {"gpus": 2}},
        told=("host-image: mode: declared makes no use of export, verifier; ",),
    ),
    Broken(
        changes={**DECLARED, "host-image/phase": "image"},
        told=("host-image: phase: image needs proved: a builder that failed or was pre-empted is a stopped one too; ",),
    ),
    Broken(
        changes={**DECLARED, "host-image/proved": "0a1b2c3d"},
        told=("host-image: proved belongs to phase: image; leave proved out until the builder has reported ok:",),
    ),
    Broken(
        changes={**DECLARED, "host-image/phase": "image", "host-image/proved": "0a1b2c"},
        told=('host-image.proved: "0a1b2c" is not the hash of an image\'s content; write the eight digits that the ',),
    ),
    Broken(
        rule="the_installer_fits_the_base",
        changes={
            "host-image/source-project": "debian-cloud",
            "host-image/source-image": "debian-12-bookworm-v20261105",
        },
        told=(
            (
                "host-image.source-project: the images of debian-cloud are no Ubuntu, and the installer knows nothing "
                "else; leave it out, and take an image of ubuntu-os-cloud"
            ),
        ),
    ),
    Broken(
        rule="the_installer_fits_the_base",
        changes={"host-image/source-image": "debian-12-bookworm-v20261105"},
        told=('host-image.source-image: "debian-12-bookworm-v20261105" is no Ubuntu, and the installer knows ',),
    ),
    Broken(
        rule="the_installer_fits_the_base",
        changes={"host-image/source-image": "ubuntu-2404-noble-arm64-v20261105"},
        told=(
            (
                'host-image.source-image: "ubuntu-2404-noble-arm64-v20261105" is for arm64, and the machines with GPUs '
                "are amd64; write ubuntu-2404-noble-amd64-v20261105"
            ),
        ),
    ),
    Broken(
        rule="labels_are_one_runner_s",
        stack=AMAZON,
        changes={
            "runners/a": stacks.sections(AMAZON)["runners"]["cirun-aws-gpu"],
            "runners/cirun-a": stacks.sections(AMAZON)["runners"]["cirun-aws-gpu"],
        },
        told=("runners.cirun-a: a job asks for it as cirun-a, and for runners.a as well; ",),
    ),
    Broken(
        rule="gpu_tests_have_a_runner",
        stack=stacks.STAGING,
        changes={"gpu-tests": {"vision": {"runner": "gpu-t4"}}},
        told=("gpu-tests.vision.runner: cirun does not serve gpu-t4; ",),
    ),
    Broken(
        rule="the_builder_holds_the_base",
        changes={"host-image/builder": {"disk": "5Gi"}},
        told=(
            "host-image.builder.disk: 5Gi does not hold the base image, which has 10Gi; write 50Gi, or leave it out",
        ),
    ),
    Broken(
        changes={"host-image/phase": "image"},
        told=("host-image: phase belongs to mode: declared; leave phase out, or state mode: declared",),
    ),
    Broken(changes={"test-image/tag": "latest"}, told=("test-image.tag: ", "name an exact version")),
    Broken(changes={"host-image/source-image": "ubuntu-2404-lts/amd64"}, told=("host-image.source-image: ",)),
    Broken(changes={"host-image/builder": {"max-minutes": 600}}, told=("host-image.builder.max-minutes: ",)),
    Broken(changes={"github-federation/owner-id": "example-org"}, told=("github-federation.owner-id: ",)),
    Broken(changes={"gcp/projekt": "x"}, told=('gcp.projekt: unknown key; did you mean "project"?',)),
    Broken(changes={"gcp/project": OUT}, told=("gcp.project: missing; state project",)),
)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_fault_is_told_at_its_path_with_the_way_out(case: Broken) -> None:
    found = stacks.faults(stacks.sections(case.stack, case.changes))

    assert [part for part in case.told if not any(part in line for line in found)] == []


@pytest.mark.parametrize("case", [case for case in CASES if case.rule], ids=str)
def test_the_rule_that_is_named_is_the_one_that_finds_it(case: Broken) -> None:
    stated = stacks.stated(stacks.sections(case.stack, case.changes))
    telling = [rule.__name__ for rule in RULES if list(rule(stated))]

    assert telling == [case.rule]


def test_every_rule_is_broken_by_some_case() -> None:
    assert {rule.__name__ for rule in RULES} == {case.rule for case in CASES if case.rule}


@pytest.mark.parametrize("name", [GOOGLE, AMAZON, stacks.STAGING, stacks.PRODUCTION])
def test_a_committed_stack_breaks_no_rule(name: str) -> None:
    stated = stacks.stated(stacks.sections(name))

    assert [fault for rule in RULES for fault in rule(stated)] == []


def test_a_region_that_is_stated_for_the_images_is_meant() -> None:
    elsewhere = {
        f"{RUNNER}/cirun-gcp/zones": ["us-east1-c", "us-east1-d"],
        "artifact-registry/gpu-tests/region": "us-central1",
    }

    assert stacks.faults(stacks.sections(GOOGLE, elsewhere)) == []


@settings(max_examples=30)
@given(st.from_regex(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", fullmatch=True).filter(lambda name: len(name) <= 50))
def test_whatever_family_the_stack_file_takes_leaves_room_for_the_names_of_machines(family: str) -> None:
    raw = stacks.sections(GOOGLE, {"host-image/family": family, f"{RUNNER}/cirun-gcp/image-family": family})
    found = stacks.faults(raw)

    assert (found == []) == (len(family) <= 36 <= FAMILY_LIMIT)
    if not found:
        assert checked_family(family) == family


def test_the_builder_and_the_verifier_have_the_stated_defaults() -> None:
    image = stacks.settings(GOOGLE).host_image
    assert isinstance(image, HostImageSettings)

    assert (image.builder.machine_type, image.builder.disk, image.builder.spot) == ("e2-standard-8", "50Gi", True)
    assert (image.verifier.machine_type, image.verifier.gpu, image.verifier.gpus) == ("n1-standard-4", "t4", 1)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"host-image/driver": "550"}, "13.0"),
        ({"host-image/driver": "470", "host-image/cuda": "12.9"}, "12.9"),
        ({f"{RUNNER}/needs/cuda": "13.0", "host-image/cuda": "12.9", "host-image/driver": "550"}, "13.0"),
    ],
)
def test_a_driver_that_does_not_carry_the_cuda_asked_for_stops_the_stack(changes: dict[str, Any], reason: str) -> None:
    found = judge.verdicts(stacks.settings(GOOGLE, changes), Identity(project="gpu-ci", stack="test"))
    refusing = [verdict for verdict in found if verdict.level is Level.ERROR and verdict.check == "compatibility"]

    assert refusing != []
    assert any(reason in verdict.reason for verdict in refusing), refusing
    with pytest.raises(refusal.Refused):
        refusal.refuse(found)
