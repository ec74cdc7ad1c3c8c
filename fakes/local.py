"""What this machine knows of commands run by the program: nothing points at them, and nothing refuses them."""

from __future__ import annotations

from typing import Final

from fakes.kinds import Kind

KINDS: Final = (
    *(Kind(type=f"command:{where}:Command", replaced_by=frozenset({"triggers"})) for where in ("local", "remote")),
    Kind(type="docker-build:index:Image"),
)
"""Commands, after pulumi-command 1.2: only a changed trigger makes a new one; and images, which are built again."""
