"""The scripts that check the GPU of a runner, run with fake commands and a fake ONNX Runtime."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from ops.kit.scripts import LABELS_FILE, ORT_FILE, VERIFY_FILE, scripts
from tests.artefacts.fake_commands import FakeCommands, Run
from tests.artefacts.linters import linter
from tests.stack_file import stacks

pytestmark = pytest.mark.artefacts

T4: Final = "Tesla T4, 580.159.03, 15360 MiB"
VM: Final = "examples/vm-aws.yaml"
SHARED: Final = "examples/eks-arc.yaml"


class Machine:
    """A machine with its devices and its nvidia-smi."""

    def __init__(self, folder: Path, stack: str, changes: dict[str, Any] | None = None) -> None:
        self.devices = folder / "dev"
        self.devices.mkdir()
        for name in ("nvidia0", "nvidiactl", "nvidia-uvm"):
            (self.devices / name).touch()
        self.script = folder / "verify_gpu.sh"
        text = scripts(stacks.settings(stack, changes))[VERIFY_FILE]
        self.script.write_text(text.replace("/dev/nvidia", f"{self.devices}/nvidia"), encoding="utf-8")
        self.stubs = FakeCommands(folder)
        self.stubs.add("id", 'if [ "$1" = -un ]; then echo ci; else echo "ci video render"; fi')
        (self.stubs.path / "timeout").symlink_to(shutil.which("timeout") or "")

    def gpus(self, *lines: str, code: int = 0) -> None:
        """Set the answer of nvidia-smi."""
        printed = " ".join(f"'{line}'" for line in lines)
        self.stubs.add("nvidia-smi", f"printf '%s\\n' {printed}\nexit {code}")

    def run(self, *words: str) -> Run:
        return self.stubs.run_as_called("gpu_ci/repository/templates/verify_gpu.sh.j2", self.script, *words)


@pytest.fixture
def machine(open_path: Path) -> Machine:
    made = Machine(open_path, VM)
    made.gpus(T4)
    return made


def test_a_machine_with_its_gpu_has_no_finding(machine: Machine) -> None:
    ended = machine.run()

    assert (ended.code, ended.err) == (0, "")
    assert "FAILED" not in ended.out
    assert "ok      the model is Tesla T4\nok      driver 580.159.03 supports CUDA 12.9\n" in ended.out
    assert machine.stubs.calls()[-1] == (
        "nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader"
    )


@pytest.mark.parametrize(
    ("lines", "code", "words"),
    [
        (["No devices were found"], 0, "promises 1 GPU(s), and 0 answer"),
        (["Unable to determine the device handle for GPU0: Unknown Error"], 0, "promises 1 GPU(s), and 0 answer"),
        (["ERR!, 580.159.03, [Unknown Error]"], 0, "promises 1 GPU(s), and 0 answer"),
        ([T4, T4], 0, "promises 1 GPU(s), and 2 answer"),
        (["NVIDIA L4, 580.159.03, 23034 MiB"], 0, "promises the model T4, and this is NVIDIA L4"),
        (["Tesla T40, 580.159.03, 15360 MiB"], 0, "promises the model T4, and this is Tesla T40"),
        (["Tesla T4, 470.57.02, 15360 MiB"], 0, "driver 470.57.02 is insufficient for CUDA 12.9"),
        (["Insufficient Permissions"], 4, "usermod --append --groups video,render ci"),
        (["NVIDIA-SMI has failed because it could not communicate with the NVIDIA driver"], 9, "driver is not loaded"),
        (["Failed to initialize NVML: could not be found"], 12, "NVIDIA_DRIVER_CAPABILITIES=compute,utility"),
        (["GPU is lost"], 15, "fallen off the bus"),
        (["Unknown Error"], 255, "fails with exit code 255"),
        ([], 127, "nvidia-smi cannot be run"),
        ([], 124, "does not answer within a minute"),
    ],
)
def test_a_broken_gpu_is_a_finding(machine: Machine, lines: list[str], code: int, words: str) -> None:
    machine.gpus(*lines, code=code)
    ended = machine.run()

    assert ended.code == 1
    assert words in ended.out


def test_a_machine_without_nvidia_smi_has_a_finding(machine: Machine) -> None:
    (machine.stubs.path / "nvidia-smi").unlink()

    assert "nvidia-smi cannot be run" in machine.run().out
    assert machine.run().code == 1


def test_exit_code_14_is_printed_without_a_finding(machine: Machine) -> None:
    """The infoROM is corrupted, but the GPU works."""
    machine.gpus(T4, "WARNING: infoROM is corrupted at gpu 0000:00:1E.0", code=14)
    ended = machine.run()

    assert ended.code == 0
    assert "note    the infoROM of a GPU is corrupted" in ended.out


@pytest.mark.parametrize(
    ("device", "words"),
    [
        ("nvidia0", "/nvidia0 does not exist"),
        (
            "nvidia-uvm",
            "/nvidia-uvm does not exist\n        On a machine: install the driver, then run sudo nvidia-modprobe",
        ),
    ],
)
def test_a_missing_device_is_a_finding(machine: Machine, device: str, words: str) -> None:
    (machine.devices / device).unlink()
    ended = machine.run()

    assert ended.code == 1
    assert words in ended.out


def test_a_device_that_the_user_cannot_open_is_a_finding_with_the_groups(machine: Machine) -> None:
    """The tests may run as root, which can open every file, so the test of access is replaced."""
    text = machine.script.read_text(encoding="utf-8")
    machine.script.write_text(text.replace('[ ! -r "$device" ]', "[[ $device == *nvidia0 ]]"), encoding="utf-8")
    ended = machine.run()

    assert ended.code == 1
    assert (
        f"FAILED  ci cannot open {machine.devices}/nvidia0\n        sudo usermod --append --groups video,render ci"
        in (ended.out)
    )


def test_missing_groups_are_printed(machine: Machine) -> None:
    machine.stubs.add("id", "echo ci")
    ended = machine.run()

    assert ended.code == 0
    assert [line for line in ended.out.splitlines() if line.startswith("note")] == [
        "note    ci is not in the group video, which some libraries need",
        "note    ci is not in the group render, which some libraries need",
    ]


def test_a_runner_is_named_where_there_are_several(open_path: Path) -> None:
    machine = Machine(open_path, stacks.STAGING)
    machine.gpus(T4)
    missing, unknown = machine.run(), machine.run("gpu-tt4")

    assert (missing.code, unknown.code, machine.run("gpu-t4").code) == (2, 2, 0)
    names = "cirun-gcp-gpu, gpu-t4, gpu-t4-steady"
    assert unknown.err == f'verify_gpu: "gpu-tt4" is not a runner; write one of: {names}\n'


@pytest.mark.parametrize(("seen", "code"), [(0, 1), (1, 0), (2, 0), (3, 1)])
def test_shares_of_one_gpu_may_appear_as_one_gpu(open_path: Path, seen: int, code: int) -> None:
    machine = Machine(open_path, SHARED, {"runners/gpu-light/needs/gpus": 2})
    machine.gpus(*[T4] * seen)

    assert machine.run("gpu-light").code == code


NUMPY: Final = """
float32 = "float32"
def ones(shape, dtype): return 1.0
def allclose(found, expected): return found == expected
"""
ORT: Final = """
import os, sys
__version__ = "1.31.1"
AVAILABLE, USED = ([name + "ExecutionProvider" for name in os.environ[key].split()] for key in ("AVAILABLE", "USED"))
def get_available_providers(): return AVAILABLE
def preload_dlls(): print("libcublasLt.so.13: cannot open", file=sys.stderr) if "CUDA" not in os.environ["USED"] else None
class InferenceSession:
    def __init__(self, model, providers):
        if os.environ.get("ERROR"): raise RuntimeError(os.environ["ERROR"])
        assert isinstance(model, bytes) and providers == ["CUDAExecutionProvider", "CPUExecutionProvider"]
    def get_providers(self): return USED
    def run(self, outputs, inputs): return [float(os.environ.get("PRODUCT", "2"))]
"""
BOTH: Final = "CUDA CPU"


def session(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the script with a fake ONNX Runtime, where `environment` states one."""
    script = folder / "check_ort_cuda.py"
    script.write_text(scripts(stacks.settings(VM))[ORT_FILE], encoding="utf-8")
    if environment:
        (folder / "numpy.py").write_text(NUMPY, encoding="utf-8")
        (folder / "onnxruntime.py").write_text(ORT, encoding="utf-8")
    command = [sys.executable, "-S", str(script)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_a_session_on_cuda_succeeds(tmp_path: Path) -> None:
    ended = session(tmp_path, AVAILABLE=BOTH, USED=BOTH)

    assert (ended.returncode, ended.stderr) == (0, "")
    assert "version:   1.31.1\n" in ended.stdout
    assert "session:   CUDAExecutionProvider, CPUExecutionProvider\nok      the session runs on CUDA\n" in ended.stdout


@pytest.mark.parametrize(
    ("environment", "code", "words"),
    [
        ({}, 2, "cannot be imported: No module named 'numpy'; run: pip install onnxruntime-gpu"),
        ({"AVAILABLE": "CPU", "USED": "CPU"}, 1, "this build has no CUDA; run: pip uninstall --yes onnxruntime "),
        ({"AVAILABLE": BOTH, "USED": "CPU"}, 1, "libcublasLt.so.13: cannot open\nFAILED  the session fell back to the CPU"),
        ({"AVAILABLE": BOTH, "USED": "CPU CUDA"}, 1, "fell back to the CPU"),
        ({"AVAILABLE": BOTH, "USED": BOTH, "ERROR": "CUDA failure 35"}, 1, "cannot be used: CUDA failure 35"),
        ({"AVAILABLE": BOTH, "USED": BOTH, "PRODUCT": "0"}, 1, "the product is wrong: 0.0"),
    ],
)  # fmt: skip
def test_a_session_that_is_not_on_cuda_fails(
    tmp_path: Path, environment: dict[str, str], code: int, words: str
) -> None:
    ended = session(tmp_path, **environment)

    assert ended.returncode == code
    assert words in ended.stderr


def test_conflicting_packages_of_onnx_runtime_are_named(tmp_path: Path) -> None:
    for name in ("onnxruntime", "onnxruntime_gpu"):
        (tmp_path / f"{name}-1.31.1.dist-info").mkdir()
        (tmp_path / f"{name}-1.31.1.dist-info" / "METADATA").write_text(f"Name: {name}\nVersion: 1.31.1\n")
    ended = session(tmp_path, AVAILABLE="CPU", USED="CPU")

    assert ended.returncode == 1
    assert "packages:  onnxruntime 1.31.1, onnxruntime-gpu 1.31.1\n" in ended.stdout
    assert "both packages are installed, and one hides the other" in ended.stderr


def test_onnx_runtime_accepts_the_model(tmp_path: Path) -> None:
    """The bytes were loaded and run with ONNX Runtime 1.31.1."""
    session(tmp_path)
    command = [sys.executable, "-S", "-c", "import check_ort_cuda; print(check_ort_cuda.model().hex())"]
    printed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout

    assert printed.strip() == (
        "08083a440a110a01780a017812017922064d61744d756c1205636865636b5a130a0178120e0a0c080112080a0208020a0208026213"
        "0a0179120e0a0c080112080a0208020a02080242040a00100d"
    )


def test_the_script_for_onnx_runtime_is_written_where_a_runner_states_its_version() -> None:
    assert ORT_FILE in scripts(stacks.settings(VM))
    assert ORT_FILE not in scripts(stacks.settings(SHARED))


def test_actionlint_accepts_the_labels_of_the_stack_and_no_others(tmp_path: Path) -> None:
    text = scripts(stacks.settings(VM))[LABELS_FILE]
    assert yaml.safe_load(text) == {"self-hosted-runner": {"labels": ["gpu", "gpu-vm"]}}

    workflow = tmp_path / ".github" / "workflows" / "a.yml"
    workflow.parent.mkdir(parents=True)
    (tmp_path / LABELS_FILE).write_text(text, encoding="utf-8")
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    job = "on: push\njobs: {a: {runs-on: [self-hosted, linux, x64, gpu, gpu-vm], steps: [{run: 'true'}]}}\n"
    for stated, code in ((job, 0), (job.replace("gpu-vm", "gpu-mv"), 1)):
        workflow.write_text(stated, encoding="utf-8")
        ended = subprocess.run([linter("actionlint"), "-shellcheck="], cwd=tmp_path, check=False, capture_output=True)
        assert ended.returncode == code, ended.stdout


def test_a_stack_without_runners_gets_no_scripts() -> None:
    assert scripts(stacks.settings(VM, {"runners": {}})) == {}
