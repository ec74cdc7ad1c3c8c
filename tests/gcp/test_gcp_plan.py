"""Tests of the components of Google Cloud: their defaults are safe."""

from __future__ import annotations

import functools
import ipaddress
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import pulumi
import pulumi_command as command
import pulumi_gcp as gcp
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pulumi import ResourceOptions

from ami.builder import inputs
from ami.builder.content_hash import ImageContent
from components.gcp.apis import Apis, ApisArgs
from components.gcp.build_network import BuildNetwork, BuildNetworkArgs
from components.gcp.build_ranges import REGIONS, range_of
from components.gcp.cirun_access import CirunGcpAccess, CirunGcpArgs
from components.gcp.federation import Federation, FederationArgs, condition
from components.gcp.images.controlled_image import ArchiveArgs, ControlledImage, ControlledImageArgs, longest_minutes
from components.gcp.images.declared_image import DeclaredImage, DeclaredImageArgs
from components.gcp.images.docker_repository import DockerRepository, DockerRepositoryArgs
from components.gcp.images.host_image import HostImageArgs
from components.gcp.images.image_archive import ImageArchive, ImageArchiveArgs
from components.gcp.runner_account import RunnerAccount, RunnerAccountArgs
from gpu_ci.back_ends.cirun_gcp.permissions import permissions as gcp_permissions
from gpu_ci.back_ends.stack_file import settings_of
from gpu_ci.derived import host_image
from gpu_ci.knowledge.machines.zones import GCP_ZONES
from gpu_ci.knowledge.regions import region_of
from gpu_ci.stack_file.identity import Identity
from ops.kit import stack as kit
from ops.plan.model import Plan, Planned
from ops.plan.recorder import record
from tests.components.made import names, only, part, waits_for
from tests.ops.small import stack_file
from tests.plan import stacks

pytestmark = pytest.mark.plan

GCP: Final = "examples/cirun-gcp.yaml"
PROJECT: Final = "gpu-test-runners"
COMMAND: Final = "command:local:Command"
INSTANCE: Final = "gcp:compute/instance:Instance"
BUCKET: Final = "gcp:storage/bucket:Bucket"
IMAGE: Final = "gcp:compute/image:Image"
REPOSITORY: Final = "gcp:artifactregistry/repository:Repository"
PROVIDER: Final = "gcp:iam/workloadIdentityPoolProvider:WorkloadIdentityPoolProvider"
SERVICE: Final = "gcp:projects/service:Service"
IMAGE_MEMBER: Final = "gcp:compute/imageIamMember:ImageIamMember"

CONTENT: Final = ImageContent(
    files={"install.sh": "#!/bin/bash\ntrue\n"},
    options={"NVIDIA_BRANCH": "580"},
    base_image="ubuntu-os-cloud/ubuntu-2404-noble-amd64-v20261105",
    disk_gib=50,
    location="us-central1",
)
HOST: Final = HostImageArgs(
    project=PROJECT,
    family="gpu-host",
    content=CONTENT,
    zones=("us-central1-b", "us-central1-a"),
    machine_type="e2-standard-8",
    spot=True,
    build_minutes=90,
    subnetwork="build",
    share_with={"research": "group:research@example.org"},
)


def made(build: Callable[[ResourceOptions], object]) -> Plan:
    """The plan of what `build` makes on Google Cloud."""

    def program() -> None:
        google = gcp.Provider("gcp", project=PROJECT, region="us-central1")
        build(ResourceOptions(providers=[google, command.Provider("command")]))

    return record(stack_file(), program=program)


def repository(**stated: Any) -> Plan:
    args: dict[str, Any] = {
        "project": PROJECT,
        "region": "us-central1",
        "repository": "gpu-tests",
        "immutable_tags": True,
        "keep": 10,
        "drop_after_days": 30,
        "dry_run": True,
        "force_delete": True,
        "protect": False,
    }
    return made(lambda here: DockerRepository("images", DockerRepositoryArgs(**{**args, **stated}), here))


def declared(phase: Any, host: HostImageArgs = HOST, *, keep: bool = False) -> Plan:
    args = DeclaredImageArgs(host=host, phase=phase, keep_on_destroy=keep)
    return made(lambda here: DeclaredImage("host-image", args, here))


ARCHIVED: Final = ArchiveArgs(bucket="archive-of-images", build_account="b@x", machine_account="m@x")


def controlled_args(host: HostImageArgs = HOST, **stated: Any) -> ControlledImageArgs:
    args: dict[str, Any] = {
        "host": host,
        "owner": "gpu-ci-test",
        "attempts": 3,
        "verify_machine_type": "n1-standard-4",
        "verify_accelerator": "nvidia-tesla-t4",
        "verify_gpus": 1,
        "verify_quota": "NVIDIA_T4_GPUS",
        "verify_minutes": 30,
        "verify_options": {"GPUS": "1"},
        "keep": 2,
        "keep_on_destroy": False,
    }
    return ControlledImageArgs(**{**args, **stated})


def controlled(host: HostImageArgs = HOST, **stated: Any) -> Plan:
    return made(lambda here: ControlledImage("host-image", controlled_args(host, **stated), here))


def archive(*, keep: bool = False) -> Plan:
    args = ImageArchiveArgs(
        project=PROJECT,
        region="us-central1",
        bucket="archive-of-images",
        keep_days=7,
        keep_on_destroy=keep,
        prefix="gpu-ci-test",
    )
    return made(lambda here: ImageArchive("archive", args, here))


def build_of(plan: Plan) -> Planned:
    return next(one for one in plan.of(COMMAND) if "update" in one.inputs)


def end_of(plan: Plan) -> Planned:
    return next(one for one in plan.of(COMMAND) if "delete" in one.inputs)


def environment(plan: Plan) -> dict[str, str]:
    return dict(part(build_of(plan), "environment"))


@pytest.mark.parametrize("name", [GCP, "examples/cirun-aws.yaml"])
def test_no_stack_has_a_key_that_does_not_expire(name: str) -> None:
    """Everyone with access to the state could read the key."""
    keys = ("serviceaccount/key:Key", "iam/accessKey:AccessKey", "iam/workloadIdentityPoolProviderKey")

    assert [resource.urn for resource in stacks.planned(name) if any(key in resource.type for key in keys)] == []


def test_apis_stay_enabled_after_the_destroy() -> None:
    plan = made(lambda here: Apis("apis", ApisArgs(project=PROJECT, apis=["compute", "iam"]), here))

    assert {service.inputs["service"]: service.inputs["disableOnDestroy"] for service in plan.of(SERVICE)} == {
        "cloudresourcemanager.googleapis.com": False,
        "compute.googleapis.com": False,
        "iam.googleapis.com": False,
        "serviceusage.googleapis.com": False,
    }


def test_the_apis_that_enable_others_are_enabled_first() -> None:
    plan = stacks.planned(GCP)
    services = {service.name.removeprefix("apis-"): service for service in plan.of(SERVICE)}
    first = {"cloudresourcemanager", "serviceusage"}

    assert first <= services.keys()
    assert [
        (later, api)
        for later in services.keys() - first
        for api in first
        if not waits_for(plan, services[later], services[api])
    ] == []


def test_every_resource_depends_on_its_api() -> None:
    plan = stacks.planned(GCP)
    on = plan.of(SERVICE)
    early = [
        resource.urn
        for resource in plan
        if resource.custom
        and resource.type.startswith("gcp:")
        and resource.type != SERVICE
        and not all(waits_for(plan, resource, service) for service in on)
    ]

    assert len(on) == 7
    assert early == []


def test_a_cleanup_policy_is_a_dry_run_by_default() -> None:
    assert part(only(repository(), REPOSITORY), "cleanupPolicyDryRun") is True
    assert part(only(repository(dry_run=False), REPOSITORY), "cleanupPolicyDryRun") is False


def test_an_age_is_stated_in_seconds() -> None:
    keep, drop = part(only(repository(drop_after_days=14), REPOSITORY), "cleanupPolicies")

    assert (keep["action"], keep["mostRecentVersions"]) == ("KEEP", {"keepCount": 10})
    assert (drop["action"], drop["condition"]) == ("DELETE", {"tagState": "UNTAGGED", "olderThan": "1209600s"})


def test_a_tagged_image_is_deleted_only_if_tags_are_mutable() -> None:
    _, drop = part(only(repository(immutable_tags=False), REPOSITORY), "cleanupPolicies")

    assert drop["condition"]["tagState"] == "ANY"


def test_tags_are_immutable_by_default() -> None:
    made_plain = only(repository(), REPOSITORY)

    assert part(made_plain, "dockerConfig", "immutableTags") is True
    assert (part(made_plain, "format"), made_plain.delete_before_replace) == ("DOCKER", True)


def test_a_protected_stack_protects_its_images() -> None:
    assert only(repository(protect=True), REPOSITORY).protect is True


@pytest.mark.parametrize("stated", [True, False])
def test_a_repository_is_protected_unless_force_delete_is_stated(stated: bool) -> None:
    assert only(repository(force_delete=stated), REPOSITORY).protect is not stated


def test_readers_cannot_push_images() -> None:
    plan = repository(readers={"runners": "serviceAccount:r@x"}, writers={"github-vision": "principalSet://p"})
    members = plan.of("gcp:artifactregistry/repositoryIamMember:RepositoryIamMember")

    assert {(one.name, one.inputs["role"], one.inputs["member"]) for one in members} == {
        ("images-reader-runners", "roles/artifactregistry.reader", "serviceAccount:r@x"),
        ("images-writer-github-vision", "roles/artifactregistry.writer", "principalSet://p"),
    }


def test_the_runner_account_writes_only_logs_and_metrics() -> None:
    plan = made(lambda here: RunnerAccount("runner", RunnerAccountArgs(project=PROJECT, account="gpu-ci-runner"), here))

    assert sorted(one.inputs["role"] for one in plan.of("gcp:projects/iAMMember:IAMMember")) == [
        "roles/logging.logWriter",
        "roles/monitoring.metricWriter",
    ]


def test_github_federation_compares_immutable_ids() -> None:
    args = FederationArgs(project=PROJECT, pool="gpu-ci", owner_id=9919, repositories={"b": 22, "a": 11})
    provider = only(made(lambda here: Federation("federation", args, here)), PROVIDER)

    assert part(provider, "attributeCondition") == (
        "assertion.repository_owner_id == '9919' && assertion.repository_id in ['11', '22']"
        " && assertion.event_name in ['merge_group', 'pull_request', 'push', 'release', 'schedule', 'workflow_dispatch']"
    )
    assert part(provider, "attributeMapping", "attribute.repository_id") == "assertion.repository_id"
    assert part(provider, "oidc", "issuerUri") == "https://token.actions.githubusercontent.com"


@pytest.mark.parametrize(
    "event",
    [
        "check_run", "check_suite", "discussion", "discussion_comment", "fork", "gollum", "issue_comment", "issues",
        "label", "milestone", "page_build", "public", "pull_request_target", "registry_package", "repository_dispatch",
        "status", "watch", "workflow_run",
    ],
)  # fmt: skip
def test_an_event_that_anyone_can_cause_on_the_default_branch_gets_no_access(event: str) -> None:
    """Such a job has the ref of `main`, and works with the code or the text of a fork."""
    assert f"'{event}'" not in condition(9919, {"vision": 84632176})


def test_the_condition_contains_no_names() -> None:
    stated = condition(9919, {"vision": 84632176})

    assert "vision" not in stated
    assert "assertion.repository ==" not in stated
    assert "repository_owner " not in stated


def test_each_repository_and_each_branch_is_a_separate_member() -> None:
    args = FederationArgs(
        project=PROJECT, pool="gpu-ci", owner_id=1, repositories={"vision": 84632176}, branches=("main", "release/1")
    )
    passed: dict[str, str] = {}

    def build(here: ResourceOptions) -> None:
        made = Federation("federation", args, here)
        for name, member in {**made.members, **made.trusted}.items():
            member.apply(functools.partial(passed.__setitem__, name))

    plan = made(build)

    assert {name: text.rpartition("/attribute.")[2] for name, text in passed.items()} == {
        "vision": "repository_id/84632176",
        "vision-main": "repository_ref/84632176:refs/heads/main",
        "vision-release/1": "repository_ref/84632176:refs/heads/release/1",
    }
    assert all(text.startswith("principalSet://iam.googleapis.com/projects/") for text in passed.values())
    assert part(only(plan, PROVIDER), "attributeMapping", "attribute.repository_ref") == (
        "assertion.repository_id + ':' + assertion.ref"
    )


def test_only_the_reviewed_branch_pushes_images() -> None:
    pushing = [
        one.inputs["member"]
        for one in stacks.planned(GCP).of("gcp:artifactregistry/repositoryIamMember:RepositoryIamMember")
        if one.inputs["role"] == "roles/artifactregistry.writer"
    ]

    assert [member.rpartition("/attribute.")[2] for member in pushing] == ["repository_ref/84632176:refs/heads/main"]


def test_a_builder_accepts_no_connection() -> None:
    plan = made(
        lambda here: BuildNetwork(
            "net",
            BuildNetworkArgs(project=PROJECT, title="build", regions=["us-east1", "us-central1", "us-east1"]),
            here,
        )
    )
    door = only(plan, "gcp:compute/firewall:Firewall")
    ranges = {one.name: one.inputs["ipCidrRange"] for one in plan.of("gcp:compute/subnetwork:Subnetwork")}

    assert (part(door, "direction"), part(door, "denies"), part(door, "sourceRanges")) == (
        "INGRESS",
        [{"protocol": "all"}],
        ["0.0.0.0/0"],
    )
    assert "allows" not in door.inputs
    assert ranges == {"net-us-central1": "10.200.0.0/28", "net-us-east1": "10.200.1.0/28"}
    assert part(only(plan, "gcp:compute/network:Network"), "autoCreateSubnetworks") is False


def test_a_runner_of_cirun_accepts_no_connection_and_has_its_own_network() -> None:
    plan = stacks.planned(GCP)
    (network,) = [one for one in plan.of("gcp:compute/network:Network") if one.name == "runner-network"]
    (door,) = [one for one in plan.of("gcp:compute/firewall:Firewall") if one.name == "runner-network-closed"]
    settings = settings_of(stacks.stack_file(GCP).config, frozenset(), "cirun-gcp", GCP)
    files = kit.files(settings, Identity(project="gpu-ci", stack="cirun-gcp"))
    (runner,) = yaml.safe_load(files[".cirun.yml"])["runners"]

    assert (part(door, "denies"), part(door, "sourceRanges")) == ([{"protocol": "all"}], ["0.0.0.0/0"])
    assert part(network, "autoCreateSubnetworks") is True
    assert runner["machine_image"].startswith(f"projects/{PROJECT}/global/images/gpu-host-")
    assert runner["extra_config"]["networkInterfaces"] == [
        {
            "network": f"projects/{PROJECT}/global/networks/{part(network, 'name')}",
            "accessConfigs": [{"type": "ONE_TO_ONE_NAT"}],
        }
    ]


def without_public_addresses() -> tuple[Plan, Any]:
    """The example with `public-addresses: false` and an H100, and the runner of its `.cirun.yml`."""
    file = stacks.stack_file(GCP)
    document: dict[str, Any] = {
        key: yaml.safe_load(text) if text.startswith(("{", "[")) else text for key, text in file.config.items()
    }
    document["gpu-ci:gcp"]["public-addresses"] = False
    runner = document["gpu-ci:runners"]["cirun-gcp-gpu"]
    runner["needs"]["gpu"] = "h100"
    runner["cirun-gcp"] |= {"machine-types": ["a3-highgpu-1g"], "zones": ["us-central1-a", "us-east4-a"]}
    document["gpu-ci:host-image"]["verifier"] = {"machine-type": "a3-highgpu-1g", "gpu": "h100"}
    document["gpu-ci:quotas"] = {}
    config = {key: value if isinstance(value, str) else json.dumps(value) for key, value in document.items()}
    plan = record(replace(file, config=config))
    settings = settings_of(config, frozenset(), "cirun-gcp", GCP)
    files = kit.files(settings, Identity(project="gpu-ci", stack="cirun-gcp"))
    return plan, yaml.safe_load(files[".cirun.yml"])["runners"][0]


def test_without_public_addresses_every_machine_reaches_the_internet_through_cloud_nat() -> None:
    plan, runner = without_public_addresses()
    gateways = {one.name: one.inputs["region"] for one in plan.of("gcp:compute/routerNat:RouterNat")}

    assert gateways == {
        "build-network-nat-us-central1": "us-central1",
        "runner-network-nat-us-central1": "us-central1",
        "runner-network-nat-us-east4": "us-east4",
    }
    assert environment(plan)["GPU_IMAGE_PRIVATE"] == "1"
    assert "accessConfigs" not in runner["extra_config"]["networkInterfaces"][0]
    assert all(waits_for(plan, build_of(plan), one) for one in plan if one.name == "build-network-nat-us-central1")


def test_a_machine_type_without_virtio_gets_a_google_virtual_nic() -> None:
    plan, runner = without_public_addresses()

    assert (environment(plan)["GPU_IMAGE_GVNIC"], environment(plan)["GPU_IMAGE_VERIFY_GVNIC"]) == ("0", "1")
    assert runner["extra_config"]["networkInterfaces"][0]["nicType"] == "GVNIC"
    interface = part(
        only(declared("build", replace(HOST, machine_type="c3-standard-8", gvnic=True)), INSTANCE), "networkInterfaces"
    )
    assert interface[0]["nicType"] == "GVNIC"


def test_a_declared_builder_without_a_public_address_has_no_access_config() -> None:
    (public,) = part(only(declared("build"), INSTANCE), "networkInterfaces")
    (private,) = part(only(declared("build", replace(HOST, private=True)), INSTANCE), "networkInterfaces")

    assert public["accessConfigs"] == [{"networkTier": "PREMIUM"}]
    assert "accessConfigs" not in private or private["accessConfigs"] == []


def test_cirun_starts_and_deletes_machines_as_the_runner_account_only() -> None:
    args = CirunGcpArgs(
        project=PROJECT,
        account="cirun",
        role="cirun",
        title="cirun",
        permissions=gcp_permissions(),
        runs_as="projects/p/serviceAccounts/runner",
    )
    plan = made(lambda here: CirunGcpAccess("cirun", args, here))
    role = only(plan, "gcp:projects/iAMCustomRole:IAMCustomRole")
    runs_as = only(plan, "gcp:serviceaccount/iAMMember:IAMMember")
    (granted,) = plan.of("gcp:projects/iAMMember:IAMMember")

    assert part(role, "permissions") == list(gcp_permissions())
    assert {"compute.instances.create", "compute.instances.delete", "compute.disks.create"} <= set(gcp_permissions())
    assert [one for one in gcp_permissions() if "IamPolicy" in one or one.startswith("iam.")] == []
    assert (part(runs_as, "role"), part(runs_as, "serviceAccountId")) == (
        "roles/iam.serviceAccountUser",
        "projects/p/serviceAccounts/runner",
    )
    assert not str(part(granted, "role")).startswith("roles/")


@pytest.mark.parametrize("spot", [True, False])
def test_a_preempted_builder_is_stopped_and_not_deleted(spot: bool) -> None:
    """One that was deleted would be made again at every update; and every builder has an end."""
    scheduling = part(only(declared("build", replace(HOST, spot=spot, build_minutes=45)), INSTANCE), "scheduling")

    assert scheduling == {
        "provisioningModel": "SPOT" if spot else "STANDARD",
        "preemptible": spot,
        "automaticRestart": False,
        "onHostMaintenance": "TERMINATE",
        "instanceTerminationAction": "STOP",
        "maxRunDuration": {"seconds": 2700},
    }


def test_a_builder_has_no_gpu_no_service_account_and_no_desired_status() -> None:
    """A desired status would start it again at the update after it has stopped itself."""
    builder = only(declared("build"), INSTANCE)

    assert {"guestAccelerators", "serviceAccount", "desiredStatus"} & set(builder.inputs) == set()
    assert part(builder, "shieldedInstanceConfig", "enableSecureBoot") is True
    assert part(builder, "metadata", "enable-guest-attributes") == "TRUE"
    assert part(builder, "name") == f"{HOST.image}-build"


def test_a_changed_installer_replaces_the_builder() -> None:
    """The script replaces a machine that is there: it runs at boot, and a running one would never see it."""
    first = only(declared("build"), INSTANCE)
    second = only(
        declared("build", replace(HOST, content=replace(CONTENT, options={"NVIDIA_BRANCH": "595"}))), INSTANCE
    )

    assert first.inputs["name"] != second.inputs["name"]
    assert first.inputs["metadataStartupScript"] != second.inputs["metadataStartupScript"]
    assert f"GPU_HOST_HASH={CONTENT.hash}" in first.inputs["metadataStartupScript"]
    assert "STOP_WHEN_DONE=1" in first.inputs["metadataStartupScript"]


def test_the_second_phase_has_the_image_and_no_builder() -> None:
    plan = declared("image")
    image = only(plan, IMAGE)

    assert (names(plan, INSTANCE), part(image, "name"), part(image, "family")) == ([], HOST.image, "gpu-host")
    assert part(image, "sourceDisk") == f"projects/{PROJECT}/zones/us-central1-b/disks/{HOST.image}-build"
    assert part(only(plan, IMAGE_MEMBER), "role") == "roles/compute.imageUser"


@pytest.mark.parametrize("keep", [True, False])
def test_a_declared_image_is_retained_only_if_keep_is_stated(keep: bool) -> None:
    assert only(declared("image", keep=keep), IMAGE).retain_on_delete is keep


def test_the_controller_reads_every_given_variable() -> None:
    stated = {name.removeprefix(inputs.PREFIX) for name in environment(controlled(archive=ARCHIVED))}

    assert stated - set(inputs.VARIABLES) == set()


def test_the_example_and_the_controller_compute_the_same_image() -> None:
    """Name and content are worked out twice, in two processes, and must be the same."""
    passed = environment(stacks.planned(GCP))
    read = inputs.inputs({**passed, "GPU_IMAGE_FOLDER": str(host_image.INSTALLER)})

    assert read.name == passed["GPU_IMAGE_NAME"]
    assert (read.provisioning, read.attempts, read.build_minutes, read.verify_gpus) == (("SPOT", "STANDARD"), 3, 90, 1)
    assert read.verify_options["GPU_FAMILY"] == "T4"


def test_the_stated_machine_and_disk_of_the_builder_reach_the_controller() -> None:
    stated = {"builder": {"machine-type": "e2-standard-4", "disk": "80Gi", "spot": False}}
    passed = environment(record(stacks.changed(GCP, "host-image", lambda section: section.update(stated))))

    assert passed["GPU_IMAGE_MACHINE_TYPE"] == "e2-standard-4"
    assert passed["GPU_IMAGE_DISK_GIB"] == "80"
    assert passed["GPU_IMAGE_PROVISIONING"] == "STANDARD"


def test_every_machine_of_the_controller_has_a_time_limit() -> None:
    passed = environment(controlled(replace(HOST, build_minutes=45)))

    assert passed["GPU_IMAGE_BUILD_MINUTES"] == "45"
    assert environment(controlled(verify_minutes=20))["GPU_IMAGE_VERIFY_MINUTES"] == "20"


@pytest.mark.parametrize(("spot", "kinds"), [(True, "SPOT STANDARD"), (False, "STANDARD")])
def test_a_build_on_spot_falls_back_to_an_on_demand_machine(spot: bool, kinds: str) -> None:
    assert environment(controlled(replace(HOST, spot=spot)))["GPU_IMAGE_PROVISIONING"] == kinds


def test_a_changed_content_updates_the_build_and_a_changed_family_replaces_its_end() -> None:
    first = controlled()
    content = controlled(replace(HOST, content=replace(CONTENT, disk_gib=80)))
    family = controlled(replace(HOST, family="cpu-host"))

    assert build_of(first).inputs["update"] == build_of(first).inputs["create"]
    assert build_of(first).inputs["environment"] != build_of(content).inputs["environment"]
    assert end_of(first).inputs == end_of(content).inputs
    assert [end_of(plan).inputs["triggers"] for plan in (first, family)] == [
        [PROJECT, "gpu-ci-test", "gpu-host"],
        [PROJECT, "gpu-ci-test", "cpu-host"],
    ]


def test_destroy_cleans_up_after_a_failed_first_build() -> None:
    """A command that failed is in no state, and its delete would never run."""
    plan = controlled(archive=ARCHIVED)
    build, end = build_of(plan), end_of(plan)
    whose = part(end, "environment")

    assert ("delete" in build.inputs, end.inputs["create"]) == (False, "true")
    assert waits_for(plan, build, end)
    assert whose.items() <= environment(plan).items()
    assert (whose["GPU_IMAGE_SUBNET"], whose["GPU_IMAGE_EXPORT_MACHINE"]) == ("build", "m@x")
    assert inputs.inputs(whose, ending=True).owner == "gpu-ci-test"


@pytest.mark.parametrize(
    ("stated", "minutes"),
    [
        ({}, 3 * (90 + 30 + 16) + 60),
        ({"attempts": 10, "host": replace(HOST, build_minutes=480, spot=False)}, 10 * (480 + 30 + 8) + 60),
        ({"archive": ARCHIVED}, 3 * (90 + 30 + 16) + 60 + 180),
    ],
)
def test_the_timeout_of_the_command_covers_the_limits_of_its_machines(
    monkeypatch: pytest.MonkeyPatch, stated: dict[str, Any], minutes: int
) -> None:
    passed: list[dict[str, str]] = []
    real = pulumi.CustomTimeouts

    def limits(**stated: str) -> pulumi.CustomTimeouts:
        passed.append(stated)
        return real(**stated)

    monkeypatch.setattr(pulumi, "CustomTimeouts", limits)
    controlled(**stated)

    assert longest_minutes(controlled_args(**stated)) == minutes
    assert passed == [{"delete": "30m"}, {"create": f"{minutes}m", "update": f"{minutes}m"}]


def test_options_of_the_verification_do_not_change_the_image() -> None:
    other = environment(controlled(verify_gpus=2, verify_options={"GPUS": "2"}, attempts=5))
    before = environment(controlled())

    assert other["GPU_IMAGE_NAME"] == before["GPU_IMAGE_NAME"]
    assert (other["GPU_IMAGE_VERIFY_GPUS"], json.loads(other["GPU_IMAGE_VERIFY_OPTIONS"])) == ("2", {"GPUS": "2"})


def test_an_archive_is_private_and_expires() -> None:
    bucket = only(archive(), BUCKET)

    assert part(bucket, "publicAccessPrevention") == "enforced"
    assert part(bucket, "uniformBucketLevelAccess") is True
    assert part(bucket, "lifecycleRules") == [{"action": {"type": "Delete"}, "condition": {"age": 7}}]
    assert environment(controlled(archive=ARCHIVED))["GPU_IMAGE_EXPORT"] == "gs://archive-of-images/images"


@pytest.mark.parametrize(("keep", "forced"), [(True, False), (False, True)])
def test_an_archive_is_deleted_with_the_stack_only_if_the_image_is(keep: bool, forced: bool) -> None:
    """One that stays is left where it is: Google deletes no bucket with something in it."""
    bucket = only(archive(keep=keep), BUCKET)

    assert (part(bucket, "forceDestroy"), bucket.retain_on_delete) == (forced, keep)
    assert environment(controlled(keep_on_destroy=keep))["GPU_IMAGE_KEEP_ON_DESTROY"] == str(int(keep))


def test_the_accounts_of_an_export_have_every_role_that_gcloud_needs() -> None:
    """Gcloud grants missing roles on the whole project, outside of any state."""
    plan = archive()
    granted: dict[str, set[str]] = {}
    for one in plan.of("gcp:projects/iAMMember:IAMMember"):
        granted.setdefault(one.name.split("-")[1], set()).add(str(one.inputs["role"]).rpartition("/")[2])
    role = only(plan, "gcp:projects/iAMCustomRole:IAMCustomRole")

    assert granted["machine"] == {"compute.storageAdmin", "storage.objectAdmin"}
    assert {"compute.admin", "iam.serviceAccountTokenCreator", "iam.serviceAccountUser"} < granted["build"]
    assert set(part(role, "permissions")) == {
        "storage.buckets.list",
        "storage.buckets.get",
        "storage.objects.create",
        "storage.objects.delete",
        "storage.objects.get",
    }


def test_an_export_has_its_accounts_and_its_network() -> None:
    stated = stacks.changed(
        GCP, "host-image", lambda section: section.update({"export": {"bucket": "archive-of-images"}})
    )
    passed = environment(record(stated))
    read = inputs.inputs({**passed, "GPU_IMAGE_FOLDER": str(host_image.INSTALLER)})

    assert read.export == "gs://archive-of-images/images"
    assert read.export_build.partition("@")[0].endswith("-export")
    assert read.export_machine.partition("@")[0].endswith("-worker")
    assert read.subnet.endswith("-build")


def test_only_the_named_image_is_shared() -> None:
    member = only(controlled(), IMAGE_MEMBER)

    assert (member.name, part(member, "image"), part(member, "member")) == (
        "host-image-user-research",
        HOST.image,
        "group:research@example.org",
    )


@given(zones=st.lists(st.sampled_from([f"{region}-a" for region in REGIONS]), min_size=1, max_size=8))
def test_the_range_of_a_region_does_not_depend_on_other_regions(zones: list[str]) -> None:
    regions = {region_of(zone) for zone in zones}

    assert {region: range_of(region) for region in regions} == {
        region: str(ipaddress.ip_network((int(ipaddress.ip_address("10.200.0.0")) + 256 * REGIONS.index(region), 28)))
        for region in regions
    }


def test_every_region_has_its_own_stable_range() -> None:
    """A network that is in use would be replaced, and its builders with it."""
    assert len({range_of(region) for region in REGIONS}) == len(REGIONS)
    assert (range_of("us-central1"), range_of("us-east1")) == ("10.200.0.0/28", "10.200.1.0/28")
    assert range_of("asia-southeast3") == "10.200.42.0/28"


def test_every_region_that_can_be_stated_has_a_range() -> None:
    assert set(GCP_ZONES) - set(REGIONS) == set()
