"""Tests of the checks of machines that exist between jobs, on EC2, Compute Engine and at Jarvis Labs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import pytest

from ops.doctor.chain.machines import SECRETS, jarvis_instance, machine, machine_key
from ops.doctor.chain.runners import runner_online
from ops.doctor.questions.machines import COMPUTE
from ops.doctor.world.recording import Exchange, Recorded
from ops.doctor.world.world import World
from tests.doctor.worlds import Question, asked, lines, world

pytestmark = pytest.mark.pure

VM_AWS: Final = "examples/vm-aws.yaml"
VM_GCP: Final = "examples/vm-gcp.yaml"
JARVIS: Final = "examples/jarvis.yaml"
START: Final = "aws ec2 start-instances --region us-west-2 --instance-ids i-1"
LOOK: Final = (
    "open a shell with the command in `pulumi stack output`, and run `gpu-ci check` and journalctl -u 'gpu-ci*'"
)


def instance(state: str, status: str, reason: str = "", id_: str = "i-1") -> dict[str, Any]:
    """Return an instance of EC2."""
    tags = [{"Key": "Name", "Value": "gpu-ci-vm-aws-gpu-vm"}, {"Key": "gpu-ci-runner", "Value": status}]
    return {"InstanceId": id_, "State": {"Name": state}, "Tags": tags, "StateReason": {"Message": reason}}


def on_aws(*instances: dict[str, Any], runners: list[dict[str, Any]] | None = None) -> World:
    """Return a world with these instances, and these runners at GitHub."""
    filters = [
        {"Name": "tag:Name", "Values": ["gpu-ci-vm-aws-gpu-vm"]},
        {"Name": "tag:Environment", "Values": ["vm-aws"]},
    ]
    described = Exchange(
        call="ec2.describe_instances",
        arguments={"Filters": filters, "region": "us-west-2"},
        answer={"Reservations": [{"Instances": list(instances)}]},
    )
    registered = None if runners is None else {"runners": runners}
    found = world(VM_AWS, {asked("github", "/repos/example-org/vision/actions/runners"): registered})
    return replace(found, aws=Recorded([described]))


def registered(status: str = "online", labels: tuple[str, ...] = ("self-hosted", "gpu-vm")) -> dict[str, Any]:
    """Return a runner as GitHub lists it."""
    named = [{"name": label} for label in labels]
    return {"name": "gpu-ci-vm-aws-gpu-vm-1", "status": status, "busy": False, "labels": named}


@pytest.mark.parametrize(
    ("state", "status", "reason", "line"),
    [
        (
            "running", "online", "",
            "ok | runners.gpu-vm | gpu-ci-vm-aws-gpu-vm (i-1) is running, and published online",
        ),
        (
            "stopped", "stopped: no job for 30 minutes", "",
            ("ok | runners.gpu-vm | gpu-ci-vm-aws-gpu-vm (i-1) is stopped, and published stopped: no job for 30 minutes; it "
            "starts by its workflow or its schedule"),
        ),
        (
            "running", "failed: verify the GPU as the user runner", "",
            ("error | runners.gpu-vm | gpu-ci-vm-aws-gpu-vm (i-1) is running, and published failed: verify the GPU as the user "
            "runner | the machine takes no jobs until its next start; the text after it names the failed step | "
            f"{LOOK}; then stop and start it: {START}"),
        ),
        (
            "running", "waiting: GitHub answers 401 to the App: A JSON web token could not be decoded", "",
            ("error | runners.gpu-vm | gpu-ci-vm-aws-gpu-vm (i-1) is running, and published waiting: GitHub answers 401 to the "
            "App: A JSON web token could not be decoded | the machine repeats the request until GitHub accepts it, and takes "
            "no jobs until then | correct app-id, installation-id, the permission or the key of the App, as the text says"),
        ),
        (
            "running", "waiting: SSM parameter /gpu-ci-vm-aws/key has no key that this machine can read", "",
            ("error | runners.gpu-vm | gpu-ci-vm-aws-gpu-vm (i-1) is running, and published waiting: SSM parameter "
            "/gpu-ci-vm-aws/key has no key that this machine can read | the machine cannot sign in at GitHub without the "
            "private key of the App | add the key with the command `add-key` in `pulumi stack output`"),
        ),
        (
            "running", "waiting: install driver 580", "",
            ("warning | runners.gpu-vm | gpu-ci-vm-aws-gpu-vm (i-1) is running, and published waiting: install driver 580 | the "
            "machine runs and its runner is not online; a first boot takes up to twenty minutes | wait, and run the doctor "
            f"again; if it stays, {LOOK}"),
        ),
        (
            "stopped", "stopped: the cloud needs the spot capacity", "Server.SpotInstanceShutdown",
            ("warning | runners.gpu-vm | gpu-ci-vm-aws-gpu-vm (i-1) is stopped, and published stopped: the cloud needs the spot "
            "capacity: Server.SpotInstanceShutdown | the cloud took the spot capacity; jobs wait until it is free again | "
            f"start it again: {START}; or state spot: false"),
        ),
    ],
)  # fmt: skip
def test_the_state_and_the_status_of_a_machine_are_explained(state: str, status: str, reason: str, line: str) -> None:
    assert lines(list(machine.check(on_aws(instance(state, status, reason))))) == [line]


def test_a_machine_that_was_deleted_is_found() -> None:
    missing = (
        "error | runners.gpu-vm | us-west-2b has no machine gpu-ci-vm-aws-gpu-vm | it was never created, or was deleted "
        "outside of this program | run `pulumi up --refresh`"
    )

    assert lines(list(machine.check(on_aws()))) == [missing]
    assert lines(list(machine.check(on_aws(instance("terminated", "online"))))) == [missing]


def test_the_successor_of_a_deleted_machine_counts() -> None:
    found = on_aws(instance("terminated", "online", id_="i-0"), instance("running", "online"))

    assert [one.level for one in machine.check(found)] == ["ok"]


@pytest.mark.parametrize(
    ("state", "runners", "line"),
    [
        ("running", [registered()], "ok | runners.gpu-vm | gpu-ci-vm-aws-gpu-vm-1 is online"),
        (
            "running", [registered(status="offline")],
            ("error | runners.gpu-vm | the machine runs, and GitHub has gpu-ci-vm-aws-gpu-vm-1 (offline) | the runner is not "
            "connected: its service failed, or HTTPS to GitHub is blocked | read the log on the machine with `journalctl -u "
            "gpu-ci -u gpu-ci-job`; check egress-ports"),
        ),
        ("stopped", [], "ok | runners.gpu-vm | the machine is stopped, and GitHub has no runner of it online"),
        (
            "running", [registered(labels=("self-hosted", "gpu"))],
            ("error | runners.gpu-vm | gpu-ci-vm-aws-gpu-vm-1 is online with the labels gpu, self-hosted | jobs with runs-on "
            "gpu-vm do not reach it | stop and start the machine: it registers again with the labels of the stack file"),
        ),
        (
            "running", None,
            ("error | github.url | GitHub does not show the runners of example-org/vision | the address is wrong, or the "
            "token is not of an administrator | correct github.url, or give the token the permission that github-token names"),
        ),
    ],
)  # fmt: skip
def test_the_registration_of_a_machine_is_compared(state: str, runners: list[dict[str, Any]] | None, line: str) -> None:
    found = on_aws(instance(state, "online"), runners=runners)

    assert lines(list(runner_online.check(found))) == [line]


PLACE: Final = f"{COMPUTE}/projects/gpu-test-runners/zones/us-central1-b/instances/gpu-ci-vm-gcp-gpu-vm"


def on_gcp(found: Any, status: str | None) -> World:
    """Return a world with this instance of Compute Engine."""
    items = [{"key": "runner", "value": status}] if status is not None else []
    guest = {"queryValue": {"items": items}} if items else None
    answers: dict[Question, Any] = {
        asked("google", PLACE): found,
        asked("google", f"{PLACE}/getGuestAttributes", queryPath="gpu-ci/runner"): guest,
    }
    return world(VM_GCP, answers)


@pytest.mark.parametrize(
    ("found", "status", "line"),
    [
        (
            {"id": "7", "status": "RUNNING"}, "busy",
            "ok | runners.gpu-vm | gpu-ci-vm-gcp-gpu-vm (7) is running, and published busy",
        ),
        (
            {"id": "7", "status": "TERMINATED"}, None,
            ("ok | runners.gpu-vm | gpu-ci-vm-gcp-gpu-vm (7) is stopped, and published no status; it starts by its workflow or "
            "its schedule"),
        ),
        (
            {"id": "7", "status": "TERMINATED", "statusMessage": "Instance was preempted."}, "online",
            ("warning | runners.gpu-vm | gpu-ci-vm-gcp-gpu-vm (7) is stopped, and published online: Instance was preempted. | "
            "the cloud took the spot capacity; jobs wait until it is free again | start it again: gcloud compute instances "
            "start gpu-ci-vm-gcp-gpu-vm --project gpu-test-runners --zone us-central1-b; or state spot: false"),
        ),
        (
            None, None,
            ("error | runners.gpu-vm | us-central1-b has no machine gpu-ci-vm-gcp-gpu-vm | it was never created, or was deleted "
            "outside of this program | run `pulumi up --refresh`"),
        ),
    ],
)  # fmt: skip
def test_a_machine_on_compute_engine_is_explained(found: Any, status: str | None, line: str) -> None:
    assert lines(list(machine.check(on_gcp(found, status)))) == [line]


def one_instance(**differences: Any) -> dict[str, Any]:
    """Return the instance of `jarvis.yaml`, with differences."""
    return {"machine_id": 1, "name": "vision-ci", "status": "Paused", "gpu_type": "L4", "num_gpus": 1, **differences}


@pytest.mark.parametrize(
    ("instances", "line"),
    [
        ([one_instance()], 'ok | runners.jarvis-l4 | the instance "vision-ci" is Paused'),
        (
            [],
            'ok | runners.jarvis-l4 | there is no instance "vision-ci"; the next run of its workflow creates it',
        ),
        (
            [one_instance(status="Running")],
            (
                'warning | runners.jarvis-l4 | the instance "vision-ci" runs | it costs money until its workflow pauses it; the '
                "sweep pauses it at its limit | if no job runs, pause it at https://jarvislabs.ai, and look for a cancelled run"
            ),
        ),
        (
            [one_instance(), one_instance(machine_id=2)],
            (
                'error | runners.jarvis-l4 | 2 instances have the name "vision-ci" | the workflow refuses to choose one, and each '
                "costs money | destroy all but one at https://jarvislabs.ai"
            ),
        ),
        (
            [one_instance(status="Failed")],
            (
                'error | runners.jarvis-l4 | the instance "vision-ci" is Failed | the workflow cannot resume it | destroy it at '
                "https://jarvislabs.ai; the next run creates another one"
            ),
        ),
        (
            [one_instance(gpu_type="A100")],
            (
                'warning | runners.jarvis-l4 | the instance "vision-ci" has 1 A100 | the stack file states 1 L4; the next resume '
                "requests them | run the workflow, or destroy the instance"
            ),
        ),
    ],
)
def test_the_instance_of_jarvis_labs_is_explained(instances: list[dict[str, Any]], line: str) -> None:
    found = world(JARVIS, {asked("jarvis", "instances.list"): instances})

    assert lines(list(jarvis_instance.check(found))) == [line]


KEY: Final = "/gpu-ci-vm-aws/github-app-private-key"


@pytest.mark.parametrize(
    ("parameters", "line"),
    [
        (
            [{"Type": "SecureString", "LastModifiedDate": "2026-11-01T08:00:00+00:00"}],
            f"ok | {KEY} | us-west-2 has the parameter, changed on 2026-11-01",
        ),
        (
            [],
            (
                f"error | {KEY} | us-west-2 has no parameter {KEY} | the machine cannot sign in at GitHub, so it registers no "
                "runner | run the command `add-key` in `pulumi stack output`"
            ),
        ),
        (
            [{"Type": "String", "LastModifiedDate": "2026-11-01T08:00:00+00:00"}],
            (
                f"error | {KEY} | the parameter {KEY} is a String | the key is stored in plain text | revoke the key at GitHub, "
                "delete the parameter, and run the command `add-key` in `pulumi stack output` with a new key"
            ),
        ),
    ],
)
def test_the_key_of_machines_on_aws_is_looked_up(parameters: list[dict[str, Any]], line: str) -> None:
    arguments = {"ParameterFilters": [{"Key": "Name", "Values": [KEY]}], "region": "us-west-2"}
    described = Exchange(call="ssm.describe_parameters", arguments=arguments, answer={"Parameters": parameters})

    assert lines(list(machine_key.check(replace(world(VM_AWS, {}), aws=Recorded([described]))))) == [line]


SECRET: Final = "gpu-ci-vm-gcp-vm-github-app-private-key"


@pytest.mark.parametrize(
    ("secrets", "versions", "line"),
    [
        ([SECRET, "gpu-ci-other"], [{"name": "1"}], f"ok | {SECRET} | the secret has a key"),
        (
            [SECRET], [],
            (f"error | {SECRET} | the secret {SECRET} has no enabled version | the machine cannot sign in at GitHub, so it "
            "registers no runner | run the command `add-key` in `pulumi stack output`"),
        ),
        (
            ["another-github-app-private-key"], [],
            ("error | gcp.project | gpu-test-runners has no secret whose name ends with -github-app-private-key | the machine "
            "cannot sign in at GitHub, so it registers no runner | run `pulumi up`, which creates it without a key; then run "
            "the command `add-key` in `pulumi stack output`"),
        ),
    ],
)  # fmt: skip
def test_the_key_of_machines_on_google_cloud_is_looked_up(secrets: list[str], versions: list[Any], line: str) -> None:
    place = f"{SECRETS}/gpu-test-runners/secrets"
    answers: dict[Question, Any] = {
        asked("google", place): {"secrets": [{"name": f"projects/1/secrets/{name}"} for name in secrets]},
        asked("google", f"{place}/{SECRET}/versions", filter="state:ENABLED"): {"versions": versions},
    }

    assert lines(list(machine_key.check(world(VM_GCP, answers)))) == [line]
