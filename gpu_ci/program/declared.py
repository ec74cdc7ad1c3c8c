"""The resources that a part of the program declares."""

from __future__ import annotations

import pulumi

Declared = dict[str, pulumi.Resource]
"""Resources by the path in the stack file that asked for them. Warnings are logged on them."""
