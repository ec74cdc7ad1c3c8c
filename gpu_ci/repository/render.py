"""Render Jinja templates of files that contain `${{ }}`.

Templates use `<[ ]>` and `<% %>`, so that they can contain GitHub's expressions. A missing value is an error.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined

TEMPLATES: Final = Path(__file__).parent / "templates"


def render(template: str, folder: Path = TEMPLATES, /, **values: Any) -> str:
    """Render `template`, a file in `folder`, with `values`. It may include files of `gpu_ci/repository/templates`."""
    return _environment(folder).get_template(template).render(**values)


@cache
def _environment(folder: Path) -> Environment:
    return Environment(
        loader=FileSystemLoader([folder, TEMPLATES], encoding="utf-8"),
        autoescape=False,  # noqa: S701 - YAML and shell, not HTML
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
        variable_start_string="<[",
        variable_end_string="]>",
        block_start_string="<%",
        block_end_string="%>",
        comment_start_string="<#",
        comment_end_string="#>",
    )
