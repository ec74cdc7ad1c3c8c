"""YAML files of a repository are read strictly."""

from __future__ import annotations

import pytest

from gpu_ci.repository.documents import FileError, load_yaml

pytestmark = pytest.mark.pure


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("gpu: a\ngpu: b\n", "line 2, column 1: `gpu` is a duplicate key (first on line 1); remove one of the two"),
        ("runners: [", "line 2, column 1: a value is missing here"),
        ("a\x00b", r"line 1, column 2: the character '\x00' is not allowed in YAML"),
        ("a: !!binary aGk=\n", "line 1, column 4: the tag !!binary is not allowed here"),
        ("a: !!int b\n", "line 1, column 4: `b` is not of the type !!int"),
        ("a: .inf\n", "line 1, column 4: `.inf` is not a finite number"),
        (f"a: {'1' * 9999}\n", "line 1, column 4: `111"),
        ("{{ name }}: a\n", "line 1, column 1: a map cannot be a key"),
        ("a: &a [*a]\n", "line 1, column 8: the alias *a is inside of its own anchor"),
        ("[" * 3000 + "]" * 3000, "line 1, column 65: maps and lists are nested more than 64 deep"),
    ],
)
def test_a_document_with_yaml_features_beyond_plain_data_is_refused(text: str, fault: str) -> None:
    with pytest.raises(FileError) as error:
        load_yaml(text, ".cirun.yml")

    assert fault in str(error.value)


def test_a_key_is_a_text() -> None:
    assert load_yaml("on: yes\n1: 0x10\n", "w.yml") == {"on": True, "1": 16}


def test_a_key_is_only_a_merge_key_without_quotes_and_tags() -> None:
    assert load_yaml('<<: {a: 1}\n"<<": {b: 2}\n', "w.yml") == {"a": 1, "<<": {"b": 2}}
    assert load_yaml("!!str <<: {a: 1}\n", "w.yml") == {"<<": {"a": 1}}


def test_a_date_is_a_text() -> None:
    assert load_yaml("a: 2026-11-22\n", ".cirun.yml") == {"a": "2026-11-22"}
