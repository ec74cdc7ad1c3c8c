# shellcheck shell=bash
# Installs NVIDIA's driver on Canonical's Ubuntu: modules that Canonical has built and signed for the kernel, so that
# nothing is compiled and Secure Boot can stay on.

apt() {
  DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1 apt-get -o DPkg::Lock::Timeout=600 -o Acquire::Retries=5 \
    -o Dpkg::Options::=--force-confold --yes --no-install-recommends "$@"
}

install_software() {
  step "install driver $DRIVER"
  install_driver
  install_docker
}

# The modules are for the newest kernel of the archive, which starts with one reboot. Held packages keep the module and
# the libraries of one version.
install_driver() {
  local packages=("linux-$KERNEL" "linux-modules-nvidia-$DRIVER-$KERNEL" "nvidia-headless-no-dkms-$DRIVER"
    "nvidia-utils-${DRIVER%-open}")
  if [ ! -e "$STATE/driver" ]; then
    apt update
    apt install "${packages[@]}"
    apt-mark hold "${packages[@]}" "linux-image-$KERNEL" "linux-headers-$KERNEL"
    touch "$STATE/driver"
  fi
  if ! modinfo nvidia >/dev/null; then
    [ ! -e "$STATE/rebooted" ] || return 1
    touch "$STATE/rebooted"
    status 'waiting: reboot into the kernel of the driver'
    systemctl reboot
    exit 0
  fi
}
