"""MkDocs hooks: navigation that grows with the pages, and reference pages that are written by the program itself."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tools import reference

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

GENERATED: Final[dict[str, Callable[[], str]]] = {
    "<!-- generated: stack file -->": reference.stack_file,
    "<!-- generated: command line -->": reference.command_line,
    "<!-- generated: components -->": reference.components,
    "<!-- generated: targets -->": reference.targets,
    "<!-- generated: decisions -->": reference.decisions,
}
"""What stands in a page's source, and what writes the text that stands there in the site."""
PLACE: Final = "\n> `make docs` writes this from the program itself; here stands only its place."
"""What tells a reader of the source that there is more."""


def on_config(config: Any) -> Any:
    """Put every page of a folder where the navigation has its star."""
    docs = Path(config["docs_dir"])
    named = {entry for entry in _entries(config["nav"]) if not entry.endswith("*")}
    config["nav"] = _grown(config["nav"], docs, named)
    return config


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Write what the program says of itself into the pages that ask for it."""
    for marker, write in GENERATED.items():
        if marker + PLACE in markdown:
            markdown = markdown.replace(marker + PLACE, write())
    return markdown


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
