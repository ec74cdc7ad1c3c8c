# shellcheck shell=bash
# What every script of the image needs: loud failure, a report that the outside can read, stages done once.
# Sourced, never run. Expects HERE (the folder of the scripts); ROOT is where the file system begins, empty on a VM.

ROOT=${GPU_HOST_ROOT:-}
STATE=$ROOT/var/lib/gpu-host
METADATA=http://metadata.google.internal/computeMetadata/v1
STAGE=start
FAILED_AT=

say() { printf 'gpu-host: %s\n' "$*"; }

# The line on the console is for an organisation that forbids guest attributes: the serial port is read instead.
report() {
  printf 'gpu-host-report: %s\n' "$1"
  curl --fail --silent --show-error --retry 5 --retry-connrefused --max-time 10 --request PUT --data "$1" \
    --header 'Metadata-Flavor: Google' "$METADATA/instance/guest-attributes/gpu-host/status" ||
    say 'guest attributes cannot be written; the line above stands on the serial port'
}

die() {
  FAILED_AT=$*
  say "$*" >&2
  exit 1
}

# A failed command and an unset variable end in a report. A signal does not: the machine is going down for a reboot, or
# because Google takes it away, and neither is the installer's failure.
loud() {
  set -Eeuo pipefail
  trap 'FAILED_AT="${BASH_SOURCE[0]##*/}:$LINENO: $BASH_COMMAND"' ERR
  trap 'ended $?' EXIT
  trap 'trap - ERR EXIT; say "stopped in $STAGE"; exit 143' TERM INT HUP
}

ended() {
  local code=$1
  if [ "$code" -ne 0 ]; then
    trap - ERR EXIT
    set +e
    say "failed in $STAGE with $code at ${FAILED_AT:-an unset variable, named above}" >&2
    report "fail:$STAGE:$code:${FAILED_AT:0:200}"
  fi
}

# Runs a function once in the life of the machine, over all reboots.
stage() {
  STAGE=$1
  if [ -e "$STATE/$STAGE" ]; then
    say "$STAGE: done before"
    return
  fi
  say "$STAGE"
  "stage_$STAGE"
  touch "$STATE/$STAGE"
}

# Writes standard input to a file below ROOT.
put() {
  install -d "$(dirname "$ROOT$1")"
  cat >"$ROOT$1"
}

# dpkg asks about a changed configuration file even where debconf is noninteractive, and fails without a terminal
# (dstackai/dstack 3367: google-compute-engine). It takes its default answer, and without one the installed file stays.
# Every call waits for the locks of dpkg. No option waits for the lock of the lists, so update is repeated.
apt() {
  local tries=1 code
  if [ "$1" = update ]; then
    tries=10
  fi
  until DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1 \
    apt-get -o DPkg::Lock::Timeout=300 -o Acquire::Retries=5 -o APT::Update::Error-Mode=any \
    -o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold --yes --no-install-recommends "$@"; do
    code=$? tries=$((tries - 1))
    if [ "$tries" = 0 ]; then
      FAILED_AT="apt-get $*"
      exit "$code"
    fi
    sleep 15
  done
}

# A signing key is taken over only with the fingerprint that its owner publishes, and only alone: apt would trust every
# key of the file as much.
keyring() {
  local url=$1 fingerprint=$2 file=$3 key listed kind id last='' keys=()
  key=$(mktemp)
  curl --fail --silent --show-error --location --proto '=https' --retry 5 --retry-all-errors --output "$key" "$url"
  listed=$(gpg --show-keys --with-colons "$key")
  while IFS=: read -r kind _ _ _ _ _ _ _ _ id _; do
    # A fingerprint behind a primary key is that key's; the others are of subkeys, which it answers for.
    if [ "$last $kind" = 'pub fpr' ]; then
      keys+=("$id")
    fi
    last=$kind
  done <<<"$listed"
  [ "${keys[*]}" = "$fingerprint" ] || die "$url is not signed by $fingerprint alone but by '${keys[*]}'"
  install -D --mode 0644 "$key" "$ROOT$file"
  rm "$key"
}
