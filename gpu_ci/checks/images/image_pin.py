"""Check that the pinned images exist: a digest of zeros marks one that is not built yet, and a mutable tag moves."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Final

from gpu_ci.back_ends.stack import Stack
from gpu_ci.knowledge.verdict import Verdict, ok, warning

CHECK: Final = "image-pin"
PLACEHOLDER: Final = f"sha256:{'0' * 64}"
"""The digest of an image that is not built yet. No content has it."""


def check(stack: Stack) -> Iterator[Verdict]:
    """Check each image of runners."""
    settings = stack.settings
    for name, image in settings.images.items():
        path = f"images.{name}"
        repository = settings.ecr.get(image.repository) if image.repository else None
        tags = repository.mutable_tags if repository is not None else ()
        if image.digest == PLACEHOLDER:
            reason = "64 zeros are the digest of no image, so the pods of its runners do not start, and their jobs wait"
            fix = "build the image, and write the digest that the build prints (docs/how-to/runner-image.md)"
            yield warning(CHECK, f"{path}.digest", reason, fix)
        elif image.digest is None and any(fnmatchcase(image.tag or "", tag) for tag in tags):
            reason = f"ecr.{image.repository}.mutable-tags allows to overwrite {image.tag}, so nodes may differ"
            yield warning(CHECK, f"{path}.tag", reason, "state the digest")
        else:
            yield ok(CHECK, path, f"the image is pinned by its {'digest' if image.digest else 'tag'}")
