"""The difference of two values as lines."""

from __future__ import annotations

import base64
import bz2
import gzip
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ops.report.difference import difference, excerpts, leaves, readable, text_lines, whole

pytestmark = pytest.mark.pure

SCRIPT = "#!/bin/bash\nset -e\necho one\n"


def shown(old: Any, new: Any) -> list[str]:
    """The lines of the difference of two values as a report shows them."""
    return difference(readable(old), readable(new))


def test_only_the_branches_that_differ_are_shown() -> None:
    old = {"image": {"tag": "v1", "pull": "Always"}, "replicas": 1}
    new = {"image": {"tag": "v2", "pull": "Always"}, "replicas": 1, "extra": {"a": 1}}

    assert shown(old, new) == ["+extra: {a: 1}", " image:", "-  tag: v1", "+  tag: v2"]


def test_items_of_a_list_are_compared_by_their_name() -> None:
    old = {"env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]}
    new = {"env": [{"name": "B", "value": "3"}, {"name": "C", "value": "4"}]}

    assert shown(old, new) == [
        " env:",
        "-  - {name: A, value: '1'}",
        "   - name: B",
        "-    value: '2'",
        "+    value: '3'",
        "+  - {name: C, value: '4'}",
    ]


def test_a_policy_is_compared_by_statement() -> None:
    first = {"Sid": "Read", "Effect": "Allow", "Action": ["s3:GetObject"], "Resource": "arn:aws:s3:::a/*"}
    wider = {**first, "Action": ["s3:GetObject", "s3:*"]}
    old, new = (json.dumps({"Version": "2012-10-17", "Statement": [one]}) for one in (first, wider))

    assert shown(old, new) == [" Statement:", "   - Sid: Read", "     Action:", "+      - s3:*"]


def test_a_script_is_compared_by_line() -> None:
    changed = SCRIPT.replace("one", "two")

    assert shown(SCRIPT, changed) == [" #!/bin/bash", " set -e", "-echo one", "+echo two"]


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress], ids=["plain", "gzip", "bzip2"])
def test_a_packed_script_is_compared_by_line(pack: Any) -> None:
    old, new = (
        base64.b64encode(pack(f"{SCRIPT * 3}{more}\n".encode())).decode() for more in ("echo two", "echo three")
    )

    assert shown(old, new)[-2:] == ["-echo two", "+echo three"]


def test_a_packed_script_inside_a_document_is_compared_by_line() -> None:
    old, new = (
        f"#cloud-config\n- path: /a\n  content: {base64.b64encode(bz2.compress((SCRIPT * 9 + more).encode())).decode()}\n"
        for more in ("echo two\n", "echo three\n")
    )

    assert [line for line in shown(old, new) if line[:1] in "-+"] == ["-echo two", "+echo three"]


@pytest.mark.parametrize(
    "value", ["QUJD" * 30, "0" * 64, base64.b64encode(bytes(range(256))).decode(), "{not json", "["]
)
def test_other_content_is_unchanged(value: str) -> None:
    assert readable(value) == value


def test_text_that_unpacks_to_too_much_is_cut() -> None:
    bomb = base64.b64encode(gzip.compress(b"a\n" * 5_000_000)).decode()

    assert len(readable(bomb)) <= 1_000_001


def test_long_lines_are_cut_around_the_part_that_differs() -> None:
    old, new = excerpts(f"{'a' * 500} one {'b' * 500}", f"{'a' * 500} two {'b' * 500}")

    assert (len(old), len(new)) == (85, 85)
    assert " one " in old
    assert " two " in new


def test_lists_of_plain_values_show_added_and_removed_items() -> None:
    assert shown({"ranges": ["a", "b", "c"]}, {"ranges": ["a", "c", "d"]}) == [" ranges:", "-  - b", "+  - d"]


texts = st.lists(st.sampled_from(["a", "b", "c d"]), max_size=6).map("\n".join)
values = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.text("ab\n", max_size=4),
    lambda one: st.dictionaries(st.sampled_from("abc"), one, max_size=3) | st.lists(one, max_size=3),
)


@given(texts, texts)
def test_the_difference_applied_to_the_first_text_gives_the_second_text(old: str, new: str) -> None:
    found = text_lines(old, new) if old != new else []
    kept = old.splitlines()
    if old.splitlines() == new.splitlines():
        return
    for line in found:
        if line.startswith("-"):
            kept.remove(line[1:])

    assert sorted([*kept, *(line[1:] for line in found if line.startswith("+"))]) == sorted(new.splitlines())


@given(values, values)
def test_different_values_always_have_a_difference(old: Any, new: Any) -> None:
    same = json.dumps(old, sort_keys=True) == json.dumps(new, sort_keys=True)
    found = difference(old, new) if isinstance(old, dict | list) and type(old) is type(new) else None

    assert (list(leaves("a", old, new)) == []) is (same and isinstance(old, dict | list))
    if found is not None:
        assert any(line[:1] in "-+" for line in found) is not same
        assert all(line[:1] in "-+ " for line in found)


@given(values)
def test_every_value_has_lines(value: Any) -> None:
    assert all(isinstance(line, str) for line in whole(readable(value)))
