#!/usr/bin/env bash
# Startup script of an instance of Jarvis Labs. It runs as root each time the container starts.
#
# A pause keeps /home only, so the script installs packages and the user again. It unpacks GitHub's runner from an
# archive with a known checksum, recreates the user's home, and starts the runner for one job with a registration that
# is valid once. A second start does nothing while the runner runs.
#
# The caller puts RUNNER_CONFIG, RUNNER_VERSION and RUNNER_SHA256 in front of this text.
set -euo pipefail
umask 022

readonly BASE=${GPU_CI_BASE:-/home}
readonly STORE=$BASE/gpu-ci RUNNER_USER=runner
readonly RUNNER_HOME=$BASE/$RUNNER_USER
readonly ARCHIVE=$STORE/actions-runner-linux-x64-$RUNNER_VERSION.tar.gz
readonly ADDRESS=https://github.com/actions/runner/releases/download/v$RUNNER_VERSION/${ARCHIVE##*/}

say() { printf '%s gpu-ci: %s\n' "$(date -u +%FT%TZ)" "$*"; }
fail() { say "error: $*"; exit 1; }

# Exit code 14 is a warning that the infoROM is corrupted, with which a GPU computes. Only the line of a GPU ends in its
# memory.
gpu_works() {
  local answer code=0
  answer=$(nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>&1) || code=$?
  say "nvidia-smi: $answer"
  [[ $code == 0 || $code == 14 ]] && [[ $answer == *" MiB" || $answer == *" MiB"$'\n'* ]]
}

install_packages() {
  local wanted=() one
  for one in git curl; do
    command -v "$one" >/dev/null || wanted+=("$one" ca-certificates)
  done
  # .NET needs a version of ICU. Its package has the version in its name; the -dev package depends on the right one.
  [[ $(ldconfig -p) == *libicuuc* ]] || wanted+=(libicu-dev)
  [[ ${#wanted[@]} -gt 0 ]] || return 0
  export DEBIAN_FRONTEND=noninteractive
  local try
  for try in 1 2 3; do
    if apt-get update -q && apt-get install -q -y --no-install-recommends "${wanted[@]}"; then return 0; fi
    say "installing ${wanted[*]} failed, attempt $try of 3"
    sleep $((try * 5))
  done
  return 1
}

archive_is_good() { [[ -f $ARCHIVE ]] && sha256sum --check --status <<<"$RUNNER_SHA256  $ARCHIVE"; }

download() {
  archive_is_good && return 0
  rm -f "$STORE"/actions-runner-linux-x64-*.tar.gz
  curl --fail --silent --show-error --location --proto '=https' --retry 5 --retry-all-errors --max-time 600 \
    --output "$ARCHIVE" "$ADDRESS" || return 1
  archive_is_good && return 0
  rm -f "$ARCHIVE"
  say "the archive of runner $RUNNER_VERSION has another checksum than the stack file states"
  return 1
}

restore_user() {
  local group
  if ! id "$RUNNER_USER" >/dev/null 2>&1; then
    useradd --user-group --home-dir "$RUNNER_HOME" --no-create-home --shell /bin/bash "$RUNNER_USER"
  fi
  for group in video render; do
    if getent group "$group" >/dev/null; then usermod --append --groups "$group" "$RUNNER_USER"; fi
  done
  # Nothing of an earlier job remains.
  pkill -KILL -u "$RUNNER_USER" || true
  rm -rf "$RUNNER_HOME"
  install --directory --owner "$RUNNER_USER" --group "$RUNNER_USER" --mode 0750 \
    "$RUNNER_HOME" "$RUNNER_HOME/.cache" "$RUNNER_HOME/.local" "$RUNNER_HOME/.local/share" "$RUNNER_HOME/actions-runner"
  tar --extract --gzip --file "$ARCHIVE" --directory "$RUNNER_HOME/actions-runner" --no-same-owner
  chown -R "$RUNNER_USER:$RUNNER_USER" "$RUNNER_HOME/actions-runner"
}

run_one_job() {
  local variable
  # The template's paths of Python and CUDA are in the kept variables. Others may be secrets of the platform.
  while read -r variable; do
    case $variable in
      PATH | LD_LIBRARY_PATH | CUDA_HOME | NVIDIA_VISIBLE_DEVICES | NVIDIA_DRIVER_CAPABILITIES) ;;
      *) unset "$variable" 2>/dev/null || true ;;
    esac
  done < <(compgen -e)
  cd "$RUNNER_HOME/actions-runner"
  export HOME=$RUNNER_HOME USER=$RUNNER_USER LOGNAME=$RUNNER_USER LANG=C.UTF-8
  # The runner reads its arguments from variables with this prefix and removes them, so no job sees the registration.
  export ACTIONS_RUNNER_INPUT_JITCONFIG=$RUNNER_CONFIG
  runuser --user "$RUNNER_USER" -- ./run.sh
}

mkdir -p "$STORE"
chmod 0700 "$STORE"
exec 9>"$STORE/lock"
if ! flock --nonblock 9; then
  say "the runner is already running"
  exit 0
fi
gpu_works || fail "nvidia-smi finds no GPU, so no runner starts"
install_packages || fail "packages cannot be installed, so no runner starts"
download || fail "runner $RUNNER_VERSION cannot be downloaded from $ADDRESS"
restore_user
say "the runner starts for one job"
# The lock stays with this process, not with the runner: a process that a job leaves must not keep it.
(
  trap '' HUP
  status=0
  run_one_job 9>&- || status=$?
  say "the runner has ended with $status; this instance waits to be paused"
) </dev/null >>"$STORE/runner.log" 2>&1 &
