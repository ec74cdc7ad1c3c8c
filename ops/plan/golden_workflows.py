"""The golden workflows: the workflows that the kit writes for every committed stack file.

The folder of a stack file has its name. The repository is the first one in `gpu-tests`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Final

from gpu_ci.stack_file.identity import PROJECT, Identity
from ops.kit import stack as kit
from ops.plan import golden, typed
from ops.plan.stack_file import read

FOLDER: Final = golden.FOLDER / "workflows"


def workflows(stack_file: Path) -> dict[Path, str]:
    """Return the workflows of a stack file by their golden files."""
    file = read(stack_file)
    settings = typed.settings(file)
    identity = Identity(project=PROJECT, stack=file.name, extra=settings.stack.tags)
    files = kit.files(settings, identity, repository=next(iter(settings.gpu_tests), None))
    named = ((PurePosixPath(path), text) for path, text in files.items())
    return {
        FOLDER / stack_file.stem / path.name: text for path, text in named if path.is_relative_to(".github/workflows")
    }


def write() -> Iterator[Path]:
    """Write the golden workflows, remove those of no stack file, and yield the paths that changed."""
    texts = {path: text for file in set(golden.originals().values()) for path, text in workflows(file).items()}
    for path in sorted({*FOLDER.rglob("*.yml")} - {*texts}):
        path.unlink()
        yield path
    for path, text in sorted(texts.items()):
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            yield path
