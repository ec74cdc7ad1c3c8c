"""The entries of the runbook that are generated: one for each check of the doctor, and one for each known message."""

from __future__ import annotations

import inspect

from ops.doctor.chain import CHECKS
from ops.doctor.check import Check
from ops.doctor.log.messages import MESSAGES, Message


def doctor_checks() -> str:
    """Return an entry for each check, in the order of the chain, from the docstring of its function."""
    return "\n\n".join(_check(one) for one in CHECKS)


def _check(one: Check) -> str:
    needs = ", ".join(f"[{name}](#{name})" for name in one.needs)
    text = (inspect.getdoc(one.check) or "").replace("<", "&lt;")
    after = f"\n\nIt is only made if {needs} {'passes' if len(one.needs) == 1 else 'pass'}." if needs else ""
    return f"### {one.name}\n\n{text}{after}\n\n```bash\nmake doctor ONLY={one.name}\n```"


def message_index() -> str:
    """Return a table of the messages as people see them, sorted by their text."""
    rows = [
        f"| `{one.text}` | [{one.name}](#{one.name}) |" for one in sorted(MESSAGES, key=lambda one: one.text.lower())
    ]
    return "\n".join(["| Message | Entry |", "|---|---|", *rows])


def messages() -> str:
    """Return an entry for each message."""
    return "\n\n".join(_message(one) for one in MESSAGES)


def _message(one: Message) -> str:
    commands = "".join(f"{command}\n" for command in one.commands)
    block = f"\n\n```bash\n{commands}```" if commands else ""
    return f"### {one.name}\n\n`{one.text}`\n\n{_sentence(one.meaning)}\n\n**Fix:** {_sentence(one.fix)}{block}"


def _sentence(text: str) -> str:
    """Return a clause as a sentence. A command keeps its first letter."""
    start = text[0].upper() if text[1:2].islower() or text[1:2] == " " else text[0]
    text = f"{start}{text[1:]}"
    return text if text.endswith(".") else f"{text}."
