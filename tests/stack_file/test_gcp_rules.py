"""Rules of Google Cloud and of cirun: each fault at its path, with the fix."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ami.builder.content_hash import FAMILY_LIMIT, checked_family
from gpu_ci.knowledge.machines.zones import GCP_ZONES
from tests.stack_file import stacks
from tests.stack_file.stacks import AWS, GCP, STAGING, broken
from tests.tables import OUT

pytestmark = pytest.mark.pure

CASES = (
    broken(
        "machines_have_one_type_of_boot_disk",
        {
            "runners/cirun-gcp-gpu/needs/gpu": "h200",
            "runners/cirun-gcp-gpu/needs/gpus": 8,
            "runners/cirun-gcp-gpu/cirun-gcp/machine-types": ["a3-ultragpu-8g", "x9-standard-8"],
            "instance-types": {
                "x9-standard-8": {"cloud": "gcp", "vcpus": 8, "memory": "32Gi", "gpu": "h200", "gpus": 8}
            },
        },
        (
            "runners.cirun-gcp-gpu.cirun-gcp.machine-types: a3-ultragpu-8g boots from hyperdisk-balanced and "
            "x9-standard-8 boots from pd-balanced; use a runner for each of them"
        ),
        stack=GCP,
    ),
    broken(
        "the_host_image_has_known_machines",
        {"host-image/builder": {"machine-type": "a4-highgpu-8g"}},
        (
            "host-image.builder.machine-type: a4-highgpu-8g boots from hyperdisk-balanced, but images are built on "
            "pd-balanced; use a type of n1, n2, e2, g2, a2 or a3-highgpu"
        ),
        stack=GCP,
    ),
    broken(
        "",
        {"artifact-registry/gpu-tests/readers": {"runners": "group:x@example.org"}},
        "artifact-registry.gpu-tests: readers.runners is a name that gpu-ci uses; use another name",
        stack=GCP,
    ),
    broken(
        "",
        {"artifact-registry/gpu-tests/writers": {"github-vision-main": "group:x@example.org"}},
        "artifact-registry.gpu-tests: writers.github-vision-main is a name that gpu-ci uses; use another name",
        stack=GCP,
    ),
    broken(
        "",
        {"cirun/access": {"core": {"repository": "example-org/vision", "runners": ["cirun-gcp-gpu"]}}},
        (
            'cirun.access.core.repository: "example-org/vision" is not a repository\'s name; write it without its '
            "owner, as in vision"
        ),
        stack=GCP,
    ),
    broken(
        "",
        {"cirun/access": {"core": {"repository": "vision", "runners": ["cirun-gcp-gpu"]}}},
        "cirun.access.core: grants no access; state teams, roles or users",
        stack=GCP,
    ),
    broken(
        "",
        {"host-image/proved": "0a1b2c3d"},
        "host-image: proved is for mode: declared only; remove proved, or state mode: declared",
        stack=GCP,
    ),
    broken(
        "",
        {"host-image/mode": "declared", "host-image/keep": 3},
        "host-image: mode: declared does not use keep, zones after the first; remove it, or state mode: controller",
        stack=GCP,
    ),
    broken(
        "",
        {
            "host-image/mode": "declared",
            "host-image/zones": ["us-central1-b"],
            "host-image/export": {"bucket": "gpu-images"},
            "host-image/verifier": {"gpus": 2},
        },
        "host-image: mode: declared does not use export, verifier; remove it, or state mode: controller",
        stack=GCP,
    ),
    broken(
        "",
        {"host-image/mode": "declared", "host-image/zones": ["us-central1-b"], "host-image/phase": "image"},
        (
            "host-image: phase: image needs proved, because a failed builder also stops; write the hash that the "
            "builder reported after ok:, in quotes"
        ),
        stack=GCP,
    ),
    broken(
        "",
        {"host-image/mode": "declared", "host-image/zones": ["us-central1-b"], "host-image/proved": "0a1b2c3d"},
        "host-image: proved is for phase: image only; remove proved until the builder has reported ok:",
        stack=GCP,
    ),
    broken(
        "",
        {
            "host-image/mode": "declared",
            "host-image/zones": ["us-central1-b"],
            "host-image/phase": "image",
            "host-image/proved": "0a1b2c",
        },
        (
            'host-image.proved: "0a1b2c" is not the hash of an image\'s content; write the eight digits that the '
            "builder reported after ok:"
        ),
        stack=GCP,
    ),
    broken(
        "",
        {"host-image/phase": "image"},
        "host-image: phase is for mode: declared only; remove phase, or state mode: declared",
        stack=GCP,
    ),
    broken(
        "a_test_image_has_a_repository",
        {"test-image/repository": "gpu-test"},
        'test-image.repository: "gpu-test" is not in artifact-registry; did you mean "gpu-tests"?',
        stack=GCP,
    ),
    broken(
        "a_workflow_can_push",
        {"github-federation": OUT},
        (
            "github-federation: missing, but the workflow that pushes test-image needs it to authenticate; state "
            "github-federation, or test-image.built-by: stack"
        ),
        stack=GCP,
    ),
    broken(
        "cirun_has_access",
        {"cirun/gcp": False},
        "cirun.gcp: not enabled, but runners.cirun-gcp-gpu needs it; state cirun: {gcp: true}",
        stack=GCP,
    ),
    broken(
        "cirun_has_access",
        {"cirun": OUT},
        "cirun.aws: not enabled, but runners.cirun-aws-gpu needs it; state cirun: {aws: true}",
        stack=AWS,
    ),
    broken(
        "access_names_runners",
        {
            "cirun/access": {
                "core": {"repository": "vision", "teams": ["core"], "runners": ["cirun-gcp-gpus", "gpu-t4"]}
            }
        },
        'cirun.access.core.runners[0]: "cirun-gcp-gpus" is not in runners; did you mean "cirun-gcp-gpu"?',
        "cirun.access.core.runners[1]: cirun does not serve gpu-t4; known: cirun-gcp-gpu",
        "runners.cirun-gcp-gpu: no entry of cirun.access names it, so no job can start it; add it to an entry",
    ),
    broken(
        "labels_differ",
        {
            "runners/a": stacks.sections(AWS)["runners"]["cirun-aws-gpu"],
            "runners/cirun-a": stacks.sections(AWS)["runners"]["cirun-aws-gpu"],
        },
        "runners.cirun-a: has the label cirun-a, as has runners.a; rename one of them",
        stack=AWS,
    ),
    broken(
        "runners_have_a_gpu",
        {"gpu-tests": {"vision": {"runner": "cpu-build"}}},
        "gpu-tests.vision.runner: cpu-build has no GPU; known: gpu-t4",
        stack="examples/eks-cpu.yaml",
    ),
    broken(
        "runners_have_a_gpu",
        {"gpu-tests": {"vision": {}}, "runners/gpu-t4": OUT},
        "gpu-tests.vision: no runner of the stack has a GPU; state needs.gpu of a runner, or remove gpu-tests",
        stack="examples/eks-cpu.yaml",
    ),
    broken(
        "workflows_have_the_options",
        {"gpu-tests/vision": {"skip-label": "skip", "cpu": ["make test"]}},
        "gpu-tests.vision.cpu: the workflow of gpu-l4, which starts and stops its machine, has no such option; "
        "remove it, or name another runner",
        "gpu-tests.vision.skip-label: the workflow of gpu-l4, which starts and stops its machine, has no such option; "
        "remove it, or name another runner",
        stack="examples/start-stop.yaml",
    ),
    broken(
        "gpu_tests_have_a_runner",
        {"gpu-tests": {"vision": {"runner": "gpu-t5"}}},
        'gpu-tests.vision.runner: "gpu-t5" is not in runners; did you mean "gpu-t4"?',
    ),
    broken(
        "images_and_machines_share_a_region",
        {"runners/cirun-gcp-gpu/cirun-gcp/zones": ["us-east1-c", "us-east1-d"]},
        (
            "runners.cirun-gcp-gpu.cirun-gcp.zones[0]: no zone is in us-central1, the region of its container "
            "images; add a zone of us-central1, or state artifact-registry.gpu-tests.region"
        ),
        stack=GCP,
    ),
    broken(
        "gcp_regions_and_zones_are_known",
        {"gcp/region": "us-central7", "artifact-registry/gpu-tests/region": "us-centrall1"},
        'artifact-registry.gpu-tests.region: "us-centrall1" is not a known region; did you mean "us-central1"?',
        'gcp.region: "us-central7" is not a known region; did you mean "us-central1"?',
        stack=GCP,
    ),
    broken(
        "gcp_regions_and_zones_are_known gce_machines_have_the_gpu",
        {
            "host-image/zones": ["us-central1-d", "us-central9-b"],
            "runners/cirun-gcp-gpu/cirun-gcp/zones": ["us-central1-z", "us-central7-b"],
        },
        (
            "host-image.zones[0]: us-central1 has no zone us-central1-d; write one of us-central1-a, "
            "us-central1-b, us-central1-c, us-central1-f"
        ),
        'host-image.zones[1]: "us-central9" is not a known region; did you mean "us-central1"?',
        (
            "runners.cirun-gcp-gpu.cirun-gcp.zones[0]: us-central1 has no zone us-central1-z; write one of "
            "us-central1-a, us-central1-b, us-central1-c, us-central1-f"
        ),
        'runners.cirun-gcp-gpu.cirun-gcp.zones[1]: "us-central7" is not a known region; did you mean "us-central1"?',
    ),
    broken(
        "the_host_image_has_known_machines",
        {"host-image/verifier": {"gpus": 3}},
        (
            "host-image.verifier.machine-type: n1-standard-4 cannot have 3 x t4: t4 attaches in 1, 2, 4; use an "
            "n1 machine type, or one that includes the GPU"
        ),
        stack=GCP,
    ),
    broken(
        "the_host_image_has_known_machines",
        {"host-image/verifier": {"gpu": "v100", "machine-type": "n1-standard-16"}},
        (
            "host-image.verifier.machine-type: n1-standard-16 has 16 vCPU, and with 1 x v100 a machine has 12 at "
            "most; take n1-standard-8 or smaller"
        ),
        stack=GCP,
    ),
    broken(
        "the_host_image_has_known_machines",
        {"host-image/verifier": {"gpu": "t5"}},
        'host-image.verifier.gpu: t5 is not known; did you mean "t4"?',
        stack=GCP,
    ),
    broken(
        "the_host_image_has_known_machines",
        {"host-image/verifier": {"machine-type": "n1-standard-5"}},
        (
            "host-image.verifier.machine-type: n1-standard-5 is not a known GCE machine type; did you mean "
            '"n1-standard-8"?'
            " If not, state its facts, as in gpu-ci:instance-types: {n1-standard-5: {cloud: gcp, vcpus: 8, memory: 32Gi, gpu: t4, gpus: 1}}"
        ),
        stack=GCP,
    ),
    broken(
        "the_host_image_has_known_machines",
        {"host-image/builder": {"machine-type": "e2-standrad-8"}},
        (
            "host-image.builder.machine-type: e2-standrad-8 is not a known GCE machine type; did you mean "
            '"e2-standard-8"?'
            " If not, state its facts, as in gpu-ci:instance-types: {e2-standrad-8: {cloud: gcp, vcpus: 8, memory: 32Gi}}"
        ),
        stack=GCP,
    ),
    broken(
        "the_base_image_fits_the_installer",
        {"host-image/source-image": "ubuntu-2404-lts-amd64"},
        (
            'host-image.source-image: "ubuntu-2404-lts-amd64" is not an exact image of ubuntu-os-cloud; write '
            "the name with its date, as in ubuntu-2404-noble-amd64-v20261105"
        ),
        stack=GCP,
    ),
    broken(
        "the_base_image_fits_the_installer",
        {"host-image/source-project": "debian-cloud", "host-image/source-image": "debian-12-bookworm-v20261105"},
        (
            "host-image.source-project: debian-cloud has no Ubuntu images, and the installer supports only "
            "Ubuntu; remove it, and use an image of ubuntu-os-cloud"
        ),
        stack=GCP,
    ),
    broken(
        "the_base_image_fits_the_installer",
        {"host-image/source-image": "debian-12-bookworm-v20261105"},
        (
            'host-image.source-image: "debian-12-bookworm-v20261105" is not Ubuntu, and the installer supports '
            "only Ubuntu; use an Ubuntu image, as in ubuntu-2404-noble-amd64-v20261105"
        ),
        stack=GCP,
    ),
    broken(
        "the_base_image_fits_the_installer",
        {"host-image/source-image": "ubuntu-2404-noble-arm64-v20261105"},
        (
            'host-image.source-image: "ubuntu-2404-noble-arm64-v20261105" is for arm64, but machines with GPUs '
            "are amd64; write ubuntu-2404-noble-amd64-v20261105"
        ),
        stack=GCP,
    ),
    broken(
        "the_builder_has_room_for_the_base_image",
        {"host-image/builder": {"disk": "5Gi"}},
        "host-image.builder.disk: 5Gi is smaller than the base image of 10Gi; write 50Gi, or remove it",
        stack=GCP,
    ),
    broken(
        "the_base_image_fits_the_installer",
        {"host-image/source-image": "ubuntu-2404-noble-amd64-v20261399"},
        (
            'host-image.source-image: "ubuntu-2404-noble-amd64-v20261399" is not an exact image of ubuntu-os-cloud; write '
            "the name with its date, as in ubuntu-2404-noble-amd64-v20261105"
        ),
        stack=GCP,
    ),
    broken(
        "labels_are_valid",
        {"stack/tags": {"1st": "x", "Cost Centre": "x", "cost.centre": "x", "managed.by": "x", "Goog": "x"}},
        (
            "stack.tags.1st: becomes the label 1st on Google Cloud, which must begin with a letter, and not with goog; "
            "use another key"
        ),
        (
            "stack.tags.Goog: becomes the label goog on Google Cloud, which must begin with a letter, and not with goog; "
            "use another key"
        ),
        (
            "stack.tags.cost.centre: becomes the label cost-centre on Google Cloud, as does stack.tags.Cost Centre; "
            "use another key"
        ),
        (
            "stack.tags.managed.by: becomes the label managed-by on Google Cloud, as does the tag ManagedBy; "
            "use another key"
        ),
        stack=GCP,
    ),
    broken(
        "federation_grants_each_access_once",
        {
            "github-federation/repositories": {"a": 1, "a-b": 2, "again": 1},
            "github-federation/branches": ["b-c", "c"],
        },
        (
            "github-federation.repositories.a-b: with the branch c its name is that of the repository and branch a, b-c; "
            "name the repository differently"
        ),
        ("github-federation.repositories.again: 1 is also the id of a; remove one of them, or write the other id"),
        stack=GCP,
    ),
    broken(
        "members_are_named_once",
        {"host-image/share-with": {"a": "user:jo@example.org", "b": "user:Jo@example.org"}},
        "host-image.share-with.b: is the same member as a; remove one of them",
        stack=GCP,
    ),
    broken(
        "an_export_has_a_public_address",
        {"gcp/public-addresses": False, "host-image/export": {"bucket": "example-org-images"}},
        (
            "host-image.export: gcloud gives the exporting machine a public address, which gcp.public-addresses: false "
            "excludes; remove it, and use share-with instead"
        ),
        stack=GCP,
    ),
    broken(
        "image_families_exist",
        {"runners/cirun-gcp-gpu/cirun-gcp/image-family": "gpu-hosts"},
        'runners.cirun-gcp-gpu.cirun-gcp.image-family: "gpu-hosts" is not the family of host-image; write "gpu-host"',
        stack=GCP,
    ),
    broken(
        "gce_machines_have_the_gpu",
        {"runners/cirun-gcp-gpu/cirun-gcp/machine-types": ["g2-standard-4"]},
        (
            "runners.cirun-gcp-gpu.cirun-gcp.machine-types[0]: g2-standard-4 brings 1 x l4, and nothing else can "
            "be attached to it; use an n1 machine type, or one that includes the GPU"
        ),
        stack=GCP,
    ),
    broken(
        "gce_machines_have_the_gpu",
        {"runners/cirun-gcp-gpu/cirun-gcp/machine-types": ["n1-standard-4", "n1-standrad-8"]},
        (
            "runners.cirun-gcp-gpu.cirun-gcp.machine-types[1]: n1-standrad-8 is not a known GCE machine type; "
            'did you mean "n1-standard-8"?'
            " If not, state its facts, as in gpu-ci:instance-types: {n1-standrad-8: {cloud: gcp, vcpus: 8, memory: 32Gi, gpu: t4, gpus: 1}}"
        ),
        stack=GCP,
    ),
    broken(
        "gce_machines_have_the_gpu",
        {"runners/cirun-gcp-gpu/cirun-gcp/machine-types": ["e2-standard-8"]},
        (
            "runners.cirun-gcp-gpu.cirun-gcp.machine-types[0]: no GPU can be attached to e2-standard-8; only to "
            "n1 machines; use an n1 machine type, or one that includes the GPU"
        ),
        stack=GCP,
    ),
    broken(
        "gce_machines_have_the_gpu",
        {"runners/cirun-gcp-gpu/cirun-gcp/machine-types": ["n1-standard-64"]},
        (
            "runners.cirun-gcp-gpu.cirun-gcp.machine-types[0]: n1-standard-64 has 64 vCPU, and with 1 x t4 a "
            "machine has 48 at most; take n1-standard-32 or smaller"
        ),
        stack=GCP,
    ),
    broken(
        "cirun_attaches_one_gpu",
        {
            "runners/cirun-gcp-gpu/needs/gpus": 2,
            "runners/cirun-gcp-gpu/cirun-gcp/machine-types": ["n1-standard-8", "n1-standard-16"],
        },
        (
            "runners.cirun-gcp-gpu.needs.gpus: 2 GPUs are stated, but cirun attaches one GPU to n1-standard-8 "
            "and n1-standard-16; write 1, or use machine types with 2 built-in GPUs"
        ),
        stack=GCP,
    ),
)


def test_a_broken_rule_is_reported_at_its_path_with_the_fix() -> None:
    assert stacks.not_as_stated(CASES) == []


def test_every_zone_of_google_cloud_is_accepted() -> None:
    def refusals(zones: list[str]) -> list[str]:
        found = stacks.faults(stacks.sections(STAGING, {"runners/cirun-gcp-gpu/cirun-gcp/zones": zones}))
        return [fault for fault in found if "known region" in fault or "has no zone" in fault]

    stated = {region: ["us-central1-b", *zones, f"{region}-ai1a"] for region, zones in GCP_ZONES.items()}

    assert {region: zones for region, zones in stated.items() if len(zones) < 5} == {}
    assert {region: found for region, zones in stated.items() if (found := refusals(zones))} == {}


def test_images_may_be_kept_in_another_region_that_is_stated() -> None:
    elsewhere = {
        "runners/cirun-gcp-gpu/cirun-gcp/zones": ["us-east1-c", "us-east1-d"],
        "artifact-registry/gpu-tests/region": "us-central1",
    }

    assert stacks.faults(stacks.sections(GCP, elsewhere)) == []


@settings(max_examples=30)
@given(st.from_regex(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", fullmatch=True).filter(lambda name: len(name) <= 50))
def test_every_valid_family_leaves_room_for_the_names_of_machines(family: str) -> None:
    raw = stacks.sections(GCP, {"host-image/family": family, "runners/cirun-gcp-gpu/cirun-gcp/image-family": family})
    found = stacks.faults(raw)

    assert (found == []) == (len(family) <= 36 <= FAMILY_LIMIT)
    if not found:
        assert checked_family(family) == family
