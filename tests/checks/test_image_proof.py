"""The check `image-proof`: the stated hash of a declared image."""

from __future__ import annotations

import re

import pytest

from gpu_ci.checks.images import image_proof
from gpu_ci.knowledge.verdict import Level
from tests.checks.stacks import verdicts
from tests.tables import OUT

pytestmark = pytest.mark.pure

STALE = {
    "host-image/mode": "declared",
    "host-image/phase": "image",
    "host-image/proved": "ffffffff",
    "host-image/zones": ["us-central1-b"],
    "host-image/keep": OUT,
}


def test_a_hash_of_other_content_is_an_error() -> None:
    (verdict,) = verdicts(image_proof, STALE)

    assert (verdict.level, verdict.subject) == (Level.ERROR, "host-image.proved")
    assert verdict.reason.startswith("the stated hash ffffffff is stale: the current content hashes to ")


def test_the_hash_in_the_fix_passes() -> None:
    (stale,) = verdicts(image_proof, STALE)
    current = re.findall(r'state "(\w+)"', stale.fix)[0]

    assert [verdict.level for verdict in verdicts(image_proof, {**STALE, "host-image/proved": current})] == [Level.OK]
    assert verdicts(image_proof) == []
