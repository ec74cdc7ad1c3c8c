"""The content of a machine image that EC2 Image Builder makes: its documents, and the version that is derived. Pure.

Limits: AWS, Image Builder API reference, CreateComponent and CreateImageRecipe, 2026. A version cannot be changed, so
that other content needs another one.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

LIMIT: Final = 16_000
"""The largest component document that is part of a request, in characters."""
IN_USE_TAG: Final = "gpu-ci-in-use"
"""The tag of an AMI that no lifecycle policy deletes."""
STATE: Final = (
    'state=$(aws imagebuilder get-image --region "$REGION" --image-build-version-arn "$IMAGE"'
    " --query image.state.status --output text) || exit 1\n"
    'if [ "$state" != AVAILABLE ]; then\n'
    '  echo "the last build of the image is $state, so nothing uses it: correct it, and raise $SECTION.build" >&2\n'
    "  exit 1\n"
    "fi\n"
)
"""The command that fails unless the tests of an image passed."""
NONE: Final = "-"
"""The value of an empty list: a constant has at least one character."""
_VERSIONS: Final = 2**30
"""The number of values of each part of a version."""
_CONSTANT: Final = re.compile(r"\{\{ ([A-Z]+) \}\}")
_COMMENT: Final = re.compile(r"^ *# .*\n", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageContent:
    """Everything that decides the content of an image."""

    build: str
    """The document of the installation."""
    test: str
    """The document of the tests on a machine that was started from the image."""
    parent: str
    """The base image: `ssm:` and the public parameter of one exact release."""
    system: str
    """The operating system, as Image Builder names it, for example `Amazon Linux 2023`."""
    device: str
    """The device name of the root volume."""
    disk_gib: int
    """The size of the root volume."""
    regions: Sequence[str]
    """Regions with a copy. Another region needs another build."""
    number: int
    """The number of the build. A higher one builds the same content again."""

    @property
    def hash(self) -> str:
        """Return the hash of all parts."""
        parts = {
            "build": self.build, "test": self.test, "parent": self.parent, "device": self.device,
            "disk": self.disk_gib, "regions": sorted(self.regions), "number": self.number,
        }  # fmt: skip
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    @property
    def version(self) -> str:
        """Return the version of the recipe and of its components."""
        return f"1.0.{int(self.hash[:8], 16) % _VERSIONS}"


def document(text: str, constants: Mapping[str, str]) -> str:
    """Return a component document without its comments, and with the constants that it uses.

    Raises:
        KeyError: it uses a constant that is not given.
        ValueError: the document is too long.

    """
    text = _COMMENT.sub("", text)
    used = sorted(set(_CONSTANT.findall(text)))
    added = "".join(f"  - {name}:\n      type: string\n      value: {json.dumps(constants[name])}\n" for name in used)
    rendered = f"{text}constants:\n{added}" if used else text
    if len(rendered) > LIMIT:
        message = f"the document has {len(rendered)} characters; Image Builder accepts {LIMIT}"
        raise ValueError(message)
    return rendered
