#!/usr/bin/env bash
# Runs after a job's last step. What a job leaves on the GPU is another job's missing memory where GPUs are shared.
# Nothing here may fail: it would be taken for the job's own failure.
set -euo pipefail

if [ "${GPU_CI_GPUS:-0}" -eq 0 ]; then
  exit 0 # This container has no GPU.
fi

# Found by the device that they hold open. nvidia-smi names processes by the host's numbers, which mean nothing in
# here, or mean another process.
for process in /proc/[0-9]*; do
  if [ -n "$(find "$process/fd" -lname '/dev/nvidia[0-9]*' -print -quit 2>/dev/null || true)" ]; then
    name=$(cat "$process/comm" 2>/dev/null || true)
    printf 'gpu-ci: ending process %s (%s), which the job left on the GPU\n' "${process#/proc/}" "$name"
    kill -TERM "${process#/proc/}" 2>/dev/null || true
  fi
done

# Work directories go with the pod; these would fill the node's disk while other pods live. What is somebody else's, or
# goes while it is looked at, is passed over: find ends badly for it.
find "${TMPDIR:-/tmp}" -xdev -type f -user "$(id -u)" -size +100M -exec rm -f {} + 2>/dev/null || true
