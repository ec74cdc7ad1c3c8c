"""The stack files that the project commits, and their plans, each recorded once a session."""

from __future__ import annotations

import functools
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from ops import golden
from ops.options import ROOT
from ops.recorder import record
from ops.stack_file import StackFile, read

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ops.plan import Plan

FILES: Final[tuple[Path, ...]] = golden.stack_files()
"""Every committed stack file."""
NAMES: Final[tuple[str, ...]] = tuple(str(path.relative_to(ROOT)) for path in FILES)
STAGING: Final = "Pulumi.staging.yaml"


@functools.cache
def stack_file(name: str) -> StackFile:
    """A committed stack file, by its path in the project."""
    return read(ROOT / name)


@functools.cache
def planned(name: str, *, preview: bool = False) -> Plan:
    """The plan of a committed stack file."""
    return record(stack_file(name), preview=preview)


def changed(name: str, section: str, change: Callable[[Any], None]) -> StackFile:
    """A committed stack file with one section changed in place by `change`."""
    original = stack_file(name)
    value = json.loads(original.config[f"gpu-ci:{section}"])
    change(value)
    return replace(original, config={**original.config, f"gpu-ci:{section}": json.dumps(value)})
