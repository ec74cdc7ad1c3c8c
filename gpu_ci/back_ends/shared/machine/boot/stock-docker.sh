# shellcheck shell=bash
# Installs Docker of Ubuntu and NVIDIA's container toolkit. The toolkit's signing key must have the published fingerprint.
# Under systemd's cgroups a daemon-reload takes the GPU from running containers.

install_docker() {
  local keyring=$ROOT/etc/apt/keyrings/nvidia.asc url=https://nvidia.github.io/libnvidia-container
  step 'install Docker and the container toolkit'
  if [ ! -e "$STATE/docker" ]; then
    curl -sSfL --retry 8 --retry-all-errors -o "$keyring" "$url/gpgkey"
    [ "$(gpg --show-keys --with-colons "$keyring" | grep -A1 ^pub | grep ^fpr)" = "fpr:::::::::$TOOLKIT_KEY:" ]
    echo "deb [signed-by=$keyring] $url/stable/deb/amd64 /" >"$ROOT/etc/apt/sources.list.d/nvidia.list"
    apt update
    apt install docker.io {nvidia-container-toolkit{,-base},libnvidia-container{-tools,1}}="$TOOLKIT_VERSION"
    apt-mark hold nvidia-container-toolkit{,-base} libnvidia-container{-tools,1}
    echo '{"exec-opts": ["native.cgroupdriver=cgroupfs"]}' >"$ROOT/etc/docker/daemon.json"
    nvidia-ctk runtime configure --runtime=docker --set-as-default --config="$ROOT/etc/docker/daemon.json"
    systemctl restart docker
    touch "$STATE/docker"
  fi
}
