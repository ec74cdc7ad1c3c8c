# shellcheck shell=bash
# The last stages: what can be checked without a GPU, and what must not be in an image. Sourced by install.sh.

stage_check() {
  local kernel version runtime
  # The modules must be there for the kernel that the image will boot, which need not be the one that runs now.
  kernel=$(find "$ROOT/lib/modules" -mindepth 1 -maxdepth 1 -printf '%f\n' | sort -V | tail -n 1)
  version=$(modinfo -k "$kernel" -F version nvidia)
  case $version in
    "$NVIDIA_BRANCH".*) say "driver $version for kernel $kernel" ;;
    *) die "kernel $kernel has driver '$version', and $NVIDIA_BRANCH was asked for" ;;
  esac
  runtime=$(docker info --format '{{.DefaultRuntime}}')
  [ "$runtime" = nvidia ] || die "docker's default runtime is '$runtime' and must be nvidia"
  nvidia-ctk --version
  "$ROOT/opt/uv/bin/uv" --version
}

stage_cleanup() {
  apt clean
  rm -rf "$ROOT/var/lib/apt/lists"/*
  cloud-init clean --logs
  # From here on, the journal is in memory only. Its folder on the disk has the name of this machine.
  journalctl --relinquish-var
  rm -rf "$ROOT/var/log/journal"/*
  # Every machine from this image makes its own.
  : >"$ROOT/etc/machine-id"
  rm -f "$ROOT/var/lib/dbus/machine-id" "$ROOT"/etc/ssh/ssh_host_*
  rm -f "$ROOT/root/.bash_history" "$ROOT"/home/*/.bash_history
  fstrim "${ROOT:-/}"
  systemctl disable gpu-host-install.service
  rm -f "$ROOT/etc/systemd/system/gpu-host-install.service"
  sync
}
