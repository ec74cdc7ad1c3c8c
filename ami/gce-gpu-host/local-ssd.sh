#!/usr/bin/env bash
# Puts Docker's images and containers on a local SSD, where the machine has one: unpacking an image is bound by its disk.
# Runs at every boot before Docker does. A local SSD is blank at first boot and after a stop.
set -Eeuo pipefail
ROOT=${GPU_HOST_ROOT:-}
MOUNT=$ROOT/mnt/local-ssd

device=${LOCAL_SSD_DEVICE:-}
if [ -z "$device" ]; then
  for candidate in "$ROOT"/dev/disk/by-id/google-local-nvme-ssd-0 "$ROOT"/dev/disk/by-id/google-local-ssd-0; do
    if [ -e "$candidate" ]; then
      device=$candidate
      break
    fi
  done
fi
if [ -z "$device" ]; then
  echo 'local-ssd: this machine has none'
  exit 0
fi

# 2 says that nothing was found on the disk; anything else that is not 0 is trouble with the disk itself.
kind=$(blkid --probe --output value --match-tag TYPE "$device") || {
  code=$?
  if [ "$code" -ne 2 ]; then
    exit "$code"
  fi
}
case $kind in
  '') mkfs.ext4 -F -m 0 "$device" ;;
  ext4) ;;
  *)
    echo "local-ssd: $device holds $kind, which is not ours to erase" >&2
    exit 1
    ;;
esac

mkdir -p "$MOUNT"
mountpoint --quiet "$MOUNT" || mount -o discard,noatime "$device" "$MOUNT"
# Docker keeps images in one or in the other, by its version.
for name in docker containerd; do
  mkdir -p "$MOUNT/$name" "$ROOT/var/lib/$name"
  mountpoint --quiet "$ROOT/var/lib/$name" || mount --bind "$MOUNT/$name" "$ROOT/var/lib/$name"
done
echo "local-ssd: docker and containerd live on $device"
