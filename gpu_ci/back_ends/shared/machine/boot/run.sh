# shellcheck shell=bash
# Registers the runner, follows it, and registers it again after a job. Runs as root; the runner itself is a unit of the
# user runner. Exit code 77 stops taking jobs until the next start.

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
    rm -rf "$APP/_work"
    clean_docker all
    [ "$(free_gib)" -ge "$LEAST_FREE" ] || give_up "less than $LEAST_FREE GiB of the disk are free"
  fi
}

job_log() {
  journalctl --output cat "_SYSTEMD_INVOCATION_ID=$(systemctl show --property InvocationID --value "$JOB")"
}

# Publishes the state of the runner until it has ended.
follow() {
  local online=
  while systemctl is-active --quiet "$JOB"; do
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
  deregister
}

run() {
  local began quick=0
  exec 9>"$RUN/lock"
  flock --nonblock 9 || { say 'runs already' && exit 0; }
  trap stop_run TERM
  trap run_ended EXIT
  status 'waiting: register the runner'
  while :; do
    make_room
    register
    began=$(seconds_up)
    systemctl start "$JOB"
    rm -f "$RUN/job.env"
    follow
    if [[ $(job_log) == *'cannot receive messages'* ]]; then
      give_up "GitHub refuses runner $VERSION: state a newer runner-version"
    fi
    quick=$(($(seconds_up) - began < 20 ? quick + 1 : 0))
    [ "$quick" = 0 ] || pause $((quick < 10 ? quick * 30 : 300))
    deregister
  done
}
