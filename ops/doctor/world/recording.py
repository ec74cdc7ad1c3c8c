"""Recordings: the questions that the doctor asked, and their answers, as a folder with a JSON file for each.

The name of a file has no meaning. A file contains the call, its arguments, and the answer or the reason that there is
none. The file of the stack and the time of the questions are in the same folder.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from ops.doctor.world.redaction import redacted
from ops.doctor.world.source import Source, Unanswered
from ops.doctor.world.world import SYSTEMS
from ops.outcome import Exit, Stop

ABOUT: Final = "doctor.json"
"""The file with the time of the questions and the name of the stack file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """A question and its answer."""

    call: str
    arguments: Mapping[str, Any]
    answer: Any = None
    unanswered: str = ""
    """The reason that there is no answer; empty where there is one."""
    fix: str = ""

    def data(self) -> dict[str, Any]:
        """Return the exchange as its file has it."""
        question = {"call": self.call, "arguments": dict(self.arguments)}
        if self.unanswered:
            return {**question, "unanswered": self.unanswered, "fix": self.fix}
        return {**question, "answer": self.answer}

    def result(self) -> Any:
        """Return the answer, or raise the reason that there is none."""
        if self.unanswered:
            raise Unanswered(self.unanswered, self.fix)
        return self.answer


def _key(call: str, arguments: Mapping[str, Any]) -> str:
    return f"{call} {json.dumps(arguments, sort_keys=True, default=str)}"


class Recorded:
    """A system that gives the recorded answers."""

    def __init__(self, exchanges: Iterable[Exchange]) -> None:
        self._known = {_key(one.call, one.arguments): one for one in exchanges}

    def ask(self, call: str, /, **arguments: Any) -> Any:
        """Return the recorded answer."""
        found = self._known.get(_key(call, arguments))
        if found is None:
            raise Unanswered(f"the recording has no answer to {call}", "record it again with this version of gpu-ci")
        return found.result()


class Recorder:
    """A system that passes each question on once, and remembers the answer without secrets.

    Checks get the cleaned answer, too. So no result contains a secret, and a recording gives the same results.
    """

    def __init__(self, source: Source, known: frozenset[str] = frozenset()) -> None:
        self._source = source
        self._known = known
        self.exchanges: dict[str, Exchange] = {}

    def ask(self, call: str, /, **arguments: Any) -> Any:
        """Return the answer of the system."""
        key = _key(call, arguments)
        if key not in self.exchanges:
            try:
                answer = redacted(self._source.ask(call, **arguments), self._known)
                self.exchanges[key] = Exchange(call=call, arguments=arguments, answer=answer)
            except Unanswered as fault:
                reason, fix = redacted([fault.reason, fault.fix], self._known)
                self.exchanges[key] = Exchange(call=call, arguments=arguments, unanswered=reason, fix=fix)
        return self.exchanges[key].result()


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """A recorded world."""

    now: datetime
    stack_file: str
    """The name of the stack file."""
    stack_text: str
    """The content of the stack file. Its secrets are encrypted."""
    exchanges: Mapping[str, tuple[Exchange, ...]] = field(default_factory=dict)
    """System to its questions and answers, in the order of the questions."""

    repository: str = ""
    """The repository that was asked for; empty for those of the stack file."""

    def cleaned(self, clean: Callable[[Any], Any], clean_file: Callable[[str], str]) -> Recording:
        """Return the recording without secrets."""
        exchanges = {
            system: tuple(Exchange(**clean(one.data())) for one in known) for system, known in self.exchanges.items()
        }
        return replace(self, exchanges=exchanges, stack_text=clean_file(self.stack_text))

    def sources(self) -> dict[str, Recorded]:
        """Return a system of recorded answers for each field of a world."""
        return {system: Recorded(self.exchanges.get(system, ())) for system in SYSTEMS}


def taken(recorders: Mapping[str, Recorder], *, now: datetime, stack_file: Path, repository: str = "") -> Recording:
    """Return the recording of all questions so far."""
    exchanges = {system: tuple(one.exchanges.values()) for system, one in recorders.items()}
    text = stack_file.read_text(encoding="utf-8")
    return Recording(now=now, stack_file=stack_file.name, stack_text=text, exchanges=exchanges, repository=repository)


def write(recording: Recording, folder: Path) -> None:
    """Write a recording into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    about = {
        "asked": recording.now.isoformat(),
        "stack-file": recording.stack_file,
        "repository": recording.repository,
    }
    (folder / ABOUT).write_text(_json(about), encoding="utf-8")
    (folder / recording.stack_file).write_text(recording.stack_text, encoding="utf-8")
    for system, exchanges in recording.exchanges.items():
        (folder / system).mkdir(exist_ok=True)
        for number, one in enumerate(exchanges, 1):
            slug = re.sub(r"[^A-Za-z0-9.]+", "-", one.call).strip("-")[:80]
            (folder / system / f"{number:03}-{slug}.json").write_text(_json(one.data()), encoding="utf-8")


def read(folder: Path) -> Recording:
    """Read a recording from a folder."""
    about = _loaded(folder / ABOUT)
    try:
        name = Path(about["stack-file"]).name
        now = datetime.fromisoformat(about["asked"])
        text = (folder / name).read_text(encoding="utf-8")
        repository = str(about.get("repository", ""))
    except (AttributeError, KeyError, TypeError, ValueError, OSError) as fault:
        raise _not_a_recording(folder / ABOUT, fault) from None
    exchanges = {
        system: tuple(_exchange(path) for path in sorted((folder / system).glob("*.json"))) for system in SYSTEMS
    }
    return Recording(now=now, stack_file=name, stack_text=text, exchanges=exchanges, repository=repository)


def _exchange(path: Path) -> Exchange:
    data = _loaded(path)
    try:
        return Exchange(**data)
    except TypeError as fault:
        raise _not_a_recording(path, fault) from None


def _loaded(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError) as fault:
        raise _not_a_recording(path, fault) from None


def _not_a_recording(path: Path, fault: Exception) -> Stop:
    return Stop(Exit.WRONG, f"{path}: not a file of a recording ({fault}); name a folder that the doctor wrote")


def _json(data: Any) -> str:
    return json.dumps(data, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
