"""Machines that boot their user data with the real systemd and cloud-init, and run jobs as GitHub's runner does."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.machine.booted.machine import ROOT, Machine
from tests.machine.boots import CLOUDS, Cloud, boot_args
from tests.machine.servers import (
    ACCESS_KEY,
    GOOGLE_TOKEN,
    INSTALLATION_TOKEN,
    METADATA_TOKEN,
    REGISTRATION_TOKEN,
    RUNNER_ID,
    SECRET_KEY,
    SESSION_TOKEN,
)

Boot = Callable[..., Machine]

pytestmark = pytest.mark.artefacts

SECRETS = (
    *(ACCESS_KEY, SECRET_KEY, SESSION_TOKEN, GOOGLE_TOKEN, METADATA_TOKEN),
    *(INSTALLATION_TOKEN, REGISTRATION_TOKEN),
)
WRITABLE = "/tmp /var/tmp /dev/shm /run/lock /home/runner /opt/actions-runner"  # noqa: S108


@cache
def obstacle() -> str:
    """Return why no machine can boot here; empty if one can."""
    if os.geteuid() != 0 or not ROOT.exists():
        return "there is no root folder for machines: run `make artefact-tools` as root, on Debian"
    words = ["--quiet", "--register=no", "--keep-unit", "--private-users=no", "--read-only", "--resolv-conf=off"]
    started = subprocess.run(
        ["systemd-nspawn", *words, f"--machine=probe-{os.getpid()}", f"--directory={ROOT}/root", "true"],
        capture_output=True,
        text=True,
        check=False,
    )
    return f"no container can start: {started.stderr.strip()}" if started.returncode else ""


@pytest.fixture
def boot(tmp_path: Path) -> Iterator[Boot]:
    """Return a function that prepares a machine from the settings of its software."""
    if reason := obstacle():
        pytest.skip(reason)
    machines: list[Machine] = []

    def prepare(*words: Any, fakes: tuple[str, ...] = (), edits: Any = (), **options: Any) -> Machine:
        machines.append(
            Machine(tmp_path / f"machine-{len(machines)}", boot_args(*words, **options), *fakes, edits=edits)
        )
        return machines[-1]

    yield prepare
    for machine in machines:
        machine.close()


@pytest.mark.parametrize("cloud", CLOUDS)
def test_the_first_boot_prepares_the_machine(boot: Boot, cloud: Cloud) -> None:
    machine = boot(cloud, docker=True, packages=("jq", "make")).online()
    machine.clouds.runners = [
        {"name": "gpu-ci-staging-gpu-1", "status": "online", "labels": [{"name": "linux"}, {"name": "self-hosted"}]}
    ]
    check = machine.sh("gpu-ci check")

    assert machine.clouds.status == [
        *(f"waiting: {step}" for step in ("create the user runner", "block the metadata server for jobs")),
        *("waiting: install driver 580-server-open", "waiting: install Docker and the container toolkit"),
        *("waiting: install jq make", "waiting: let the user runner use Docker"),
        "waiting: download runner 2.337.0 and compare its checksum",
        "waiting: verify the GPU as the user runner",
        "waiting: verify that the user runner has no access to root and metadata",
        *("waiting: register the runner", "online"),
    ]
    assert [call.split(" install ")[1] for call in machine.calls("apt-get") if " install " in call] == [
        (
            f"linux-{cloud} linux-modules-nvidia-580-server-open-{cloud} nvidia-headless-no-dkms-580-server-open "
            "nvidia-utils-580-server python3-venv"
        ),
        (
            "docker.io nvidia-container-toolkit=1.20.0-1 nvidia-container-toolkit-base=1.20.0-1 "
            "libnvidia-container-tools=1.20.0-1 libnvidia-container1=1.20.0-1"
        ),
        "jq make",
    ]
    assert machine.sh("id -nG runner") == "runner video render docker"
    assert machine.sh("systemctl --failed --no-legend; systemd-analyze verify /etc/systemd/system/gpu-ci*") == ""
    assert "status: done" in machine.sh("cloud-init status --wait")
    # Without x64 and gpu, this is another runner.
    assert [line for line in check.splitlines() if not line.startswith("ok ")] == [
        "FAILED  GitHub shows the runner gpu-ci-staging-gpu online with its labels"
    ]
    assert "ok      driver 580.95.05 supports CUDA 12.9, which needs 525.60.13" in check


def test_a_job_reaches_neither_root_nor_metadata_nor_secrets(boot: Boot) -> None:
    machine = boot().online()
    assert machine.clouds.key is not None
    words = " -e ".join(map(shlex.quote, (*SECRETS, machine.clouds.key.splitlines()[3])))
    result, output = machine.result(f"""
        for each in 'sudo -n true' 'systemctl poweroff' 'systemctl stop gpu-ci' 'cat /run/gpu-ci/runner' \\
          'cat /usr/local/sbin/gpu-ci' 'crontab -l' 'touch /usr/local/lib/gpu-ci/job-started.sh' \\
          'curl -s -m 2 http://169.254.169.254/' 'loginctl enable-linger' 'iptables -L'; do
          ! $each >/dev/null 2>&1 || echo "allowed: $each"
        done
        ! grep -rlsI -e {words} /etc /home /opt /root /run /tmp /usr/local /var --exclude=step.sh || echo secrets
        echo tried""")

    assert (result, output) == ("Succeeded", "gpu-ci: Tesla T4, 580.95.05, 15360 MiB\ntried\n")
    assert machine.sh(f"journalctl --sync; grep -rlsa -e {words} /etc /var /home /opt /root /tmp /usr/local") == ""
    assert "latest" not in machine.sh("curl -s -m 2 http://169.254.169.254/latest/")


def test_a_job_finds_nothing_of_the_previous_job(boot: Boot) -> None:
    machine = boot(docker=True).online()
    machine.job(f"""
        for each in {WRITABLE}; do mkdir -p "$each/left of/job"; touch "$each/left of/a
b" "$each/-left"; chmod 0 "$each/left of/job"; done
        ipcmk -Q; (setsid sleep 1000 &); touch /tmp/ready; sleep 6""")
    machine.wait(lambda: "ready" in machine.sh("ls /tmp"))
    # A container of the job writes as root.
    machine.sh(f"""for each in {WRITABLE}; do echo x >"$each/left of/of-root"; done; mkdir /tmp/left-by-root /var/tmp/left-by-root /dev/shm/left-by-root
        chattr +i /var/tmp/left-by-root; echo '* * * * * touch /tmp/left' | crontab -u runner -""")
    machine.wait(lambda: machine.clouds.results)
    machine.wait(lambda: len(machine.clouds.lines("generate-jitconfig")) > 1 and machine.clouds.listening)

    assert machine.clouds.results[0][0] == "Succeeded"
    assert machine.sh(f"find {WRITABLE} /var/spool/cron -name '*left*' -o -path '*/crontabs/runner'") == ""
    assert machine.sh("pgrep -f '[s]leep 1000'; awk 'NR > 1' /proc/sysvipc/msg") == ""


def test_a_hook_ends_what_a_job_left_on_the_gpu_and_fails_no_job(boot: Boot) -> None:
    machine = boot(fakes=("damaged-inforom",)).online()
    machine.sh("touch /dev/nvidia0; chmod 666 /dev/nvidia0")
    script = (
        "(trap '' TERM; exec setsid sleep 1000 </dev/nvidia0) >/dev/null 2>&1 & sleep 1; truncate -s 150M /tmp/large"
    )
    result, output = machine.result(script)

    assert (result, "(sleep), which the job left on the GPU" in output) == ("Succeeded", True)


def test_jobs_of_forks_are_refused_and_short_jobs_delay_nothing(boot: Boot) -> None:
    machine = boot().online()
    fork = {"head": {"repo": {"full_name": "other/vision"}}}
    results = [machine.result("echo ran", pull_request=fork), *(machine.result("true") for _ in range(3))]

    assert [result for result, _ in results] == ["Failed", "Succeeded", "Succeeded", "Succeeded"]
    assert "no jobs of pull requests from forks" in results[0][1]
    assert not any("starts again in" in status for status in machine.clouds.status)
    assert len({one.body for one in machine.clouds.lines("generate-jitconfig")}) == 5


def test_a_killed_supervisor_leaves_the_job_alone(boot: Boot) -> None:
    machine = boot().online()
    second = machine.sh("gpu-ci run")
    machine.sh("sed -i s/RestartSec=30/RestartSec=1/ /etc/systemd/system/gpu-ci.service; systemctl daemon-reload")
    machine.job("sleep 12; echo done")
    machine.wait(lambda: "busy" in machine.clouds.status)
    machine.sh("systemctl kill --signal KILL --kill-who main gpu-ci")
    machine.wait(lambda: machine.clouds.results)
    machine.wait(lambda: len(machine.clouds.lines("generate-jitconfig")) == 2)

    assert second == "gpu-ci: only systemd runs this: systemctl start gpu-ci"
    assert machine.clouds.results[0][0] == "Succeeded"


def test_a_stop_cancels_the_job_and_deregisters_and_the_next_start_installs_nothing(boot: Boot) -> None:
    machine = boot().online()
    machine.job("sleep 300")
    machine.wait(lambda: "busy" in machine.clouds.status)
    before = len(machine.calls("apt-get"))
    machine.sh("gpu-ci power_off the limit of 12 hours")
    machine.ended()

    assert machine.clouds.results[0][0] == "Canceled"
    assert machine.clouds.status[-1] == "stopped: the limit of 12 hours"
    assert machine.clouds.lines(f"DELETE api.github.com/orgs/acme/actions/runners/{RUNNER_ID}")

    machine.online()

    assert (len(machine.calls("apt-get")), len(machine.clouds.lines("actions-runner-linux"))) == (before, 1)
    assert machine.sh("iptables -t mangle -S | grep -c 169.254.169.254") == "2"


def test_a_crash_leaves_nothing_of_the_job(boot: Boot) -> None:
    machine = boot().online()
    machine.job("touch /home/runner/left /var/tmp/left /tmp/ready; sleep 300")
    machine.wait(lambda: "ready" in machine.sh("ls /tmp"))
    machine.crash()
    machine.clouds.jobs.clear()
    machine.online()

    assert machine.sh("ls -A /home/runner; find /var/tmp -name left") == ""


def test_an_idle_machine_stops(boot: Boot) -> None:
    machine = boot(idle_stop_minutes=30).online()
    seconds = "$(($(cut -d. -f1 /proc/uptime) - {}))"
    machine.sh(f"systemctl stop gpu-ci-watch.timer; echo {seconds.format(1700)} >/run/gpu-ci/used; gpu-ci watch")
    still_on = machine.sh("systemctl is-active gpu-ci")
    machine.sh(f"echo {seconds.format(1801)} >/run/gpu-ci/used; gpu-ci watch")
    machine.ended()

    assert still_on == "active"
    assert machine.clouds.status[-1] == "stopped: no job for 30 minutes"
    assert machine.clouds.metrics[-1] == {"RunnerOnline": 1.0, "RunnerBusy": 0.0, "GpuUtilization": 37.0}


@pytest.mark.parametrize("cloud", CLOUDS)
def test_a_spot_notice_ends_the_runner(boot: Boot, cloud: Cloud) -> None:
    machine = boot(cloud, spot=True).online()
    machine.clouds.notice = True
    machine.wait(lambda: machine.clouds.lines("DELETE"))

    assert machine.clouds.status[-1] == "stopped: the cloud needs the spot capacity"


def test_a_persistent_runner_keeps_its_files_until_the_stop(boot: Boot) -> None:
    machine = boot(registration="persistent", runner_group="GPU Team").online()
    for script in ("mkdir _work; echo kept >_work/cache", "cat _work/cache"):
        machine.job(script)
        machine.wait(lambda: not machine.clouds.jobs and machine.sh("pgrep -f Runner.Worker") == "")
    machine.wait(lambda: len(machine.clouds.results) == 2)

    assert machine.clouds.results[1] == ("Succeeded", "".join(machine.clouds.results[0][1:]) * 2 + "kept\n")
    assert machine.sh("cat /opt/actions-runner/configured") == (
        "--unattended --replace --url https://github.com/acme --name gpu-ci-staging-gpu "
        "--labels self-hosted,linux,x64,gpu --work _work --runnergroup GPU Team"
    )


@pytest.mark.parametrize(
    ("fake", "status"),
    [
        ("no-gpu", "failed: verify the GPU as the user runner"),
        ("apt-fails", "failed: install driver 580-server-open"),
        ("fingerprint", "failed: install Docker and the container toolkit"),
    ],
)
def test_a_failed_preparation_is_repeated_and_registers_nothing(boot: Boot, fake: str, status: str) -> None:
    machine = boot(docker=True, fakes=(fake,)).start()
    machine.wait(lambda: machine.clouds.status[-1:] == [status])

    assert machine.clouds.status.count(status.replace("failed", "waiting: repeats")) == 2
    assert machine.clouds.lines("jitconfig") == []
    assert machine.sh("systemctl is-failed gpu-ci-setup") == "failed"


def test_an_archive_with_another_checksum_is_not_used(boot: Boot) -> None:
    machine = boot()
    machine.clouds.archive += b"changed"
    machine.start().wait(lambda: "failed" in "".join(machine.clouds.status[-1:]))

    assert machine.clouds.status[-1] == "failed: download runner 2.337.0 and compare its checksum"
    assert machine.sh("ls /var/lib/gpu-ci | grep runner") == ""


def test_a_new_kernel_starts_with_one_reboot(boot: Boot) -> None:
    machine = boot(fakes=("new-kernel",)).online()

    assert machine.clouds.status.count("waiting: reboot into the kernel of the driver") == 1
    assert len([call for call in machine.calls("apt-get") if "linux-aws" in call]) == 1


def test_an_old_installation_is_updated_at_a_start(boot: Boot) -> None:
    machine = boot().online()
    machine.sh("touch -d '8 days ago' /var/lib/gpu-ci/updated; systemctl poweroff")
    machine.ended()
    machine.online()
    verbs = [call.split("--no-install-recommends ")[1].split()[0] for call in machine.calls("apt-get")]

    assert verbs[-3:] == ["update", "upgrade", "--allow-change-held-packages"]
    assert machine.clouds.status.count("waiting: reboot into the updated packages") == 1


def test_a_machine_without_the_key_waits_for_it(boot: Boot) -> None:
    machine = boot()
    key, machine.clouds.key = machine.clouds.key, None
    place = "waiting: SSM parameter /gpu-ci-staging/github-app-private-key has no key that this machine can read"
    machine.start().wait(lambda: place in machine.clouds.status)
    machine.clouds.key = key
    machine.wait(lambda: "online" in machine.clouds.status)

    assert machine.sh("systemctl is-active gpu-ci") == "active"


def test_a_runner_that_github_refuses_ends_the_service(boot: Boot) -> None:
    machine = boot()
    machine.clouds.old_runner = True
    machine.start().wait(lambda: machine.sh("systemctl is-failed gpu-ci") == "failed")

    assert machine.clouds.status[-1] == "failed: GitHub refuses runner 2.337.0: state a newer runner-version"
    assert len(machine.clouds.lines("DELETE")) == 1


def test_a_runner_without_a_job_starts_again_after_a_delay(boot: Boot) -> None:
    machine = boot()
    machine.clouds.faults["pipelines"] = [(404, {}, "")] * 2
    machine.start().wait(lambda: any("starts again in 30 seconds" in status for status in machine.clouds.status))

    assert machine.sh("systemctl is-active gpu-ci") == "active"


def test_a_full_disk_takes_no_jobs(boot: Boot) -> None:
    machine = boot(edits=[("LEAST_FREE=10", "LEAST_FREE=1000000")]).start()
    machine.wait(lambda: machine.sh("systemctl is-failed gpu-ci") == "failed")

    assert machine.clouds.status[-1] == "failed: less than 1000000 GiB of the disk are free"
    assert machine.clouds.lines("jitconfig") == []


def test_check_names_each_missing_fact(boot: Boot) -> None:
    machine = boot().online()
    labels = [{"name": label} for label in ("self-hosted", "Linux", "X64", "gpu")]
    machine.clouds.runners = [{"name": "gpu-ci-staging-gpu-1789", "status": "online", "labels": labels}]
    good = machine.sh("gpu-ci check; echo $?").splitlines()
    machine.clouds.runners[0]["status"] = "offline"
    machine.sh("systemctl stop gpu-ci-watch.timer; gpasswd --delete runner video; touch /var/lib/fake/no-gpu")
    bad = machine.sh("gpu-ci check; echo $?").splitlines()

    assert ([line for line in good if "FAILED" in line], good[-1]) == ([], "0")
    assert [line.removeprefix("FAILED  ") for line in bad if line.startswith("FAILED")] == [
        "gpu-ci-watch.timer stops an idle machine",
        "the user runner sees 1 GPUs",
        "driver  supports CUDA 12.9, which needs 525.60.13",
        "the user runner is in the groups video and render",
        "GitHub shows the runner gpu-ci-staging-gpu online with its labels",
    ]
    assert bad[-1] == "1"
