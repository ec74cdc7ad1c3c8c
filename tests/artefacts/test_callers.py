"""Every text that runs elsewhere has a caller in `callers.yaml`, and tests run it as that caller does."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

import pytest

from ops.cli.options import ROOT
from tests.artefacts import shipped_texts
from tests.artefacts.callers import CALLERS
from tests.artefacts.linters import linter
from tests.kit.options import CASES, written
from tests.kit.test_containers import FORMS
from tests.kit.test_containers import written as images_written
from tests.plan import stacks
from tests.sources import python_files


def without_a_row(texts: Iterable[str]) -> list[str]:
    return sorted(text for text in set(texts) if not any(one.calls(text) for one in CALLERS.values()))


@pytest.mark.pure
def test_every_file_and_every_step_has_a_row() -> None:
    """The row of a step or a `RUN` line names the shell that the file states."""
    stated = {*shipped_texts.stated_callers()}

    assert without_a_row(shipped_texts.files()) == []
    assert sorted((text, name) for text, name in stated if name not in CALLERS or not CALLERS[name].calls(text)) == []


@pytest.mark.plan
@pytest.mark.parametrize("stack", stacks.NAMES)
def test_every_text_in_a_plan_has_a_row(stack: str) -> None:
    assert without_a_row(shipped_texts.resources(stacks.planned(stack))) == []


@pytest.mark.plan
def test_every_row_has_a_text() -> None:
    plans = [*(stacks.planned(stack) for stack in stacks.NAMES), *shipped_texts.variants()]
    in_plans = {text for plan in plans for text in shipped_texts.resources(plan)}
    stated = {*shipped_texts.stated_callers()}
    others = {*shipped_texts.files(), *in_plans}

    def found(name: str, row: str) -> bool:
        known = {text for text, caller in stated if caller == name} or others
        return any(fnmatchcase(text, row) for text in known)

    assert without_a_row(in_plans) == []
    assert [(name, text) for name, row in CALLERS.items() for text in row.texts if not found(name, text)] == []


@pytest.mark.pure
def test_every_source_is_an_address_or_a_file_of_this_project() -> None:
    sources = {row.source for row in CALLERS.values()}

    assert [one for one in sources if not one.startswith("https://") and not (ROOT / one).is_file()] == []


SHELLS: Final = {"bash", "/bin/bash", "sh", "/bin/sh"}
PROGRAMS: Final = re.compile(r"ami\.builder|components\.kubernetes\.arc_check|ops\.pipeline\.\w+")
OTHERWISE: Final = {
    "tests/artefacts/test_image_builder.py": "sends signals to the builder, and the shell of Pulumi would get them",
    "tests/artefacts/test_image_documents.py": "runs only the function that waits for the locks of apt",
    "tests/components/test_github_repository.py": "runs commands that a page shows to people",
    "tests/derived/test_stack_outputs.py": "runs commands that a plan shows to people",
    "tests/house/test_makefile.py": "runs scripts of this repository's own Makefile",
    "tests/kit/test_nvidia_smi.py": "runs parts of six programs, each with the command line of its caller",
    "tests/ops/test_cli.py": "runs a command line of people",
}
"""The files of tests that start a shell themselves, and why. `tests/machine` runs the program of a machine with its units."""


def started_shells(tree: ast.AST) -> Iterator[int]:
    """Yield the lines of command lines that start with a shell, or that run a program of the table."""
    for node in ast.walk(tree):
        if isinstance(node, ast.List | ast.Tuple) and len(node.elts) > 1:
            first, *others = (one.value if isinstance(one, ast.Constant) else one for one in node.elts)
            options = str(others[0]).startswith("-") and len(others) > 1
            shell = first in SHELLS and (options or isinstance(others[0], ast.AST))
            if shell or any(isinstance(one, str) and PROGRAMS.fullmatch(one) for one in others):
                yield node.lineno


@pytest.mark.pure
def test_tests_run_a_text_only_as_its_caller_does() -> None:
    names = {path.relative_to(ROOT).as_posix(): path for path in python_files()}
    tests = {name: path for name, path in names.items() if re.match("tests/(?!machine/)", name)}
    found = {name: [*started_shells(ast.parse(path.read_text(encoding="utf-8")))] for name, path in tests.items()}

    assert {name: lines for name, lines in found.items() if lines and name not in OTHERWISE} == {}
    assert [name for name in OTHERWISE if not found.get(name)] == []


@pytest.mark.artefacts
def test_every_script_and_every_dockerfile_passes_its_linter(tmp_path: Path) -> None:
    """The kit's files are those of all stack files and options. Other tests check programs that are put together."""
    kit = [item for case in CASES for item in (written(*case) or {}).items()]
    kit += [item for form in FORMS.values() for item in images_written(form).items()]
    texts = {"shellcheck": {text for path, text in kit if path.endswith((".sh", "run-gpu-tests", "check-image"))},
             "hadolint": {text for path, text in kit if path.endswith("/Dockerfile")}}  # fmt: skip
    # actionlint checks the other steps, but takes these for bash.
    inside = {text for _, caller, text in shipped_texts.steps() if caller == "a step in a container"}
    texts["shellcheck"] |= {f"#!/bin/sh\n{text}\n" for text in inside}
    others = (".j2", ".py", ".service", ".timer", "jarvis_boot.sh")
    scripts = [path for path in shipped_texts.files() if not path.endswith(others) and "/machine/" not in path]
    files = {"shellcheck": [ROOT / path for path in scripts], "hadolint": [*(ROOT / "docker").glob("*/Dockerfile")]}
    for name, options in (("shellcheck", "--external-sources"), ("hadolint", "--no-color")):
        for number, text in enumerate(sorted(texts[name])):
            files[name].append(tmp_path / f"{name}-{number}")
            files[name][-1].write_text(text, encoding="utf-8")
        command: list[str | Path] = [linter(name), options, *files[name]]
        checked = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert (checked.returncode, checked.stdout) == (0, "")
        assert len(texts[name]) > 2


NEW: Final = {
    "datetime.UTC", "enum.StrEnum", "itertools.batched", "itertools.pairwise", "tomllib", "types.NoneType",
    *(f"typing.{name}" for name in ("Never", "NotRequired", "ParamSpec", "Required", "Self", "TypeAlias", "assert_never")),
}  # fmt: skip
"""Names that Python 3.9 does not have."""
ARGUMENTS: Final = {"dataclass": {"slots", "kw_only"}, "field": {"kw_only"}, "zip": {"strict"}}
"""Arguments that Python 3.9 does not have."""
TYPES: Final = {"None", "bool", "bytes", "dict", "float", "int", "list", "set", "str", "tuple"}


def imported(path: Path) -> Iterator[Path]:
    """Yield a program, and the files of this project that it imports when it runs."""
    yield path
    for parent in path.relative_to(ROOT).parents:
        if (ROOT / parent / "__init__.py").is_file():
            yield ROOT / parent / "__init__.py"
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        file = isinstance(node, ast.ImportFrom) and ROOT / f"{(node.module or '').replace('.', '/')}.py"
        if file and file.is_file():
            yield from imported(file)


def too_new(path: Path) -> Iterator[str]:
    """Yield what Python 3.9 does not run. It does not evaluate annotations, if the file says so."""
    tree = ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 9))
    if len(tree.body) > 1 and ast.unparse(tree.body[1]) != "from __future__ import annotations":
        yield f"{path.name}: annotations are evaluated"
    annotations = [getattr(one, key, None) for one in ast.walk(tree) for key in ("annotation", "returns")]
    unread = {inner for one in annotations if one is not None for inner in ast.walk(one)}
    for line in tree.body:
        module = f"{line.module}." if isinstance(line, ast.ImportFrom) else ""
        if isinstance(line, ast.Import | ast.ImportFrom):
            yield from (f"{path.name}: {one.name}" for one in line.names if f"{module}{one.name}" in NEW)
    for node in (one for one in ast.walk(tree) if one not in unread):
        text, place = ast.unparse(node), f"{path.name}:{getattr(node, 'lineno', 0)}"
        if isinstance(node, ast.Call):
            wrong = ARGUMENTS.get(ast.unparse(node.func).rpartition(".")[2], set())
            yield from (f"{place}: {one.arg}" for one in node.keywords if one.arg in wrong)
            if "fromisoformat(" in text and ".replace('Z'" not in text:
                yield f"{place}: a date with a Z"
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr) and not TYPES.isdisjoint(text.split(" | ")):
            yield f"{place}: {text}"


@pytest.mark.pure
@pytest.mark.parametrize(
    "line",
    [
        "from datetime import UTC", "import tomllib", "x = int | None", "@dataclass(slots=True)\nclass A: pass",
        "list(zip(a, b, strict=True))", "datetime.fromisoformat(text)", "from typing import Self",
    ],
)  # fmt: skip
def test_a_line_that_python_39_does_not_run_is_found(tmp_path: Path, line: str) -> None:
    file = tmp_path / "program.py"
    file.write_text(f'"""A program."""\n\nfrom __future__ import annotations\n\nkey: str | None\n{line}\n')

    assert len([*too_new(file)]) == 1


@pytest.mark.pure
def test_a_program_for_any_python_needs_only_python_39() -> None:
    programs = {text for row in CALLERS.values() if row.python == [3, 9] for text in row.texts if text.endswith(".py")}

    assert len(programs) == 2
    assert [one for text in sorted(programs) for path in {*imported(ROOT / text)} for one in too_new(path)] == []


@pytest.mark.pure
def test_every_process_of_a_shipped_program_has_a_time_limit() -> None:
    folders = tuple(ROOT / name for name in ("ami", "components", "docker", "gpu_ci"))
    calls = [
        (path.relative_to(ROOT).as_posix(), node)
        for path in python_files() if path.is_relative_to(ROOT) and any(path.is_relative_to(one) for one in folders)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in {"subprocess.run", "subprocess.check_output", "urllib.request.urlopen"}
    ]  # fmt: skip

    assert len(calls) > 3
    assert [(path, node.lineno) for path, node in calls if "timeout" not in {one.arg for one in node.keywords}] == []
