"""Names of resources have room for the name of the stack."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gpu_ci.stack_file.reading.load import StackFileError
from gpu_ci.stack_file.reading.stack_name import GCP_STACK_NAME_LIMIT, STACK_NAME_LIMIT, stack_name_faults
from ops.plan.recorder import record
from ops.plan.stack_file import read

pytestmark = pytest.mark.plan

STACK = read(Path(__file__).resolve().parents[2] / "examples" / "cirun-gcp.yaml")


def test_a_name_too_long_for_service_accounts_is_rejected() -> None:
    with pytest.raises(StackFileError) as refused:
        record(replace(STACK, name="a" * (GCP_STACK_NAME_LIMIT + 1)))

    assert [(fault.path, fault.fix) for fault in refused.value.faults] == [("stack name", "use a name of at most 16")]


def test_the_longest_name_fits_service_accounts() -> None:
    plan = record(replace(STACK, name="a" * GCP_STACK_NAME_LIMIT))
    accounts = [one.inputs["accountId"] for one in plan if one.type == "gcp:serviceaccount/account:Account"]

    assert max(map(len, accounts)) == 30


@pytest.mark.parametrize("name", ["Prod", "prod_1", "pr.od", "-prod", "prod-", "a--b", "", "prod 1", "prüfung"])
def test_a_name_that_a_cloud_rejects_is_reported(name: str) -> None:
    (fault,) = stack_name_faults(name, gcp=False)

    assert fault.fix == "name the stack in lower-case letters, digits and single hyphens"


def test_without_google_cloud_a_name_may_be_longer() -> None:
    assert stack_name_faults("a" * STACK_NAME_LIMIT, gcp=False) == []
    assert [fault.fix for fault in stack_name_faults("a" * (STACK_NAME_LIMIT + 1), gcp=False)] == [
        "use a name of at most 40"
    ]
