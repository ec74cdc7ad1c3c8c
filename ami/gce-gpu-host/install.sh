#!/usr/bin/env bash
# Makes an Ubuntu 24.04 machine of Google's into a GPU host: Docker, NVIDIA's driver and container toolkit, a user for
# containers, a fast local disk where there is one, and uv. Without an argument it hands the work to a unit that goes on
# after every reboot; `resume` is what that unit runs. Each stage is done once, so that a machine that was
# stopped goes on where it was. The end is reported in the guest attribute gpu-host/status: `ok:HASH` or `fail:STAGE:CODE:WHERE`.
set -Eeuo pipefail
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=ami/gce-gpu-host/lib.sh
. "$HERE/lib.sh"
loud
# shellcheck source=ami/gce-gpu-host/options.sh
. "$HERE/options.sh"
# shellcheck source=ami/gce-gpu-host/packages.sh
. "$HERE/packages.sh"
# shellcheck source=ami/gce-gpu-host/host.sh
. "$HERE/host.sh"
# shellcheck source=ami/gce-gpu-host/seal.sh
. "$HERE/seal.sh"

install -d "$STATE"
if [ -e "$STATE/done" ]; then
  say 'installed before'
  exit 0
fi

if [ "${1:-}" != resume ]; then
  STAGE=begin
  install -D --mode 0644 "$HERE/gpu-host-install.service" "$ROOT/etc/systemd/system/gpu-host-install.service"
  systemctl daemon-reload
  systemctl enable gpu-host-install.service
  systemctl start --no-block gpu-host-install.service
  exit 0
fi

stage quiet
stage upgrade
# Before the driver: its modules are for the newest kernel, which must be the one that runs.
if [ -e "$ROOT/run/reboot-required" ]; then
  say 'the new kernel needs a reboot'
  systemctl reboot
  exit 0
fi
stage docker
stage driver
stage toolkit
stage user
stage local_ssd
stage uv
stage check
stage cleanup
touch "$STATE/done"
report "ok:$GPU_HOST_HASH"
if [ "$STOP_WHEN_DONE" = 1 ]; then
  systemctl poweroff
fi
