# shellcheck shell=bash
# `gpu-ci check`: one line for each fact that a working machine needs. The exit code is 1 if one is missing.

BAD=0

fact() {
  local text=$1
  shift
  if "$@" >/dev/null 2>&1; then
    printf 'ok      %s\n' "$text"
  else
    printf 'FAILED  %s\n' "$text"
    BAD=1
  fi
}

not() { ! "$@"; }

in_groups() {
  local groups
  groups=" $(id -nG runner) "
  [[ $groups == *' video '* && $groups == *' render '* ]]
}

online_at_github() {
  # shellcheck disable=SC2034 # another part reads it
  TRIES=1
  github GET "$SCOPE/actions/runners?per_page=100" &&
    printf '%s' "$ANSWER" | python3 -c 'import json, sys
runners = json.load(sys.stdin)["runners"]
sys.exit(not any(r["status"] == "online" and r["name"].startswith(sys.argv[1]) for r in runners))' "$NAME"
}

check() {
  fact 'gpu-ci-setup.service has prepared the machine' systemctl is-active gpu-ci-setup.service
  fact 'gpu-ci.service registers the runner (journalctl -u gpu-ci)' systemctl is-active gpu-ci.service
  fact 'gpu-ci-job.service is the runner (journalctl -u gpu-ci-job)' systemctl is-active gpu-ci-job.service
  fact 'gpu-ci-watch.timer stops an idle machine' systemctl is-active gpu-ci-watch.timer
  fact 'gpu-ci-limit.timer stops the machine in any case' systemctl is-active gpu-ci-limit.timer
  fact "the user runner sees $GPUS GPUs" test "$(gpus_of_runner)" = "$GPUS"
  fact 'the user runner is in the groups video and render' in_groups
  fact 'the user runner has no sudo' not as_runner sudo -n true
  fact 'the user runner cannot reach the metadata server' not metadata_of_runner
  fact "$LEAST_FREE GiB of the disk are free" test "$(free_gib)" -ge "$LEAST_FREE"
  fact "GitHub shows the runner $NAME online" online_at_github
  return "$BAD"
}
