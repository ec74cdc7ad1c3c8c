"""Check that the builder of a declared host image has reported success for the current content.

Compute Engine shows a builder as TERMINATED after success, after a failure, at its time limit and after a preemption.
The installer's report contains the hash of the content, so that a report for other content proves nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gpu_ci.back_ends.stack import Stack
from gpu_ci.derived import host_image
from gpu_ci.knowledge.verdict import Verdict, error, ok

CHECK: Final = "image-proof"
_KEY: Final = "host-image.proved"


def check(stack: Stack) -> Iterator[Verdict]:
    """Compare the stated hash with the hash of the current content."""
    image, gcp = stack.settings.host_image, stack.settings.gcp
    if gcp is None or image is None or image.proved is None:
        return
    content = host_image.content(image, gcp.region).hash
    if image.proved == content:
        yield ok(CHECK, _KEY, f"the builder of this content has reported ok:{content}")
    else:
        yield error(
            CHECK,
            _KEY,
            f"the stated hash {image.proved} is stale: the current content hashes to {content}",
            f'go back to phase: build, and state "{content}" once its builder has reported ok:{content}',
            (
                "the image is created from the disk of the builder that is named after its content",
                f"the report of {image.proved} is from another builder with another disk",
            ),
        )
