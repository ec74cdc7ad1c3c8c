# shellcheck shell=bash
# Installs NVIDIA's driver on Canonical's Ubuntu: modules that Canonical has built and signed for the kernel, so that
# nothing is compiled and Secure Boot can stay on. Updates Ubuntu at a start, so that no job sees packages change.

apt() {
  DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1 apt-get -o DPkg::Lock::Timeout=600 -o Acquire::Retries=5 \
    -o Dpkg::Options::=--force-confold --yes --no-install-recommends "$@"
}

install_software() {
  step "install driver $DRIVER"
  install_driver
  install_docker
  install_packages
  update
}

# The modules are for the newest kernel of the archive, which starts with one reboot. Held packages keep the module and
# the libraries of one version.
install_driver() {
  DRIVER_PACKAGES=("linux-$KERNEL" "linux-modules-nvidia-$DRIVER-$KERNEL" "nvidia-headless-no-dkms-$DRIVER"
    "nvidia-utils-${DRIVER%-open}")
  if [ ! -e "$STATE/driver" ]; then
    # A machine that was stopped during an installation.
    dpkg --configure -a
    apt update
    apt install "${DRIVER_PACKAGES[@]}" python3-venv
    apt-mark hold "${DRIVER_PACKAGES[@]}" "linux-image-$KERNEL" "linux-headers-$KERNEL"
    touch "$STATE/driver" "$STATE/updated"
  fi
  if ! modinfo nvidia >/dev/null; then
    [ ! -e "$STATE/rebooted" ] || return 1
    touch "$STATE/rebooted"
    reboot_into 'the kernel of the driver'
  fi
}

install_packages() {
  if [ "$PACKAGES" ] && [ ! -e "$STATE/packages" ]; then
    step "install $PACKAGES"
    apt update
    # shellcheck disable=SC2086  # names
    apt install $PACKAGES
    touch "$STATE/packages"
  fi
}

# Updates all packages a week after the last time, kernel and driver together. A failed update is repeated by the next
# start, and the machine works with what it has.
update() {
  [ "$(find "$STATE/updated" -mtime +6)" ] || return 0
  step 'update Ubuntu and the driver'
  if dpkg --configure -a && apt update && apt upgrade &&
    apt --allow-change-held-packages install "${DRIVER_PACKAGES[@]}"; then
    touch "$STATE/updated"
    # A loaded driver of another version than its libraries does not answer.
    reboot_into 'the updated packages'
  else
    say 'the update failed'
  fi
}

reboot_into() {
  status "waiting: reboot into $*"
  systemctl reboot
  exit 0
}
