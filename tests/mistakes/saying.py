"""The output of `plan` for a stack file with a mistake, split into lines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from gpu_ci.knowledge.verdict import Level
from ops.cli import main as cli
from ops.cli.options import ROOT
from ops.outcome import Exit
from tests.mistakes.catalogue import Mistake, Severity, merge
from tests.mistakes.sound import settings_in, verdicts
from tests.stack_file.stacks import STAGING

CONFIG: Final[Mapping[str, Any]] = yaml.safe_load((ROOT / STAGING).read_text(encoding="utf-8"))["config"]
"""The stack file that mistakes are merged into."""
WIDE: Final = "2000"
"""The width of a terminal that breaks no line."""
_INDENT: Final = " " * 9
_FIX: Final = f"{_INDENT}→ "
_CHAPTER: Final = f"{_INDENT}why: "


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One reported problem."""

    level: str
    path: str
    check: str = ""
    text: str
    """The reason, then an arrow and the fix."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The exit code of the command, and the problems that it reported."""

    code: int
    lines: tuple[Line, ...]
    chapters: tuple[str, ...]

    def paths(self, *levels: str) -> list[str]:
        """Return the paths of the problems of these levels."""
        return sorted(line.path for line in self.lines if line.level in levels)


def write(change: Mapping[str, Any], folder: Path) -> Path:
    """Write the stack file with a change merged into it."""
    sections = {key if ":" in key else f"gpu-ci:{key}": value for key, value in change.items()}
    path = folder / "Pulumi.staging.yaml"
    path.write_text(yaml.safe_dump({"config": merge(CONFIG, sections)}, sort_keys=False), encoding="utf-8")
    return path


def plan(
    change: Mapping[str, Any], folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Answer:
    """Run `plan` on the stack file with that change."""
    monkeypatch.setenv("COLUMNS", WIDE)
    code = cli.run(["plan", "--file", str(write(change, folder))])
    out, err = capsys.readouterr()
    return Answer(
        code=code,
        lines=(*_faults(err), *_verdicts(out)),
        chapters=tuple(line.removeprefix(_CHAPTER) for line in out.splitlines() if line.startswith(_CHAPTER)),
    )


def judged(change: Mapping[str, Any], folder: Path) -> Answer:
    """Run only the checks on the stack file with that change, without its plan."""
    found = verdicts(settings_in(write(change, folder)))
    return Answer(
        code=Exit.FINDING if any(one.level is Level.ERROR for one in found) else Exit.GOOD,
        lines=tuple(
            Line(level=one.level, path=one.subject, check=one.check, text=f"{one.reason} → {one.fix}") for one in found
        ),
        chapters=tuple(f"docs/{one.chapter}" for one in found if one.level is not Level.OK),
    )


def check_answer(answer: Answer, mistake: Mistake) -> None:
    """Assert that one line has the path and the words of the mistake, and that only the other listed paths are named."""
    stopping = (Severity.FAULT, Severity.ERROR)
    levels = stopping if mistake.level is not Severity.WARNING else (*stopping, Severity.WARNING)
    level = Severity.ERROR if mistake.level is Severity.RULE else mistake.level
    lines = [line for line in answer.lines if (line.level, line.path) == (level, mistake.path)]
    matching = [line for line in lines if all(words in line.text for words in mistake.words)]
    assert answer.code == mistake.level.exit
    assert answer.paths(*levels) == sorted([mistake.path, *mistake.also_at])
    assert len(matching) == 1, [line.text for line in lines]
    assert matching[0].check == mistake.check
    if mistake.check and mistake.level is not Severity.RULE:
        assert " → " in matching[0].text
        assert f"docs/explanation/checks/{mistake.check}.md" in answer.chapters


def _faults(err: str) -> list[Line]:
    *faults, _count = err.splitlines() or [""]
    return [
        Line(level=Severity.FAULT, path=path, text=text) for path, _, text in (line.partition(": ") for line in faults)
    ]


def _verdicts(out: str) -> list[Line]:
    found: list[Line] = []
    lines = iter(out.splitlines())
    for line in lines:
        level = line[: len(_INDENT)].strip()
        if level in {"error", "warning"}:
            path, _, check = line[len(_INDENT) :].rpartition("  ")
            found.append(Line(level=level, path=path, check=check, text=next(lines).strip()))
        elif line.startswith(_FIX):
            last = found.pop()
            text = f"{last.text} → {line.removeprefix(_FIX)}"
            found.append(Line(level=last.level, path=last.path, check=last.check, text=text))
    return found
