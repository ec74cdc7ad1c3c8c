"""The stack files that the project commits, and their plans, each recorded once a session."""

from __future__ import annotations

import functools
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from ops.cli.options import ROOT
from ops.plan import golden
from ops.plan.recorder import record
from ops.plan.stack_file import StackFile, read

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ops.plan.model import Plan

FILES: Final[tuple[Path, ...]] = golden.stack_files()
"""Every committed stack file."""
STAGING: Final = "tests/stacks/staging.yaml"
"""The stack that tests speak about: `Pulumi.staging.yaml` belongs to who deploys it, and may say anything sound."""


@functools.cache
def stack_file(name: str) -> StackFile:
    """A committed stack file, by its path in the project."""
    return read(ROOT / name)


def _different() -> dict[str, str]:
    """Every committed stack file by its path, and the first one that says the same: the tests' own before a root's."""
    found: dict[str, str] = {}
    first: dict[object, str] = {}
    for name in sorted((str(path.relative_to(ROOT)) for path in FILES), key=lambda name: (name in ROOTS, name)):
        file = stack_file(name)
        found[name] = first.setdefault((file.name, tuple(file.config.items()), file.secret_keys), name)
    return found


ROOTS: Final = tuple(str(path.relative_to(ROOT)) for path in FILES if path.parent == ROOT)
"""The stacks that are deployed: only what holds for any stack is asked of them."""
SAME_AS: Final = _different()
NAMES: Final[tuple[str, ...]] = tuple(sorted(set(SAME_AS.values())))
"""Every stack file, once where two of them say the same."""


def planned(name: str, *, preview: bool = False) -> Plan:
    """The plan of a committed stack file."""
    return _planned(SAME_AS[name], preview=preview)


@functools.cache
def _planned(name: str, *, preview: bool) -> Plan:
    return record(stack_file(name), preview=preview)


def changed(name: str, section: str, change: Callable[[Any], None]) -> StackFile:
    """A committed stack file with one section changed in place by `change`."""
    original = stack_file(name)
    value = json.loads(original.config[f"gpu-ci:{section}"])
    change(value)
    return replace(original, config={**original.config, f"gpu-ci:{section}": json.dumps(value)})
