# shellcheck shell=bash
# Paths, the log, the published status, and a reader of JSON. Every other part needs it.
# ROOT is empty on a machine, and a folder in tests.
set -euo pipefail
ROOT=
# shellcheck source=/dev/null
. "$ROOT/etc/gpu-ci.conf"
RUN=$ROOT/run/gpu-ci
STATE=$ROOT/var/lib/gpu-ci
# shellcheck disable=SC2034 # other parts read it
APP=$ROOT/opt/actions-runner
# shellcheck disable=SC2034
ARCHIVE=$STATE/runner-$VERSION.tar.gz

say() { printf 'gpu-ci: %s\n' "$*" >&2; }

# Prints one value of the JSON on standard input. The runner's own files begin with a byte order mark.
field() {
  python3 -c 'import json, sys
try:
  value = json.loads(sys.stdin.buffer.read().decode("utf-8-sig"))
  for key in sys.argv[1:]:
    value = value[key]
except (KeyError, TypeError, ValueError):
  sys.exit(1)
print(value)' "$@"
}

# Publishes online, busy, "waiting: …", "stopped: …" or "failed: …" where it has changed. Tags of EC2 allow few signs.
# A failed publication is repeated each minute.
status() {
  local text=${*//[^A-Za-z0-9 .:_\/@=+-]/ }
  text=${text:0:200}
  printf '%s' "$text" >"$RUN/wanted"
  [ "$text" != "$(published)" ] || return 0
  say "status: $text"
  if put_status "$text"; then
    printf '%s' "$text" >"$RUN/status"
  else
    say 'the status cannot be published'
  fi
}

published() { if [ -e "$RUN/status" ]; then cat "$RUN/status"; fi; }

seconds_up() { cut -d. -f1 "$ROOT/proc/uptime"; }

busy() { pgrep -u runner -f Runner.Worker >/dev/null; }

as_runner() { runuser -u runner -- "$@"; }

power_off() {
  say "stops: $*"
  printf '%s' "$*" >"$RUN/reason"
  systemctl poweroff
}
