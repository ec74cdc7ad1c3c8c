"""What is named after the stack has room for the stack's name."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from config.faults import StackFileError
from config.load import GOOGLE_STACK_NAME_LIMIT
from ops.recorder import record
from ops.stack_file import read

pytestmark = pytest.mark.plan

STACK = read(Path(__file__).resolve().parents[2] / "examples" / "cirun-gcp.yaml")


def test_a_stack_name_too_long_for_googles_accounts_is_refused_before_anything_is_made() -> None:
    with pytest.raises(StackFileError) as refused:
        record(replace(STACK, name="a" * (GOOGLE_STACK_NAME_LIMIT + 1)))

    assert [(fault.path, fault.right) for fault in refused.value.faults] == [("gcp", "take a name of at most 16")]


def test_the_longest_stack_name_fits_googles_accounts() -> None:
    plan = record(replace(STACK, name="a" * GOOGLE_STACK_NAME_LIMIT))
    accounts = [one.inputs["accountId"] for one in plan if one.type == "gcp:serviceaccount/account:Account"]

    assert max(map(len, accounts)) == 30
