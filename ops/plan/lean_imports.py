"""Import only the parts of the clouds' packages that a program uses.

`pulumi_gcp.compute` has three hundred files, one per resource, and its `__init__` imports all of them. That is half of
the time of a plan that uses ten of them (ADR 0009). While a plan is recorded, a name is first looked up in the file of
that name. If it is not there, the `__init__` runs after all, so no name can be missing.
"""

from __future__ import annotations

import contextlib
import importlib
import re
import sys
from collections.abc import Generator, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any, Final

_PACKAGES: Final = re.compile(r"pulumi_(aws|gcp)\.(?!config$)\w+|pulumi_kubernetes\.\w+\.v\w+")
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@contextlib.contextmanager
def lean_imports() -> Generator[None]:
    """Import the clouds' packages lazily inside the block. Packages imported this way stay lazy after it."""
    finder = _Finder()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


class _Finder(MetaPathFinder):
    """A finder for the packages of resources; all other modules are left to the other finders."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not _PACKAGES.fullmatch(fullname):
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.loader is None or not spec.submodule_search_locations:
            return None
        spec.loader = _Loader(spec.loader, Path(next(iter(spec.submodule_search_locations))))
        return spec


class _Loader(Loader):
    """A loader that creates a package without running its `__init__`."""

    def __init__(self, whole: Loader, folder: Path) -> None:
        self._whole = whole
        self._folder = folder

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Create the module in the usual way."""
        return self._whole.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """Run nothing yet. The class is set here because the SDK's own lazy modules set theirs before this."""
        vars(module).update(_whole=self._whole, _folder=self._folder)
        module.__class__ = _Folder


class _Folder(ModuleType):
    """A package whose names are looked up in files of the same name."""

    _whole: Loader | None
    _folder: Path

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or self._whole is None:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        for file in _files(name):
            if (self._folder / f"{file}.py").is_file():
                found = importlib.import_module(f"{self.__name__}.{file}")
                if hasattr(found, name):
                    return getattr(found, name)
                if file == name:
                    return found
        whole, self._whole = self._whole, None
        whole.exec_module(self)
        return getattr(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        """Store the class when the import system sets the submodule of the same name, as the `__init__` does."""
        inner = isinstance(value, ModuleType) and value.__name__ == f"{self.__name__}.{name}"
        super().__setattr__(name, getattr(value, name, value) if inner else value)


def _files(name: str) -> tuple[str, ...]:
    """Return the files that may define a name: `node_group` and `NodeGroup` for `NodeGroup` and `NodeGroupArgs`."""
    bare = name.removesuffix("Args")
    return (name, _HUMP.sub("_", bare).lower(), bare)
