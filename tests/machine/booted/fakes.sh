#!/bin/bash
# Commands that need a GPU, NVIDIA's driver or the internet. Files in /var/lib/fake change their answers.
name=${0##*/} state=/var/lib/fake
[ "$(id -u)" != 0 ] || printf '%s\n' "$name $*" >>"$state/calls"
case $name in
apt-get)
  [ ! -e "$state/apt-fails" ] || exit 100
  case " $* " in
  *' install '*docker.io*)
    groupadd --force --system docker && mkdir -p /etc/docker
    printf '[Service]\nExecStart=sleep infinity\n' >/etc/systemd/system/docker.service && systemctl daemon-reload
    ;;
  *' install '*) touch "$state/driver" ;;
  esac
  ;;
modinfo)
  # The module is for a kernel that starts with the next boot.
  [ -e "$state/driver" ] && { [ ! -e "$state/new-kernel" ] || [ -e "$state/booted" ] || ! touch "$state/booted"; }
  exit
  ;;
gpg) printf 'pub:\nfpr:::::::::%s:\n' "$(cat "$state/fingerprint" 2>/dev/null || echo C95B321B61E88C1809C4F759DDCAE044F796ECB0)" ;;
nvidia-smi)
  [ ! -e "$state/no-gpu" ] || { echo 'No devices were found' && exit 6; }
  case "$*" in
  *uuid*) echo GPU-5ecb1b05-0b51-4a4f-9f3c-93a3f7c3a0d1 ;;
  *utilization.gpu*) echo 37 ;;
  *memory.total*) echo 'Tesla T4, 580.95.05, 15360 MiB' ;;
  esac
  [ ! -e "$state/damaged-inforom" ] || { echo 'WARNING: infoROM is corrupted at gpu 0000:00:1E.0' && exit 14; }
  ;;
esac
exit 0
