"""YAML files of a repository are read strictly."""

from __future__ import annotations

import pytest

from kit.documents import FileError, load_yaml

pytestmark = pytest.mark.pure


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("gpu: a\ngpu: b\n", "line 2, column 1: not YAML (the key gpu is repeated in one map); correct that line"),
        ("runners: [", "not YAML"),
        ("a\x00b", "write plain UTF-8 text"),
        ("a: !!binary aGk=\n", "not a plain value"),
        ("[" * 3000 + "]" * 3000, "nested too deeply"),
    ],
)
def test_a_document_that_is_not_plain_is_refused(text: str, fault: str) -> None:
    with pytest.raises(FileError) as error:
        load_yaml(text, ".cirun.yml")

    assert fault in str(error.value)


def test_a_date_is_a_text() -> None:
    assert load_yaml("a: 2026-11-22\n", ".cirun.yml") == {"a": "2026-11-22"}
