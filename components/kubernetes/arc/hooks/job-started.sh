#!/usr/bin/env bash
# Runs before a job's first step. A job must not begin on a runner whose GPU does not answer: it would fail later,
# and look like the job's own fault.
set -euo pipefail

expected=${GPU_CI_GPUS:-0}
if [ "$expected" -eq 0 ]; then
  exit 0 # This container starts the job's pod elsewhere and has no GPU itself.
fi
# Several shares may be of one GPU: it is seen once.
least=${GPU_CI_GPUS_AT_LEAST:-$expected}

# The query form fails on a driver that has crashed; the plain table does not always. Exit code 14 is a warning that the
# infoROM is corrupted (nvidia-smi(1), "RETURN VALUE"), with which a GPU computes.
code=0
answer=$(nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>&1) || code=$?
if [ "$code" -ne 0 ] && [ "$code" -ne 14 ]; then
  printf 'gpu-ci: the driver does not answer on this node:\n%s\n' "$answer" >&2
  exit 1
fi

# Counted by what only a GPU's line ends in: a broken driver may answer in words, and still end well.
found=$(printf '%s\n' "$answer" | grep -c ' MiB$' || true)
if [ "$found" -lt "$least" ] || [ "$found" -gt "$expected" ]; then
  printf 'gpu-ci: this job asks for %s GPU(s) and sees %s:\n%s\n' "$expected" "$found" "$answer" >&2
  exit 1
fi
printf 'gpu-ci: %s\n' "$answer"
