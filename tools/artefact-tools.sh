#!/usr/bin/env bash
# Installs the tools for the tests of scripts, units and workflows that are not Python packages: `make artefact-tools`.
#
#   tools/artefact-tools.sh BIN
#
# On Debian, with root or sudo, installs packages with apt-get. On other systems, prints the missing packages.
# Builds actionlint from its Go module into BIN, with the checksums in tools/go-tools/go.sum, and as root the folder of
# the machines that tests boot.
set -euo pipefail

bin=$1
export PATH="$bin:$PATH"
missing=()

have() {
    command -v "$1" >/dev/null
}

# tool, Debian package, Homebrew package
debian() {
    if have "$1"; then
        printf '  %-16s %s\n' "$1" "$(command -v "$1")"
    elif [ "$(uname -s)" = Darwin ] && [ -z "$3" ]; then
        printf '  %-16s %s\n' "$1" "not for macOS: the tests that need it are skipped there"
    elif command -v apt-get >/dev/null && apt_get install --yes --no-install-recommends "$2" >"$log" 2>&1; then
        printf '  %-16s %s\n' "$1" "installed from the Debian package $2"
    else
        missing+=("$1 (Debian: apt-get install $2${3:+; macOS: brew install $3})")
    fi
}

updated=
apt_get() {
    local as_root=()
    if [ "$(id -u)" != 0 ]; then
        sudo -n true 2>/dev/null || return 1
        as_root=(sudo -n)
    fi
    if [ -z "$updated" ]; then
        "${as_root[@]}" apt-get update --quiet || return 1
        updated=yes
    fi
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get --quiet "$@"
}

go_tool_actionlint() {
    local wanted
    wanted=$(sed -n 's|.*github.com/rhysd/actionlint v\([0-9.]*\).*|\1|p' tools/go-tools/go.mod)
    if have actionlint && grep -qx "v\{0,1\}$wanted" <<<"$(actionlint -version)"; then
        printf '  %-16s %s\n' actionlint "$(command -v actionlint)"
    elif ! have go; then
        missing+=("actionlint $wanted (its build needs Go, which is not on PATH: https://go.dev/dl)")
    elif mkdir -p "$bin" && go build -C tools/go-tools -o "$bin/actionlint" github.com/rhysd/actionlint/cmd/actionlint; then
        printf '  %-16s %s\n' actionlint "built into $bin"
    else
        missing+=("actionlint $wanted (its build failed: see the message above)")
    fi
}

# The root folder of the machines that tests boot.
machine_root() {
    local folder
    folder=$(dirname "$bin")/machine
    if [ "$(id -u)" != 0 ] || ! have debootstrap; then
        printf '  %-16s %s\n' machine 'needs root on Debian: the tests that boot machines are skipped'
    elif tools/machine-root.sh "$folder" >"$log" 2>&1; then
        printf '  %-16s %s\n' machine "$folder"
    else
        printf '  %-16s %s\n' machine 'failed: the tests that boot machines are skipped'
        tail -n 3 "$log" >&2
    fi
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT

debian jq jq jq
debian shellcheck shellcheck shellcheck
debian dot graphviz graphviz
debian systemd-analyze systemd ""
debian cloud-init cloud-init ""
debian debootstrap debootstrap ""
debian systemd-nspawn systemd-container ""
debian ip iproute2 ""
go_tool_actionlint
machine_root

if [ ${#missing[@]} -gt 0 ]; then
    tail -n 3 "$log" >&2
    printf 'artefact-tools: missing: %s\n' "${missing[@]}" >&2
    exit 3
fi
