#!/usr/bin/env bash
# Makes a virtual environment hold what a lock file names. Called by the Makefile when the lock has changed.
#
#   tools/setup.sh requirements.txt .venv/STAMP
#
# Installs with uv where it is on PATH, else with venv and pip; both check every hash. Settings for package indexes are
# the user's own: neither tool is told of one here.
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

# The interpreter to build on: PYTHON if it is set, else the first of these that is at least 3.11.
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
        fail "$(python3 --version 2>&1) is too old: install Python 3.11 or newer, or name one with PYTHON=/path/to/python"
    else
        fail "there is no python3: install Python 3.11 or newer, or name one with PYTHON=/path/to/python"
    fi
}

# uv does not read pip's configuration: where only pip knows the way to the packages, pip goes.
only_pip_knows_the_index() {
    [ -z "${UV_DEFAULT_INDEX:-}${UV_INDEX_URL:-}${UV_INDEX:-}" ] || return 1
    [ -n "${PIP_INDEX_URL:-}${PIP_NO_INDEX:-}" ] || "$1" -m pip config list 2>/dev/null | grep -qE '\.(no-)?index(-url)?='
}

with_uv() {
    command -v uv >/dev/null && uv --version >/dev/null 2>&1 && ! only_pip_knows_the_index "$python" || return 1
    [ -e "$venv" ] || uv venv --quiet --python "$python" "$venv" || return 1
    uv pip install --quiet --python "$venv/bin/python" --require-hashes --requirement "$lock" || {
        printf 'set-up: uv could not install %s; trying pip, which has settings of its own\n' "$lock" >&2
        return 1
    }
}

with_pip() {
    if ! "$venv/bin/python" -m pip --version >/dev/null 2>&1; then
        rm -rf "$venv"
        "$python" -m venv "$venv" >/dev/null 2>&1 || {
            rm -rf "$venv"
            fail "$python cannot make virtual environments: install its venv module (Debian: apt-get install python3-venv), or uv"
        }
    fi
    "$venv/bin/python" -m pip --disable-pip-version-check install --quiet --require-hashes --requirement "$lock" ||
        fail "pip could not install $lock: its own message stands above"
}

python=$(interpreter)
printf 'set-up: installing %s into %s; once, and again when it changes\n' "$lock" "$venv" >&2
new_enough "$venv/bin/python" || rm -rf "$venv"
with_uv || with_pip
printf '*\n' >"$venv/.gitignore"
touch "$stamp"
