# shellcheck shell=bash
# What can be chosen about the image, with its defaults. Sourced after lib.sh; a value that does not fit ends the script.

if [ -e "$HERE/options.env" ]; then
  # shellcheck source=/dev/null
  . "$HERE/options.env"
fi
: "${GPU_HOST_HASH:?the content address of this image}"
# 580 is NVIDIA's long-term branch, to June 2028, and the last one that knows V100 and P100.
NVIDIA_BRANCH=${NVIDIA_BRANCH:-580}
# `server` drives every GPU from Maxwell to Hopper; `server-open` is for Turing and newer, and all that Blackwell takes.
NVIDIA_FLAVOUR=${NVIDIA_FLAVOUR:-server}
NVIDIA_TOOLKIT_VERSION=${NVIDIA_TOOLKIT_VERSION:-1.20.0-1}
# Empty takes the newest at the time of the build, as in 5:29.0.1-1~ubuntu.24.04~noble otherwise.
DOCKER_VERSION=${DOCKER_VERSION:-}
DOCKER_USER=${DOCKER_USER:-ci-gpu-runner}
LOCAL_SSD=${LOCAL_SSD:-1}
# 1 where nobody watches for the report and the stopped disk itself is what is waited for.
STOP_WHEN_DONE=${STOP_WHEN_DONE:-0}
UV_VERSION=${UV_VERSION:-0.13.8}
# Of the wheel for manylinux x86_64.
UV_SHA256=${UV_SHA256:-e18a57b8b352eb7c8feb317b9f6f533c8f0ad9673fd6cf34bbe3cf1a9f6a8984}

fits() {
  [[ ${!1} =~ ^($2)$ ]] || die "$1=${!1} does not fit: $3"
}

fits GPU_HOST_HASH '[0-9a-f]{8,64}' 'hexadecimal digits'
fits NVIDIA_BRANCH '[0-9]{3}' 'a driver branch, as 580'
fits NVIDIA_FLAVOUR 'server|server-open' 'server or server-open'
fits NVIDIA_TOOLKIT_VERSION '[0-9]+\.[0-9]+\.[0-9]+-[0-9]+' 'a version of the toolkit, as 1.20.0-1'
fits DOCKER_VERSION '|[0-9]+:[0-9a-z.~-]+' 'a version of docker-ce, with its epoch'
fits DOCKER_USER '[a-z_][a-z0-9_-]{0,30}' 'a user name'
[ "$DOCKER_USER" != root ] || die 'DOCKER_USER=root does not fit: a user without privileges'
fits LOCAL_SSD '[01]' '0 or 1'
fits STOP_WHEN_DONE '[01]' '0 or 1'
fits UV_VERSION '[0-9]+\.[0-9]+\.[0-9]+' 'a version of uv'
fits UV_SHA256 '[0-9a-f]{64}' 'a SHA-256'

# The metapackage follows the kernel of Google's Ubuntu: modules built and signed by Canonical, nothing compiled here,
# so that Secure Boot can stay on.
driver_packages() {
  printf '%s\n' "linux-modules-nvidia-$NVIDIA_BRANCH-$NVIDIA_FLAVOUR-gcp" \
    "nvidia-headless-no-dkms-$NVIDIA_BRANCH-$NVIDIA_FLAVOUR" \
    "nvidia-utils-$NVIDIA_BRANCH-server"
}

# cirun runs every job as runnerx, which its start script adds to no group.
docker_users() {
  printf '%s\n' "$DOCKER_USER" runnerx | sort --unique
}

toolkit_packages() {
  printf '%s\n' nvidia-container-toolkit nvidia-container-toolkit-base libnvidia-container-tools libnvidia-container1
}

docker_packages() {
  printf '%s\n' "docker-ce${DOCKER_VERSION:+=$DOCKER_VERSION}" "docker-ce-cli${DOCKER_VERSION:+=$DOCKER_VERSION}" \
    containerd.io docker-buildx-plugin docker-compose-plugin
}
