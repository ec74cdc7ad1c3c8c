"""An image is made only of what was reported to be finished."""

from __future__ import annotations

import pytest

from checks.image_proof import image_proof
from gpu.verdict import Level

pytestmark = pytest.mark.pure


def test_what_was_reported_for_this_content_is_good() -> None:
    (verdict,) = image_proof("host-image.proved", content="0a1b2c3d", proved="0a1b2c3d")

    assert (verdict.level, verdict.subject) == (Level.OK, "host-image.proved")


def test_what_was_reported_for_another_content_is_refused() -> None:
    (verdict,) = image_proof("host-image.proved", content="0a1b2c3d", proved="ffffffff")

    assert verdict.level is Level.ERROR
    assert "ffffffff was reported" in verdict.reason
    assert 'write "0a1b2c3d" once its builder has reported ok:0a1b2c3d' in verdict.fix
