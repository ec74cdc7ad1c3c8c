"""The check `image-pin`: the placeholder of an image that is not built, and tags that may be overwritten."""

from __future__ import annotations

from typing import Any

import pytest

from gpu_ci.checks.images import image_pin
from gpu_ci.checks.images.image_pin import PLACEHOLDER
from gpu_ci.knowledge.verdict import Level
from tests.checks.stacks import verdicts
from tests.tables import OUT

pytestmark = pytest.mark.pure

IMAGE = "images/runner-gpu"


@pytest.mark.parametrize(
    ("changes", "subject", "level"),
    [
        ({}, "images.runner-gpu", Level.OK),
        ({f"{IMAGE}/digest": PLACEHOLDER}, "images.runner-gpu.digest", Level.WARNING),
        ({f"{IMAGE}/digest": OUT, f"{IMAGE}/tag": "first"}, "images.runner-gpu", Level.OK),
        ({f"{IMAGE}/digest": OUT, f"{IMAGE}/tag": "cache-runtime"}, "images.runner-gpu.tag", Level.WARNING),
        ({f"{IMAGE}/tag": "cache-runtime"}, "images.runner-gpu", Level.OK),
        (
            {
                f"{IMAGE}/digest": OUT,
                f"{IMAGE}/repository": OUT,
                f"{IMAGE}/reference": "ghcr.io/o/r",
                f"{IMAGE}/tag": "cache-1",
            },
            "images.runner-gpu",
            Level.OK,
        ),
    ],
)
def test_an_image_is_exact_or_gets_a_warning(changes: dict[str, Any], subject: str, level: Level) -> None:
    (verdict,) = verdicts(image_pin, changes)

    assert (verdict.subject, verdict.level) == (subject, level)


def test_the_placeholder_names_the_page_that_replaces_it() -> None:
    (verdict,) = verdicts(image_pin, {f"{IMAGE}/digest": PLACEHOLDER})

    assert "docs/how-to/runner-image.md" in verdict.fix
