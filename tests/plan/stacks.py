"""The committed stack files and their plans, each recorded once per session."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from ops.cli.options import ROOT
from ops.plan import golden
from ops.plan.model import Plan
from ops.plan.recorder import record
from ops.plan.stack_file import StackFile, read

FILES: Final[tuple[Path, ...]] = golden.stack_files()
"""Every committed stack file."""
STAGING: Final = "tests/stacks/staging.yaml"
"""The stack that tests refer to. `Pulumi.staging.yaml` may change with the deployed stack."""


@functools.cache
def stack_file(name: str) -> StackFile:
    """Return a committed stack file by its path."""
    return read(ROOT / name)


ROOTS: Final = tuple(str(path.relative_to(ROOT)) for path in FILES if path.parent == ROOT)
"""The deployed stacks: tests only check what is true of any stack."""
SAME_AS: Final = {str(path.relative_to(ROOT)): str(own.relative_to(ROOT)) for path, own in golden.originals().items()}
"""Every committed stack file, and the first one with equal content."""
NAMES: Final[tuple[str, ...]] = tuple(sorted(set(SAME_AS.values())))
"""Every stack file with a content of its own."""


def planned(name: str, *, preview: bool = False) -> Plan:
    """Return the plan of a committed stack file."""
    return _planned(SAME_AS[name], preview=preview)


@functools.cache
def _planned(name: str, *, preview: bool) -> Plan:
    return record(stack_file(name), preview=preview)


def changed(name: str, section: str, change: Callable[[Any], None]) -> StackFile:
    """Return a committed stack file with one section changed by `change`."""
    original = stack_file(name)
    value = json.loads(original.config[f"gpu-ci:{section}"])
    change(value)
    return replace(original, config={**original.config, f"gpu-ci:{section}": json.dumps(value)})
