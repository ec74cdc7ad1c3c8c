"""The workflow that builds a site and publishes it on GitHub Pages.

The job that runs the commands cannot publish, and the job that publishes checks nothing out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gpu_ci.repository.actions import CHECKOUT, DEPLOY_PAGES, SETUP_UV, UPLOAD_PAGES, UV
from gpu_ci.repository.documents import BRANCH, check_values
from gpu_ci.repository.render import render
from gpu_ci.stack_file.sections.gpu_tests import COMMAND, PYTHON

DOCS_FILE: Final = ".github/workflows/docs.yml"
SITE: Final = "site"
"""The folder that MkDocs and Zensical build into."""


def docs_workflow(commands: Sequence[str], *, branch: str, python: str) -> dict[str, str]:
    """Return the workflow that runs `commands` and publishes the folder `site`, by path.

    Raises:
        FileError: a value is not safe in a workflow.

    """
    form = "plain text without an expression"
    check_values(
        DOCS_FILE,
        [
            ("branch", branch, BRANCH, form),
            ("python", python, PYTHON, form),
            *(("docs", command, COMMAND, form) for command in commands),
        ],
    )
    pins = {
        "checkout": CHECKOUT,
        "setup_uv": SETUP_UV,
        "uv": UV,
        "upload_pages": UPLOAD_PAGES,
        "deploy_pages": DEPLOY_PAGES,
    }
    text = render("docs.yml.j2", commands=commands, branch=branch, python=python, site=SITE, **pins)
    return {DOCS_FILE: text}
