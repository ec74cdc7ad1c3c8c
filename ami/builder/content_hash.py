"""The content address of an image: the same bytes and decisions always give the same name. Pure.

Whoever declares the image and whoever builds it compute the name here, so that it is known before anything runs, and
an image that is there already is never built again.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

HASH_LENGTH: Final = 8
FAMILY_LIMIT: Final = 63 - 1 - HASH_LENGTH - len("-verify")
"""Google's names have at most 63 characters, and the machines are called after the image."""

_RFC1035 = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageContent:
    """Everything that decides what is in an image."""

    files: Mapping[str, str]
    """The installer's files, by name."""
    options: Mapping[str, str]
    """What is chosen about the installation."""
    base_image: str
    """The image it is built on, `PROJECT/NAME`. A name and no family, which would move by itself."""
    disk_gib: int
    """The size of its disk, the least that a machine from it can have."""
    location: str = ""
    """Where Google keeps it; part of the address because no image can be moved."""

    @property
    def hash(self) -> str:
        """The address: each part with its name and length, so that no two contents read the same."""
        digest = hashlib.sha256()
        parts = {
            **{f"file {name}": text for name, text in self.files.items()},
            **{f"option {name}": value for name, value in self.options.items()},
            "base": self.base_image,
            "disk": str(self.disk_gib),
            "location": self.location,
        }
        for name, value in sorted(parts.items()):
            data = value.encode()
            digest.update(f"{name}\0{len(data)}\0".encode() + data)
        return digest.hexdigest()[:HASH_LENGTH]


def image_name(family: str, content: ImageContent) -> str:
    """The image's name.

    Raises:
        ValueError: the family cannot be part of a name at Google.

    """
    return f"{checked_family(family)}-{content.hash}"


def checked_family(family: str) -> str:
    """`family`, if Google takes it and leaves room for what is added to it.

    Raises:
        ValueError: it does not.

    """
    if not _RFC1035.fullmatch(family):
        message = f'"{family}" cannot be an image family: use lower-case letters, digits and hyphens, letter first'
        raise ValueError(message)
    if len(family) > FAMILY_LIMIT:
        message = f'"{family}" has {len(family)} characters, and an image family here has at most {FAMILY_LIMIT}'
        raise ValueError(message)
    return family
