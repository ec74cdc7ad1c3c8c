"""The steps of a Pulumi command in the summary of a workflow run."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ops.engine.events import Outcome
from ops.report.changes import ORDER, changes
from ops.report.text import cut_text, grouped, lines_of

LIMIT: Final = 900_000
"""Characters of one summary; GitHub accepts 1 MiB for each step."""


def changed(outcome: Outcome) -> int:
    """Return the number of resources that an operation changes, without components."""
    return len([one for one in changes(outcome.steps) if not one.component])


def text(outcome: Outcome) -> str:
    """Return the changes and the errors as lines, and the numbers at the end."""
    return "\n".join(_lines(outcome))


def _lines(outcome: Outcome) -> Iterator[str]:
    found = changes(outcome.steps)
    for members in grouped(found):
        yield from lines_of(members)
    for one in outcome.errors:
        yield f"error: {one}"
    numbers = Counter(one.effect for one in found if not one.component)
    yield ", ".join(f"{numbers[effect]} to {effect}" for effect in ORDER if numbers[effect]) or "Nothing changes."


def summarize(title: str, outcome: Outcome) -> None:
    """Add a section to the summary of the run."""
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if not path:
        return
    shown = cut_text(text(outcome), LIMIT, "the log of the step")
    # Four backticks: a value may contain three.
    with Path(path).open("a", encoding="utf-8") as summary:
        summary.write(f"## {title}\n\n````text\n{shown}\n````\n\n")
