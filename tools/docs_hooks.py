"""MkDocs hook: navigation that lists every page of a folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any


def on_config(config: Any) -> Any:
    """Replace each entry that ends with `*` by the pages of that folder."""
    docs = Path(config["docs_dir"])
    named = {entry for entry in _entries(config["nav"]) if not entry.endswith("*")}
    config["nav"] = _grown(config["nav"], docs, named)
    return config


def _entries(nav: Any) -> Iterator[str]:
    if isinstance(nav, str):
        yield nav
    else:
        for inner in nav.values() if isinstance(nav, dict) else nav:
            yield from _entries(inner)


def _grown(nav: list[Any], docs: Path, named: set[str]) -> list[Any]:
    grown: list[Any] = []
    for entry in nav:
        if isinstance(entry, dict):
            grown.extend(
                {title: _grown(inner, docs, named) if isinstance(inner, list) else inner}
                for title, inner in entry.items()
            )
        elif entry.endswith("*"):
            pages = sorted(page.relative_to(docs).as_posix() for page in docs.glob(f"{entry.removesuffix('*')}*.md"))
            grown.extend(page for page in pages if page not in named)
        else:
            grown.append(entry)
    return grown
