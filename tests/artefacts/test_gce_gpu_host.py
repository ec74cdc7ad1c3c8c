"""Tests of the scripts of the GPU host, with fakes of every command that changes a machine."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from ami.builder.machine import ELSEWHERE
from gpu_ci.knowledge.machines import GPU_MODELS, GpuModel
from gpu_ci.knowledge.software.drivers import server_package
from tests.artefacts.callers import Run, started_as_called
from tests.artefacts.fake_commands import FakeCommands
from tests.artefacts.linters import linter

pytestmark = pytest.mark.artefacts

FOLDER = Path(__file__).parents[2] / "ami" / "gce-gpu-host"
SCRIPTS = sorted(FOLDER.glob("*.sh"))
HASH = "0a1b2c3d"
START = "a script of the startup script"
KEYS = {
    "download.docker.com": "9DC858229FC7DD38854AE2D88D81803C0EBFCD88",
    "nvidia.github.io": "C95B321B61E88C1809C4F759DDCAE044F796ECB0",
}


def listing(*prints: str) -> str:
    """Return the output of gpg for a file with those keys, each with a subkey, as words of a shell."""
    return " ".join(
        f"pub:-:4096:1: fpr:::::::::{one}: uid:-:::: sub:-:4096:1: fpr:::::::::{'5' * 40}:" for one in prints
    )


class Machine:
    """A file system below a folder, and the commands of an Ubuntu that has just been booted."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "root"
        self.stubs = FakeCommands(folder)
        self.home = self.root / "opt" / "gpu-host"
        shutil.copytree(FOLDER, self.home)
        self.options(GPU_HOST_HASH=HASH)
        for path in (
            "run",
            "etc/ssh",
            "lib/modules/6.14.0-1010-gcp",
            "lib/modules/6.17.0-1004-gcp",
            "var/lib/apt/lists",
        ):
            (self.root / path).mkdir(parents=True)
        (self.root / "etc/os-release").write_text("VERSION_CODENAME=noble\n")
        (self.root / "etc/machine-id").write_text("0123\n")
        (self.root / "etc/ssh/ssh_host_rsa_key").write_text("secret")
        (self.root / "var/lib/apt/lists/archive").write_text("lists")
        for name in (
            "apt-mark", "cloud-init", "dpkg-query", "fstrim", "journalctl", "nvidia-ctk", "snap", "sync", "useradd", "usermod",
        ):  # fmt: skip
            self.stubs.add(name)
        flag = self.root / "run/reboot-required"
        self.stubs.add("apt-get", f'case "$*" in *dist-upgrade*) touch "{flag}";; esac')
        self.stubs.add("systemctl", f'if [ "$1" = reboot ]; then rm -f "{flag}"; fi')
        self.stubs.add("dpkg-query", "echo not-installed")
        self.stubs.add("getent", "exit 2")
        self.stubs.add("id", "echo ci-gpu-runner docker")
        self.stubs.add("modinfo", "echo 580.173.02")
        self.stubs.add("docker", "echo nvidia")
        # A key file contains its address, from which the fake gpg knows the owner.
        self.stubs.add(
            "curl", 'while [ $# -gt 1 ]; do if [ "$1" = --output ]; then echo "${*: -1}" >"$2"; fi; shift; done'
        )
        owners = "".join(f'*{host}*) printf "%s\\n" {listing(print_)};; ' for host, print_ in KEYS.items())
        self.stubs.add("gpg", f'case "$(cat "${{*: -1}}")" in {owners} esac')
        self.stubs.add(
            "python3",
            'mkdir -p "$3/bin"; for n in pip uv; do printf "#!/bin/bash\\necho $n" >"$3/bin/$n"; chmod +x "$3/bin/$n"; done',
        )

    def options(self, **values: str) -> None:
        """The options of the image."""
        lines = "".join(f"{name}={value}\n" for name, value in values.items())
        (self.home / "options.env").write_text(lines)

    def script(self, name: str, *arguments: str, home: Path | None = None, **environment: str) -> Run:
        """Run a script as the unit does, or, without its argument, as the startup script does."""
        several = {("install.sh", True): "a service of systemd with a user", ("install.sh", False): START}
        return self.stubs.run_as_called(
            f"ami/gce-gpu-host/{name}",
            (home or self.home) / name,
            *arguments,
            environment={"GPU_HOST_ROOT": str(self.root), **environment},
            caller=several.get((name, bool(arguments))),
        )

    def verify(self) -> Run:
        """Run the verifier, from a folder of its own."""
        return self.script("verify.sh", home=self.root / "run" / "verify")

    def installed(self) -> Run:
        """Run the unit at the first boot, and again after the reboot."""
        self.script("install.sh", "resume")
        return self.script("install.sh", "resume")

    def reports(self) -> list[str]:
        return [
            call.split("--data ")[1].split(" --header")[0] for call in self.stubs.calls() if "--request PUT" in call
        ]

    def called(self, words: str) -> list[str]:
        return [call for call in self.stubs.calls() if words in call]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_the_first_start_enables_a_unit_that_continues_after_a_reboot(machine: Machine) -> None:
    run = machine.script("install.sh")

    assert run.code == 0
    assert (machine.root / "etc/systemd/system/gpu-host-install.service").is_file()
    assert machine.stubs.calls() == [
        "systemctl daemon-reload",
        "systemctl enable gpu-host-install.service",
        "systemctl start --no-block gpu-host-install.service",
    ]


def test_the_installer_continues_after_the_reboot_into_a_new_kernel(machine: Machine) -> None:
    before = machine.script("install.sh", "resume")
    reports_before = machine.reports()
    after = machine.script("install.sh", "resume")

    assert (before.code, reports_before, machine.called("systemctl reboot")) == (0, [], ["systemctl reboot"])
    assert (after.code, machine.reports()) == (0, [f"ok:{HASH}"])
    assert "upgrade: done before" in after.out
    assert len(machine.called("dist-upgrade")) == 1


@pytest.mark.parametrize(("wanted", "stopped"), [("0", []), ("1", ["systemctl poweroff"])])
def test_a_machine_powers_off_after_its_report_if_the_option_is_set(
    machine: Machine, wanted: str, stopped: list[str]
) -> None:
    machine.options(GPU_HOST_HASH=HASH, STOP_WHEN_DONE=wanted)
    machine.installed()

    assert machine.called("poweroff") == stopped
    assert machine.reports() == [f"ok:{HASH}"]


def test_a_second_run_changes_nothing_on_an_installed_machine(machine: Machine) -> None:
    machine.installed()
    calls = machine.stubs.calls()
    again = machine.script("install.sh")

    assert (again.code, again.out) == (0, "gpu-host: installed before\n")
    assert machine.stubs.calls() == calls


@pytest.mark.parametrize(("branch", "flavour"), [("580", "server"), ("595", "server-open")])
def test_the_driver_is_installed_from_the_signed_packages_of_ubuntu(
    machine: Machine, branch: str, flavour: str
) -> None:
    machine.options(GPU_HOST_HASH=HASH, NVIDIA_BRANCH=branch, NVIDIA_FLAVOUR=flavour)
    machine.stubs.add("modinfo", f"echo {branch}.84.01")

    assert machine.installed().code == 0
    assert [call.split("install ")[1] for call in machine.called("install linux-modules")] == [
        f"linux-modules-nvidia-{branch}-{flavour}-gcp nvidia-headless-no-dkms-{branch}-{flavour} nvidia-utils-{branch}-server"
    ]
    assert flavour != "server" or machine.called(f"install {server_package(branch)} ")
    assert machine.called("modinfo") == ["modinfo -k 6.17.0-1004-gcp -F version nvidia"]


def test_packages_that_must_match_the_driver_are_held(machine: Machine) -> None:
    machine.installed()
    held = {name for call in machine.called("apt-mark hold") for name in call.split()[2:]}

    assert {"linux-gcp", "linux-image-gcp", "nvidia-utils-580-server", "docker-ce", "nvidia-container-toolkit"} <= held
    assert machine.called("snap refresh --hold")
    assert [call.split()[1:] for call in machine.called("apt-daily")] == [
        ["disable", "--now", "apt-daily.timer", "apt-daily-upgrade.timer", "unattended-upgrades.service"],
        ["stop", "apt-daily.service", "apt-daily-upgrade.service"],
        ["mask", "apt-daily.service", "apt-daily-upgrade.service"],
    ]
    asking = [
        call for call in machine.called("apt-get ") if "--force-confdef" not in call or "--force-confold" not in call
    ]
    assert asking == []


@pytest.mark.parametrize("stated", ["ci-gpu-runner", "runnerx"])
def test_the_stated_user_and_the_user_of_cirun_are_in_the_group_docker(machine: Machine, stated: str) -> None:
    machine.options(GPU_HOST_HASH=HASH, DOCKER_USER=stated)
    machine.installed()
    users = sorted({stated, "runnerx"})

    assert machine.called("useradd") == [f"useradd --create-home --shell /bin/bash {user}" for user in users]
    assert machine.called("usermod") == [f"usermod --append --groups docker {user}" for user in users]


def test_docker_and_the_toolkit_come_from_the_vendors_repositories(machine: Machine) -> None:
    machine.options(GPU_HOST_HASH=HASH, DOCKER_VERSION="5:29.0.1-1~ubuntu.24.04~noble")
    machine.installed()
    lists = machine.root / "etc/apt/sources.list.d"

    assert (lists / "docker.list").read_text() == (
        "deb [arch=amd64 signed-by=/etc/apt/keyrings/docker.asc] https://download.docker.com/linux/ubuntu noble stable\n"
    )
    assert (lists / "nvidia-container-toolkit.list").read_text() == (
        "deb [signed-by=/etc/apt/keyrings/nvidia-container-toolkit.asc] "
        "https://nvidia.github.io/libnvidia-container/stable/deb/$(ARCH) /\n"
    )
    assert machine.called("install docker-ce=5:29.0.1-1~ubuntu.24.04~noble docker-ce-cli=5:29.0.1")
    assert machine.called("libnvidia-container1=1.20.0-1")
    assert machine.called("nvidia-ctk runtime configure --runtime=docker --set-as-default")


def test_packages_that_conflict_with_docker_are_removed_first(machine: Machine) -> None:
    machine.stubs.add("dpkg-query", 'case "$*" in *runc*|*docker.io*) echo installed;; *) exit 1;; esac')
    machine.installed()

    assert [call.split("remove ")[1] for call in machine.called(" remove ")] == ["docker.io runc"]


def test_uv_is_installed_with_a_pinned_hash(machine: Machine) -> None:
    machine.stubs.add(
        "python3",
        'mkdir -p "$3/bin"; printf "#!/bin/bash\\necho pip \\$* >>%s; tail -n 1 \\${*: -1} >>%s" '
        f'"{machine.stubs.log}" "{machine.stubs.log}" >"$3/bin/pip"; printf "#!/bin/bash" >"$3/bin/uv"; chmod +x "$3/bin/"*',
    )
    machine.installed()

    assert machine.called("--require-hashes --only-binary :all: --no-deps")
    assert machine.called("uv==0.13.8 --hash=sha256:e18a57b8b352eb7c")
    assert (machine.root / "usr/local/bin/uv").readlink() == Path("/opt/uv/bin/uv")


def test_the_image_contains_no_state_of_the_builder(machine: Machine) -> None:
    (machine.root / "etc/systemd/system").mkdir(parents=True)
    (machine.root / "etc/systemd/system/gpu-host-install.service").touch()
    (machine.root / "var/log/journal/0123").mkdir(parents=True)
    machine.stubs.add("journalctl", f'[ "$*" = --relinquish-var ] && [ -s "{machine.root}/etc/machine-id" ]')
    machine.installed()

    assert (machine.root / "etc/machine-id").read_text() == ""
    assert list((machine.root / "etc/ssh").iterdir()) == []
    assert list((machine.root / "var/lib/apt/lists").iterdir()) == []
    assert list((machine.root / "var/log/journal").iterdir()) == []
    assert not (machine.root / "etc/systemd/system/gpu-host-install.service").exists()
    assert machine.called("cloud-init clean --logs")


@pytest.mark.parametrize(
    ("command", "words", "stage"),
    [
        ("snap", "refresh", "quiet"),
        ("apt-get", "dist-upgrade", "upgrade"),
        ("apt-get", "install docker-ce", "docker"),
        ("curl", "download.docker.com/linux/ubuntu/gpg", "docker"),
        ("apt-get", "install linux-modules", "driver"),
        ("nvidia-ctk", "runtime configure", "toolkit"),
        ("systemctl", "restart docker", "toolkit"),
        ("usermod", "docker", "user"),
        ("systemctl", "enable gpu-host-local-ssd", "local_ssd"),
        ("python3", "venv", "uv"),
        ("modinfo", "6.17.0-1004-gcp", "check"),
        ("cloud-init", "clean", "cleanup"),
    ],
)
def test_a_failed_stage_is_reported_by_name_and_repeated_by_the_next_run(
    machine: Machine, command: str, words: str, stage: str
) -> None:
    kept = (machine.stubs.path / command).read_text()
    machine.stubs.failing(command, words)
    failed = machine.installed()
    reports = machine.reports()
    (machine.stubs.path / command).write_text(kept)
    machine.installed()

    assert failed.code == 7
    assert reports[-1].startswith(f"fail:{stage}:7:")
    assert machine.reports()[-1] == f"ok:{HASH}"


def test_an_interrupted_stage_is_not_a_failure_and_continues_after_the_restart(machine: Machine) -> None:
    kept = (machine.stubs.path / "apt-get").read_text()
    machine.script("install.sh", "resume")
    machine.stubs.add("apt-get", 'case "$*" in *install\\ docker-ce*) exec sleep 30;; esac')
    command, options = started_as_called(
        "ami/gce-gpu-host/install.sh",
        machine.home / "install.sh",
        "resume",
        world=machine.root,
        environment={"PATH": str(machine.stubs.path), "GPU_HOST_ROOT": str(machine.root)},
        caller="a service of systemd with a user",
    )
    options |= {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "start_new_session": True}
    process = subprocess.Popen(command, **options)
    end = time.monotonic() + 120
    while not machine.called("install docker-ce"):
        assert time.monotonic() < end
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGTERM)
    process.wait(timeout=120)
    reports = machine.reports()
    (machine.stubs.path / "apt-get").write_text(kept)
    machine.script("install.sh", "resume")

    assert (process.returncode, reports) == (143, [])
    assert machine.reports() == [f"ok:{HASH}"]


def signed_otherwise(machine: Machine, host: str, listed: str) -> Run:
    """An installation where one of the owners hands out other keys."""
    other = next(name for name in KEYS if name != host)
    machine.stubs.add(
        "gpg",
        f'if grep -q "{host}" "${{*: -1}}"; then printf "%s\\n" {listed}; '
        f'else printf "%s\\n" {listing(KEYS[other])}; fi',
    )
    return machine.installed()


@pytest.mark.parametrize("host", KEYS)
@pytest.mark.parametrize("listed", ["{other}", "{other} {right}", "{right} {other}", "{subkey}"])
def test_a_key_with_another_fingerprint_is_rejected(machine: Machine, host: str, listed: str) -> None:
    other, right = listing("0" * 40), listing(KEYS[host])
    subkey = f"pub: fpr:::::::::{'0' * 40}: sub: fpr:::::::::{KEYS[host]}:"
    run = signed_otherwise(machine, host, listed.format(other=other, right=right, subkey=subkey))

    assert run.code == 1
    assert f"is not signed by {KEYS[host]} alone but by '" in run.err
    assert machine.reports()[-1].startswith("fail:")


@pytest.mark.parametrize(
    ("command", "answer", "report"),
    [
        ("modinfo", "570.10", "has driver '570.10', and 580 was asked for"),
        ("docker", "runc", "fail:check:1:docker's default runtime is 'runc'"),
        ("id", "ci-gpu-runner docker google-sudoers", "is in google-sudoers, and could become root by it"),
    ],
)
def test_a_wrong_part_of_the_host_fails_the_build(machine: Machine, command: str, answer: str, report: str) -> None:
    machine.stubs.add(command, f"echo {answer}")

    assert machine.installed().code == 1
    assert report in machine.reports()[-1]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("NVIDIA_BRANCH", "580-server"),
        ("NVIDIA_FLAVOUR", "desktop"),
        ("NVIDIA_TOOLKIT_VERSION", "latest"),
        ("DOCKER_VERSION", "latest"),
        ("DOCKER_USER", "Root!"),
        ("DOCKER_USER", "root"),
        ("LOCAL_SSD", "yes"),
        ("STOP_WHEN_DONE", "yes"),
        ("UV_SHA256", "abc"),
    ],
)
def test_an_invalid_option_fails_the_build_before_any_change(machine: Machine, name: str, value: str) -> None:
    machine.options(**{"GPU_HOST_HASH": HASH, name: value})
    run = machine.script("install.sh", "resume")

    assert run.code == 1
    assert f"{name}={value} does not fit" in run.err
    assert [call.split()[0] for call in machine.stubs.calls()] == ["curl"]


def test_the_report_is_also_written_to_the_console(machine: Machine) -> None:
    machine.stubs.failing("curl", "guest-attributes")
    run = machine.installed()

    assert run.code == 0
    assert f"gpu-host-report: ok:{HASH}\n" in run.out


GOOD = "Tesla T4, 580.173.02"


def verifying(machine: Machine, host: str = GOOD, inside: str = GOOD, **options: str) -> Run:
    """A machine booted from the image, on which the verifier runs from a folder of its own."""
    machine.installed()
    machine.stubs.log.unlink()
    machine.stubs.add("nvidia-smi", f'printf "%s\\n" ${host!r}')
    machine.stubs.add("docker", f'printf "%s\\n" ${inside!r}')
    machine.stubs.add("timeout", 'shift; exec "$@"')
    machine.stubs.add("runuser", 'case "$*" in *sudo*) exit 1;; esac; echo nvidia')
    (machine.root / "usr/local/bin/uv").unlink()
    (machine.root / "usr/local/bin/uv").write_text("#!/bin/bash\necho 'uv 0.13.8 (x86_64)'")
    (machine.root / "usr/local/bin/uv").chmod(0o755)
    own = machine.root / "run" / "verify"
    shutil.copytree(machine.home, own)
    lines = "".join(f"{name}={value!r}\n" for name, value in ({"GPU_HOST_HASH": HASH} | options).items())
    (own / "options.env").write_text(lines)
    return machine.verify()


def test_a_valid_image_passes_the_verification_on_its_gpu(machine: Machine) -> None:
    run = verifying(machine, GPU_FAMILY="T4")

    assert (run.code, machine.reports()) == (0, [f"ok:{HASH}"])
    assert machine.called("docker run --rm --gpus all nvidia/cuda:12.9.1-base-ubuntu24.04 nvidia-smi --query-gpu=")
    asked = [call.split()[2] for call in machine.called("runuser") if "docker info" in call]
    assert asked == ["ci-gpu-runner", "runnerx"]


REPORTED = {
    "p4": "Tesla P4",
    "p100": "Tesla P100-PCIE-16GB",
    "v100": "Tesla V100-SXM2-16GB",
    "v100-32gb": "Tesla V100-SXM2-32GB",
    "t4": "Tesla T4",
    "a10g": "NVIDIA A10G",
    "l4": "NVIDIA L4",
    "l40s": "NVIDIA L40S",
    "a100": "NVIDIA A100-SXM4-40GB",
    "a100-80gb": "NVIDIA A100-SXM4-80GB",
    "h100": "NVIDIA H100 80GB HBM3",
    "h200": "NVIDIA H200",
    "b200": "NVIDIA B200",
    "b300": "NVIDIA B300 SXM6 AC",
    "rtx-pro-6000": "NVIDIA RTX PRO 6000 Blackwell Server Edition",
}
"""The name that nvidia-smi reports for each model, as in public logs of drivers 535 to 595 (2025 and 2026)."""
MODELS = [GPU_MODELS[slug] for slug in REPORTED]


def test_every_gpu_of_google_cloud_has_a_reported_name() -> None:
    assert {slug for slug, model in GPU_MODELS.items() if model.gcp} - REPORTED.keys() == set()


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.slug)
def test_a_family_identifies_no_other_model(model: GpuModel) -> None:
    """Only the memory differs within a family, and the machine type decides it."""
    alike = [slug for slug, name in REPORTED.items() if model.family in name.replace("-", " ").split()]

    assert model.slug in alike
    assert {GPU_MODELS[slug].family for slug in alike} == {model.family}


def test_a_kernel_runs_in_a_container_on_every_gpu(machine: Machine) -> None:
    verifying(machine, host=f"{GOOD}\n{GOOD}", inside=f"{GOOD}\n{GOOD}", GPUS="2")
    runs = [call for call in machine.called("docker run") if "vectoradd" in call]

    assert [call.split()[4] for call in runs] == ["device=0", "device=1"]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"host": "Tesla T4, 570.1"}, "driver 570.1 runs, and branch 580 was asked for"),
        ({"host": f"{GOOD}\n{GOOD}"}, "2 GPUs answer, and the machine was made with 1"),
        ({"inside": "Tesla T4, 570.1"}, "a container sees 'Tesla T4, 570.1'"),
        ({"GPU_FAMILY": "L4"}, "the GPU is a Tesla T4, and the machine was made with a L4"),
        ({"GPU_HOST_HASH": "ffffffff"}, "this machine was not booted from the image ffffffff"),
        ({"UV_VERSION": "0.14.0"}, "and uv 0.14.0 was asked for"),
    ],
)
def test_an_image_that_differs_from_its_options_fails_the_verification(
    machine: Machine, change: dict[str, str], reason: str
) -> None:
    run = verifying(machine, **change)

    assert run.code == 1
    assert reason in machine.reports()[-1]


@pytest.mark.parametrize(
    ("command", "body", "stage"),
    [
        ("nvidia-smi", "echo No devices were found; exit 6", "driver:1:nvidia-smi fails with 6: No devices were found"),
        ("docker", "exit 125", "docker"),
        (
            "docker",
            'case "$1 $*" in run*--query*) echo refused; exit 9;; esac',
            "docker:1:a container fails with 9: refused",
        ),
        ("docker", f'case "$1 $*" in run*vectoradd*) exit 1;; esac; printf "%s\\n" {GOOD!r}', "kernel:1"),
        ("systemctl", "exit 1", "docker"),
        ("runuser", "exit 0", "user"),
    ],
)
def test_every_failed_check_fails_the_verification(machine: Machine, command: str, body: str, stage: str) -> None:
    verifying(machine)
    machine.stubs.add(command, body)
    run = machine.verify()

    assert run.code != 0
    assert machine.reports()[-1].startswith(f"fail:{stage}")


def test_an_unavailable_registry_is_not_reported_as_a_fault_of_the_image(machine: Machine) -> None:
    verifying(machine)
    machine.stubs.add("sleep")
    machine.stubs.add("docker", 'case "$1" in pull) exit 1;; esac')
    run = machine.verify()

    assert run.code == 1
    assert machine.reports()[-1].startswith(f"fail:{ELSEWHERE[0]}:1:nvidia/cuda:12.9.1-base-ubuntu24.04")
    assert machine.called("sleep") == ["sleep 0", "sleep 10", "sleep 30"]


def test_a_failed_pull_is_repeated(machine: Machine) -> None:
    verifying(machine)
    once = machine.root / "asked"
    machine.stubs.add("sleep")
    docker = f'case "$1" in pull) if [ ! -e {once} ]; then touch {once}; exit 1; fi;; *) printf "%s\\n" {GOOD!r};; esac'
    machine.stubs.add("docker", docker)
    run = machine.verify()

    assert (run.code, machine.reports()[-1]) == (0, f"ok:{HASH}")


@pytest.fixture
def disks(machine: Machine) -> Machine:
    for name in ("mount", "mkfs.ext4"):
        machine.stubs.add(name)
    machine.stubs.add("mountpoint", "exit 1")
    machine.stubs.add("blkid", "exit 2")
    (machine.root / "dev/disk/by-id").mkdir(parents=True)
    return machine


def test_a_blank_local_ssd_is_formatted_and_stores_the_data_of_docker(disks: Machine) -> None:
    device = disks.root / "dev/disk/by-id/google-local-nvme-ssd-0"
    device.touch()
    root = disks.root

    assert disks.script("local-ssd.sh").code == 0
    assert [call for call in disks.stubs.calls() if not call.startswith(("blkid", "mountpoint"))] == [
        f"mkfs.ext4 -F -m 0 {device}",
        f"mount -o discard,noatime {device} {root}/mnt/local-ssd",
        f"mount --bind {root}/mnt/local-ssd/docker {root}/var/lib/docker",
        f"mount --bind {root}/mnt/local-ssd/containerd {root}/var/lib/containerd",
    ]


@pytest.mark.parametrize(
    ("device", "answer", "boots", "mounts"),
    [
        ("", "exit 4", True, False),
        ("/dev/sdb", "echo ext4", True, True),
        ("/dev/sdb", "echo LVM2_member", False, False),
        ("/dev/sdb", "exit 4", False, False),
    ],
)
def test_a_disk_with_content_is_not_formatted(
    disks: Machine, device: str, answer: str, boots: bool, mounts: bool
) -> None:
    disks.stubs.add("blkid", answer)

    assert (disks.script("local-ssd.sh", LOCAL_SSD_DEVICE=device).code == 0) is boots
    assert disks.called("mkfs") == []
    assert bool(disks.called("mount -o discard,noatime /dev/sdb")) is mounts


@pytest.mark.parametrize("unit", sorted(FOLDER.glob("*.service")), ids=lambda path: path.name)
def test_a_unit_passes_systemd_analyze_verify(unit: Path) -> None:
    result = subprocess.run(
        [linter("systemd-analyze"), "verify", str(unit)], capture_output=True, text=True, check=False
    )

    assert (result.returncode, result.stderr) == (0, "")


def test_the_readme_names_every_file_and_every_option() -> None:
    readme = (FOLDER / "README.md").read_text()
    options = [
        line.split("=")[0]
        for line in (FOLDER / "options.sh").read_text().splitlines()
        if ":-" in line and line[0].isupper()
    ]

    assert [path.name for path in FOLDER.iterdir() if f"`{path.name}`" not in readme and path.name != "README.md"] == []
    assert [name for name in options if f"`{name}`" not in readme] == []
