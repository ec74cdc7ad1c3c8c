# shellcheck shell=bash
# Registers the runner, follows it, and registers it again after a job. Runs as root; the runner itself is a unit of the
# user runner, which goes on if this program is killed. Exit code 77 stops taking jobs until the next start.

JOB=gpu-ci-job.service

give_up() {
  status "failed: $*"
  deregister
  exit 77
}

free_gib() { df -BG --output=avail "$ROOT/" | tail -n 1 | tr -dc 0-9; }

make_room() {
  if [ "$(free_gib)" -lt "$LEAST_FREE" ]; then
    say "less than $LEAST_FREE GiB free: deletes the work folder"
    rm -rf "$APP/_work" || true
    clean_docker all
    [ "$(free_gib)" -ge "$LEAST_FREE" ] || give_up "less than $LEAST_FREE GiB of the disk are free"
  fi
}

runs() { systemctl is-active --quiet "$JOB"; }

start_job() {
  printf '%s' "$RUNNER_ID" >"$RUN/runner"
  journalctl --lines 0 --show-cursor --quiet | sed -n 's/^-- cursor: //p' >"$RUN/cursor"
  systemctl start "$JOB"
  rm -f "$RUN/job.env"
}

# The journal of the runner since its start. Its invocation is no help: systemd forgets that of a unit that ended well.
job_log() { journalctl --quiet --output cat --unit "$JOB" --after-cursor "$(cat "$RUN/cursor")"; }

# Publishes the state of the runner until it has ended.
follow() {
  local online=
  while runs; do
    if [ -z "$online" ] && [[ $(job_log) == *'Listening for Jobs'* ]]; then
      online=yes
    fi
    if busy; then
      status busy
    elif [ "$online" ]; then
      status online
    fi
    pause 5
  done
}

stop_run() {
  trap '' TERM
  trap - EXIT
  if [ -e "$RUN/reason" ]; then
    status "stopped: $(cat "$RUN/reason")"
  else
    status 'stopped: the machine or its service was stopped'
  fi
  systemctl stop "$JOB"
  rm -f "$RUN/job.env"
  deregister
  exit 0
}

run_ended() {
  case $? in 0 | 77) return ;; esac
  status 'waiting: the runner could not be registered: journalctl -u gpu-ci'
  runs || deregister
}

run() {
  local began log quick=0 wait
  # A lock would pass to a child that outlives this program.
  [ "${SYSTEMD_EXEC_PID:-}" = "$$" ] || { say 'only systemd runs this: systemctl start gpu-ci' && exit 2; }
  trap stop_run TERM
  trap run_ended EXIT
  # What a killed program has started.
  if [ -e "$RUN/runner" ]; then
    RUNNER_ID=$(cat "$RUN/runner")
  fi
  runs || status 'waiting: register the runner'
  while :; do
    if ! runs; then
      deregister
      make_room
      register
      start_job
    fi
    began=$(seconds_up)
    follow
    journalctl --sync || true
    log=$(job_log) || true
    if [[ $log == *'Running job: '* ]]; then
      quick=0
    elif [[ $log == *'cannot receive messages'* ]]; then
      # Only a runner without a job: the name of a job is in the log, too.
      give_up "GitHub refuses runner $VERSION: state a newer runner-version"
    elif [ $(($(seconds_up) - began)) -lt 20 ]; then
      quick=$((quick + 1))
      wait=$((quick < 10 ? quick * 30 : 300))
      status "waiting: the runner ended without a job and starts again in $wait seconds: journalctl -u gpu-ci-job"
      pause "$wait"
    fi
  done
}
