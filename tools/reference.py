"""Write the generated parts of the documentation into the committed pages, or check that they are up to date.

`python -m tools.reference --write` replaces the text between `<!-- generated: NAME -->` and `<!-- end -->` in every
page that has such markers. `--check` ends with 1 and names the pages that differ.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import sys
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from typer.models import ParameterInfo

from gpu_ci.checks import CHECKS
from ops.cli import commands, maintenance
from tools.reference_components import components
from tools.reference_doctor import doctor_checks, message_index, messages
from tools.reference_machines import (
    attachable_gpus,
    ec2_machines,
    ec2_quotas,
    example_costs,
    gce_machines,
    jarvis_machines,
)
from tools.reference_sections import sections

ROOT: Final = Path(__file__).resolve().parent.parent
MARKERS: Final = re.compile(r"^<!-- generated: ([a-z0-9 ]+) -->\n.*?^<!-- end -->$", re.MULTILINE | re.DOTALL)


def command_line() -> str:
    """Return every command with its options as Markdown."""
    found = {
        module.name: package.__name__
        for package in (commands, maintenance)
        for module in pkgutil.iter_modules(package.__path__)
    }
    return "\n".join(_command(package, name) for name, package in sorted(found.items()))


def _command(package: str, name: str) -> str:
    main = importlib.import_module(f"{package}.{name}").main
    hints = typing.get_type_hints(main, include_extras=True)
    rows = [
        _option(parameter.name, parameter.default, hints[parameter.name])
        for parameter in inspect.signature(main).parameters.values()
    ]
    table = "\n".join(["| Option | Default | Description |", "|---|---|---|", *rows, ""])
    return f"## {name.replace('_', '-')}\n\n{inspect.getdoc(main)}\n\n{table if rows else ''}"


def _option(name: str, default: Any, hint: Any) -> str:
    info = next(one for one in hint.__metadata__ if isinstance(one, ParameterInfo))
    # In `Annotated`, Typer keeps the first name of an option where it otherwise keeps the default.
    names = [word for word in (info.default, *(info.param_decls or ())) if isinstance(word, str)]
    if not names:
        names = [name.upper()]
    shown = "required" if default is inspect.Parameter.empty else "none" if default in (None, False) else f"`{default}`"
    return f"| {', '.join(f'`{one}`' for one in names)} | {shown} | {_cell(info.help or '')} |"


def targets() -> str:
    """Return the targets of the Makefile with their descriptions."""
    found = re.findall(r"^([a-z-]+):[^=\n]*## (.+)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    return "\n".join(
        ["| Command | Description |", "|---|---|", *(f"| `make {name}` | {_cell(text)} |" for name, text in found)]
    )


def decisions() -> str:
    """Return the decision records with their status, each linked."""
    rows = []
    for path in sorted((ROOT / "docs" / "adr").glob("[0-9]*.md")):
        text = path.read_text(encoding="utf-8")
        number, _, title = text.splitlines()[0].removeprefix("# ").partition(": ")
        status = re.search(r"^(In force|Replaced|Superseded)\b.*", text, re.MULTILINE)
        rows.append(f"| [{number}]({path.name}) | {_cell(title)} | {status[0].rstrip('.') if status else ''} |")
    return "\n".join(["| Number | Decision | Status |", "|---|---|---|", *rows])


def modules() -> str:
    """Return every package of the program, and its folders, with the first sentence of its docstring."""
    places = ("[a-z]*/__init__.py", "[a-z]*/*/__init__.py", "gpu_ci/*/*/__init__.py")
    found = sorted(path.relative_to(ROOT) for place in places for path in ROOT.glob(place))
    paths = [ROOT / path for path in found if path.parts[0] != "tests"]
    rows = [f"| `{path.parent.relative_to(ROOT).as_posix()}/` | {_cell(_summary(path))} |" for path in paths]
    entry = f"| `__main__.py` | {_cell(_summary(ROOT / '__main__.py'))} |"
    return "\n".join(["| Module | Content |", "|---|---|", entry, *rows])


def checks() -> str:
    """Return every check with the summary of the module of the same name, linked to its page."""
    folder = ROOT / "gpu_ci" / "checks"
    pages = {module.CHECK: next(folder.rglob(f"{module.CHECK.replace('-', '_')}.py")) for module in CHECKS}
    rows = [f"| [{name}]({name}.md) | {_cell(_summary(path))} |" for name, path in pages.items()]
    return "\n".join(["| Check | Description |", "|---|---|", *rows])


def _summary(path: Path) -> str:
    return (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").partition("\n\n")[0]


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", r"\|").replace("<", "&lt;")


GENERATED: Final[dict[str, Callable[[], str]]] = {
    "attachable gpus": attachable_gpus,
    "checks": checks,
    "command line": command_line,
    "components": components,
    "decisions": decisions,
    "ec2 machines": ec2_machines,
    "ec2 quotas": ec2_quotas,
    "example costs": example_costs,
    "gce machines": gce_machines,
    "jarvis machines": jarvis_machines,
    "doctor checks": doctor_checks,
    "message index": message_index,
    "messages": messages,
    "modules": modules,
    "stack file": sections,
    "targets": targets,
}
"""The name in a marker to the function that writes the text."""


def pages() -> dict[Path, str]:
    """Return each page that has generated parts, with its up-to-date text."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").rglob("*.md"))}
    return {path: MARKERS.sub(_filled, text) for path, text in texts.items() if MARKERS.search(text)}


def _filled(match: re.Match[str]) -> str:
    text = re.sub(r"\n{3,}", "\n\n", GENERATED[match[1]]()).strip()
    return f"<!-- generated: {match[1]} -->\n\n{text}\n\n<!-- end -->"


def main(arguments: list[str]) -> int:
    """Write the pages, or check them; return the exit code."""
    stale = [path for path, text in pages().items() if path.read_text(encoding="utf-8") != text]
    names = ", ".join(path.relative_to(ROOT).as_posix() for path in stale)
    if arguments == ["--check"]:
        if stale:
            sys.stderr.write(f"reference: run `make reference`; these pages are not up to date: {names}\n")
        return int(bool(stale))
    if arguments != ["--write"]:
        sys.stderr.write("usage: python -m tools.reference --write | --check\n")
        return 2
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
    sys.stdout.write(f"reference: wrote {names}\n" if stale else "reference: up to date\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
