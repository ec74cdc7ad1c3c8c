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
from tests.artefacts import gcloud_on_path

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
COMMAND = [sys.executable, "-m", "ami.builder"]


def used_by(*owners: str, family: str = "gpu-host") -> dict[str, str]:
    return {"gpu-image-family": family, **{f"{USED_BY}{owner}": "yes" for owner in owners}}


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
            "GPU_IMAGE_MACHINE_TYPE": "e2-standard-8",
            "GPU_IMAGE_BUILD_MINUTES": "90",
            "GPU_IMAGE_VERIFY_MACHINE_TYPE": "n1-standard-4",
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

    def run(self, verb: str = "build", **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*COMMAND, verb],
            env=self.environment | environment,
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    def start(self) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*COMMAND, "build"],
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
        end = time.monotonic() + 20
        while not self.calls(words):
            assert time.monotonic() < end, f"{words} was never called"
            time.sleep(0.02)


@pytest.fixture
def cloud(tmp_path: Path) -> Cloud:
    return Cloud(tmp_path)


def test_an_image_is_promoted_after_its_verification(cloud: Cloud) -> None:
    run = cloud.run()
    order = [" ".join(call[3:6]) for call in cloud.calls() if call[5] in {"create", "stop", "update", "delete"}]

    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout) == {
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


def test_the_candidate_has_no_family_and_the_gpu_machine_boots_it_by_name(cloud: Cloud) -> None:
    cloud.run()
    (made,) = cloud.calls("images create")
    verify = cloud.calls("instances create")[1]

    assert not any(argument.startswith("--family") for argument in made)
    assert f"--image={IMAGE}" in verify
    assert "--accelerator=type=nvidia-tesla-t4,count=1" in verify
    assert "--maintenance-policy=TERMINATE" in verify


def test_every_machine_has_a_time_limit_and_no_service_account(cloud: Cloud) -> None:
    cloud.run()
    minutes = []
    for call in cloud.calls("instances create"):
        minutes += [argument for argument in call if argument.startswith("--max-run-duration")]

        assert {
            "--provisioning-model=SPOT",
            "--instance-termination-action=DELETE",
            "--no-service-account",
            "--no-scopes",
            "--shielded-secure-boot",
        } <= set(call)
    assert minutes == ["--max-run-duration=90m", "--max-run-duration=30m"]


def test_an_existing_image_is_not_built_again(cloud: Cloud) -> None:
    cloud.run()
    before = cloud.state["images"]
    made = len(cloud.calls("create"))
    again = cloud.run()

    assert again.returncode == 0
    assert json.loads(again.stdout)["image"] == IMAGE
    assert (cloud.state["images"], len(cloud.calls("create"))) == (before, made)


def test_an_image_that_cannot_be_created_is_deleted(cloud: Cloud) -> None:
    cloud.plan(image="FAILED")
    run = cloud.run()

    assert run.returncode == 3
    assert f"{IMAGE} is FAILED" in run.stderr
    assert (cloud.state["machines"], cloud.state["images"]) == ({}, {})
    assert cloud.calls("images update") == []


def test_a_failed_image_of_an_earlier_run_is_built_again(cloud: Cloud) -> None:
    cloud.set(images={IMAGE: {"name": IMAGE, "status": "FAILED", "labels": used_by(STACK), "creationTimestamp": "0"}})

    assert cloud.run().returncode == 0
    assert cloud.state["images"][IMAGE]["status"] == "READY"


@pytest.mark.parametrize("fate", ["preempted", "terminated"])
def test_a_preempted_machine_is_replaced_in_another_zone(cloud: Cloud, fate: str) -> None:
    cloud.plan(build=[fate, "ok"], verify=[fate, "ok"])
    run = cloud.run()
    zones = [
        argument for call in cloud.calls("instances create") for argument in call if argument.startswith("--zone=")
    ]

    assert run.returncode == 0, run.stderr
    assert zones == ["--zone=us-central1-b", "--zone=us-central1-a"] * 2
    assert cloud.state["machines"] == {}


def test_a_machine_preempted_between_report_and_stop_is_replaced(cloud: Cloud) -> None:
    cloud.plan(**{"lost-at-stop": 1})

    assert cloud.run().returncode == 0
    assert cloud.state["made"]["build"] == 2


def test_the_last_preemption_fails_the_build(cloud: Cloud) -> None:
    cloud.plan(build=["preempted"])
    run = cloud.run()

    assert run.returncode == 3
    assert (cloud.state["made"]["build"], cloud.state["machines"]) == (3, {})


def test_a_failed_installer_prints_its_output_and_leaves_no_image(cloud: Cloud) -> None:
    cloud.plan(build=["fail"])
    run = cloud.run()

    assert run.returncode == 1
    assert "fail:driver:100:packages.sh:60: apt install" in run.stderr
    assert "last words" in run.stderr
    assert (run.stdout, cloud.state["machines"], cloud.state["images"]) == ("", {}, {})


def test_a_candidate_that_fails_on_the_gpu_is_deleted(cloud: Cloud) -> None:
    cloud.plan(verify=["fail"])
    run = cloud.run()

    assert run.returncode == 1
    assert (cloud.state["machines"], cloud.state["images"]) == ({}, {})
    assert cloud.calls("images update") == []


def test_an_image_that_found_no_gpu_is_kept_and_proved_by_the_next_run(cloud: Cloud) -> None:
    cloud.plan(verify=["no-capacity"])
    first = cloud.run()
    cloud.plan()
    kept = list(cloud.state["images"])
    second = cloud.run()

    assert (first.returncode, kept) == (3, [IMAGE])
    assert second.returncode == 0
    assert cloud.state["made"]["build"] == 1
    assert cloud.state["images"][IMAGE]["labels"]["gpu-image-verified"] == "yes"


@pytest.fixture
def clock(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time of a controller in this process, of which every look takes ten minutes."""
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
    assert cloud.run().returncode == 0
    assert cloud.state["made"]["build"] == 2


def test_an_image_that_could_not_be_tried_is_kept_and_proved_by_the_next_run(cloud: Cloud) -> None:
    cloud.plan(verify=["registry"])
    first = cloud.run()
    kept = list(cloud.state["images"])
    cloud.plan()
    second = cloud.run()

    assert (first.returncode, kept, second.returncode) == (3, [IMAGE], 0)
    assert "fail:registry:1:the image could not be pulled" in first.stderr
    assert cloud.state["made"]["build"] == 1


@pytest.mark.parametrize("kind", ["hiccup", "unheard"])
@pytest.mark.parametrize("call", ["instances create", "instances stop", "images create", "instances delete"])
def test_a_call_that_fails_with_503_is_repeated(cloud: Cloud, call: str, kind: str) -> None:
    cloud.plan(**{kind: {f"compute {call}": 2}})
    run = cloud.run()

    assert run.returncode == 0, run.stderr
    assert cloud.state["made"] == {"build": 1, "verify": 1}
    assert cloud.state["images"][IMAGE]["labels"][VERIFIED] == "yes"
    assert cloud.state["machines"] == {}


def test_a_call_that_always_fails_with_503_fails_the_build(cloud: Cloud) -> None:
    cloud.plan(hiccup={"compute instances stop": 100})
    run = cloud.run()

    assert (run.returncode, len(cloud.calls("instances stop"))) == (3, 4)
    assert "HTTPError 503" in run.stderr
    assert (cloud.state["machines"], cloud.state["images"]) == ({}, {})


def test_without_capacity_the_error_of_each_zone_is_reported(cloud: Cloud) -> None:
    cloud.plan(build=["no-capacity"])
    run = cloud.run(GPU_IMAGE_PROVISIONING="SPOT STANDARD")

    assert run.returncode == 3
    for place in ("b (SPOT)", "a (SPOT)", "b (STANDARD)", "a (STANDARD)"):
        assert f"us-central1-{place}: " in run.stderr
    assert cloud.state["machines"] == {}


def test_a_zone_without_capacity_is_skipped(cloud: Cloud) -> None:
    cloud.plan(build=["no-capacity", "ok"])

    assert cloud.run().returncode == 0
    assert "--zone=us-central1-a" in cloud.calls("instances create")[1]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_leaves_no_machine(cloud: Cloud, number: signal.Signals) -> None:
    cloud.plan(build=["hang"])
    process = cloud.start()
    cloud.await_call("get-guest-attributes")
    process.send_signal(number)
    _, error = process.communicate(timeout=20)

    assert process.returncode == 128 + number, error
    assert cloud.state["machines"] == {}


def test_a_signal_during_the_creation_of_a_machine_leaves_no_machine(cloud: Cloud) -> None:
    cloud.plan(build=["slow"])
    process = cloud.start()
    cloud.await_call("instances create")
    process.terminate()
    time.sleep(0.3)
    process.terminate()
    process.communicate(timeout=20)

    assert process.returncode == 128 + signal.SIGTERM
    assert (cloud.state["made"], cloud.state["machines"]) == ({"build": 1}, {})


def test_a_second_signal_does_not_interrupt_the_sweep(cloud: Cloud) -> None:
    cloud.plan(build=["hang"])
    process = cloud.start()
    cloud.await_call("get-guest-attributes")
    process.terminate()
    cloud.await_call("instances delete")
    process.terminate()
    process.communicate(timeout=20)

    assert cloud.state["machines"] == {}


def test_the_next_run_deletes_the_machine_of_a_killed_one(
    cloud: Cloud,
) -> None:
    cloud.plan(build=["hang"])
    process = cloud.start()
    cloud.await_call("get-guest-attributes")
    process.kill()
    process.communicate(timeout=20)
    time.sleep(0.3)  # the call that was under way writes its state
    (left,) = cloud.state["machines"].values()
    cloud.plan()

    assert left["flags"]["max-run-duration"] == "90m"
    assert left["flags"]["instance-termination-action"] == "DELETE"
    assert cloud.run().returncode == 0
    assert cloud.state["machines"] == {}


def test_machines_of_another_owner_are_not_swept(cloud: Cloud) -> None:
    others = {
        "name": "other",
        "zone": "zones/us-central1-b",
        "status": "RUNNING",
        "labels": {"gpu-image-family": "gpu-host", "gpu-image-owner": "gpu-ci-prod"},
    }
    cloud.set(machines={"other": others})
    cloud.run()

    assert list(cloud.state["machines"]) == ["other"]


@pytest.mark.parametrize("verb", ["build", "destroy"])
def test_a_stopped_builder_of_an_earlier_content_is_swept(cloud: Cloud, verb: str) -> None:
    """It was left by a run that was killed; Google deletes only what runs."""
    cloud.run()
    (made,) = cloud.calls("instances create")[:1]
    labels = next(flag for flag in made if flag.startswith("--labels=")).removeprefix("--labels=")
    old = {
        "name": "gpu-host-00000000-build",
        "zone": "zones/us-central1-b",
        "status": "TERMINATED",
        "labels": dict(pair.split("=") for pair in labels.split(",")),
    }
    cloud.set(machines={old["name"]: old}, images=cloud.state["images"])
    run = cloud.run(verb)

    assert (run.returncode, cloud.state["machines"]) == (0, {}), run.stderr


def test_without_guest_attributes_the_report_is_read_from_the_serial_port(cloud: Cloud) -> None:
    cloud.plan(attributes=False)

    assert cloud.run().returncode == 0
    assert cloud.calls("get-serial-port-output")


def test_older_images_are_deprecated_or_deleted(cloud: Cloud) -> None:
    def old(name: str, *, day: int, proved: bool = True, owner: str = STACK) -> dict[str, Any]:
        labels = used_by(owner) | ({VERIFIED: "yes"} if proved else {})
        return {
            "name": name,
            "status": "READY",
            "labels": labels,
            "creationTimestamp": f"2026-11-{day:02}",
            "family": "gpu-host",
        }

    cloud.set(
        images={
            "one": old("one", day=1),
            "two": old("two", day=2),
            "three": old("three", day=3),
            "candidate": old("candidate", day=4, proved=False),
            "theirs": old("theirs", day=1, owner="another"),
        }
    )
    run = cloud.run(GPU_IMAGE_KEEP="2")
    images = cloud.state["images"]

    assert run.returncode == 0, run.stderr
    assert set(images) == {"two", "three", "theirs", IMAGE}
    assert images["three"]["deprecated"] == {"state": "DEPRECATED", "replacement": IMAGE}
    assert images["two"]["deprecated"]["state"] == "DEPRECATED"
    assert "deprecated" not in images[IMAGE]
    assert "deprecated" not in images["theirs"]


def test_an_older_image_is_promoted_again(cloud: Cloud) -> None:
    cloud.run()
    state = cloud.state
    labels = used_by(STACK) | {VERIFIED: "yes"}
    state["images"][IMAGE]["deprecated"] = {"state": "DEPRECATED"}
    state["images"]["newer"] = {
        "name": "newer", "status": "READY", "labels": labels, "creationTimestamp": "2027", "family": "gpu-host",
    }  # fmt: skip
    cloud.set(**state)
    cloud.run()

    assert cloud.state["images"][IMAGE]["deprecated"]["state"] == "ACTIVE"
    assert cloud.state["images"]["newer"]["deprecated"] == {"state": "DEPRECATED", "replacement": IMAGE}
    assert cloud.state["made"] == {"build": 1, "verify": 1}


def test_an_image_is_exported_once(cloud: Cloud) -> None:
    cloud.run(**EXPORT)
    cloud.run(**EXPORT)

    assert cloud.state["archives"] == [f"gs://bucket/images/{IMAGE}.tar.gz"]


def test_an_export_runs_as_the_declared_accounts_and_grants_no_role(cloud: Cloud) -> None:
    """A quiet gcloud would give the accounts the roles that it misses; any other refuses to be asked."""
    cloud.run(**EXPORT)
    (export,) = cloud.calls("images export")

    assert "--quiet" not in export
    assert {
        "--network=build",
        "--subnet=build",
        "--cloudbuild-service-account=b@x.iam",
        "--compute-service-account=m@x.iam",
        "--log-location=gs://bucket/images/logs",
    } <= set(export)
    assert [call for call in cloud.calls() if "export" not in call and "--quiet" not in call] == []


@pytest.mark.parametrize("verb", ["build", "destroy"])
def test_the_machine_of_an_interrupted_export_is_deleted(cloud: Cloud, verb: str) -> None:
    def exporting(name: str, account: str) -> dict[str, Any]:
        return {"name": name, "zone": "zones/us-central1-b", "status": "RUNNING", "labels": {}, "account": account}

    cloud.set(machines={"left": exporting("left", "m@x.iam"), "theirs": exporting("theirs", "m@y.iam")})
    run = cloud.run(verb, **EXPORT)

    assert run.returncode == 0, run.stderr
    assert list(cloud.state["machines"]) == ["theirs"]


def test_a_machine_type_with_a_gpu_gets_no_accelerator(cloud: Cloud) -> None:
    cloud.run(GPU_IMAGE_VERIFY_MACHINE_TYPE="g2-standard-4", GPU_IMAGE_VERIFY_ACCELERATOR="")

    assert cloud.calls("--accelerator") == []
    assert "--machine-type=g2-standard-4" in cloud.calls("instances create")[1]


def test_destroying_takes_the_image_unless_it_is_to_stay(cloud: Cloud) -> None:
    cloud.run()
    kept = cloud.run("destroy", GPU_IMAGE_KEEP_ON_DESTROY="1")
    images_kept = list(cloud.state["images"])
    destroyed = cloud.run("destroy")

    assert (kept.returncode, images_kept) == (0, [IMAGE])
    assert (destroyed.returncode, cloud.state["images"]) == (0, {})
    assert cloud.run("destroy").returncode == 0


def made_earlier(name: str, *, owner: str = STACK, family: str = "gpu-host") -> dict[str, Any]:
    labels = used_by(owner, family=family) | {VERIFIED: "yes"}
    return {"name": name, "status": "READY", "labels": labels, "creationTimestamp": "2026-10", "family": family}


def test_destroying_takes_the_older_images_too_and_no_others(cloud: Cloud) -> None:
    cloud.run()
    older = {
        "gpu-host-older": made_earlier("gpu-host-older"),
        "gpu-host-theirs": made_earlier("gpu-host-theirs", owner="gpu-ci-production"),
        "cpu-host": made_earlier("cpu-host", family="cpu-host"),
    }
    cloud.set(images={**cloud.state["images"], **older})
    run = cloud.run("destroy")

    assert run.returncode == 0, run.stderr
    assert list(cloud.state["images"]) == ["gpu-host-theirs", "cpu-host"]


def test_destroying_what_is_to_stay_leaves_the_older_images_too(cloud: Cloud) -> None:
    cloud.run()
    cloud.set(images={**cloud.state["images"], "gpu-host-older": made_earlier("gpu-host-older")})
    run = cloud.run("destroy", GPU_IMAGE_KEEP_ON_DESTROY="1")

    assert run.returncode == 0, run.stderr
    assert list(cloud.state["images"]) == [IMAGE, "gpu-host-older"]
    assert cloud.calls("images delete") == []


def test_the_last_of_two_stacks_deletes_the_image(cloud: Cloud) -> None:
    cloud.run()
    joined = cloud.run(GPU_IMAGE_OWNER=OTHER)
    first = cloud.run("destroy")
    between = dict(cloud.state["images"][IMAGE]["labels"])
    cloud.run("destroy", GPU_IMAGE_OWNER=OTHER)

    assert joined.returncode == 0
    assert f"made for {STACK}" in joined.stderr
    assert cloud.state["made"] == {"build": 1, "verify": 1}
    assert f"{IMAGE} stays: {OTHER} uses it" in first.stderr
    assert (f"{USED_BY}{STACK}" in between, f"{USED_BY}{OTHER}" in between) == (False, True)
    assert cloud.state["images"] == {}


def test_a_stack_deletes_no_image_that_it_did_not_use(cloud: Cloud) -> None:
    cloud.run()
    run = cloud.run("destroy", GPU_IMAGE_OWNER=OTHER)

    assert run.returncode == 0
    assert list(cloud.state["images"]) == [IMAGE]


def test_a_renamed_stack_keeps_its_image(cloud: Cloud) -> None:
    """Its new name builds, and then its old name ends."""
    cloud.run()
    cloud.run(GPU_IMAGE_OWNER="gpu-ci-stage")
    cloud.run("destroy")

    assert cloud.state["images"][IMAGE]["labels"] == {
        **used_by("gpu-ci-stage"),
        VERIFIED: "yes",
        "gpu-image-hash": CONTENT.hash,
    }


@pytest.mark.parametrize("proved", [True, False])
def test_an_image_that_another_stack_created_meanwhile_is_used(cloud: Cloud, proved: bool) -> None:
    labels = used_by(OTHER) | ({VERIFIED: "yes"} if proved else {})
    cloud.plan(race={"status": "READY", "labels": labels})
    run = cloud.run()

    assert run.returncode == 0, run.stderr
    assert cloud.calls("images delete") == []
    assert cloud.state["images"][IMAGE]["labels"] == used_by(OTHER, STACK) | {VERIFIED: "yes"}
    assert cloud.state["made"] == {"build": 1} | ({} if proved else {"verify": 1})


@pytest.mark.parametrize(
    ("status", "fault"),
    [("READY", "exists without the label of a stack: delete it, or state another family"), ("FAILED", "is FAILED")],
)
def test_an_image_without_the_label_of_a_stack_is_not_changed(cloud: Cloud, status: str, fault: str) -> None:
    by_hand = {"name": IMAGE, "status": status, "labels": {}, "creationTimestamp": "0"}
    cloud.set(images={IMAGE: by_hand})
    run = cloud.run()

    assert run.returncode == 3
    assert fault in run.stderr
    assert cloud.state["images"] == {IMAGE: by_hand}


def test_an_older_image_that_another_stack_uses_is_neither_deprecated_nor_deleted(cloud: Cloud) -> None:
    shared = {**made_earlier("shared"), "labels": used_by(STACK, OTHER) | {VERIFIED: "yes"}}
    cloud.set(images={"shared": shared})
    kept = cloud.run(GPU_IMAGE_KEEP="1")
    after_kept = dict(cloud.state["images"]["shared"])
    cloud.run(GPU_IMAGE_KEEP="0")

    assert kept.returncode == 0
    assert after_kept == shared
    assert cloud.state["images"]["shared"]["labels"] == used_by(OTHER) | {VERIFIED: "yes"}


def test_the_image_that_the_family_returns_is_reported(cloud: Cloud) -> None:
    theirs = {**made_earlier("by-hand"), "labels": {}, "creationTimestamp": "2027"}
    ours = cloud.run()
    cloud.set(images={**cloud.state["images"], "by-hand": theirs})
    overtaken = cloud.run()

    assert f"{IMAGE} is the image of the family gpu-host" in ours.stderr
    assert f"{IMAGE} is the image of the family" not in overtaken.stderr
    assert "the family gpu-host returns by-hand" in overtaken.stderr
    assert f"boot {IMAGE} by its name" in overtaken.stderr
    assert cloud.state["images"]["by-hand"] == theirs


def test_the_stated_number_of_gpus_is_attached(cloud: Cloud) -> None:
    cloud.run(GPU_IMAGE_VERIFY_GPUS="2")

    assert "--accelerator=type=nvidia-tesla-t4,count=2" in cloud.calls("instances create")[1]


def test_destroy_needs_only_the_variables_of_the_identity(cloud: Cloud) -> None:
    cloud.run()
    old = {
        "GPU_IMAGE_FOLDER": "/missing",
        "GPU_IMAGE_OPTIONS": "{}",
        "GPU_IMAGE_OF_LAST_YEAR": "x",
        "GPU_IMAGE_ZONES": "",
    }
    run = cloud.run("destroy", **old)

    assert (run.returncode, cloud.state["images"]) == (0, {}), run.stderr


def test_destroy_refuses_an_empty_family_and_owner(cloud: Cloud) -> None:
    run = cloud.run("destroy", GPU_IMAGE_FAMILY="", GPU_IMAGE_OWNER="")

    assert run.returncode == 2
    assert [line.split(":")[0] for line in run.stderr.splitlines()[1:]] == ["GPU_IMAGE_FAMILY", "GPU_IMAGE_OWNER"]


def test_without_gcloud_nothing_is_started(cloud: Cloud, tmp_path: Path) -> None:
    run = cloud.run(PATH=str(tmp_path))

    assert run.returncode == 2
    assert "gcloud is not on PATH" in run.stderr


def test_without_access_nothing_is_started(cloud: Cloud) -> None:
    cloud.plan(refuse={"compute project-info": "You do not currently have an active account selected."})
    run = cloud.run()

    assert (run.returncode, len(cloud.calls())) == (2, 1)
    assert "active account" in run.stderr


def test_an_error_other_than_missing_capacity_fails_at_once(cloud: Cloud) -> None:
    cloud.plan(refuse={"compute instances create": "Required 'compute.instances.create' permission for 'p'"})
    run = cloud.run()

    assert run.returncode == 3
    assert "Required 'compute.instances.create' permission" in run.stderr
    assert len(cloud.calls("instances create")) == 1


def test_a_machine_that_cannot_be_deleted_is_named(cloud: Cloud) -> None:
    cloud.plan(refuse={"compute instances delete": "the backend is tired"})
    run = cloud.run()

    assert run.returncode == 3
    assert f"left: {IMAGE}-build in us-central1-b" in run.stderr
    assert "the next run tries again" in run.stderr


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

    assert run.returncode == 2
    assert fault in run.stderr
    assert "Traceback" not in run.stderr
    assert cloud.calls() == []


def test_all_invalid_variables_are_reported_at_once(cloud: Cloud) -> None:
    run = cloud.run(GPU_IMAGE_ZONES="", GPU_IMAGE_KEEP="many", GPU_IMAGE_OWNER="A B")

    assert [line.split(":")[0] for line in run.stderr.splitlines()[1:]] == [
        "GPU_IMAGE_KEEP",
        "GPU_IMAGE_OWNER",
        "GPU_IMAGE_ZONES",
    ]
