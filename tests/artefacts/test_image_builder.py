"""Tests of the builder, run as Pulumi runs it, with a fake gcloud that stores machines and images."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ami.builder import machine
from ami.builder.content_hash import ImageContent, image_name
from ami.builder.gcloud import Gcloud
from ami.builder.images import VERIFIED
from ami.builder.inputs import USED_BY, inputs
from ami.builder.machine import Overdue
from ami.builder.startup_script import INSTALL_FILES
from ami.builder.steps import build
from components.gcp.images.controlled_image import BUILDER
from tests.artefacts import gcloud_on_path
from tests.artefacts.callers import Run, run_as_called

pytestmark = pytest.mark.artefacts

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "ami" / "gce-gpu-host"
CONTENT = ImageContent(
    files={name: (FOLDER / name).read_text() for name in INSTALL_FILES},
    options={"NVIDIA_BRANCH": "580"},
    base_image="ubuntu-os-cloud/ubuntu-2404-noble-amd64-v20261101",
    disk_gib=50,
)
IMAGE = image_name("gpu-host", CONTENT)
STACK = "gpu-ci-staging"
OTHER = "gpu-ci-production"
EXPORT = {
    "GPU_IMAGE_EXPORT": "gs://bucket/images",
    "GPU_IMAGE_EXPORT_BUILD": "b@x.iam",
    "GPU_IMAGE_EXPORT_MACHINE": "m@x.iam",
}
RESOURCE = "command:local:Command"


def used_by(*owners: str, family: str = "gpu-host") -> dict[str, str]:
    return {"gpu-image-family": family, **{f"{USED_BY}{owner}": "yes" for owner in owners}}


def image(
    name: str, *owners: str, day: int = 1, verified: bool = True, family: str = "gpu-host", status: str = "READY"
) -> dict[str, Any]:
    """Return an image that `owners` use."""
    labels = used_by(*owners, family=family) | ({VERIFIED: "yes"} if verified else {})
    created = f"2026-10-{day:02}"
    return {"name": name, "status": status, "labels": labels, "creationTimestamp": created, "family": family}


def left_machine(name: str, **properties: Any) -> dict[str, Any]:
    """Return a machine that an earlier run left."""
    return {"name": name, "zone": "zones/us-central1-b", "status": "RUNNING", "labels": {}, **properties}


class Cloud:
    """The fake gcloud, and the builder that calls it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "bin").mkdir()
        gcloud_on_path.put(folder / "bin")
        self.environment = {
            "PATH": f"{folder / 'bin'}:/usr/bin:/bin",
            "FAKE_GCLOUD": str(folder),
            "GPU_IMAGE_PROJECT": "runners",
            "GPU_IMAGE_ZONES": "us-central1-b us-central1-a",
            "GPU_IMAGE_FAMILY": "gpu-host",
            "GPU_IMAGE_NAME": IMAGE,
            "GPU_IMAGE_OWNER": STACK,
            "GPU_IMAGE_FOLDER": str(FOLDER),
            "GPU_IMAGE_BASE": CONTENT.base_image,
            "GPU_IMAGE_OPTIONS": json.dumps(CONTENT.options),
            "GPU_IMAGE_VERIFY_OPTIONS": "{}",
            "GPU_IMAGE_DISK_GIB": str(CONTENT.disk_gib),
            "GPU_IMAGE_LOCATION": CONTENT.location,
            "GPU_IMAGE_PRIVATE": "0",
            "GPU_IMAGE_MACHINE_TYPE": "e2-standard-8",
            "GPU_IMAGE_GVNIC": "0",
            "GPU_IMAGE_BUILD_MINUTES": "90",
            "GPU_IMAGE_VERIFY_MACHINE_TYPE": "n1-standard-4",
            "GPU_IMAGE_VERIFY_GVNIC": "0",
            "GPU_IMAGE_VERIFY_QUOTA": "NVIDIA_T4_GPUS",
            "GPU_IMAGE_VERIFY_ACCELERATOR": "nvidia-tesla-t4",
            "GPU_IMAGE_VERIFY_GPUS": "1",
            "GPU_IMAGE_VERIFY_MINUTES": "30",
            "GPU_IMAGE_PROVISIONING": "SPOT",
            "GPU_IMAGE_ATTEMPTS": "3",
            "GPU_IMAGE_SUBNET": "build",
            "GPU_IMAGE_KEEP": "3",
            "GPU_IMAGE_KEEP_ON_DESTROY": "0",
            "GPU_IMAGE_POLL_SECONDS": "0.01",
        }
        self.plan()

    def plan(self, **plan: Any) -> None:
        (self.folder / "plan.json").write_text(json.dumps(plan))

    def run(self, verb: str = "build", **environment: str) -> Run:
        text = f"{BUILDER} {verb}"
        variables = self.environment | environment
        return run_as_called(f"{RESOURCE} {text}", text, world=self.folder, folder=ROOT, environment=variables)

    def start(self) -> subprocess.Popen[str]:
        """Start the builder without the shell of Pulumi, which would get the signals of a test instead of it."""
        return subprocess.Popen(
            [sys.executable, "-m", "ami.builder", "build"],
            env=self.environment,
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    @property
    def state(self) -> dict[str, Any]:
        file = self.folder / "state.json"
        state: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {"machines": {}, "images": {}}
        return state

    def set(self, **state: Any) -> None:
        (self.folder / "state.json").write_text(json.dumps({"machines": {}, "images": {}, "made": {}} | state))

    def calls(self, words: str = "") -> list[list[str]]:
        file = self.folder / "calls.jsonl"
        calls: list[list[str]] = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
        return [call for call in calls if words in " ".join(call)]

    def await_call(self, words: str) -> None:
        end = time.monotonic() + 120
        while not self.calls(words):
            assert time.monotonic() < end, f"{words} was never called"
            time.sleep(0.02)


@pytest.fixture
def cloud(tmp_path: Path) -> Cloud:
    return Cloud(tmp_path)


def test_an_image_is_promoted_after_its_verification(cloud: Cloud) -> None:
    run = cloud.run()
    order = [" ".join(call[3:6]) for call in cloud.calls() if call[5] in {"create", "stop", "update", "delete"}]

    assert run.code == 0, run.err
    assert json.loads(run.out) == {
        "image": IMAGE,
        "self_link": f"projects/runners/global/images/{IMAGE}",
        "family": "gpu-host",
        "hash": CONTENT.hash,
    }
    assert order == [
        "compute instances create",
        "compute instances stop",
        "compute images create",
        "compute instances create",
        "compute instances delete",
        "compute instances delete",
        "compute images update",
    ]
    assert cloud.state["machines"] == {}
    assert cloud.state["images"][IMAGE]["family"] == "gpu-host"


def test_the_machines_have_a_time_limit_and_no_service_account(cloud: Cloud) -> None:
    cloud.run()
    installer, verifier = cloud.calls("instances create")
    (candidate,) = cloud.calls("images create")
    both = {
        "--provisioning-model=SPOT",
        "--instance-termination-action=DELETE",
        "--no-service-account",
        "--no-scopes",
        "--shielded-secure-boot",
        "--network-interface=subnet=build",
    }

    assert both | {"--max-run-duration=90m", "--machine-type=e2-standard-8"} <= set(installer)
    assert both | {"--max-run-duration=30m", f"--image={IMAGE}", "--maintenance-policy=TERMINATE"} <= set(verifier)
    assert not any(argument.startswith("--family") for argument in candidate)


@pytest.mark.parametrize(
    ("accelerator", "count", "flags"),
    [
        ("nvidia-tesla-t4", "2", ["--accelerator=type=nvidia-tesla-t4,count=2"]),
        ("", "1", []),
    ],
)
def test_the_stated_gpus_are_attached_to_the_verifier(
    cloud: Cloud, accelerator: str, count: str, flags: list[str]
) -> None:
    cloud.run(GPU_IMAGE_VERIFY_ACCELERATOR=accelerator, GPU_IMAGE_VERIFY_GPUS=count)
    stated = [[flag for flag in call if flag.startswith("--accel")] for call in cloud.calls("instances create")]

    assert stated == [[], flags]


@pytest.mark.parametrize(
    ("stated", "interfaces"),
    [
        ({}, ["subnet=build", "subnet=build"]),
        ({"VERIFY_GVNIC": "1"}, ["subnet=build", "subnet=build,nic-type=GVNIC"]),
        ({"GVNIC": "1", "PRIVATE": "1"}, ["subnet=build,nic-type=GVNIC,no-address", "subnet=build,no-address"]),
    ],
)
def test_the_network_interface_fits_the_machine_type(
    cloud: Cloud, stated: dict[str, str], interfaces: list[str]
) -> None:
    run = cloud.run(**{f"GPU_IMAGE_{name}": value for name, value in stated.items()})
    flags = [
        flag for call in cloud.calls("instances create") for flag in call if flag.startswith("--network-interface")
    ]

    assert run.code == 0, run.err
    assert flags == [f"--network-interface={each}" for each in interfaces]


T4, SPOT_T4 = "NVIDIA_T4_GPUS", "PREEMPTIBLE_NVIDIA_T4_GPUS"


@pytest.mark.parametrize(
    ("project", "region", "provisioning", "built"),
    [
        ({}, {}, "SPOT STANDARD", True),
        ({"GPUS_ALL_REGIONS": 1}, {T4: 1, SPOT_T4: 0}, "SPOT", True),
        ({"GPUS_ALL_REGIONS": 0}, {T4: 0, SPOT_T4: 1}, "SPOT STANDARD", True),
        ({"GPUS_ALL_REGIONS": 0}, {T4: 0, SPOT_T4: 1}, "STANDARD", False),
        ({"GPUS_ALL_REGIONS": 0}, {T4: 1, SPOT_T4: 0}, "SPOT STANDARD", False),
        ({"GPUS_ALL_REGIONS": 1}, {T4: 0, SPOT_T4: 0}, "SPOT STANDARD", False),
        ({"GPUS_ALL_REGIONS": 0.0}, {T4: 0.0}, "SPOT STANDARD", False),
    ],
)
def test_a_quota_without_gpus_is_reported_before_the_first_machine(
    cloud: Cloud, project: dict[str, float], region: dict[str, float], provisioning: str, built: bool
) -> None:
    cloud.plan(quotas={"project": project, "us-central1": region})
    run = cloud.run(GPU_IMAGE_PROVISIONING=provisioning)

    assert run.code == (0 if built else 2), run.err
    assert ("the verifier needs 1 GPUs, but GPUS_ALL_REGIONS is" in run.err) is not built
    assert (cloud.calls("instances create") != []) is built


@pytest.mark.parametrize("base", [None, {"status": "READY", "deprecated": {"state": "OBSOLETE"}}])
def test_a_withdrawn_base_image_is_reported_before_the_first_machine(cloud: Cloud, base: dict[str, Any] | None) -> None:
    cloud.plan(base=base)
    run = cloud.run()

    assert run.code == 2
    assert "ubuntu-2404-noble-amd64-v20261101 of ubuntu-os-cloud is withdrawn" in run.err
    assert "--filter 'name~^ubuntu-2404-noble-amd64'" in run.err
    assert cloud.calls("instances create") == []


NO_QUOTA = {"project": {"GPUS_ALL_REGIONS": 0}, "us-central1": {T4: 0}}
ONE_REGION = {"project": {"GPUS_ALL_REGIONS": 1}, "us-central1": {T4: 0}, "us-east1": {T4: 1}}


@pytest.mark.parametrize(
    ("plan", "present", "builds"),
    [
        ({"quotas": ONE_REGION}, {}, 1),
        ({"base": {"status": "READY", "deprecated": {"state": "DEPRECATED"}}}, {}, 1),
        ({"base": None, "quotas": NO_QUOTA}, {IMAGE: image(IMAGE, STACK)}, None),
        ({}, {IMAGE: image(IMAGE, STACK, verified=False, status="FAILED")}, 1),
        ({"lost-at-stop": 1}, {}, 2),
        ({"attributes": False}, {}, 1),
    ],
    ids=["quota in one region", "old base", "existing image", "failed image", "preemption at the stop", "serial port"],
)
def test_a_build_succeeds(cloud: Cloud, plan: dict[str, Any], present: dict[str, Any], builds: int | None) -> None:
    cloud.set(images=present)
    cloud.plan(**plan)
    run = cloud.run(GPU_IMAGE_ZONES="us-central1-b us-east1-c")

    assert run.code == 0, run.err
    assert (cloud.state["made"].get("build"), cloud.state["images"][IMAGE]["status"]) == (builds, "READY")
    assert bool(cloud.calls("get-serial-port-output")) is ("attributes" in plan)


def test_an_existing_image_is_not_built_again(cloud: Cloud) -> None:
    cloud.run()
    before = cloud.state["images"]
    made = len(cloud.calls("create"))
    again = cloud.run()

    assert again.code == 0
    assert json.loads(again.out)["image"] == IMAGE
    assert (cloud.state["images"], len(cloud.calls("create"))) == (before, made)


@pytest.mark.parametrize(
    ("plan", "code", "message", "call", "count"),
    [
        ({"image": "FAILED"}, 3, f"{IMAGE} is FAILED", "images create", 1),
        ({"build": ["fail"]}, 1, "fail:driver:100:packages.sh:60: apt install", "instances create", 1),
        ({"verify": ["fail"]}, 1, "last words", "instances create", 2),
        ({"build": ["preempted"]}, 3, f"{IMAGE}-build was preempted", "instances create", 3),
        ({"hiccup": {"compute instances stop": 100}}, 3, "HTTPError 503", "instances stop", 4),
        ({"refuse": {"compute instances create": "no permission"}}, 3, "no permission", "instances create", 1),
        ({"refuse": {"compute project-info": "no active account"}}, 2, "no active account", "", 1),
    ],
    ids=["image", "installer", "verifier", "preemptions", "unavailable", "permission", "login"],
)
def test_a_failure_leaves_no_image_and_no_machine(
    cloud: Cloud, plan: dict[str, Any], code: int, message: str, call: str, count: int
) -> None:
    cloud.plan(**plan)
    run = cloud.run()

    assert (run.code, run.out) == (code, "")
    assert message in run.err
    assert len(cloud.calls(call)) == count
    assert (cloud.state["machines"], cloud.state["images"]) == ({}, {})
    assert cloud.calls("images update") == []


@pytest.mark.parametrize("fate", ["preempted", "terminated", "no-capacity"])
def test_a_machine_that_is_lost_is_replaced_in_another_zone(cloud: Cloud, fate: str) -> None:
    cloud.plan(build=[fate, "ok"], verify=[fate, "ok"])
    run = cloud.run()
    zones = [flag for call in cloud.calls("instances create") for flag in call if flag.startswith("--zone=")]

    assert run.code == 0, run.err
    assert zones == ["--zone=us-central1-b", "--zone=us-central1-a"] * 2
    assert cloud.state["machines"] == {}


@pytest.mark.parametrize(
    ("fate", "message"),
    [("no-capacity", "no capacity in any zone"), ("registry", "fail:registry:1:the image could not be pulled")],
)
def test_a_candidate_that_was_not_tried_is_verified_by_the_next_run(cloud: Cloud, fate: str, message: str) -> None:
    cloud.plan(verify=[fate])
    first = cloud.run()
    kept = list(cloud.state["images"])
    cloud.plan()
    second = cloud.run()

    assert (first.code, kept, second.code) == (3, [IMAGE], 0)
    assert message in first.err
    assert cloud.state["made"]["build"] == 1
    assert cloud.state["images"][IMAGE]["labels"][VERIFIED] == "yes"


@pytest.fixture
def clock(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return the time of a builder in this process. Each pause takes ten minutes."""
    now = [0.0]

    def sleep(seconds: float) -> None:
        now[0] += 600

    monkeypatch.setattr(machine, "time", SimpleNamespace(monotonic=lambda: now[0], sleep=sleep, strftime=time.strftime))
    for name, value in cloud.environment.items():
        monkeypatch.setenv(name, value)
    return now


def test_a_machine_that_hangs_is_deleted_after_its_output_is_read(
    cloud: Cloud, clock: list[float], capfd: pytest.CaptureFixture[str]
) -> None:
    cloud.plan(build=["hang"])
    with pytest.raises(Overdue, match="did not report in its 90 minutes"):
        build(inputs(cloud.environment))

    assert (cloud.state["machines"], cloud.state["made"]) == ({}, {"build": 1})
    assert clock[0] == 90 * 60
    assert "last words" in capfd.readouterr().err


def test_a_machine_deleted_at_its_time_limit_is_not_preempted(
    cloud: Cloud, clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a check that takes an hour the machine is deleted; another machine would hang, too."""
    cloud.plan(build=["hang"], looks=1)
    look = Gcloud.json

    def slow(gcloud: Gcloud, *words: str) -> Any:
        clock[0] += 3600 * ("describe" in words)
        return look(gcloud, *words)

    monkeypatch.setattr(Gcloud, "json", slow)
    with pytest.raises(Overdue):
        build(inputs(cloud.environment))

    assert cloud.state["made"] == {"build": 1}


def test_a_candidate_that_hangs_on_the_gpu_is_deleted_and_built_again(cloud: Cloud, clock: list[float]) -> None:
    cloud.plan(verify=["hang"])
    with pytest.raises(Overdue):
        build(inputs(cloud.environment))
    left = dict(cloud.state["images"])
    cloud.plan()

    assert left == {}
    assert cloud.run().code == 0
    assert cloud.state["made"]["build"] == 2


@pytest.mark.parametrize("kind", ["hiccup", "unheard"])
@pytest.mark.parametrize("call", ["instances create", "instances stop", "images create", "instances delete"])
def test_a_call_that_fails_with_503_is_repeated(cloud: Cloud, call: str, kind: str) -> None:
    cloud.plan(**{kind: {f"compute {call}": 2}})
    run = cloud.run()

    assert run.code == 0, run.err
    assert cloud.state["made"] == {"build": 1, "verify": 1}
    assert cloud.state["images"][IMAGE]["labels"][VERIFIED] == "yes"
    assert cloud.state["machines"] == {}


def test_without_capacity_the_error_of_each_zone_is_reported(cloud: Cloud) -> None:
    cloud.plan(build=["no-capacity"])
    run = cloud.run(GPU_IMAGE_PROVISIONING="SPOT STANDARD")

    assert run.code == 3
    for place in ("b (SPOT)", "a (SPOT)", "b (STANDARD)", "a (STANDARD)"):
        assert f"us-central1-{place}: " in run.err
    assert cloud.state["machines"] == {}


@pytest.mark.parametrize(
    ("fate", "number", "first", "second"),
    [
        ("hang", signal.SIGTERM, "get-guest-attributes", "get-guest-attributes"),
        ("hang", signal.SIGINT, "get-guest-attributes", "instances delete"),
        ("hang", signal.SIGHUP, "get-guest-attributes", "instances delete"),
        ("slow", signal.SIGTERM, "instances create", "instances create"),
    ],
)
def test_a_signal_leaves_no_machine(cloud: Cloud, fate: str, number: signal.Signals, first: str, second: str) -> None:
    """A second signal does not interrupt the cleanup."""
    cloud.plan(build=[fate])
    process = cloud.start()
    cloud.await_call(first)
    process.send_signal(number)
    time.sleep(0.3)
    cloud.await_call(second)
    process.terminate()
    _, error = process.communicate(timeout=120)

    assert process.returncode == 128 + number, error
    assert (cloud.state["made"], cloud.state["machines"]) == ({"build": 1}, {})


def test_the_next_run_deletes_the_machine_of_a_killed_one(cloud: Cloud) -> None:
    cloud.plan(build=["hang"])
    process = cloud.start()
    cloud.await_call("get-guest-attributes")
    process.kill()
    process.communicate(timeout=120)
    time.sleep(0.3)  # The running call writes its state.
    (left,) = cloud.state["machines"].values()
    cloud.plan()

    assert left["flags"]["max-run-duration"] == "90m"
    assert left["flags"]["instance-termination-action"] == "DELETE"
    assert cloud.run().code == 0
    assert cloud.state["machines"] == {}


@pytest.mark.parametrize("verb", ["build", "destroy"])
def test_leftover_machines_of_this_stack_are_deleted(cloud: Cloud, verb: str) -> None:
    """Google deletes only running machines, so the builder deletes a stopped one."""
    labels = {"gpu-image-family": "gpu-host", "gpu-image-owner": STACK}
    ours = left_machine("ours", status="TERMINATED", labels=labels)
    theirs = left_machine("theirs", labels=labels | {"gpu-image-owner": OTHER})
    cloud.set(machines={"ours": ours, "theirs": theirs})
    run = cloud.run(verb)

    assert run.code == 0, run.err
    assert list(cloud.state["machines"]) == ["theirs"]


def test_older_images_are_deprecated_or_deleted(cloud: Cloud) -> None:
    older = [
        image("one", STACK, day=1),
        image("two", STACK, day=2),
        image("three", STACK, day=3),
        image("candidate", STACK, day=4, verified=False),
        image("theirs", "another"),
    ]
    cloud.set(images={each["name"]: each for each in older})
    run = cloud.run(GPU_IMAGE_KEEP="2")
    images = cloud.state["images"]

    assert run.code == 0, run.err
    assert set(images) == {"two", "three", "theirs", IMAGE}
    assert images["three"]["deprecated"] == {"state": "DEPRECATED", "replacement": IMAGE}
    assert images["two"]["deprecated"]["state"] == "DEPRECATED"
    assert "deprecated" not in images[IMAGE] | images["theirs"]


def test_an_older_image_is_promoted_again(cloud: Cloud) -> None:
    older = image(IMAGE, STACK, day=1) | {"deprecated": {"state": "DEPRECATED"}}
    cloud.set(images={IMAGE: older, "newer": image("newer", STACK, day=2)})
    cloud.run()

    assert cloud.state["images"][IMAGE]["deprecated"]["state"] == "ACTIVE"
    assert cloud.state["images"]["newer"]["deprecated"] == {"state": "DEPRECATED", "replacement": IMAGE}
    assert cloud.state["made"] == {}


def test_an_image_is_exported_once_as_the_declared_accounts(cloud: Cloud) -> None:
    """A quiet gcloud grants missing roles to the accounts. Any other fails instead."""
    cloud.run(**EXPORT)
    cloud.run(**EXPORT)
    (export,) = cloud.calls("images export")

    assert cloud.state["archives"] == [f"gs://bucket/images/{IMAGE}.tar.gz"]
    assert {
        "--network=build",
        "--subnet=build",
        "--cloudbuild-service-account=b@x.iam",
        "--compute-service-account=m@x.iam",
        "--log-location=gs://bucket/images/logs",
    } <= set(export)
    assert [call for call in cloud.calls() if "--quiet" not in call] == [export]


@pytest.mark.parametrize("verb", ["build", "destroy"])
def test_the_machine_of_an_interrupted_export_is_deleted(cloud: Cloud, verb: str) -> None:
    ours, theirs = left_machine("ours", account="m@x.iam"), left_machine("theirs", account="m@y.iam")
    cloud.set(machines={"ours": ours, "theirs": theirs})
    run = cloud.run(verb, **EXPORT)

    assert run.code == 0, run.err
    assert list(cloud.state["machines"]) == ["theirs"]


@pytest.mark.parametrize(
    ("keep", "left"), [("0", ["theirs", "cpu-host"]), ("1", [IMAGE, "older", "theirs", "cpu-host"])]
)
def test_destroy_deletes_the_images_of_this_stack_and_family_unless_they_are_kept(
    cloud: Cloud, keep: str, left: list[str]
) -> None:
    images = [
        image(IMAGE, STACK),
        image("older", STACK),
        image("theirs", OTHER),
        image("cpu-host", STACK, family="cpu-host"),
    ]
    cloud.set(images={each["name"]: each for each in images})
    runs = [cloud.run("destroy", GPU_IMAGE_KEEP_ON_DESTROY=keep) for _ in range(2)]

    assert [run.code for run in runs] == [0, 0]
    assert list(cloud.state["images"]) == left


def test_the_last_of_two_stacks_deletes_the_image(cloud: Cloud) -> None:
    """A renamed stack is such a pair: it builds under its new name and then destroys under its old one."""
    cloud.run()
    joined = cloud.run(GPU_IMAGE_OWNER=OTHER)
    first = cloud.run("destroy")
    between = cloud.state["images"][IMAGE]["labels"]
    cloud.run("destroy", GPU_IMAGE_OWNER=OTHER)

    assert f"made for {STACK}" in joined.err
    assert cloud.state["made"] == {"build": 1, "verify": 1}
    assert f"{IMAGE} stays: {OTHER} uses it" in first.err
    assert between == used_by(OTHER) | {VERIFIED: "yes", "gpu-image-hash": CONTENT.hash}
    assert cloud.state["images"] == {}


@pytest.mark.parametrize("verified", [True, False])
def test_an_image_that_another_stack_created_meanwhile_is_used(cloud: Cloud, verified: bool) -> None:
    labels = used_by(OTHER) | ({VERIFIED: "yes"} if verified else {})
    cloud.plan(race={"status": "READY", "labels": labels})
    run = cloud.run()

    assert run.code == 0, run.err
    assert cloud.calls("images delete") == []
    assert cloud.state["images"][IMAGE]["labels"] == used_by(OTHER, STACK) | {VERIFIED: "yes"}
    assert cloud.state["made"] == {"build": 1} | ({} if verified else {"verify": 1})


@pytest.mark.parametrize(
    ("status", "fault"),
    [("READY", "exists without the label of a stack: delete it, or state another family"), ("FAILED", "is FAILED")],
)
def test_an_image_without_the_label_of_a_stack_is_not_changed(cloud: Cloud, status: str, fault: str) -> None:
    by_hand = image(IMAGE, verified=False, status=status)
    cloud.set(images={IMAGE: by_hand})
    run = cloud.run()

    assert run.code == 3
    assert fault in run.err
    assert cloud.state["images"] == {IMAGE: by_hand}


def test_an_older_image_that_another_stack_uses_is_neither_deprecated_nor_deleted(cloud: Cloud) -> None:
    shared = image("shared", STACK, OTHER)
    cloud.set(images={"shared": shared})
    kept = cloud.run(GPU_IMAGE_KEEP="1")
    after_kept = dict(cloud.state["images"]["shared"])
    cloud.run(GPU_IMAGE_KEEP="0")

    assert kept.code == 0
    assert after_kept == shared
    assert cloud.state["images"]["shared"]["labels"] == used_by(OTHER) | {VERIFIED: "yes"}


def test_the_image_that_the_family_returns_is_reported(cloud: Cloud) -> None:
    theirs = {**image("by-hand"), "labels": {}, "creationTimestamp": "2027"}
    ours = cloud.run()
    cloud.set(images={**cloud.state["images"], "by-hand": theirs})
    overtaken = cloud.run()

    assert f"{IMAGE} is the image of the family gpu-host" in ours.err
    assert "the family gpu-host returns by-hand" in overtaken.err
    assert f"boot {IMAGE} by its name" in overtaken.err
    assert cloud.state["images"]["by-hand"] == theirs


def test_destroy_needs_only_the_variables_of_the_identity(cloud: Cloud) -> None:
    cloud.run()
    run = cloud.run("destroy", GPU_IMAGE_FOLDER="/missing", GPU_IMAGE_OPTIONS="", GPU_IMAGE_ZONES="")

    assert (run.code, cloud.state["images"]) == (0, {}), run.err


def test_without_gcloud_nothing_is_started(cloud: Cloud, tmp_path: Path) -> None:
    (tmp_path / "only").mkdir()
    (tmp_path / "only" / "python3").symlink_to(sys.executable)
    run = cloud.run(PATH=f"{tmp_path}/only")

    assert run.code == 2
    assert "gcloud is not on PATH" in run.err


def test_a_machine_that_cannot_be_deleted_is_named(cloud: Cloud) -> None:
    cloud.plan(refuse={"compute instances delete": "backend failure"})
    run = cloud.run()

    assert run.code == 3
    assert f"left: {IMAGE}-build in us-central1-b" in run.err
    assert "the next run tries again" in run.err


@pytest.mark.parametrize(
    ("name", "value", "fault"),
    [
        ("ZONES", "", "GPU_IMAGE_ZONES: state a value"),
        ("OWNER", "A B", '"A B" cannot be part of a label'),
        ("FAMILY", "GPU_Host", '"GPU_Host" cannot be an image family'),
        ("OPTIONS", "{}", "was declared, but the content of"),
        ("FOLDER", "/nowhere", "/nowhere"),
    ],
)
def test_an_invalid_variable_starts_nothing(cloud: Cloud, name: str, value: str, fault: str) -> None:
    run = cloud.run(**{f"GPU_IMAGE_{name}": value})

    assert run.code == 2
    assert fault in run.err
    assert cloud.calls() == []


@pytest.mark.parametrize(
    ("verb", "values", "names"),
    [
        ("build", {"ZONES": "", "KEEP": "many", "OWNER": "A B"}, ["KEEP", "OWNER", "ZONES"]),
        ("destroy", {"FAMILY": "", "OWNER": ""}, ["FAMILY", "OWNER"]),
    ],
)
def test_all_invalid_variables_are_reported_at_once(
    cloud: Cloud, verb: str, values: dict[str, str], names: list[str]
) -> None:
    run = cloud.run(verb, **{f"GPU_IMAGE_{name}": value for name, value in values.items()})

    assert run.code == 2
    assert [line.split(":")[0] for line in run.err.splitlines()[1:]] == [f"GPU_IMAGE_{name}" for name in names]
