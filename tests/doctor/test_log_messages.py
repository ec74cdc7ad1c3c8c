"""Tests of the table of messages: lines as programs print them, and lines that must not match."""

from __future__ import annotations

import pytest

from ops.doctor.chain import CHECKS
from ops.doctor.log.messages import MESSAGES, found_in, read
from ops.doctor.log.reasons import REASONS
from tests.doctor.worlds import ROOT

pytestmark = pytest.mark.pure

LINES = {
    "no-cuda-gpus": (
        "RuntimeError: No CUDA GPUs are available",
        "cupy_backends.cuda.api.runtime.CUDARuntimeError: cudaErrorNoDevice: no CUDA-capable device is detected",
    ),
    "driver-too-old": (
        "RuntimeError: CUDA driver version is insufficient for CUDA runtime version",
        "RuntimeError: The NVIDIA driver on your system is too old (found version 11040).",
        "nvidia-container-cli: requirement error: unsatisfied condition: cuda>=12.3, please update your driver",
    ),
    "out-of-gpu-memory": (
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 15 GiB",
        "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
    ),
    "no-kernel-for-gpu": ("CUDA error: no kernel image is available for execution on the device",),
    "nvml": (
        "Failed to initialize NVML: Driver/library version mismatch",
        "Failed to initialize NVML: Unknown Error",
    ),
    "driver-does-not-run": (
        "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest",
    ),
    "no-device-file": (
        "Failed to initialize NVML: Insufficient Permissions",
        "Error: open /dev/nvidia0: permission denied",
        "could not open device file '/dev/nvidia0' (Operation not permitted), opening /dev/nvidia0: operation not permitted",
    ),
    "nvidia-smi-missing": (
        "/home/runner/_work/_temp/1.sh: line 1: nvidia-smi: command not found",
        'exec: "nvidia-smi": executable file not found in $PATH: unknown',
    ),
    "no-gpu-driver-in-docker": (
        'docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].',
    ),
    "xid": ("NVRM: Xid (PCI:0000:00:1e): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",),
    "ort-falls-back": (
        "[W:onnxruntime:Default, onnxruntime_pybind_state.cc:965] Failed to create CUDAExecutionProvider. Require cuDNN 9.*",
        "Falling back to ['CPUExecutionProvider'] and retrying.",
    ),
    "ort-without-cuda": (
        "UserWarning: Specified provider 'CUDAExecutionProvider' is not in available provider names. Available providers:",
    ),
    "cuda-library-missing": (
        "ImportError: libcudnn.so.9: cannot open shared object file: No such file or directory",
        "OSError: libcublasLt.so.12: cannot open shared object file: No such file or directory",
    ),
    "lost-communication": (
        "The self-hosted runner lost communication with the server. Verify the machine is running",
        "##[error]The runner has received a shutdown signal. This can happen when the runner service is stopped",
    ),
    "waiting-for-runner": (
        "Waiting for a runner to pick up this job...",
        "No runner matching the specified labels was found: self-hosted, linux, x64, gpu",
    ),
    "runner-refused": ("An error occurred: Runner version v2.321.0 is deprecated and cannot receive messages.",),
    "registration-refused": (
        "Http response code: NotFound from 'POST https://api.github.com/actions/runner-registration' (Request Id: 1)",
    ),
    "exec-format": ("exec /usr/local/bin/entrypoint.sh: exec format error",),
    "image-pull-back-off": (
        "Warning  Failed  kubelet  Error: ImagePullBackOff",
        "manifest for nvidia/cuda:12.1.0-base-ubuntu22.04 not found: manifest unknown",
    ),
    "registry-denied": (
        "Error response from daemon: Head https://1.dkr.ecr.eu-west-1.amazonaws.com/v2/x: no basic auth credentials",
        'denied: Permission "artifactregistry.repositories.downloadArtifacts" denied on resource',
    ),
    "disk-full": ("OSError: [Errno 28] No space left on device",),
    "shared-memory": (
        "RuntimeError: DataLoader worker (pid 42) is killed by signal: Bus error.",
        "ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).",
    ),
    "out-of-memory": ("Reason: OOMKilled", "##[error]Process completed with exit code 137."),
    "no-nodes": ("0/2 nodes are available: 2 Insufficient nvidia.com/gpu.", "No resources found"),
    "plugin-directory": (
        "failed to dial device plugin: unix:///var/lib/kubelet/device-plugins/nvidia-gpu.sock: no such file",
    ),
    "no-capacity-aws": (
        "Could not launch On-Demand Instances. InsufficientInstanceCapacity - We currently do not have",
    ),
    "quota-aws": ("VcpuLimitExceeded - You have requested more vCPU capacity than your current vCPU limit of 0",),
    "no-capacity-gcp": (
        "ERROR: ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS: The zone 'projects/p/zones/us-central1-a'",
        "The zone does not have enough resources available to fulfill the request.  Try a different zone",
    ),
    "quota-gcp": (
        "Quota 'GPUS_ALL_REGIONS' exceeded.  Limit: 0.0 globally.",
        "Quota 'NVIDIA_T4_GPUS' exceeded.  Limit: 1.0 in region us-central1.",
    ),
    "oidc-refused": (
        "Error: Could not assume role with OIDC: Not authorized to perform sts:AssumeRoleWithWebIdentity",
        '{"error":"unauthorized_client","error_description":"The given credential is rejected by the attribute condition."}',
    ),
    "machine-hook-driver": ("gpu-ci: the driver does not answer on this machine:",),
    "machine-hook-count": ("gpu-ci: this machine has 1 GPU(s), and the driver shows 0:",),
    "hook-driver": ("gpu-ci: the driver does not answer on this node:",),
    "hook-count": ("gpu-ci: this job asks for 1 GPU(s) and sees 0:",),
    "hook-left-process": ("gpu-ci: ending process 42 (python), which the job left on the GPU",),
    "fork-refused": ("This machine runs no jobs of pull requests from forks.",),
    "status-failed": ("gpu-ci: status: failed: verify the GPU as the user runner",),
    "no-gpu-on-jarvis": ("2026-11-22T10:00:00Z gpu-ci: error: nvidia-smi finds no GPU, so no runner starts",),
    "queue-guard": ('no runner took "Test on gpu-t4" within 0:10:00, so this run is cancelled; look at the runner',),
    "re-run-all": (
        "##[error]The tests did not run: an earlier attempt has stopped the machine. Choose Re-run all jobs.",
    ),
    "step-driver": (
        "##[error]The driver of this machine does not answer: nvidia-smi ends with 9. The job did not begin.",
    ),
    "no-report": ("gpu-ci-x-gpu runs, but has not reported since its start; before it was: online",),
    "wrong-model": ("##[error]This job needs a GPU of the model L4, but the machine has another one.",),
    "not-tested": (
        "##[error]This commit was not tested on a GPU. To test it, a maintainer adds the label run-gpu-ci.",
    ),
    "another-commit": (
        "##[error]The label is for 1a2b, but the checkout has 3c4d. Review it, and add the label again.",
    ),
    "no-access-to-docker": ("run_gpu_tests: runner cannot access Docker; add the user to the group docker",),
    "runner-not-online": ("gpu-ci-x-gpu runs, but its runner is not online: waiting: install driver 580",),
    "runner-cannot-start": (
        "##[error]the runner of gpu-ci-x-gpu cannot start: verify the GPU as the user runner",
        "##[error]gpu-ci-x-gpu stopped before its runner was online: no status",
    ),
    "stop-by-hand": ("##[error]gpu-ci-x-gpu is running and was requested to stop; stop it by hand",),
    "no-such-machine": ("##[error]EC2 has no instance gpu-ci-x-gpu in us-west-2; run pulumi up",),
    "failed-at-jarvis": ('##[error]"ci" is in the state Failed at Jarvis Labs; destroy it at https://jarvislabs.ai',),
    "no-key-on-machine": (
        "gpu-ci: status: waiting: SSM parameter /gpu-ci-x/key has no key that this machine can read",
        "gpu-ci: status: waiting: secret key of Secret Manager is not a private key",
    ),
    "app-refused": ("gpu-ci: status: waiting: GitHub answers 401 to the App: Bad credentials",),
    "machine-disk": ("gpu-ci: less than 10 GiB of the disk are free",),
    "wrong-count": ("##[error]This job needs 2 GPU(s), but the machine has 1.",),
}


def test_a_line_as_printed_by_a_program_is_found() -> None:
    found = {
        line: (name, [one.message.name for one in found_in(f"ok\n{line}\nok")])
        for name, lines in LINES.items()
        for line in lines
    }

    assert {line: names for line, (name, names) in found.items() if names != [name]} == {}


def test_every_message_of_this_project_is_in_a_script_or_a_template() -> None:
    folders = ("gpu_ci/back_ends", "components/kubernetes/arc/hooks", "gpu_ci/repository/templates")
    paths = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in {".py", ".sh", ".j2"}]
    text = "\n".join(path.read_text(encoding="utf-8") for path in paths)

    assert [one.name for one in read("gpu_ci.yaml") if one.text.removeprefix("gpu-ci: status: ") not in text] == []


def test_every_message_has_a_line_that_a_program_prints() -> None:
    assert {message.name for message in MESSAGES} == set(LINES)


def test_the_text_of_a_message_matches_only_this_message() -> None:
    assert [one.name for one in MESSAGES if [found.message for found in found_in(one.text)] != [one]] == []


def test_a_line_of_a_healthy_job_is_not_found() -> None:
    lines = [
        "Tesla T4, 580.95.05, 15360 MiB",
        "12 passed in 3.21s",
        "tests/test_nvml.py::test_initializes PASSED",
        "onnxruntime providers: ['CUDAExecutionProvider', 'CPUExecutionProvider']",
        "exit code 13",
        "2 of 2 nodes are available",
        "gpu-ci: Tesla T4, 580.95.05, 15360 MiB",
        "gpu-ci: status: online",
    ]

    assert [line for line in lines if found_in(line)] == []


def test_every_group_of_reasons_belongs_to_a_check() -> None:
    assert set(REASONS) - {one.name for one in CHECKS} == set()


def test_a_repeated_message_is_one_finding_with_its_first_line() -> None:
    log = "\ufeff2026-11-22T10:00:00.1234567Z start\n" + (
        "2026-11-22T10:00:01.1234567Z ##[error]RuntimeError: No CUDA GPUs are available\n" * 3
    )

    (found,) = found_in(log)

    assert (found.line, found.number, found.times) == ("RuntimeError: No CUDA GPUs are available", 2, 3)
