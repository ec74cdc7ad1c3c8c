#!/usr/bin/env bash
# Installs the packages of a lock file into a virtual environment. The Makefile runs it when the lock has changed.
#
#   tools/setup.sh requirements.txt .venv/STAMP
#
# Installs with uv if it is on PATH, otherwise with venv and pip. Both check every hash. The user configures package
# indexes in the settings of uv or pip; this script sets none.
set -euo pipefail

lock=$1
stamp=$2
venv=${stamp%/*}

fail() {
    printf 'set-up: %s\n' "$1" >&2
    exit 3
}

new_enough() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

# Prints the interpreter for the environment: PYTHON if it is set, otherwise the first of these that is 3.11 or newer.
interpreter() {
    local candidate
    for candidate in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11}; do
        if command -v "$candidate" >/dev/null && new_enough "$candidate"; then
            command -v "$candidate"
            return
        fi
    done
    if [ -n "${PYTHON:-}" ]; then
        fail "PYTHON=$PYTHON is missing or older than 3.11"
    elif command -v python3 >/dev/null; then
        fail "$(python3 --version 2>&1) is too old: install Python 3.11 or newer, or set PYTHON=/path/to/python"
    else
        fail "python3 is missing: install Python 3.11 or newer, or set PYTHON=/path/to/python"
    fi
}

# uv does not read the configuration of pip. If only pip has an index configured, use pip.
only_pip_has_an_index() {
    [ -z "${UV_DEFAULT_INDEX:-}${UV_INDEX_URL:-}${UV_INDEX:-}" ] || return 1
    [[ -n "${PIP_INDEX_URL:-}${PIP_NO_INDEX:-}" || $("$1" -m pip config list 2>/dev/null) =~ \.(no-)?index(-url)?= ]]
}

with_uv() {
    command -v uv >/dev/null && uv --version >/dev/null 2>&1 && ! only_pip_has_an_index "$python" || return 1
    [ -e "$venv" ] || uv venv --quiet --python "$python" "$venv" || return 1
    uv pip install --quiet --python "$venv/bin/python" --require-hashes --requirement "$lock" || {
        printf 'set-up: uv could not install %s; trying pip, which has its own settings\n' "$lock" >&2
        return 1
    }
}

with_pip() {
    if ! "$venv/bin/python" -m pip --version >/dev/null 2>&1; then
        rm -rf "$venv"
        local printed
        printed=$("$python" -m venv "$venv" 2>&1) || {
            rm -rf "$venv"
            case $printed in *'No space left on device'*) fail "no space is left for $venv: free space" ;; esac
            fail "$python cannot create virtual environments: install its venv module (Debian: apt-get install python3-venv), or uv"
        }
    fi
    "$venv/bin/python" -m pip --disable-pip-version-check install --quiet --require-hashes --requirement "$lock" ||
        fail "pip could not install $lock: see the message above"
}

case $venv in */*) folder=${venv%/*} ;; *) folder=. ;; esac
folder=$(cd "$folder" && pwd)
{ [ -w "$folder" ] && { [ ! -e "$venv" ] || [ -w "$venv" ]; }; } ||
    fail "$folder cannot be written: use a checkout that can be written, because the Python environment is in it"
python=$(interpreter)
printf 'set-up: installing %s into %s\n' "$lock" "$venv" >&2
new_enough "$venv/bin/python" || rm -rf "$venv"
with_uv || with_pip
printf '*\n' >"$venv/.gitignore"
touch "$stamp"
