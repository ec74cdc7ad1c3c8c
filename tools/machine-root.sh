#!/usr/bin/env bash
# Creates the root folder of the machines that tests boot: a Debian with systemd and cloud-init, and fake commands for
# what needs a GPU or the internet.
#
#   tools/machine-root.sh FOLDER
#
# Needs root, debootstrap and a Debian mirror in the settings of apt. Takes two minutes and 350 MB. Does nothing if FOLDER
# has the current content.
set -euo pipefail

folder=$1
fakes=$(dirname "$0")/../tests/machine/booted/fakes.sh
version=$(cat "$0" "$fakes" | sha256sum | cut -d' ' -f1)
[ "$(cat "$folder/version" 2>/dev/null)" != "$version" ] || exit 0

new=$folder.new
rm -rf "$folder" "$new"
mkdir -p "$new"
release=bookworm
# shellcheck disable=SC2016  # apt-get replaces the name
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' "Codename: $release" | sed -n 1p)
debootstrap --variant=minbase --include=ca-certificates "$release" "$new/root" "$mirror"
# No service starts during the installation.
printf '#!/bin/sh\nexit 101\n' >"$new/root/usr/sbin/policy-rc.d"
chmod +x "$new/root/usr/sbin/policy-rc.d"
cp /etc/resolv.conf "$new/root/etc/resolv.conf"
DEBIAN_FRONTEND=noninteractive chroot "$new/root" apt-get install --yes --quiet --no-install-recommends at cloud-init cron curl \
    dbus iptables kmod libpam-systemd openssh-server openssl polkitd procps python3 sudo systemd systemd-sysv
rm -rf "$new"/root/var/{cache/apt/archives,lib/apt/lists}/* "$new"/root/usr/share/{doc,locale,man} \
    "$new"/root/{etc/resolv.conf,usr/sbin/policy-rc.d} "$new"/root/etc/ssh/ssh_host_*
: >"$new/root/etc/machine-id" # the first boot writes it
printf 'datasource_list: [NoCloud]\nnetwork: {config: disabled}\nlocale: false\n' >"$new/root/etc/cloud/cloud.cfg.d/99-test.cfg"
for unit in apt-daily.timer apt-daily-upgrade.timer console-getty.service; do
    ln -sf /dev/null "$new/root/etc/systemd/system/$unit"
done
install -m 755 "$fakes" "$new/root/usr/local/bin/fake"
for name in apt-get apt-mark docker gpg modinfo modprobe nvidia-ctk nvidia-modprobe nvidia-smi; do
    ln -s fake "$new/root/usr/local/bin/$name"
    ln -s ../bin/fake "$new/root/usr/local/sbin/$name"
done

# The servers of tests have a certificate of an authority that the machine trusts.
hosts=(github.com api.github.com pipelines.actions.githubusercontent.com nvidia.github.io
    {ec2,monitoring,ssm}.eu-west-1.amazonaws.com {monitoring,secretmanager}.googleapis.com)
printf '127.0.0.1 %s\n' localhost "${hosts[@]}" >"$new/root/etc/hosts"
openssl req -x509 -newkey rsa:2048 -nodes -days 3650 -subj '/CN=Test authority' -keyout "$new/ca.key" -out "$new/ca.crt" 2>/dev/null
openssl req -newkey rsa:2048 -nodes -subj /CN=servers -keyout "$new/server.pem" -out "$new/server.csr" 2>/dev/null
openssl x509 -req -days 3650 -in "$new/server.csr" -CA "$new/ca.crt" -CAkey "$new/ca.key" -CAcreateserial \
    -extfile <(printf 'subjectAltName=%s' "$(printf 'DNS:%s,' "${hosts[@]}" | sed 's/,$//')") >>"$new/server.pem" 2>/dev/null
cp "$new/ca.crt" "$new/root/usr/local/share/ca-certificates/test.crt"
chroot "$new/root" update-ca-certificates >/dev/null
printf '%s\n' "$version" >"$new/version"
mv "$new" "$folder"
