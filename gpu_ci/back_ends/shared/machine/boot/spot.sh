# shellcheck shell=bash
# Waits until the cloud wants its spot capacity back, and then ends the runner, which cancels the job and deregisters.

spot() {
  until spot_notice; do
    pause 5
  done
  say 'the cloud needs the capacity'
  printf 'the cloud needs the spot capacity' >"$RUN/reason"
  systemctl stop gpu-ci.service
}
