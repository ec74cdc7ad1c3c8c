"""The text of the issue about the drift of a stack."""

from __future__ import annotations

from typing import Final

import pytest

from ops.pipeline.drift import body
from ops.report.changes import Change, Effect, Property

pytestmark = pytest.mark.artefacts

TAG: Final = Change(
    effect=Effect.UPDATE,
    urn="urn:pulumi:staging::gpu-ci::aws:ec2/vpc:Vpc::network",
    type="aws:ec2/vpc:Vpc",
    properties=(Property(path="tags.Owner", old="@someone", new="ci", forces=False),),
)
DELETED: Final = Change(
    effect=Effect.CREATE, urn="urn:pulumi:staging::gpu-ci::aws:ec2/subnet:Subnet::private", type="aws:ec2/subnet:Subnet"
)
TEXT: Final = body("staging", "c0ffee" * 7, [TAG, DELETED])


def test_the_issue_names_the_resources_and_the_values_of_the_cloud() -> None:
    assert TEXT.startswith("The clouds differ from the deployed commit c0ffeec0ff of `staging`")
    assert "\n~ update   ec2/vpc network\n    tags.Owner: @\u200bsomeone -> ci\n" in TEXT
    assert "\n+ create   ec2/subnet private\n" in TEXT


def test_a_secret_is_hidden_and_a_code_fence_in_a_value_is_escaped() -> None:
    value = "AKIA" + "B" * 16
    leaking = Property(path="description", old=f"``` {value}", new="x", forces=False)
    text = body("staging", "c0ffee", [Change(effect=Effect.UPDATE, urn="a::b::c::d", type="t", properties=(leaking,))])

    assert value not in text
    assert "\n````text\n" in text
    assert "description: ``` [redacted] -> x" in text


def test_a_long_list_is_cut_with_a_count() -> None:
    many = [
        Change(effect=Effect.UPDATE, urn=f"a::b::c::{one}" + "x" * 99, type="t", properties=TAG.properties)
        for one in range(999)
    ]

    text = body("staging", "c0ffee", many)

    assert len(text) < 65_000
    assert " more lines: see the log of the run\n```" in text
