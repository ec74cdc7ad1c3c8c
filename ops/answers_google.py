"""What GCP computes beside the inputs, one row a resource type: ids, self links, addresses, e-mail addresses.

Forms are those of Google's own documentation of each resource as the pulumi-gcp 10 SDK lists its outputs (2026-11).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ops.answers_asked import Maker

MAKERS: Final[dict[str, Maker]] = {}
"""How each type is answered."""
