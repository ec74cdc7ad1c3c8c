"""The scripts in the documents of machine images: checked by ShellCheck, and run below a root folder.

systemd and apt are real. Facts about the base image of EKS are those of awslabs/amazon-eks-ami, v20260724.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
import yaml

from tests.artefacts.callers import Run
from tests.artefacts.fake_commands import FakeCommands
from tests.artefacts.linters import linter
from tests.derived.test_aws_images import DIGEST, content, scripts

pytestmark = pytest.mark.artefacts

ROOT: Final = Path(__file__).parents[2]
IMAGE: Final = f"ghcr.io/example-org/runner@{DIGEST}"
SYSCTL: Final = {"fs.inotify.max_user_watches": 1048576, "vm.max_map_count": 262144, "kernel.panic": 10}
OPTIONS: Final = {"pre_pull": (IMAGE,), "sysctl": SYSCTL}
PINNED: Final = f"{IMAGE} application/vnd.oci linux/amd64 io.cri-containerd.pinned=pinned"
BASE: Final = {
    "etc/sysctl.conf": "fs.inotify.max_user_watches=524288\nvm.max_map_count=524288\n",
    "etc/sysctl.d/99-amazon.conf": "vm.overcommit_memory=1\nkernel.panic=10\n",
    "etc/sysctl.d/99-kubernetes-cri.conf": "net.ipv4.ip_forward = 1\n",
    "usr/lib/sysctl.d/50-default.conf": "kernel.panic=0\n",
}
"""Files of the base image that set kernel parameters at a boot."""
BOOTS: Final = {
    "g4dn": ("nvidia", "etc/modprobe.d/nvidia-disable-gsp.conf"),
    "g6": ("nvidia-open", "etc/modprobe.d/40-eks-nvidia-openrm.conf"),
    "g6f": ("nvidia-open-grid", "etc/modprobe.d/40-eks-nvidia-openrm.conf"),
}
"""A type of the builder, the kernel module that its boot unpacks, and a file that it writes."""
LOCK: Final = "import fcntl, sys, time\nf = open(sys.argv[1], 'w')\nfcntl.lockf(f, fcntl.LOCK_EX)\nprint(flush=True)\ntime.sleep(60)"


def rendered(kind: str, document: str, **options: object) -> dict[str, str]:
    """Return the scripts as Image Builder runs them, with the values of the constants, by step."""
    made = content(kind, **options)
    text = made.build if document == "build" else made.test
    for item in yaml.safe_load(text).get("constants", ()):
        for name, one in item.items():
            text = text.replace("{{ " + name + " }}", one["value"])
    steps = [step for phase in yaml.safe_load(text)["phases"] for step in phase["steps"]]
    return dict(zip([step["name"] for step in steps if "commands" in step["inputs"]], scripts(text), strict=True))


@pytest.mark.parametrize("document", ["build", "test"])
@pytest.mark.parametrize("kind", ["eks", "ec2"])
def test_the_scripts_pass_shellcheck(kind: str, document: str) -> None:
    # SC1091: the file is on the machine. SC2043 and SC2066: a list of options may have one entry.
    command = [linter("shellcheck"), "--shell=bash", "--exclude=SC1091,SC2043,SC2066", "-"]
    for script in rendered(kind, document, **OPTIONS).values():
        ended = subprocess.run(command, input=script, capture_output=True, text=True, check=False)
        assert (ended.returncode, ended.stdout) == (0, "")


class Machine(FakeCommands):
    """A machine below a folder, whose GPU works. Its kernel has the parameters that the files set, in systemd's order."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.root = folder / "root"
        for path, text in BASE.items():
            self.file(path, text)
        (self.root / "etc/sysctl.d/99-sysctl.conf").symlink_to("../sysctl.conf")
        order = f"{linter('systemd-analyze')} cat-config --root={self.root} sysctl.d"
        self.add("sysctl", f'value=$({order} | sed -n "s/^$2 *= *//p" | tail -n 1); echo "$value"')
        self.add("systemctl", "case $1 in is-active) echo active;; is-enabled) echo masked;; esac")
        self.add("docker", 'case $* in *json*) echo "{}";; esac')
        self.add("jq", "case $* in *Runtime) echo nvidia;; *) echo cgroupfs;; esac")
        self.add("stat", "echo 750:runner:runner")
        self.add("runuser", '[ "$4" != sudo ]')
        self.add("nvidia-smi", 'echo "580.159.03, Enabled"')
        self.add("ctr", f'case "$*" in *list*) echo "{PINNED}";; esac')
        self.add("aws", "echo token")
        for name in ("cloud-init", "apt-get", "nvidia-ctk", "rpm"):
            self.add(name)
        self.add("kmod-util", f'rm -r "{self.root}/var/lib/$1/$2"; rm -r "{self.root}/var/lib/dkms/$2"')

    def file(self, path: str, text: str = "") -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text, encoding="utf-8")

    def files(self) -> set[str]:
        return {str(path.relative_to(self.root)) for path in self.root.rglob("*")}

    def step(self, kind: str, document: str, name: str, **options: object) -> Run:
        script = rendered(kind, document, **(options or OPTIONS))[name]
        local = re.sub(r"(?<![\w.])/(?=etc/|var/|usr/src|usr/bin/nodeadm)", f"{self.root}/", script)
        caller = "ExecuteBash of Image Builder"
        return self.run_as_called(f"ami/{kind}-gpu/{document}.yaml", local, caller=caller)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.mark.parametrize("kind", ["eks", "ec2"])
def test_kernel_parameters_of_the_stack_file_win_at_a_boot(machine: Machine, kind: str) -> None:
    built = machine.step(kind, "build", "Sysctl")
    after_a_boot = machine.step(kind, "test", "Content")

    assert (built.code, built.err, after_a_boot.code, after_a_boot.err) == (0, "", 0, "")


@pytest.mark.parametrize("document", ["build", "test"])
def test_a_parameter_that_another_file_sets_is_reported(machine: Machine, document: str) -> None:
    machine.file("etc/sysctl.d/zz-other.conf", "vm.max_map_count=65530\n")
    machine.step("eks", "build", "Sysctl")
    run = machine.step("eks", document, "Sysctl" if document == "build" else "Content")

    assert (run.code, run.err) == (1, "vm.max_map_count: '262144' is expected, and '65530' was found\n")


@pytest.mark.parametrize("builder", BOOTS)
def test_the_image_has_no_kernel_module_of_the_builder(machine: Machine, builder: str) -> None:
    module, options = BOOTS[builder]
    for name, _ in BOOTS.values():
        machine.file(f"var/lib/dkms-archive/{name}/{name}-580.159.03.dkms.tar.gz")
    for path in ("var/lib/dkms/efa/2.17.2/source", "usr/src/kernels/6.12/Makefile", "etc/modprobe.d/blacklist.conf"):
        machine.file(path)
    before = machine.files()
    for path in (f"var/lib/dkms/{module}/580.159.03/source", f"usr/src/{module}-580.159.03/dkms.conf", options):
        machine.file(path)
    machine.add("kmod-util", f'rm -r "{machine.root}/var/lib/dkms/$2"')
    run = machine.step("eks", "build", "KernelModules")

    assert (run.code, machine.files()) == (0, before)
    assert machine.calls() == ["systemctl start nvidia-kmod-load.service", f"kmod-util remove {module}"]


def test_a_kernel_module_of_the_builder_fails_the_build(machine: Machine) -> None:
    machine.add("stat", "echo 750:1001:1001")
    for path in ("var/lib/dkms/nvidia-open/580", "usr/src/kernels/6.12", "usr/bin/nodeadm"):
        machine.file(path)
    (machine.root / "usr/bin/nodeadm").chmod(0o755)
    run = machine.step("eks", "build", "Content")

    assert run.code == 1
    assert run.err.startswith("kernel modules of the builder: '' is expected, and '")


@pytest.mark.parametrize("kind", ["eks", "ec2"])
def test_a_machine_whose_gpu_works_passes(machine: Machine, kind: str) -> None:
    machine.step(kind, "build", "Sysctl")

    runs = {name: machine.step(kind, "test", name) for name in rendered(kind, "test")}
    assert {name: run.err for name, run in runs.items() if run.code != 0} == {}
    kernel = (
        "ctr run --rm --runc-binary /usr/bin/nvidia-container-runtime"
        if kind == "eks"
        else "docker run --rm --gpus all"
    )
    assert [call for call in machine.calls() if call.startswith(kernel)]


FAILED: Final = {
    ("eks", "Driver", "nvidia-smi", "echo No devices were found; exit 6"): "nvidia-smi fails: No devices were found",
    ("ec2", "Driver", "nvidia-smi", ""): "branch of the driver : '580' is expected, and '' was found",
    (
        "eks",
        "Driver",
        "nvidia-smi",
        'printf "580.1, Enabled\\n595.2, Enabled\\n"',
    ): "branch of the driver 595.2: '580' is",
    (
        "ec2",
        "Driver",
        "nvidia-smi",
        'echo "580.1, Disabled"',
    ): "persistence mode: 'Enabled' is expected, and 'Disabled' was",
    (
        "ec2",
        "Driver",
        "systemctl",
        "echo failed; exit 3",
    ): "state of nvidia-persistenced: 'active' is expected, and 'failed'",
    ("eks", "Kernel", "ctr", 'echo "ctr: no GPU" >&2; [ "$1" != run ]'): "ctr: no GPU",
    ("ec2", "Kernel", "docker", "echo no GPU >&2; exit 1"): "no GPU",
    ("eks", "Content", "ctr", f"echo {IMAGE}"): f"{IMAGE}: the label io.cri-containerd.pinned=pinned is expected, and",
    ("ec2", "Users", "runuser", "true"): "runner can become root",
    ("ec2", "Users", "jq", "echo runc"): "default runtime of Docker: 'nvidia' is expected, and 'runc' was found",
    ("ec2", "Users", "stat", "echo 755:root:root"): "/var/cache/ccache: '750:runner:runner' is expected",
    ("ec2", "Users", "systemctl", "echo static"): "apt-daily.service: 'masked' is expected, and 'static' was found",
}
"""The kind of image, the step, and a command with the answer that fails the step, to the message."""


@pytest.mark.parametrize(("failing", "message"), FAILED.items())
def test_a_failed_test_is_reported(machine: Machine, failing: tuple[str, str, str, str], message: str) -> None:
    kind, step, name, body = failing
    machine.step(kind, "build", "Sysctl")
    machine.add(name, body)
    run = machine.step(kind, "test", step)

    assert run.code != 0
    assert message in run.err.replace(f"{machine.root}/", "/")


@pytest.mark.parametrize("host", ["{}.us-east-1", "{}.us-west-2", "{}-fips.us-east-1"])
@pytest.mark.parametrize("kind", ["eks", "ec2"])
def test_an_image_in_ecr_is_pulled_with_a_login_of_its_region(machine: Machine, kind: str, host: str) -> None:
    address = f"210987654321.{host.format('dkr.ecr')}.amazonaws.com"
    image = f"{address}/gpu-ci-staging/runner@{DIGEST}"
    machine.file("var/tmp/gpu-ci-apt", '#!/bin/bash\nexec apt-get "$@"\n')
    (machine.root / "var/tmp/gpu-ci-apt").chmod(0o755)
    machine.add("docker", 'cat "$DOCKER_CONFIG/config.json"')
    run = machine.step(kind, "build", "Images", pre_pull=(IMAGE, image) if kind == "eks" else (image,))

    assert (run.code, run.err) == (0, "")
    if kind == "eks":
        region = host.rpartition(".")[2]
        assert f"aws ecr get-login-password --region {region}" in machine.calls()
        assert f"ctr --namespace k8s.io images pull --platform linux/amd64 {IMAGE}" in machine.calls()
        assert f"ctr --namespace k8s.io images pull --platform linux/amd64 --user AWS:token {image}" in machine.calls()
        assert f"ctr --namespace k8s.io images label {image} io.cri-containerd.pinned=pinned" in machine.calls()
    else:
        assert yaml.safe_load(run.out) == {"credHelpers": {address: "ecr-login"}}
        assert machine.calls()[:2] == ["apt-get install amazon-ecr-credential-helper", f"docker pull --quiet {image}"]


@pytest.mark.parametrize("place", ["ec2", "gce"])
def test_an_update_waits_for_the_lock_of_the_lists(machine: Machine, place: str) -> None:
    """Run the real apt-get while another process has the lock. The fake pause ends that process."""
    lists = machine.root / "var/lib/apt/lists"
    for path in (
        "var/lib/apt/lists/partial",
        "var/lib/dpkg",
        "var/cache/apt/archives/partial",
        "etc/apt/sources.list.d",
    ):
        (machine.root / path).mkdir(parents=True)
    machine.file("var/lib/dpkg/status")
    (machine.root / "var/tmp").mkdir()
    machine.step("ec2", "build", "Upgrade")
    machine.add("apt-get", f'exec {linter("apt-get")} --option Dir={machine.root} "$@"')
    update = ["bash", str(machine.root / "var/tmp/gpu-ci-apt"), "update"]
    if place == "gce":
        update = ["bash", "-c", f"set -Eeuo pipefail; HERE=.; . {ROOT}/ami/gce-gpu-host/lib.sh; apt update"]
    with subprocess.Popen([sys.executable, "-c", LOCK, str(lists / "lock")], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        machine.add("sleep", f"kill {holder.pid}; while [ -e /proc/{holder.pid}/fd/3 ]; do :; done")
        run = machine.run(update)
        holder.kill()

    assert run.code == 0, run.err
    assert "Could not get lock" in run.err
    assert [call for call in machine.calls() if call.startswith("sleep")]


@pytest.mark.parametrize(
    ("command", "body", "code", "message"),
    [
        ("cloud-init", "exit 2", 0, ""),
        ("cloud-init", "exit 1", 1, "cloud-init failed: its status is above\n"),
        ("apt-get", 'case "$*" in *dist-upgrade*) exit 100;; esac', 100, "apt-get dist-upgrade failed with 100\n"),
    ],
)
def test_an_upgrade_starts_alone_and_its_failure_is_reported(
    machine: Machine, command: str, body: str, code: int, message: str
) -> None:
    machine.file("var/tmp/other")
    machine.add(command, body)
    run = machine.step("ec2", "build", "Upgrade")
    units = [call.partition("apt-daily")[0] for call in machine.calls() if call.startswith("systemctl")]

    assert (run.code, run.err) == (code, message)
    assert units == (["systemctl disable --now ", "systemctl stop ", "systemctl mask "] if code != 1 else [])
    assert len([call for call in machine.calls() if "dist-upgrade" in call]) == int(code != 1)
