# shellcheck shell=bash
# The stages that install packages. Sourced by install.sh.

stage_quiet() {
  # Whatever upgrades by itself would hold apt's lock now, and part the driver from its libraries later.
  systemctl disable --now apt-daily.timer apt-daily-upgrade.timer unattended-upgrades.service
  # Masking ends nothing that runs, and a first boot often has one of them running.
  systemctl stop apt-daily.service apt-daily-upgrade.service
  systemctl mask apt-daily.service apt-daily-upgrade.service
  put /etc/apt/apt.conf.d/99-gpu-host <<'CONF'
APT::Periodic::Update-Package-Lists "0";
APT::Periodic::Unattended-Upgrade "0";
CONF
  snap wait system seed.loaded
  snap refresh --hold
}

stage_upgrade() {
  apt update
  apt dist-upgrade
  apt install ca-certificates curl gnupg jq python3-venv
}

stage_docker() {
  local old=() name
  for name in docker.io docker-compose docker-compose-v2 docker-doc podman-docker containerd runc; do
    # An unknown package has no state.
    if [ "$(dpkg-query --show --showformat '${db:Status-Status}' "$name" 2>/dev/null)" = installed ]; then
      old+=("$name")
    fi
  done
  if [ ${#old[@]} -gt 0 ]; then
    apt remove "${old[@]}"
  fi
  keyring https://download.docker.com/linux/ubuntu/gpg 9DC858229FC7DD38854AE2D88D81803C0EBFCD88 \
    /etc/apt/keyrings/docker.asc
  local release
  # shellcheck source=/dev/null
  release=$(. "$ROOT/etc/os-release" && printf '%s' "$VERSION_CODENAME")
  put /etc/apt/sources.list.d/docker.list <<LIST
deb [arch=amd64 signed-by=/etc/apt/keyrings/docker.asc] https://download.docker.com/linux/ubuntu $release stable
LIST
  apt update
  mapfile -t packages < <(docker_packages)
  apt install "${packages[@]}"
  apt-mark hold docker-ce docker-ce-cli containerd.io
}

stage_driver() {
  mapfile -t packages < <(driver_packages)
  apt install "${packages[@]}"
  # A kernel without its modules, or libraries newer than the loaded module, is a machine without a GPU.
  apt-mark hold linux-gcp linux-image-gcp linux-headers-gcp "${packages[@]}"
  put /etc/systemd/system/nvidia-persistenced.service.d/persistence.conf <<'CONF'
[Service]
ExecStart=
ExecStart=/usr/bin/nvidia-persistenced --user nvidia-persistenced --persistence-mode --verbose
CONF
}

stage_toolkit() {
  keyring https://nvidia.github.io/libnvidia-container/gpgkey C95B321B61E88C1809C4F759DDCAE044F796ECB0 \
    /etc/apt/keyrings/nvidia-container-toolkit.asc
  # apt replaces $(ARCH) itself.
  put /etc/apt/sources.list.d/nvidia-container-toolkit.list <<'LIST'
deb [signed-by=/etc/apt/keyrings/nvidia-container-toolkit.asc] https://nvidia.github.io/libnvidia-container/stable/deb/$(ARCH) /
LIST
  apt update
  mapfile -t packages < <(toolkit_packages)
  apt install "${packages[@]/%/=$NVIDIA_TOOLKIT_VERSION}"
  apt-mark hold "${packages[@]}"
  # Under systemd's cgroups a daemon-reload takes the GPU from running containers.
  put /etc/docker/daemon.json <<'JSON'
{"exec-opts": ["native.cgroupdriver=cgroupfs"], "log-driver": "local"}
JSON
  nvidia-ctk runtime configure --runtime=docker --set-as-default --config="$ROOT/etc/docker/daemon.json"
  systemctl restart docker
}
