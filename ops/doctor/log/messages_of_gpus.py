"""Messages of drivers, CUDA and ONNX Runtime."""

from __future__ import annotations

from typing import Final

from ops.doctor.log.message import message

GPU: Final = (
    message(
        "no-cuda-gpus",
        "No CUDA GPUs are available",
        "the process sees no GPU: its pod has no limit nvidia.com/gpu, its container was started without --gpus, or"
        " CUDA_VISIBLE_DEVICES is empty",
        "state runs-on with the label of a GPU runner, start containers with --gpus all, and print"
        " CUDA_VISIBLE_DEVICES in the job",
        r"no CUDA-capable device is detected",
        r"cudaErrorNoDevice",
        commands=(
            "nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader",
            'echo "${CUDA_VISIBLE_DEVICES-not set} ${NVIDIA_VISIBLE_DEVICES-not set}"',
            "python -c 'import torch; print(torch.__version__, torch.version.cuda, torch.cuda.is_available())'",
            "kubectl --namespace arc-runners get pod NAME --output jsonpath='{.spec.containers[*].resources.limits}'",
        ),
    ),
    message(
        "driver-too-old",
        "driver version is insufficient",
        "the image has a newer CUDA than the driver of the machine supports",
        "use an image with an older CUDA, or a machine image with a newer driver; `make plan` compares both from"
        " needs.cuda and images.NAME.cuda",
        r"NVIDIA driver on your system is too old",
        r"cudaErrorInsufficientDriver",
        r"unsatisfied condition: cuda\s*>=",
        commands=(
            "nvidia-smi --query-gpu=driver_version --format=csv,noheader",
            "nvcc --version || cat /usr/local/cuda/version.json",
            "python -c 'import torch; print(torch.version.cuda)'",
        ),
    ),
    message(
        "out-of-gpu-memory",
        "CUDA out of memory",
        "the job needs more memory than the GPU has, or another process on the GPU uses it",
        "lower the batch size or the number of parallel tests; if nvidia-smi shows another process, end it; otherwise"
        " state a GPU with more memory in needs.gpu",
        r"CUDA error: out of memory",
        r"cudaErrorMemoryAllocation",
        r"CUBLAS_STATUS_ALLOC_FAILED",
        commands=(
            "nvidia-smi --query-compute-apps=pid,process_name,used_memory --format=csv",
            "nvidia-smi --query-gpu=memory.total,memory.used --format=csv",
        ),
    ),
    message(
        "no-kernel-for-gpu",
        "no kernel image is available for execution on the device",
        "the program was not compiled for the architecture of this GPU",
        "install a build for the compute capability of the GPU, or compile with it in TORCH_CUDA_ARCH_LIST",
        r"is not compatible with the current PyTorch installation",
    ),
    message(
        "no-device-file",
        "/dev/nvidia0: Permission denied",
        "the user of the job has no access to the device of the GPU",
        "do not change the mode of /dev/nvidia*; add the user to the groups video and render; in a container, use"
        " --gpus instead of --device",
        r"open(ing)? .{0,20}/dev/nvidia\S*.{0,40}(permission denied|operation not permitted)",
        r"permission denied.{0,40}/dev/nvidia",
        r"NVML: Insufficient Permissions",
        commands=(
            "ls -l /dev/nvidia* /dev/dri",
            "id",
            "sudo -u runner nvidia-smi -L",
        ),
    ),
    message(
        "nvml",
        "Failed to initialize NVML",
        "the driver of the machine does not run, or its version differs from the library in the container; after a"
        " daemon-reload of systemd, a running container loses its GPU",
        "run nvidia-smi on the machine; restart a machine whose driver was updated; start the container again",
        r"NVML: Driver/library version mismatch",
        r"NVML: Unknown Error",
        commands=(
            "nvidia-smi",
            "cat /proc/driver/nvidia/version",
            "sudo dmesg | grep -i -e nvidia -e nvrm -e xid | tail -n 20",
        ),
    ),
    message(
        "driver-does-not-run",
        "couldn't communicate with the NVIDIA driver",
        "the driver is not loaded: it is not installed, or not for the kernel that runs",
        "read dmesg for NVRM; install the driver for the running kernel, or use an image with the driver",
        r"NVIDIA-SMI has failed",
        commands=(
            "uname -r; dkms status || true; modinfo nvidia | head -n 3",
            "sudo dmesg | grep -i -e nvidia -e nvrm | tail -n 20",
        ),
    ),
    message(
        "nvidia-smi-missing",
        "nvidia-smi: command not found",
        "the container has no access to the driver: the runtime mounts nvidia-smi only into containers with a GPU",
        "request a GPU for the container, and set NVIDIA_DRIVER_CAPABILITIES=compute,utility in the image",
        r"exec: .{0,3}nvidia-smi.{0,3}: executable file not found",
    ),
    message(
        "no-gpu-driver-in-docker",
        'could not select device driver "" with capabilities: [[gpu]]',
        "Docker on this machine has no NVIDIA container toolkit",
        "use an image of gpu-ci, or state docker: true for the machine; with arc, a job cannot use docker run --gpus",
        r"unknown or invalid runtime name: nvidia",
    ),
    message(
        "xid",
        "NVRM: Xid",
        "the GPU or its driver reported an error; 48, 63, 79, 94 and 95 are failures of the hardware",
        "stop using the machine: delete the node or replace the instance, and run the job again",
        r"GPU has fallen off the bus",
        commands=("sudo dmesg | grep -i xid",),
    ),
)

ORT: Final = (
    message(
        "ort-falls-back",
        "Failed to create CUDAExecutionProvider",
        "ONNX Runtime cannot load CUDA or cuDNN, and continues on the CPU; get_available_providers() does not show it",
        "onnxruntime-gpu from 1.27 needs CUDA 13 and driver 580, from 1.19 to 1.26 CUDA 12; install cuDNN 9, and call"
        " onnxruntime.preload_dlls() before the session",
        r"Failed to load library.{0,80}onnxruntime_providers_cuda",
        r"Falling back to \[?.{0,3}CPUExecutionProvider",
        commands=(
            "pip list | grep -i -e onnxruntime -e nvidia",
            "python -c 'import onnxruntime as o; print(o.__version__, o.get_available_providers())'",
            "python check_ort_cuda.py",
        ),
    ),
    message(
        "ort-without-cuda",
        "CUDAExecutionProvider' is not in available provider names",
        "the package onnxruntime is installed, which has no CUDA; next to onnxruntime-gpu it replaces its files",
        "run: pip uninstall --yes onnxruntime onnxruntime-gpu && pip install onnxruntime-gpu",
        commands=("pip list | grep -i onnxruntime",),
    ),
    message(
        "cuda-library-missing",
        "libcudart.so: cannot open shared object file",
        "the program was built for a CUDA version whose libraries are not installed",
        "install the package for the CUDA version of the image, or an image with the CUDA version of the package",
        r"lib(cudart|cublas|cublasLt|cudnn\w*|cufft|curand|nvrtc|cusparse)\.so\S*: cannot open shared object file",
    ),
)
