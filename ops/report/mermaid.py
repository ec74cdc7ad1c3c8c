"""A picture of the changed resources in their components, for Mermaid: https://mermaid.js.org/syntax/flowchart.html."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from ops.plan.verdicts import counted
from ops.report.changes import Change, Effect
from ops.report.text import MARKS, grouped

_MOST: Final = 40
"""Boxes in a picture; GitHub does not render one with too much text."""
_SPACE: Final = "\N{NO-BREAK SPACE}"
"""Between the mark and the type; Mermaid reads a plus sign and a space as a list."""
_STYLES: Final = {
    "create": "fill:#d4f4dd,stroke:#1a7f37,color:#111",
    "update": "fill:#fff3c4,stroke:#9a6700,color:#111",
    "replace": "fill:#ffd8d3,stroke:#cf222e,color:#111",
    "delete": "fill:#ffd8d3,stroke:#cf222e,color:#111,stroke-dasharray:4",
    "loud": "fill:#cf222e,stroke:#82071e,color:#fff",
}


def picture(changes: Iterable[Change]) -> Iterator[str]:
    """Yield the picture as one fenced block; nothing if there is nothing to show."""
    shown = [one for one in changes if not one.component and one.effect is not Effect.MOVE and not one.follows]
    boxes = grouped(shown)
    if boxes:
        yield "\n".join(["```mermaid", *_chart(boxes), "```"])


def _chart(boxes: Sequence[tuple[Change, ...]]) -> Iterator[str]:
    groups: dict[str, list[tuple[Change, ...]]] = {}
    for members in boxes[:_MOST]:
        groups.setdefault(members[0].inside[-1] if members[0].inside else "the stack", []).append(members)
    yield "flowchart LR"
    number = 0
    for group, (name, inner) in enumerate(groups.items()):
        yield f'  subgraph g{group}["{_label(name)}"]'
        yield "    direction TB"
        for members in inner:
            first = members[0]
            what = first.name if len(members) == 1 else f"{len(members)} alike"
            style = "loud" if first.meaning is not None else first.effect.value
            yield f'    n{number}["{MARKS[first.effect]}{_SPACE}{_label(first.kind)}<br/>{_label(what)}"]:::{style}'
            number += 1
        yield "  end"
    if len(boxes) > _MOST:
        yield f'  more["and {counted(len(boxes) - _MOST, "more change")}"]'
    used = {"loud" if members[0].meaning is not None else members[0].effect.value for members in boxes[:_MOST]}
    yield from (f"  classDef {name} {style}" for name, style in _STYLES.items() if name in used)


def _label(text: str) -> str:
    """Return text for a label in quotes, with the letters that Mermaid or HTML reads replaced, and shortened."""
    plain = re.sub(r"[^\w\s./:,+@()-]", " ", text)
    return plain if len(plain) <= 60 else f"{plain[:59]}…"
