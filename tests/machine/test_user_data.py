"""Tests of the user data: size, content, and what cloud-init makes of it."""

from __future__ import annotations

import base64
import bz2
import json
import re
import subprocess
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from gpu_ci.back_ends.shared.machine.user_data import (
    ARCHIVE,
    FOLDER,
    LIMIT,
    PROGRAM,
    SETTINGS,
    BootArgs,
    TooLongError,
    program,
    settings,
    software,
    units,
    user_data,
)
from tests.machine.boots import CLOUDS, REGISTRATIONS, boot_args, every_boot

pytestmark = pytest.mark.pure

WORD = st.text("abcdefghijklmnopqrstuvwxyz0123456789-", min_size=1, max_size=60)
BOOTS = st.builds(
    BootArgs,
    cloud=st.sampled_from(CLOUDS),
    github_url=st.sampled_from(
        [f"https://github.com/{'o' * 39}/{'r' * 100}", "https://github.com/acme", "https://acme.ghe.com/acme"]
    ),
    app_id=st.integers(1, 10**12),
    installation_id=st.integers(1, 10**12),
    key=WORD,
    runner_name=st.text("abcdefghij-", min_size=1, max_size=64),
    labels=st.lists(WORD, min_size=1, max_size=20).map(tuple),
    # The longest name that GitHub allows, also in signs of four bytes.
    runner_group=st.text(st.characters(min_codepoint=32, exclude_categories=["C", "Z"]), min_size=1, max_size=255),
    runner_version=st.just("2.337.0"),
    runner_sha256=st.just("7" * 64),
    registration=st.sampled_from(REGISTRATIONS),
    driver=st.sampled_from(["580", None]),
    cuda=st.sampled_from(["12.9", ""]),
    docker=st.booleans(),
    forks=st.booleans(),
    gpus=st.integers(1, 16),
    spot=st.booleans(),
    idle_stop_minutes=st.integers(0, 1440),
    max_hours=st.integers(1, 168),
)


def files(text: str) -> dict[str, str]:
    """Return the files of the machine, by path."""
    read: dict[str, Any] = yaml.safe_load(text)
    written = {one["path"]: one["content"] for one in read["write_files"]}
    return {**written, **json.loads(bz2.decompress(base64.b85decode(written[ARCHIVE])))}


@hypothesis_settings(max_examples=50)
@given(BOOTS)
def test_user_data_is_smaller_than_ec2_accepts_and_has_every_file_unchanged(args: BootArgs) -> None:
    text = user_data(args)

    assert len(text.encode()) <= LIMIT
    assert files(text)[SETTINGS] == settings(args)
    assert software(args).items() <= files(text).items()


@hypothesis_settings(max_examples=50)
@given(BOOTS)
def test_bash_reads_the_settings_as_they_were_written(args: BootArgs) -> None:
    script = f'{settings(args)}printf "%s\\0" "$GROUP" "$NAME" "$KEY" "$LABELS"'
    read = subprocess.run(["bash", "-euc", script], capture_output=True, check=True).stdout.decode().split("\0")

    assert read[:3] == [args.runner_group, args.runner_name, args.key]
    assert all(label in read[3] for label in args.labels)


def test_user_data_that_is_too_long_is_refused() -> None:
    labels = tuple(f"label-{number:060}" for number in range(100))

    with pytest.raises(TooLongError, match=r"^the user data has \d+ bytes and may have 16384: use fewer labels"):
        user_data(boot_args(labels=labels))


def test_user_data_of_one_machine_is_always_the_same() -> None:
    assert user_data(boot_args()) == user_data(boot_args())


def test_the_machine_starts_every_unit_that_can_be_installed() -> None:
    started = {args: yaml.safe_load(user_data(args))["runcmd"][-1] for args in every_boot()}
    installed = {args: {name for name, text in units(args).items() if "[Install]" in text} for args in started}

    assert {tuple(last[:4]) for last in started.values()} == {("systemctl", "enable", "--now", "--no-block")}
    assert {args: last[4:] for args, last in started.items() if set(last[4:]) != installed[args]} == {}
    assert [args for args, names in installed.items() if ("gpu-ci-spot.service" in names) is not args.spot] == []


def test_cloud_init_unpacks_the_program(tmp_path: Path) -> None:
    text = user_data(boot_args())
    packed = {f"{tmp_path}{path}": text for path, text in software(boot_args()).items()}
    (tmp_path / "software").write_bytes(base64.b85encode(bz2.compress(json.dumps(packed).encode())))
    command = yaml.safe_load(text)["runcmd"][0]
    command[-1] = command[-1].replace(ARCHIVE, f"{tmp_path}/software").replace(PROGRAM, f"{tmp_path}{PROGRAM}")
    subprocess.run(command, check=True)

    assert {path: Path(path).read_text(encoding="utf-8") for path in packed} == packed
    assert [path for path in packed if Path(path).stat().st_mode & 0o777 == 0o700] == [f"{tmp_path}{PROGRAM}"]


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://github.com/acme", ("https://api.github.com", "orgs/acme")),
        ("https://github.com/acme/vision", ("https://api.github.com", "repos/acme/vision")),
        ("https://acme.ghe.com/acme", ("https://api.acme.ghe.com", "orgs/acme")),
        ("https://github.acme.org/acme/vision", ("https://github.acme.org/api/v3", "repos/acme/vision")),
    ],
)
def test_the_machine_calls_the_api_of_the_stated_github(url: str, expected: tuple[str, str]) -> None:
    text = settings(boot_args(github_url=url))

    assert text.splitlines()[:2] == [f"API={expected[0]}", f"SCOPE={expected[1]}"]


def test_every_setting_is_read_and_every_variable_is_set() -> None:
    def unmatched(args: BootArgs) -> set[str]:
        text = program(args) + "".join(units(args).values())
        names = {line.split("=")[0] for line in settings(args).splitlines()}
        read = set(re.findall(r"\$\{?([A-Z][A-Z0-9_]+)", text))
        written = set(re.findall(r"^ *(?:local )?([A-Z][A-Z0-9_]+)=", text, re.MULTILINE))
        return (names - read) | (read - names - written - {"SYSTEMD_EXEC_PID"})

    assert {args: names for args in every_boot() if (names := unmatched(args))} == {}


CHANGES: tuple[dict[str, Any], ...] = (
    {"cloud": "gcp"},
    {"github_url": "https://github.com/other"},
    {"app_id": 1},
    {"installation_id": 1},
    {"key": "other"},
    {"runner_name": "other"},
    {"labels": ("other",)},
    {"runner_group": "other"},
    {"runner_version": "2.335.1"},
    {"runner_sha256": "0" * 64},
    {"registration": "persistent"},
    {"driver": "595"},
    {"packages": ("make",)},
    {"cuda": "13.0"},
    {"docker": True},
    {"gpus": 4},
    {"spot": True},
    {"idle_stop_minutes": 31},
    {"max_hours": 13},
    {"forks": True},
)
"""A change of each argument."""


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: next(iter(change)))
def test_every_argument_changes_the_machine(change: dict[str, Any]) -> None:
    assert user_data(replace(boot_args(), **change)) != user_data(boot_args())


def test_every_argument_is_tested() -> None:
    assert {name for change in CHANGES for name in change} == {one.name for one in fields(BootArgs)}


def test_no_failed_preparation_is_ignored_and_no_file_is_writable_by_all() -> None:
    lines = {(args, line.strip()) for args in every_boot() for line in program(args).splitlines()}

    assert [line for line in lines if "777" in line[1] or "|| echo" in line[1]] == []
    assert "|| true" not in (FOLDER / "setup.sh").read_text(encoding="utf-8")
