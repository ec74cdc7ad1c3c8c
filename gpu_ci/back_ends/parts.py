"""Access to what the modules of a back end's package define."""

from __future__ import annotations

import importlib
from typing import Any

from gpu_ci.knowledge.incomplete import Incomplete


def part(name: str, module: str, attribute: str) -> Any:
    """Return what a module of a back end's package defines.

    Raises:
        Incomplete: the package has no such module, or the module does not define it.

    """
    path = f"back_ends.{name}.{module}"
    try:
        return getattr(importlib.import_module(path), attribute)
    except ModuleNotFoundError as error:
        if not path.startswith(error.name or path):
            raise
    except AttributeError as error:
        if error.name != attribute:
            raise
    problem = f"gpu_ci/back_ends/{name}/{module}.py does not define {attribute}"
    raise Incomplete(
        problem, f'remove "{name}" from NAMES in gpu_ci/back_ends/__init__.py, or write it (CONTRIBUTING.md)'
    )
