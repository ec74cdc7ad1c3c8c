"""Imports of the clouds' packages that load what a program uses, and not all that a cloud has.

A module such as `pulumi_gcp.compute` is a folder of three hundred files, one a resource, and its `__init__` reads all
of them: most of the time of a plan that uses ten. While a plan is recorded, such a folder is opened lazily: a name is
looked up in the file that is called like it. Whatever is not found that way is found by running the `__init__` after
all, so that nothing can be missing; only what nobody asks for is left out.
"""

from __future__ import annotations

import contextlib
import importlib
import re
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from importlib.machinery import ModuleSpec

_PACKAGES: Final = re.compile(r"pulumi_(aws|gcp)\.(?!config$)\w+|pulumi_kubernetes\.\w+\.v\w+")
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@contextlib.contextmanager
def lean_imports() -> Generator[None]:
    """Open the clouds' packages lazily inside the block; those opened so stay so, and are none the poorer."""
    finder = _Finder()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


class _Finder(MetaPathFinder):
    """Finds the folders of resources, and leaves everything else to others."""

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
    """Loads a folder without reading it."""

    def __init__(self, whole: Loader, folder: Path) -> None:
        self._whole = whole
        self._folder = folder

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Make the module as it would be made anyway."""
        return self._whole.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """Read nothing yet. The class is set here, because the SDK's own lazy modules set theirs until now."""
        vars(module).update(_whole=self._whole, _folder=self._folder)
        module.__class__ = _Folder


class _Folder(ModuleType):
    """A package whose names stand in files of theirs."""

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
        """Take the class where the import system hands over the file of that name, as the `__init__` would."""
        inner = isinstance(value, ModuleType) and value.__name__ == f"{self.__name__}.{name}"
        super().__setattr__(name, getattr(value, name, value) if inner else value)


def _files(name: str) -> tuple[str, ...]:
    """The files that may define a name: `NodeGroup` and `NodeGroupArgs` stand in `node_group`, or in `NodeGroup`."""
    bare = name.removesuffix("Args")
    return (name, _HUMP.sub("_", bare).lower(), bare)
