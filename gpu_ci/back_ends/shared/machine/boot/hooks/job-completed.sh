#!/bin/bash
# Runs after the last step of each job. A process that the job left on the GPU takes memory from the next job. Nothing
# here may fail: the runner would report it as a failure of the job.
set -uo pipefail

for process in /proc/[0-9]*; do
  if [ -n "$(find "$process/fd" -lname '/dev/nvidia[0-9]*' -print -quit 2>/dev/null)" ]; then
    printf 'gpu-ci: ending process %s (%s), which the job left on the GPU\n' "${process#/proc/}" "$(cat "$process/comm")"
    kill -TERM "${process#/proc/}" 2>/dev/null
  fi
done
find /tmp -xdev -type f -user "$(id -u)" -size +100M -delete 2>/dev/null
exit 0
