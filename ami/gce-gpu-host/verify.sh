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
GPUS=${GPUS:-1}
GPU_NAME=${GPU_NAME:-}
QUERY=(nvidia-smi "--query-gpu=name,driver_version" "--format=csv,noheader")

STAGE=image
[ -e "$STATE/done" ] || die 'the installer never came to its end in this image'
grep -qx "GPU_HOST_HASH=$GPU_HOST_HASH" "$ROOT/opt/gpu-host/options.env" ||
  die "this machine was not booted from the image $GPU_HOST_HASH"

STAGE=driver
# A query fails on a driver that has crashed; the plain table does not always.
host=$("${QUERY[@]}")
say "$host"
found=$(wc -l <<<"$host")
[ "$found" -eq "$GPUS" ] || die "$found GPUs answer, and the machine was made with $GPUS"
while IFS=, read -r name version; do
  version=${version# }
  [ "${version%%.*}" = "$NVIDIA_BRANCH" ] || die "driver $version runs, and branch $NVIDIA_BRANCH was asked for"
  [ -z "$GPU_NAME" ] || [ "$name" = "$GPU_NAME" ] || die "the GPU is a $name, and the machine was made with a $GPU_NAME"
done <<<"$host"

STAGE=docker
# Waits where the machine is still starting it.
systemctl start docker
docker info --format '{{.ServerVersion}}'

# A stage of its own: a registry that is slow or ill, or that counts one's pulls, says nothing of the image.
STAGE=registry
pulled=
# Well within the shortest life that this machine may have, or it would be taken for one that hangs.
for pause in 0 10 30; do
  sleep "$pause"
  if timeout 150 docker pull --quiet "$CUDA_IMAGE"; then
    pulled=1
    break
  fi
  say "$CUDA_IMAGE cannot be pulled"
done
[ -n "$pulled" ] || die "$CUDA_IMAGE cannot be pulled"

STAGE=docker
container=$(docker run --rm --gpus all "$CUDA_IMAGE" "${QUERY[@]}")
[ "$container" = "$host" ] || die "a container sees '$container', and the host '$host'"

STAGE=user
inside=$(runuser --user "$DOCKER_USER" -- docker info --format '{{.DefaultRuntime}}')
[ "$inside" = nvidia ] || die "$DOCKER_USER gets the runtime '$inside' from docker, and must get nvidia"
if runuser --user "$DOCKER_USER" -- sudo --non-interactive true 2>/dev/null; then
  die "$DOCKER_USER can become root"
fi

STAGE=uv
uv=$("$ROOT/usr/local/bin/uv" --version)
case $uv in
  "uv $UV_VERSION" | "uv $UV_VERSION "*) ;;
  *) die "'$uv' is there, and uv $UV_VERSION was asked for" ;;
esac

report "ok:$GPU_HOST_HASH"
