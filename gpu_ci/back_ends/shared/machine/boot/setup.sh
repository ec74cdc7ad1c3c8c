# shellcheck shell=bash
# Prepares the machine at each start; each step does only its missing part. A failed step fails the unit, so that no
# runner is registered, and is published.

STEP=start

step() {
  STEP=$*
  status "waiting: $STEP"
}

setup_ended() {
  local code=$?
  [ "$code" = 0 ] || status "${UNTIL_NOW:-failed}: $STEP"
}

# Repeats the preparation twice: one failed download must not cost a machine its day.
setup() {
  local wait
  for wait in 10 20; do
    UNTIL_NOW='waiting: repeats' "$0" prepare && return
    pause "$wait"
  done
  "$0" prepare
}

prepare() {
  trap setup_ended EXIT
  install -d "$STATE"
  step 'create the user runner'
  runner_user
  step 'block the metadata server for jobs'
  block_metadata
  install_software
  join_docker
  step "download runner $VERSION and compare its checksum"
  fetch_runner
  step 'verify the GPU as the user runner'
  verify_gpu
  step 'verify that the user runner has no access to root and metadata'
  verify_user
}

# The list of groups replaces those that an image gives the user, such as sudo and docker.
runner_user() {
  local each
  for each in video render; do
    groupadd --force --system "$each"
  done
  if ! getent passwd runner >/dev/null; then
    useradd --create-home --shell /bin/bash runner
  fi
  # SSH, cron and at start nothing for an account that has expired.
  usermod --groups video,render --expiredate 1 runner
}

# DNS of Compute Engine has the same address, on port 53. Forwarded packets come from containers; mangle is before the
# rules of Docker.
block_metadata() {
  reject iptables 169.254.169.254
  reject ip6tables fd00:ec2::254
  reject ip6tables fd20:ce::254
}

reject() {
  local chain
  for chain in 'OUTPUT -m owner --uid-owner runner' FORWARD; do
    # shellcheck disable=SC2086  # a chain, and a match with its arguments
    "$1" -w -t mangle -C $chain -d "$2" -p tcp ! --dport 53 -j DROP 2>/dev/null ||
      "$1" -w -t mangle -A $chain -d "$2" -p tcp ! --dport 53 -j DROP
  done
}

fetch_runner() {
  local sum="$SHA256  $ARCHIVE"
  if ! sha256sum --check --status <<<"$sum" 2>/dev/null; then
    curl -sSfL --retry 8 --retry-all-errors --retry-max-time 900 -o "$ARCHIVE" \
      "https://github.com/actions/runner/releases/download/v$VERSION/actions-runner-linux-x64-$VERSION.tar.gz"
    sha256sum --check --status <<<"$sum" || { rm "$ARCHIVE" && return 1; }
  fi
}

gpus_of_runner() { as_runner nvidia-smi --query-gpu=uuid --format=csv,noheader | grep -c GPU-; }

# A job cannot load modules or create devices, so that both must exist before.
verify_gpu() {
  modprobe nvidia-uvm
  [ -e "$ROOT/dev/nvidia-uvm" ] || nvidia-modprobe -u -c 0
  nvidia-smi -pm 1 || [ $? = 14 ] # a damaged infoROM, with which jobs run
  [ "$(gpus_of_runner)" = "$GPUS" ]
}

verify_user() {
  ! as_runner sudo -n true 2>/dev/null && ! metadata_of_runner
}

metadata_of_runner() { as_runner curl -s -o /dev/null --max-time 2 http://169.254.169.254/; }
