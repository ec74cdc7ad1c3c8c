"""What this machine knows of commands run by the program: nothing points at them, and nothing refuses them."""

from __future__ import annotations

from typing import Final

from ops.standin.kinds import Kind

KINDS: Final = tuple(
    Kind(type=f"command:{where}:Command", replaced_by=frozenset({"triggers"})) for where in ("local", "remote")
)
"""Commands, after pulumi-command 1.2: only a changed trigger makes a new one."""
