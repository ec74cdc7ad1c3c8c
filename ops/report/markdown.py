"""A report as Markdown for a comment on a pull request.

GitHub refuses a comment of more than 65,536 characters. Details are folded, and those that do not fit are omitted and
counted.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ops.report.changes import Effect
from ops.report.text import MARKS, group_line, grouped, property_lines, summary

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ops.report.changes import Change
    from ops.report.report import Line, Report

LIMIT: Final = 65_000
"""Characters of a comment, with a reserve."""
MARKER: Final = "<!-- gpu-ci report: {stack} -->"
"""The first line of the comment, by which a later run finds it."""
_SIGNS: Final = {"none": "✅", "low": "🟢", "high": "⚠️", "blocked": "⛔"}
_NODES: Final = 40
"""Resources in the picture."""


def markdown(report: Report, limit: int = LIMIT) -> str:
    """Return the report as Markdown of at most `limit` characters."""
    head = "\n".join(_head(report))
    parts = [
        _details(members[0]) if len(members) == 1 else f"- `{_code(group_line(members))}`"
        for members in grouped(report.comparison.changes)
    ]
    room, shown = limit - len(head) - 200, 0
    body: list[str] = []
    for part in parts:
        if len(part) + 1 > room:
            break
        room -= len(part) + 1
        body.append(part)
        shown += 1
    left = len(parts) - shown
    if left:
        body.append(f"*{left} more changes do not fit here. The artifact of this run has all of them.*")
    return "\n".join([head, *body]) + "\n"


def _head(report: Report) -> Iterator[str]:
    found = report.comparison
    yield MARKER.format(stack=found.stack)
    yield f"## gpu-ci: {_plain(found.stack)}"
    yield ""
    yield f"{_SIGNS[report.risk]} **Risk: {report.risk}.** {_sentence(report.risk_reason)}"
    yield ""
    yield f"Compared with `{_code(found.base.name)}` ({found.base.commit}). {_plain(summary(found))}"
    if found.base.faults:
        yield ""
        yield f"At `{_code(found.base.name)}` the stack does not run, so changes of resources cannot be shown:"
        yield from _block(found.base.faults[:40])
    if found.fault:
        yield ""
        yield "The engine reports an error:"
        yield from _block(found.fault.splitlines())
    yield from _loud(report)
    yield from _findings("New findings", report.new)
    yield from _findings("Fixed findings", report.fixed)
    if report.unchanged:
        yield ""
        yield f"{len(report.unchanged)} findings are unchanged."
    yield from _cost(report)
    yield from _picture(found.changes)
    if any(not change.component for change in found.changes):
        yield ""
        yield "### Changes"
        yield ""


def _loud(report: Report) -> Iterator[str]:
    if report.comparison.loud:
        yield ""
        yield "### Jobs end or data is lost"
        yield ""
    for change in report.comparison.loud:
        meaning = change.meaning
        if meaning is not None:
            title = f"**{change.effect} {change.kind} `{_code(change.name)}`**"
            yield f"- {title}: {meaning.loses}. Safer: {meaning.safer}."


def _findings(title: str, lines: Iterable[Line]) -> Iterator[str]:
    for number, one in enumerate(lines):
        if number == 0:
            yield ""
            yield f"### {title}"
            yield ""
        fix = f" → {_plain(one.fix)}" if one.fix else ""
        yield f"- **{one.level}** `{_code(one.subject)}` ({one.check}): {_plain(one.reason)}{fix}"


def _cost(report: Report) -> Iterator[str]:
    before, after = report.cost_before, report.cost
    yield ""
    yield "### Cost of a month"
    yield ""
    yield "| | before | after | difference |"
    yield "|---|---:|---:|---:|"
    for case, title in (("idle", "without jobs"), ("expected", "with the stated jobs"), ("worst", "at most")):
        new = float(after["total"][case])
        old = float(before["total"][case]) if before else None
        difference = f"{new - old:+,.2f} USD" if old is not None else ""
        yield f"| {title} | {f'{old:,.2f} USD' if old is not None else ''} | {new:,.2f} USD | {difference} |"
    yield from _cost_parts(before, after)


def _cost_parts(before: Mapping[str, object] | None, after: Mapping[str, object]) -> Iterator[str]:
    for path, old, new in cost_differences(before, after):
        yield f"| `{_code(path)}` | {old:,.2f} USD | {new:,.2f} USD | {new - old:+,.2f} USD |"


def cost_differences(
    before: Mapping[str, object] | None, after: Mapping[str, object]
) -> Iterator[tuple[str, float, float]]:
    """Yield the parts of the stack file whose expected month changes, with the cost before and after."""
    if before is None:
        return
    old, new = _expected(before), _expected(after)
    for path in sorted({*old, *new}):
        if abs(old.get(path, 0.0) - new.get(path, 0.0)) >= 0.01:
            yield path, old.get(path, 0.0), new.get(path, 0.0)


def _expected(cost: Mapping[str, object]) -> dict[str, float]:
    parts = cost["parts"]
    return {str(path): float(usd) for path, usd in parts["expected"].items()} if isinstance(parts, dict) else {}


def _picture(changes: Iterable[Change]) -> Iterator[str]:
    """Yield a Mermaid picture: the components, and the resources in them that change."""
    shown = [one for one in changes if not one.component and one.effect is not Effect.MOVE and not one.follows]
    if not shown:
        return
    groups: dict[str, list[Change]] = {}
    for change in shown[:_NODES]:
        types = change.urn.split("::")[2].split("$")
        parent = types[-2].rpartition(":")[2] if len(types) > 1 else "the stack"
        groups.setdefault(parent, []).append(change)
    yield ""
    yield "```mermaid"
    yield "flowchart LR"
    for number, (parent, members) in enumerate(groups.items()):
        yield f'  subgraph g{number}["{_label(parent)}"]'
        for change in members:
            title = f"{MARKS[change.effect]} {_label(change.kind)}<br/>{_label(change.name)}"
            yield f'    n{shown.index(change)}["{title}"]:::{change.effect}'
        yield "  end"
    if len(shown) > _NODES:
        yield f'  more["and {len(shown) - _NODES} more"]'
    yield "  classDef create fill:#d4f4dd,stroke:#1a7f37,color:#111"
    yield "  classDef update fill:#fff3c4,stroke:#9a6700,color:#111"
    yield "  classDef replace fill:#ffd8d3,stroke:#cf222e,color:#111"
    yield "  classDef delete fill:#ffd8d3,stroke:#cf222e,color:#111,stroke-dasharray: 4"
    yield "```"


def _details(change: Change) -> str:
    """Return one change, folded if it has properties."""
    title = f"{MARKS[change.effect]} {change.effect} {change.kind} {change.name}"
    if not change.properties:
        return f"- `{_code(title)}`"
    lines = list(property_lines(change))
    fence = "`" * max(3, 1 + max((len(run) for line in lines for run in re.findall("`+", line)), default=0))
    return "\n".join(
        ["<details><summary>" + _html(title) + "</summary>", "", f"{fence}text", *lines, fence, "", "</details>", ""]
    )


def _block(lines: Iterable[str]) -> Iterator[str]:
    yield ""
    yield "````text"
    yield from (line.replace("````", "'''") for line in lines)
    yield "````"


def _sentence(text: str) -> str:
    return _plain(f"{text[:1].upper()}{text[1:]}.")


def _plain(text: str) -> str:
    """Return text with the signs of Markdown escaped."""
    return re.sub(r"([\\`*_{}\[\]<>#|~@])", r"\\\1", " ".join(text.split()))


def _code(text: str) -> str:
    return text.replace("`", "'").replace("|", "\\|").replace("\n", " ")


def _html(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _label(text: str) -> str:
    """Return text for a label of Mermaid."""
    return re.sub(r'["<>&#;\[\]{}|`]', " ", text)
