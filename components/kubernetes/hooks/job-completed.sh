#!/usr/bin/env bash
# Runs after a job's last step. What a job leaves on the GPU is another job's missing memory where GPUs are shared.
set -euo pipefail

if [ "${GPU_CI_GPUS:-0}" -eq 0 ]; then
  exit 0 # This container has no GPU.
fi

# Only processes of this container can be signalled; those of others on a shared GPU are not ours to see.
left=$(nvidia-smi --query-compute-apps=pid,used_memory --format=csv,noheader,nounits)
while IFS=', ' read -r pid memory; do
  [ -n "$pid" ] || continue
  if kill -0 "$pid" 2>/dev/null; then
    printf 'gpu-ci: ending process %s, which the job left with %s MiB on the GPU\n' "$pid" "$memory"
    kill -TERM "$pid"
  fi
done <<<"$left"

# Work directories go with the pod; these would fill the node's disk while other pods live.
find "${TMPDIR:-/tmp}" -xdev -user "$(id -un)" -type f -size +100M -delete
