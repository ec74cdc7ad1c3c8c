"""A report as Markdown for a comment on a pull request.

GitHub refuses a comment of more than 65,536 characters. Details are folded, every section has a limited share, and the
parts that do not fit are omitted and counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any, Final

from gpu_ci.policy.exceptions import State
from ops.plan.verdicts import counted
from ops.report.changes import Change
from ops.report.cost import CASES, differing
from ops.report.exceptions import Noted
from ops.report.marker import MARKER
from ops.report.mermaid import picture
from ops.report.report import Line, Report
from ops.report.text import blocks, cut, group_line, grouped, summary, title

LIMIT: Final = 65_000
"""Characters of a comment, with a reserve."""
SIGNS: Final = {"none": "✅", "low": "🟢", "medium": "🟡", "high": "⚠️", "blocked": "⛔"}
_SHARE: Final = 10
"""Each section except the changes has at most the tenth part of the comment."""
_SENTENCE: Final = 1500
"""Letters of one text."""
_QUIET: Final = ("apiVersion:", "kind:", "metadata:")
"""The beginnings of lines that say nothing about access."""
_LINES: Final = 200
"""Lines of the difference of one input."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Section:
    """A part of the comment that can be shortened between its items."""

    items: tuple[str, ...]
    noun: str
    head: str = ""
    tail: str = ""

    def text(self, room: int) -> str:
        """Return the section with as many items as fit, and the number of the others."""
        if not self.items:
            return ""
        left = room - len(self.head) - len(self.tail) - 100
        shown: list[str] = []
        for item in self.items:
            left -= len(item) + 1
            if left < 0:
                break
            shown.append(item)
        more = len(self.items) - len(shown)
        inside = f"\n… {more} more" if more and "```" in self.tail else ""
        after = f"\n\n*{more} more {self.noun} do not fit here. The artifact of this run has all of them.*"
        text = "\n".join([self.head, *shown] if self.head else shown)
        return f"\n{text}{inside}{after if more and not inside else ''}{self.tail}\n"


def markdown(report: Report, limit: int = LIMIT) -> str:
    """Return the report as Markdown of at most `limit` characters."""
    parts = [section.text(limit // _SHARE) for section in _sections(report)]
    room = limit - sum(len(part) for part in parts)
    details = (_details(members) for members in grouped(report.comparison.changes))
    changes = _Section(head="### Changes\n", noun="changes", items=tuple(_fitting(details, room - 200)))
    return "".join([*parts, changes.text(room)]).lstrip("\n")


def _fitting(details: Iterable[tuple[str, str]], room: int) -> Iterator[str]:
    """Yield each change with its properties while there is room, and then only its title."""
    for whole, short in details:
        part = whole if len(whole) < room else short
        room -= len(part) + 1
        yield part


def _sections(report: Report) -> Iterator[_Section]:
    found = report.comparison
    top = [
        MARKER.format(stack=found.stack),
        f"## gpu-ci: {_plain(found.stack)}\n",
        f"{SIGNS[report.risk]} **Risk: {report.risk}.** {_sentence(report.risk_reason)}\n",
        f"Compared with `{_code(found.base.name)}` ({found.base.commit}). {_plain(summary(found))}",
    ]
    yield _Section(items=tuple(top), noun="lines")
    yield _Section(items=tuple(_plain(note) for note in found.base.notes), noun="notes")
    yield _code_section("Uncommitted changes of this folder are included:", found.base.uncommitted)
    where = f"At `{_code(found.base.name)}` the stack does not run, so changes of resources cannot be shown:"
    yield _code_section(where, found.base.faults)
    yield _code_section("The change is refused:", found.refusal.lines if found.refusal else ())
    yield _code_section("The update is refused:", found.refusals)
    yield _code_section("The engine reports an error:", found.fault.splitlines())
    yield _Section(head="### Jobs end or data is lost\n", items=tuple(_loud(found.loud)), noun="changes")
    yield _Section(head="### Access changes\n", items=tuple(_access(found.access)), noun="changes")
    yield _Section(head="### New findings\n", items=tuple(_findings(report.new)), noun="findings")
    yield _Section(head="### Fixed findings\n", items=tuple(_findings(report.fixed)), noun="findings")
    unchanged = f"<details><summary>{counted(len(report.unchanged), 'unchanged finding')}</summary>\n"
    yield _Section(head=unchanged, items=tuple(_findings(report.unchanged)), noun="findings", tail="\n\n</details>")
    head = "### Exceptions\n\n| exception | finding | until | reason | |\n|---|---|---|---|---|"
    yield _Section(head=head, items=tuple(_exceptions(report.exceptions)), noun="exceptions")
    yield from _cost(report.cost_before, report.cost)
    yield _Section(head="", items=tuple(picture(found.changes)), noun="pictures")


def _code_section(head: str, lines: Iterable[str]) -> _Section:
    shown = tuple(_clipped(line.replace("````", "'''")) for line in lines)
    return _Section(head=f"{head}\n\n````text", items=shown, noun="lines", tail="\n````")


def _loud(changes: Iterable[Change]) -> Iterator[str]:
    """Yield one item for each consequence, with all resources that have it."""
    groups: dict[Any, list[Change]] = {}
    for change in changes:
        groups.setdefault((change.effect, change.kind, change.meaning), []).append(change)
    for (effect, kind, meaning), members in groups.items():
        names = ", ".join(f"`{_code(one.name)}`" for one in members)
        yield f"- **{effect} {kind}** {names}: {_plain(meaning.loses)}. Safer: {_plain(meaning.safer)}."


def _access(changes: Iterable[Change]) -> Iterator[str]:
    for change in changes:
        values = "; ".join(
            line for line, more in blocks(change, change.properties) if not more and not line.startswith(_QUIET)
        )
        yield f"- **{change.effect} {change.kind}** `{_code(change.name)}`: {_plain(values or 'see its lines below')}"


def _findings(lines: Iterable[Line]) -> Iterator[str]:
    for one in lines:
        fix = f" → {_plain(one.fix)}" if one.fix else ""
        yield f"- **{one.level}** `{_code(one.subject)}` ({one.check}): {_plain(one.reason)}{fix}"


def _exceptions(stated: Iterable[Noted]) -> Iterator[str]:
    """Yield the rows of the exceptions, those that need attention first."""
    for one in sorted(stated, key=lambda one: one.status == State.VALID):
        finding = f"`{_code(one.subject)}` ({_plain(one.check)})"
        yield f"| `{_code(one.name)}` | {finding} | {one.until} | {_plain(one.reason)} | {one.status} |"


def _cost(before: Mapping[str, Any] | None, after: Mapping[str, Any]) -> Iterator[_Section]:
    rows = []
    for case, words in CASES.items():
        new = float(after["total"][case])
        old = float(before["total"][case]) if before else None
        row = f"{old:,.2f} | {new:,.2f} | {new - old:+,.2f}" if old is not None else f"| {new:,.2f} |"
        rows.append(f"| {words} | {row} |")
    head = "### Cost of a month\n\n| USD | before | after | difference |\n|---|---:|---:|---:|"
    yield _Section(head=head, items=tuple(rows), noun="cases")
    parts = tuple(
        f"| `{_code(path)}` | {' | '.join(_cell(*pair) for pair in pairs.values())} |"
        for path, pairs in differing(before, after)
    )
    head = f"| USD by part | {' | '.join(CASES.values())} |\n|---|---:|---:|---:|"
    yield _Section(head=head, items=parts, noun="parts")
    unpriced = tuple(f"- `{_code(path)}`" for path in after["unpriced"])
    yield _Section(head="Not included, because their price is not known:\n", items=unpriced, noun="parts")


def _cell(old: float, new: float) -> str:
    return f"{new:,.2f}" if abs(old - new) < 0.01 else f"{old:,.2f} → **{new:,.2f}**"


def _details(members: tuple[Change, ...]) -> tuple[str, str]:
    """Return one change, folded if it has properties, and its title; or one line for changes that are alike."""
    first = members[0]
    if len(members) > 1:
        line = f"- `{_code(group_line(members))}`"
        return line, line
    name = " ".join(title(first).split())
    was = f" (was {first.was.rpartition('::')[2]})" if first.was else ""
    short = f"- `{_clipped(_code(name + was))}`"
    found = [] if first.follows else list(blocks(first, first.shown))
    if not found:
        return short, short
    diff = any(more for _, more in found)
    lines: list[str] = []
    for head, more in found:
        lines.append(f" {head}" if diff else head)
        lines += (f"{line[:1]}  {line[1:]}" for line in cut(more, _LINES))
    lines = [_clipped(line) for line in lines]
    fence = "`" * max(3, 1 + max((len(run) for line in lines for run in re.findall("`+", line)), default=0))
    head = f"<details><summary>{escape(_clipped(name + was), quote=False)}</summary>"
    kind = "diff" if diff else "text"
    return "\n".join([head, "", f"{fence}{kind}", *lines, fence, "", "</details>", ""]), short


def _clipped(text: str) -> str:
    return text if len(text) <= _SENTENCE else f"{text[:_SENTENCE]}… ({len(text) - _SENTENCE} more letters)"


def _sentence(text: str) -> str:
    return _plain(f"{text[:1].upper()}{text[1:]}.")


def _plain(text: str) -> str:
    """Return text with the signs of Markdown escaped."""
    return re.sub(r"([\\`*_{}\[\]<>#|~@])", r"\\\1", _clipped(" ".join(text.split())))


def _code(text: str) -> str:
    return _clipped(text.replace("`", "'").replace("|", "\\|").replace("\n", " "))
