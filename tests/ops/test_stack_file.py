"""A stack file is read as the engine reads it; an invalid one is refused with its line and column."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ops.plan.stack_file import StackFile, UnreadableStackFileError, find, read

pytestmark = pytest.mark.pure


def given_text(folder: Path, text: str) -> StackFile:
    path = folder / "Pulumi.staging.yaml"
    path.write_text(text, encoding="utf-8")
    return read(path)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("5", "5"),
        ("1.50", "1.5"),
        ("1.0", "1"),
        ("1e3", "1000"),
        ("0x10", "16"),
        ("0o17", "15"),
        ("012345678901", "12345678901"),
        ("1_000", "1000"),
        ("true", "true"),
        ("yes", "yes"),
        ("on", "on"),
        ('"5"', "5"),
        ("'017'", "017"),
        ("1.35.1", "1.35.1"),
        ("", "null"),
        ("~", "null"),
        ("text", "text"),
    ],
)
def test_a_scalar_has_the_value_that_the_engine_gives_it(tmp_path: Path, written: str, value: str) -> None:
    assert given_text(tmp_path, f"config:\n  gpu-ci:key: {written}\n").config == {"gpu-ci:key": value}


def test_an_object_is_compact_json_with_sorted_keys(tmp_path: Path) -> None:
    read_ = given_text(tmp_path, "config:\n  gpu-ci:key:\n    b: [1, '1', yes]\n    a: {c: null}\n")

    assert read_.config["gpu-ci:key"] == '{"a":{"c":null},"b":[1,"1","yes"]}'


def test_a_stated_key_overrides_a_merged_one(tmp_path: Path) -> None:
    text = "config:\n  gpu-ci:a: &a {x: 1, y: 2}\n  gpu-ci:b:\n    <<: *a\n    y: 3\n"

    assert json.loads(given_text(tmp_path, text).config["gpu-ci:b"]) == {"x": 1, "y": 3}


def test_a_key_without_a_namespace_belongs_to_the_project(tmp_path: Path) -> None:
    assert set(given_text(tmp_path, "config:\n  key: 1\n  aws:region: x\n").config) == {"gpu-ci:key", "aws:region"}


def test_a_secret_becomes_a_placeholder_in_its_format(tmp_path: Path) -> None:
    text = "config:\n  gpu-ci:app-private-key:\n    secure: v1:abc:def\n  gpu-ci:token:\n    secure: v1:abc:def\n"

    read_ = given_text(tmp_path, text)

    assert read_.secret_keys == {"gpu-ci:app-private-key", "gpu-ci:token"}
    assert read_.config["gpu-ci:token"] == "placeholder-secret"
    assert read_.config["gpu-ci:app-private-key"].startswith("-----BEGIN RSA PRIVATE KEY-----\n")
    assert read_.config["gpu-ci:app-private-key"].endswith("\n-----END RSA PRIVATE KEY-----\n")


def test_an_object_with_a_secret_is_a_secret(tmp_path: Path) -> None:
    read_ = given_text(tmp_path, "config:\n  gpu-ci:key:\n    inner: {secure: v1:abc:def}\n")

    assert read_.secret_keys == {"gpu-ci:key"}
    assert json.loads(read_.config["gpu-ci:key"]) == {"inner": "placeholder-secret"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "config:\n  a: 1\n  a: 2\n",
            r"Pulumi.staging.yaml:3:3: `a` is a duplicate key \(first on line 2\)\. Remove one",
        ),
        ("config:\n  x:\n    b: {c: 1,\n      c: 2}\n", r":4:7: `c` is a duplicate key"),
        (
            "config:\n  a: [1\n",
            r":2:6: the list that begins here does not end before line 3, column 1\. Check its commas",
        ),
        ("config:\n  a: 2026-11-20\n", r':2:6: `2026-11-20` without quotes is a date, .* Write "2026-11-20"'),
        ("config:\n  a: 2026-11-20 00:00:00 +0000 UTC\n", r':2:6: `2026-11-20 .*` without .* Write "2026-11-20"'),
        ("- a\n", r"the file is not a map\. A stack file begins with `config:`"),
        ("config: 3\n", r"`config` is not a map"),
    ],
)
def test_invalid_yaml_is_refused_with_line_and_column(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UnreadableStackFileError, match=message):
        given_text(tmp_path, text)


def test_a_missing_stack_file_names_the_nearest(tmp_path: Path) -> None:
    for name in ("staging", "production"):
        (tmp_path / f"Pulumi.{name}.yaml").write_text("config: {}\n")

    with pytest.raises(UnreadableStackFileError, match=r"Pulumi\.stagin\.yaml.*Did you mean staging\?"):
        find("stagin", tmp_path)


def test_a_missing_stack_file_without_a_near_name_lists_all(tmp_path: Path) -> None:
    for name in ("staging", "production"):
        (tmp_path / f"Pulumi.{name}.yaml").write_text("config: {}\n")

    with pytest.raises(UnreadableStackFileError, match=r"Did you mean production or staging\?"):
        find("zzz", tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"the file is empty\. A stack file begins with `config:`"),
        (
            "confg:\n  gpu-ci:stack: {protect: false}\n",
            r"`confg` is not a key of a stack file\. Did you mean `config`\?",
        ),
        ("runners: {}\n", r"`runners` is not a key of a stack file\. Pulumi reads config, environment"),
    ],
)
def test_a_file_without_config_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UnreadableStackFileError, match=message):
        given_text(tmp_path, text)


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zl", "Zp"]), max_size=20))
def test_quoted_text_is_unchanged(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    folder = tmp_path_factory.getbasetemp()

    read_ = given_text(folder, f"config:\n  gpu-ci:key: {json.dumps(text, ensure_ascii=False)}\n")

    assert read_.config["gpu-ci:key"] == text
