"""The name of an image, derived from its content: equal files and options give the same name. Pure.

The program and the builder compute the name here. It is known before the build, and an existing image is not rebuilt.
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
"""Names on Google Cloud have at most 63 characters, and the names of machines contain the name of the image."""

_RFC1035 = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageContent:
    """Everything that determines the content of an image."""

    files: Mapping[str, str]
    """The installer's files, by name."""
    options: Mapping[str, str]
    """The options of the installation."""
    base_image: str
    """The base image, `PROJECT/NAME`. It is not a family, because the image of a family changes."""
    disk_gib: int
    """The size of the disk, which is the minimum for machines that boot from the image."""
    location: str = ""
    """The storage location. It is part of the content because an image cannot be moved."""

    @property
    def hash(self) -> str:
        """Return the hash. Each part has its name and length, so that no two contents give the same text."""
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
    """Return the name of an image.

    Raises:
        ValueError: the family is not valid.

    """
    return f"{checked_family(family)}-{content.hash}"


def checked_family(family: str) -> str:
    """Return `family`.

    Raises:
        ValueError: Google does not accept the family, or it is too long for the names of machines.

    """
    if not _RFC1035.fullmatch(family):
        message = f'"{family}" cannot be an image family: use lower-case letters, digits and hyphens, letter first'
        raise ValueError(message)
    if len(family) > FAMILY_LIMIT:
        message = f'"{family}" has {len(family)} characters, and an image family here has at most {FAMILY_LIMIT}'
        raise ValueError(message)
    return family
