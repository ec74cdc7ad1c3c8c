#!/bin/bash
# Runs before the first step of each job. A job must not begin on a GPU that does not answer: it would fail later, and
# the failure would look like that of the job. A job cannot change this script: it belongs to root.
set -euo pipefail
expected=@GPUS@

# With a crashed driver, the query fails. The plain table of nvidia-smi does not always. Code 14 warns of a damaged infoROM,
# with which jobs run (nvidia-smi(1), "RETURN VALUE").
code=0
answer=$(nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>&1) || code=$?
if [ "$code" != 0 ] && [ "$code" != 14 ]; then
  printf 'gpu-ci: the driver does not answer on this machine (code %s):\n%s\n' "$code" "$answer" >&2
  exit 1
fi
found=$(grep -c ' MiB$' <<<"$answer" || true)
if [ "$found" -ne "$expected" ]; then
  printf 'gpu-ci: this machine has %s GPU(s), and the driver shows %s:\n%s\n' "$expected" "$found" "$answer" >&2
  exit 1
fi
printf 'gpu-ci: %s\n' "$answer"
forks=/usr/local/lib/gpu-ci/refuse-forks.sh
[ ! -e "$forks" ] || exec bash "$forks"
