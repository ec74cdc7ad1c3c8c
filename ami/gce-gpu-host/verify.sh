#!/usr/bin/env bash
# Runs on a machine with a GPU that was booted from the new image, and says whether the image is what was asked for.
# Reports as the installer does: `ok:HASH` or `fail:STAGE:CODE:WHERE`.
set -Eeuo pipefail
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=ami/gce-gpu-host/lib.sh
. "$HERE/lib.sh"
loud
# shellcheck source=ami/gce-gpu-host/options.sh
. "$HERE/options.sh"
# A tag that NVIDIA has not announced to remove; a digest of one's own registry is better.
CUDA_IMAGE=${CUDA_IMAGE:-nvidia/cuda:12.9.1-base-ubuntu24.04}
# NVIDIA's own sample: it adds two vectors in a kernel and exits with 1 where an answer is wrong. CUDA 11.7 runs on every
# driver from branch 450, and its kernels on every GPU from Maxwell; newer ones than Ampere compile them from PTX.
SAMPLE_IMAGE=${SAMPLE_IMAGE:-nvcr.io/nvidia/k8s/cuda-sample:vectoradd-cuda11.7.1-ubuntu20.04}
GPUS=${GPUS:-1}
# A word of the name that nvidia-smi reports, as A100 in NVIDIA A100-SXM4-40GB; empty for any GPU.
GPU_FAMILY=${GPU_FAMILY:-}
QUERY=(nvidia-smi "--query-gpu=name,driver_version" "--format=csv,noheader")

STAGE=image
[ -e "$STATE/done" ] || die 'the installer never came to its end in this image'
grep -qx "GPU_HOST_HASH=$GPU_HOST_HASH" "$ROOT/opt/gpu-host/options.env" ||
  die "this machine was not booted from the image $GPU_HOST_HASH"

STAGE=driver
# A query fails on a driver that has crashed; the plain table does not always.
host=$("${QUERY[@]}") || die "nvidia-smi fails with $?: $host"
say "$host"
found=$(wc -l <<<"$host")
[ "$found" -eq "$GPUS" ] || die "$found GPUs answer, and the machine was made with $GPUS"
while IFS=, read -r name version; do
  version=${version# }
  [ "${version%%.*}" = "$NVIDIA_BRANCH" ] || die "driver $version runs, and branch $NVIDIA_BRANCH was asked for"
  [[ -z $GPU_FAMILY || " ${name//-/ } " == *" $GPU_FAMILY "* ]] ||
    die "the GPU is a $name, and the machine was made with a $GPU_FAMILY"
done <<<"$host"

STAGE=docker
# Waits where the machine is still starting it.
systemctl start docker
docker info --format '{{.ServerVersion}}'

# A stage of its own: a registry that is slow or ill, or that counts one's pulls, says nothing of the image.
STAGE=registry
# Well within the shortest life that this machine may have, or it would be taken for one that hangs.
pull() {
  local pause
  for pause in 0 10 30; do
    sleep "$pause"
    if timeout 100 docker pull --quiet "$1"; then
      return
    fi
    say "$1 cannot be pulled"
  done
  die "$1 cannot be pulled"
}
pull "$CUDA_IMAGE"
pull "$SAMPLE_IMAGE"

STAGE=docker
container=$(docker run --rm --gpus all "$CUDA_IMAGE" "${QUERY[@]}") || die "a container fails with $?: $container"
[ "$container" = "$host" ] || die "a container sees '$container', and the host '$host'"

# nvidia-smi needs neither nvidia-uvm nor a working CUDA driver, and jobs need both.
STAGE=kernel
for ((index = 0; index < GPUS; index++)); do
  docker run --rm --gpus "device=$index" "$SAMPLE_IMAGE"
done

STAGE=user
for user in $(docker_users); do
  inside=$(runuser --user "$user" -- docker info --format '{{.DefaultRuntime}}')
  [ "$inside" = nvidia ] || die "$user gets the runtime '$inside' from docker, and must get nvidia"
  if runuser --user "$user" -- sudo --non-interactive true 2>/dev/null; then
    die "$user can become root"
  fi
done

STAGE=uv
uv=$("$ROOT/usr/local/bin/uv" --version)
case $uv in
  "uv $UV_VERSION" | "uv $UV_VERSION "*) ;;
  *) die "'$uv' is there, and uv $UV_VERSION was asked for" ;;
esac

report "ok:$GPU_HOST_HASH"
