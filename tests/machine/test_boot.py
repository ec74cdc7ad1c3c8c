"""Tests of the program of a machine, with fake commands and with servers that speak the APIs."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gpu_ci.back_ends.shared.machine.user_data import program, units
from tests.machine.boots import CLOUDS, REGISTRATIONS, Cloud, Registration, boot_args
from tests.machine.box import LISTENING, Box
from tests.machine.servers import (
    ACCESS_KEY,
    GOOGLE_TOKEN,
    INSTALLATION_TOKEN,
    JIT_CONFIG,
    METADATA_TOKEN,
    REGISTRATION_TOKEN,
    RUNNER_ID,
    SECRET_KEY,
    SESSION_TOKEN,
    Answer,
    json_answer,
)

MakeBox = Callable[..., Box]

pytestmark = pytest.mark.artefacts

SECRETS = (
    *(ACCESS_KEY, SECRET_KEY, SESSION_TOKEN, GOOGLE_TOKEN, METADATA_TOKEN),
    *(INSTALLATION_TOKEN, REGISTRATION_TOKEN, JIT_CONFIG, "PRIVATE KEY", "eyJhbGci"),
)


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a certificate with its key."""
    file = tmp_path_factory.mktemp("tls") / "both.pem"
    words = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-days", "1"]
    subprocess.run([*words, "-keyout", str(file), "-out", f"{file}.crt"], check=True, capture_output=True)
    file.write_text(file.read_text() + file.with_name("both.pem.crt").read_text())
    return file


@pytest.fixture
def make_box(tmp_path: Path, certificate: Path) -> Iterator[MakeBox]:
    """Return a function that makes one machine."""
    boxes: list[Box] = []

    def make(*words: Any, **options: Any) -> Box:
        boxes.append(Box(tmp_path, boot_args(*words, **options), certificate))
        return boxes[-1]

    yield make
    for box in boxes:
        box.servers.close()


@pytest.mark.parametrize("cloud", CLOUDS)
def test_the_first_boot_prepares_the_machine(make_box: MakeBox, cloud: Cloud) -> None:
    box = make_box(cloud, docker=True)
    run = box.call("setup")

    assert (run.code, box.states) == (0, [])
    assert [call.split(" install ")[1] for call in box.called("apt-get") if " install " in call] == [
        (
            f"linux-{cloud} linux-modules-nvidia-580-server-open-{cloud} nvidia-headless-no-dkms-580-server-open "
            "nvidia-utils-580-server"
        ),
        (
            "docker.io nvidia-container-toolkit=1.20.0-1 nvidia-container-toolkit-base=1.20.0-1 "
            "libnvidia-container-tools=1.20.0-1 libnvidia-container1=1.20.0-1"
        ),
    ]
    assert len(box.called("apt-mark hold")) == 2
    assert "useradd --create-home --shell /bin/bash runner" in box.stubs.calls()
    assert box.called("usermod") == [
        "usermod --groups video,render runner",
        "usermod --append --groups docker runner",
    ]
    assert "nvidia-smi -pm 1" in box.stubs.calls()


def test_jobs_cannot_reach_the_metadata_servers(make_box: MakeBox) -> None:
    box = make_box().installed()
    rules = [call for call in box.called("tables") if " -A " in call]

    assert rules == [
        f"{command} -w -t mangle -A {chain} -d {address} -p tcp ! --dport 53 -j DROP"
        for command, address in (
            ("iptables", "169.254.169.254"),
            ("ip6tables", "fd00:ec2::254"),
            ("ip6tables", "fd20:ce::254"),
        )
        for chain in ("OUTPUT -m owner --uid-owner runner", "FORWARD")
    ]


def test_a_machine_without_docker_installs_none(make_box: MakeBox) -> None:
    box = make_box().installed()

    assert [call for call in box.stubs.calls() if call.startswith(("docker", "nvidia-ctk"))] == []
    assert box.called("usermod") == ["usermod --groups video,render runner"]


def test_an_image_with_a_driver_installs_nothing(make_box: MakeBox) -> None:
    box = make_box(driver=None).installed()

    assert box.called("apt") == []
    assert len(box.clouds.lines("actions-runner-linux-x64-2.337.0.tar.gz")) == 1


def test_a_second_start_installs_and_downloads_nothing(make_box: MakeBox) -> None:
    box = make_box(docker=True).installed()
    before = len(box.called("apt-get"))
    box.stubs.add("getent")
    box.stubs.add("iptables")
    box.stubs.add("ip6tables")
    box.stubs.log.unlink()
    again = box.call("setup")

    assert (again.code, before) == (0, 4)
    assert box.called("apt") + box.called("useradd") + [call for call in box.called("tables") if " -A " in call] == []
    assert len(box.clouds.lines("actions-runner-linux")) == 1


def test_a_new_kernel_is_started_with_one_reboot(make_box: MakeBox) -> None:
    box = make_box()
    box.stubs.add("modinfo", "exit 1")
    before = box.call("setup")
    reboots = len(box.called("systemctl reboot"))
    box.stubs.add("modinfo")
    after = box.call("setup")

    assert (before.code, reboots, after.code, len(box.called("systemctl reboot"))) == (0, 1, 0, 1)
    assert box.states == ["waiting: reboot into the kernel of the driver"]
    assert len(box.called("apt-get")) == 2


def test_a_driver_without_a_module_fails_after_the_reboot(make_box: MakeBox) -> None:
    box = make_box()
    box.stubs.add("modinfo", "exit 1")
    box.call("setup")
    after = box.call("setup")

    assert (after.code, len(box.called("systemctl reboot"))) == (1, 1)
    assert box.states[-1] == "failed: install driver 580-server-open"


@pytest.mark.parametrize(
    ("command", "body", "status"),
    [
        ("nvidia-smi", "exit 9", "failed: verify the GPU as the user runner"),
        ("nvidia-smi", "echo GPU-1; echo GPU-2", "failed: verify the GPU as the user runner"),
        ("modprobe", "exit 1", "failed: verify the GPU as the user runner"),
        ("sudo", "exit 0", "failed: verify that the user runner has no access to root and metadata"),
        (
            "runuser",
            'shift 3; case "$*" in curl*) ;; *) exec "$@";; esac',
            "failed: verify that the user runner has no",
        ),
        ("apt-get", "exit 100", "failed: install driver 580-server-open"),
        ("iptables", "exit 4", "failed: block the metadata server for jobs"),
        ("docker", "exit 1", "failed: let the user runner use Docker"),
        ("gpg", "echo pub:; echo fpr:::::::::0000:", "failed: install Docker and the container toolkit"),
    ],
)
def test_a_failed_step_is_published_and_fails_the_unit(make_box: MakeBox, command: str, body: str, status: str) -> None:
    box = make_box(docker=True)
    box.stubs.add(command, body)
    run = box.call("setup")

    assert run.code != 0
    assert box.states[-1].startswith(status)


def test_an_archive_with_another_checksum_is_deleted(make_box: MakeBox) -> None:
    box = make_box()
    box.clouds.archive += b"changed"
    run = box.call("setup")

    assert run.code != 0
    assert box.states == ["failed: download runner 2.337.0 and compare its checksum"]
    assert list((box.root / "var/lib/gpu-ci").glob("runner*")) == []


@pytest.mark.parametrize("cloud", CLOUDS)
def test_an_ephemeral_runner_registers_again_after_each_job(make_box: MakeBox, cloud: Cloud) -> None:
    box = make_box(cloud).prepared()
    code = box.serve(lambda: box.jobs() == 3)
    requests = box.clouds.lines("POST api.github.com/orgs/acme/actions/runners/generate-jitconfig")
    bodies = [json.loads(request.body) for request in requests]

    assert code == 0
    assert len(bodies) in {3, 4}
    assert {(body["runner_group_id"], *body["labels"]) for body in bodies} == {
        (1, "self-hosted", "linux", "x64", "gpu")
    }
    assert all(body["name"].startswith("gpu-ci-staging-gpu-") for body in bodies)
    assert len(box.called("pkill -KILL -u runner")) == len(bodies)
    assert (box.folder / "jits").read_text().splitlines()[0] == f"ACTIONS_RUNNER_INPUT_JITCONFIG={JIT_CONFIG}"
    assert set((box.folder / "modes").read_text().split()) == {"600"}
    assert not (box.root / "run/gpu-ci/job.env").exists()
    assert box.states[0] == "online"
    assert box.states[-1] == "stopped: the machine or its service was stopped"
    assert len(box.clouds.lines("access_tokens")) == 1


def test_a_job_finds_no_files_of_the_previous_job(make_box: MakeBox) -> None:
    box = make_box(docker=True).prepared()
    left = [box.root / path for path in ("home/runner/.bashrc", "opt/actions-runner/_work/secret")]
    for path in left:
        path.parent.mkdir(parents=True)
        path.write_text("left")
    box.serve(lambda: box.jobs() == 1)

    assert [path.exists() for path in left] == [False, False]
    assert (box.root / "opt/actions-runner/run.sh").exists()
    assert any(call.endswith("/dev/shm -xdev -user runner -delete") for call in box.called("find "))  # noqa: S108
    assert box.called("docker ps")
    assert box.called("docker volume prune --all --force")


def test_a_persistent_runner_is_configured_once(make_box: MakeBox) -> None:
    box = make_box(registration="persistent", runner_group="GPU Team").prepared()
    box.job(LISTENING, polls=1000)
    work = box.root / "opt/actions-runner/_work/cache"
    code = box.serve(lambda: "online" in box.states)
    work.parent.mkdir()
    work.write_text("kept")
    box.serve(lambda: box.states.count("online") == 2)

    assert (code, box.jobs(), work.read_text()) == (0, 2, "kept")
    assert (box.root / "opt/actions-runner/configured").read_text().strip() == (
        "--unattended --replace --url https://github.com/acme --name gpu-ci-staging-gpu "
        "--labels self-hosted,linux,x64,gpu --work _work --runnergroup GPU Team"
    )


@pytest.mark.parametrize("registration", REGISTRATIONS)
@pytest.mark.parametrize("url", ["https://github.com/acme", "https://github.com/acme/vision"])
def test_a_stop_deregisters_the_runner(make_box: MakeBox, registration: Registration, url: str) -> None:
    box = make_box(registration=registration, github_url=url).prepared()
    box.job(LISTENING, polls=1000)
    code = box.serve(lambda: "online" in box.states)
    scope = "repos/acme/vision" if "vision" in url else "orgs/acme"

    assert code == 0
    assert [one.line for one in box.clouds.lines("DELETE")] == [
        f"DELETE api.github.com/{scope}/actions/runners/{RUNNER_ID}"
    ]
    assert box.called("systemctl stop gpu-ci-job.service")


def test_a_stop_succeeds_if_github_does_not_respond(make_box: MakeBox) -> None:
    box = make_box().prepared()
    box.job(LISTENING, polls=1000)
    box.clouds.faults["DELETE"] = [json_answer(502, {})] * 9
    code = box.serve(lambda: "online" in box.states)

    assert (code, len(box.clouds.lines("DELETE"))) == (0, 2)
    assert f"runner {RUNNER_ID} stays registered" in box.output()


@pytest.mark.parametrize("cloud", CLOUDS)
def test_a_machine_without_the_key_waits_and_registers_when_the_key_exists(make_box: MakeBox, cloud: Cloud) -> None:
    box = make_box(cloud).prepared()
    key, box.clouds.key = box.clouds.key, None

    def reported() -> bool:
        if box.states and len(box.called("sleep")) > 3:
            box.clouds.key = key
        return "online" in box.states

    code = box.serve(reported)
    place = "SSM parameter /gpu-ci-staging" if cloud == "aws" else "secret gpu-ci-staging"

    assert code == 0
    assert box.states[0].startswith(f"waiting: {place}")
    assert box.states[0].endswith("has no key that this machine can read")


@pytest.mark.parametrize(
    ("fault", "status", "sleep"),
    [
        (json_answer(502, {}), "waiting: GitHub answers 502: ", "sleep 10"),
        ((0, {}, ""), "waiting: GitHub answers 000: ", "sleep 10"),
        (
            json_answer(429, {"message": "slow down"}, **{"Retry-After": "77"}),
            "waiting: GitHub answers 429: slow down",
            "77",
        ),
        (
            json_answer(403, {"message": "rate limit"}, **{"Retry-After": "60"}),
            "waiting: GitHub answers 403: rate",
            "60",
        ),
    ],
)
def test_a_failed_request_is_repeated(make_box: MakeBox, fault: Answer, status: str, sleep: str) -> None:
    box = make_box().prepared()
    box.clouds.faults["generate-jitconfig"] = [fault, fault]
    code = box.serve(lambda: "online" in box.states)

    assert code == 0
    assert box.states[0].startswith(status.strip())
    assert any(call.endswith(sleep) for call in box.called("sleep"))


def test_an_expired_token_is_replaced(make_box: MakeBox) -> None:
    box = make_box().prepared()
    box.clouds.faults["generate-jitconfig"] = [json_answer(401, {"message": "Bad credentials"})]
    box.serve(lambda: "online" in box.states)

    assert len(box.clouds.lines("access_tokens")) == 2


@pytest.mark.parametrize("skew", [-7200, 7200])
def test_the_time_of_github_is_used_if_the_clock_is_wrong(make_box: MakeBox, skew: int) -> None:
    box = make_box().prepared()
    box.clouds.skew = skew
    box.serve(lambda: "online" in box.states)

    assert box.states[0] == "online"
    assert f"the clock is off by {-skew // 100}" in box.output()


def test_a_runner_that_github_refuses_fails_clearly(make_box: MakeBox) -> None:
    box = make_box().prepared()
    box.job("Runner version v2.337.0 is deprecated and cannot receive messages.")
    code = box.serve(lambda: False)

    assert (code, box.jobs()) == (77, 1)
    assert box.states == ["failed: GitHub refuses runner 2.337.0: state a newer runner-version"]
    assert len(box.clouds.lines("DELETE")) == 1


def test_a_full_disk_is_cleaned(make_box: MakeBox) -> None:
    box = make_box(docker=True).prepared()
    (box.root / "opt/actions-runner/_work").mkdir(parents=True)
    box.stubs.add("df", f'echo Avail; if [ -e "{box.root}/opt/actions-runner/_work" ]; then echo 3G; else echo 80G; fi')
    box.serve(lambda: box.jobs() == 1)

    assert "less than 10 GiB free: deletes the work folder" in box.output()
    assert box.called("docker system prune --all --force --volumes")


def test_a_disk_that_stays_full_stops_taking_jobs(make_box: MakeBox) -> None:
    box = make_box().prepared()
    box.stubs.add("df", "echo Avail; echo 3G")
    code = box.serve(lambda: False)

    assert (code, box.jobs(), box.clouds.lines("generate-jitconfig")) == (77, 0, [])
    assert box.states == ["failed: less than 10 GiB of the disk are free"]


def test_a_second_start_of_a_running_registration_does_nothing(make_box: MakeBox) -> None:
    box = make_box().prepared()
    box.job(LISTENING, polls=1000)
    second: list[int] = []

    def started_twice() -> bool:
        if "online" in box.states and not second:
            second.append(box.call("run").code)
        return bool(second)

    assert (box.serve(started_twice), second, box.jobs()) == (0, [0], 1)
    assert "runs already" in box.output()


def test_runners_that_exit_immediately_are_restarted_with_increasing_delays(make_box: MakeBox) -> None:
    box = make_box().prepared()
    box.job("", polls=0)
    box.serve(lambda: box.jobs() == 4)

    assert [call for call in box.called("sleep") if call in {"sleep 30", "sleep 60", "sleep 90"}][:3] == [
        "sleep 30", "sleep 60", "sleep 90",
    ]  # fmt: skip


def test_the_runner_group_is_found_by_its_name(make_box: MakeBox) -> None:
    box = make_box(runner_group="gpu team").prepared()
    box.serve(lambda: box.jobs() == 2)
    bodies = [json.loads(one.body) for one in box.clouds.lines("generate-jitconfig")]

    assert {body["runner_group_id"] for body in bodies} == {7}
    assert len(box.clouds.lines("runner-groups")) == 1


def test_an_unknown_runner_group_fails_clearly(make_box: MakeBox) -> None:
    box = make_box(runner_group="they're").prepared()

    assert box.serve(lambda: False) == 77
    assert box.states == ["failed: GitHub has no runner group they re for this App"]


def test_a_running_job_is_published(make_box: MakeBox) -> None:
    box = make_box().prepared()
    box.stubs.add("pgrep")
    box.job(LISTENING, polls=1000)
    box.serve(lambda: "busy" in box.states)

    assert box.states[0] == "busy"


def test_a_status_is_published_once_and_repeated_after_a_failure(make_box: MakeBox) -> None:
    box = make_box()
    box.clouds.faults["POST ec2.eu-west-1"] = [json_answer(503, {})]
    texts = [box.call("status", "online").err for _ in range(3)]

    assert ["cannot be published" in text for text in texts] == [True, False, False]
    assert box.states == ["online"]


@pytest.mark.parametrize("cloud", CLOUDS)
def test_metrics_are_published_each_minute(make_box: MakeBox, cloud: Cloud) -> None:
    box = make_box(cloud)
    box.call("status", "online")
    box.call("watch")

    assert box.clouds.metrics == [{"RunnerOnline": 1.0, "RunnerBusy": 0.0, "GpuUtilization": 37.0}]


def test_metrics_of_a_machine_without_a_gpu_are_published(make_box: MakeBox) -> None:
    box = make_box()
    box.stubs.add("nvidia-smi", "exit 9")
    box.call("watch")

    assert box.clouds.metrics == [{"RunnerOnline": 0.0, "RunnerBusy": 0.0, "GpuUtilization": 0.0}]


@pytest.mark.parametrize(
    ("minutes", "last", "stopped"),
    [(30, 100 + 1799, False), (30, 100 + 1800, True), (0, 10**6, False), (5, 100 + 300, True)],
)
def test_an_idle_machine_stops(make_box: MakeBox, minutes: int, last: int, stopped: bool) -> None:
    box = make_box(idle_stop_minutes=minutes)
    box.call("watch")
    box.up(last)
    box.call("watch")

    assert bool(box.called("systemctl poweroff")) is stopped
    assert (box.root / "run/gpu-ci/reason").exists() is stopped


def test_a_failed_publication_does_not_prevent_the_idle_stop(make_box: MakeBox) -> None:
    box = make_box()
    box.clouds.faults["monitoring"] = [json_answer(500, {})] * 2
    box.call("watch")
    box.up(5000)
    box.call("watch")

    assert box.called("systemctl poweroff")


@pytest.mark.parametrize("state", ["busy", "installing"])
def test_a_machine_in_use_does_not_stop(make_box: MakeBox, state: str) -> None:
    box = make_box()
    if state == "busy":
        box.stubs.add("pgrep")
    else:
        box.stubs.add("systemctl", '[ "$*" != "is-active gpu-ci-setup.service" ] || { echo activating; exit 3; }')
    for seconds in (100, 5000, 9000):
        box.up(seconds)
        box.call("watch")

    assert box.called("systemctl poweroff") == []


def test_the_limit_stops_the_machine(make_box: MakeBox) -> None:
    box = make_box()
    started = units(box.args)["gpu-ci-limit.service"].split("ExecStart=/usr/local/sbin/gpu-ci ")[1].split()
    box.call(*started)

    assert "OnBootSec=12h" in units(box.args)["gpu-ci-limit.timer"]
    assert box.called("systemctl poweroff")
    assert (box.root / "run/gpu-ci/reason").read_text() == "the limit of 12 hours"


def test_the_reason_of_a_stop_is_published(make_box: MakeBox) -> None:
    box = make_box().prepared()
    box.job(LISTENING, polls=1000)

    def idle() -> bool:
        online = "online" in box.states
        if online:
            box.call("power_off", "no job for 30 minutes")
        return online

    box.serve(idle)

    assert box.states[-1] == "stopped: no job for 30 minutes"


@pytest.mark.parametrize("cloud", CLOUDS)
def test_a_spot_notice_ends_the_runner(make_box: MakeBox, cloud: Cloud) -> None:
    box = make_box(cloud, spot=True)
    process = box.start("spot")
    while len(box.called("sleep 5")) < 2:
        assert process.poll() is None
    before = box.called("systemctl stop")
    box.clouds.notice = True

    assert (process.wait(timeout=120), before) == (0, [])
    assert box.called("systemctl stop gpu-ci.service")
    assert (box.root / "run/gpu-ci/reason").read_text() == "the cloud needs the spot capacity"


@pytest.mark.parametrize("cloud", CLOUDS)
@pytest.mark.parametrize("registration", REGISTRATIONS)
def test_no_secret_is_in_arguments_output_or_files(make_box: MakeBox, cloud: Cloud, registration: Registration) -> None:
    box = make_box(cloud, registration).installed()
    box.clouds.faults["generate-jitconfig"] = [json_answer(500, {"message": "down"})]
    box.clouds.faults["access_tokens"] = [json_answer(401, {"message": "expired"})]
    box.serve(lambda: box.jobs() == 2)
    box.call("watch")

    assert box.clouds.lines("access_tokens")
    assert box.leaks(SECRETS) == []


def test_check_prints_one_line_for_each_fact(make_box: MakeBox) -> None:
    box = make_box().prepared()
    box.clouds.runners = [{"name": "gpu-ci-staging-gpu-1789", "status": "online"}]
    run = box.call("check")

    assert [line.split(maxsplit=1) for line in run.out.splitlines()] == [
        ["ok", "gpu-ci-setup.service has prepared the machine"],
        ["ok", "gpu-ci.service registers the runner (journalctl -u gpu-ci)"],
        ["ok", "gpu-ci-job.service is the runner (journalctl -u gpu-ci-job)"],
        ["ok", "gpu-ci-watch.timer stops an idle machine"],
        ["ok", "gpu-ci-limit.timer stops the machine in any case"],
        ["ok", "the user runner sees 1 GPUs"],
        ["ok", "the user runner is in the groups video and render"],
        ["ok", "the user runner has no sudo"],
        ["ok", "the user runner cannot reach the metadata server"],
        ["ok", "10 GiB of the disk are free"],
        ["ok", "GitHub shows the runner gpu-ci-staging-gpu online"],
    ]
    assert run.code == 0


def test_check_names_units_that_exist() -> None:
    args = boot_args()
    named = set(re.findall(r"gpu-ci[a-z-]*\.(?:service|timer)", program(args)))

    assert named - set(units(args)) == set()


@pytest.mark.parametrize(
    ("command", "body", "line"),
    [
        ("systemctl", 'case "$*" in *gpu-ci.service) exit 3;; esac', "gpu-ci.service registers the runner"),
        ("nvidia-smi", "exit 9", "the user runner sees 1 GPUs"),
        ("id", "echo runner video", "the user runner is in the groups video and render"),
        ("sudo", "exit 0", "the user runner has no sudo"),
        ("df", "echo Avail; echo 3G", "10 GiB of the disk are free"),
    ],
)
def test_check_fails_for_a_missing_fact(make_box: MakeBox, command: str, body: str, line: str) -> None:
    box = make_box().prepared()
    box.clouds.runners = [{"name": "gpu-ci-staging-gpu-1789", "status": "online"}]
    box.stubs.add(command, body)
    run = box.call("check")

    assert run.code == 1
    assert [text.removeprefix("FAILED  ").startswith(line) for text in run.out.splitlines() if "FAILED" in text] == [
        True
    ]


@pytest.mark.parametrize("runners", [[], [{"name": "gpu-ci-staging-gpu-1", "status": "offline"}]])
def test_check_fails_where_github_does_not_show_the_runner(make_box: MakeBox, runners: list[dict[str, object]]) -> None:
    box = make_box().prepared()
    box.clouds.runners = runners

    assert "FAILED  GitHub shows the runner gpu-ci-staging-gpu online" in box.call("check").out
