"""Tests of the documentation: commands exist, shown output is printed, and shown stack files can be planned."""

from __future__ import annotations

import functools
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

pytestmark = pytest.mark.docs

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
CONTRIBUTING = ROOT / "CONTRIBUTING.md"
PAGES = [README, CONTRIBUTING, *sorted((ROOT / "docs").rglob("*.md"))]
TARGETS = set(re.findall(r"^([a-z-]+):[^=\n]*## ", (ROOT / "Makefile").read_text(), re.MULTILINE))
STACK_FILE = "tests/stacks/staging.yaml"
"""The stack that the pages show. It is a copy of `Pulumi.staging.yaml`, which a user may change."""
GENERATED = ROOT / "docs" / "reference" / "stack-file.md"
"""Its examples are copied from stack files that other tests plan."""
STAGING: dict[str, Any] = yaml.safe_load((ROOT / STACK_FILE).read_text())["config"]

TEXTS = {page.relative_to(ROOT).as_posix(): page.read_text() for page in PAGES}


def blocks(page: Path, language: str) -> list[str]:
    """Return the code blocks of a page in one language, also those inside lists, without their indentation."""
    fence = re.compile(rf"^( *)```{language}\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
    return [
        "".join(line.removeprefix(match[1]) for line in match[2].splitlines(keepends=True))
        for match in fence.finditer(page.read_text())
    ]


def fragments(page: Path) -> Iterator[Any]:
    """Yield every part of a stack file that a page shows."""
    return (yaml.safe_load(text) for text in blocks(page, "yaml") if "gpu-ci:" in text)


def shown() -> Iterator[Any]:
    """Yield every command that a page shows with its output."""
    for page in PAGES:
        for number, text in enumerate(blocks(page, "console")):
            command, _, output = text.partition("\n")
            if output and not output.startswith("$ "):
                name = f"{page.relative_to(ROOT).as_posix()}-{number}"
                yield pytest.param(command.removeprefix("$ "), output.splitlines(), id=name)


def overlaid(below: Any, above: Any) -> Any:
    """Return `below` with the values of `above` put over it, map by map."""
    if isinstance(below, Mapping) and isinstance(above, Mapping):
        return {key: overlaid(below.get(key), above.get(key, below.get(key))) for key in {**below, **above}}
    return above


def is_part(part: Any, whole: Any) -> bool:
    """Return True if `whole` contains every value of `part`."""
    if isinstance(part, Mapping):
        return isinstance(whole, Mapping) and all(key in whole and is_part(part[key], whole[key]) for key in part)
    return bool(part == whole)


@functools.cache
def run(*words: str) -> subprocess.CompletedProcess[str]:
    """Run a command in the checkout once, with this interpreter instead of the environment that make sets up."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    if words[0] == "make":
        words = ("make", "-o", ".venv/run", "-o", ".venv/dev", f"PY={sys.executable}", *words[1:])
    return subprocess.run(words, capture_output=True, check=False, cwd=ROOT, env={**kept, "NO_COLOR": "1"}, text=True)


def test_the_readme_starts_with_the_preview_and_the_tests() -> None:
    assert blocks(README, "console")[0] == "$ make preview\n$ make test\n"


def test_every_target_that_a_page_names_exists() -> None:
    form = re.compile(r"(?:`|\$ |^)make (?:-s )?([a-z][a-z-]*)", re.MULTILINE)

    assert {page: unknown for page, text in TEXTS.items() if (unknown := set(form.findall(text)) - TARGETS)} == {}


@pytest.mark.parametrize(("command", "output"), list(shown()))
def test_the_output_that_a_page_shows_is_what_the_command_prints(command: str, output: list[str]) -> None:
    """`…` matches any number of lines, or any part of a line. All other lines must be printed in this order."""
    words = command.split()
    if {"plan", "preview", "kit"} & {*words} and not any(word.startswith(("STACK=", "FILE=")) for word in words):
        words = [*words, f"FILE={STACK_FILE}"]
    ended = run(*words)
    if "no Pulumi CLI" in ended.stdout + ended.stderr and os.environ.get("CI") != "true":
        pytest.skip("no Pulumi CLI is available")
    printed = ended.stdout.splitlines()
    at = 0
    for line in output:
        if line.strip() == "…":
            continue
        pattern = re.compile(".*".join(re.escape(part) for part in line.split("…")))
        found = next((number for number in range(at, len(printed)) if pattern.fullmatch(printed[number])), None)
        assert found is not None, f"{command} does not print, after its line {at}: {line}\n{ended.stderr}"
        at = found + 1


def test_the_part_of_the_stack_file_that_the_readme_shows_is_in_the_stack_file() -> None:
    shown = list(fragments(README))

    assert shown
    assert [fragment for fragment in shown if not is_part(fragment, STAGING)] == []


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if page not in {README, GENERATED} and any(fragments(page))],
    ids=lambda page: page.relative_to(ROOT).as_posix(),
)
def test_a_stack_file_with_a_fragment_from_a_page_can_be_planned(
    page: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from ops.cli import main as cli  # noqa: PLC0415  # the other tests of this file need no Pulumi

    def plan(fragment: Any) -> tuple[int, str]:
        file = tmp_path / "Pulumi.shown.yaml"
        file.write_text(yaml.safe_dump({"config": overlaid(STAGING, fragment)}))
        code = cli.run(["plan", "--file", str(file)])
        return code, "".join(capsys.readouterr())[-2000:]

    ended = [(fragment, *plan(fragment)) for fragment in fragments(page)]

    assert [(fragment, code, printed) for fragment, code, printed in ended if code != 0] == []


def test_the_tutorial_shows_the_messages_that_its_broken_stack_files_give(tmp_path: Path) -> None:
    tutorial = ROOT / "docs" / "tutorial" / "first-preview.md"
    greedy = overlaid(STAGING, {"gpu-ci:runners": {"gpu-t4": {"needs": {"cpu": 4, "memory": "16Gi"}}}})
    misspelt = overlaid(STAGING, {"gpu-ci:gpu-pools": {"t4-spot": {"capcity": "spot"}}})
    del misspelt["gpu-ci:gpu-pools"]["t4-spot"]["capacity"]
    printed = []
    for number, config in enumerate((greedy, misspelt)):
        file = tmp_path / f"Pulumi.broken-{number}.yaml"
        file.write_text(yaml.safe_dump({"config": config}))
        ended = run(sys.executable, "-m", "ops", "plan", "--file", str(file))
        printed.append(
            (ended.returncode, "\n".join(line.rstrip() for line in [*ended.stdout.splitlines(), ended.stderr]))
        )
    refusal, faults = (text.strip() for text in blocks(tutorial, "text"))

    assert [code for code, _ in printed] == [1, 2]
    assert refusal in printed[0][1]
    assert faults in printed[1][1]


def test_a_fragment_changes_only_the_keys_that_it_states() -> None:
    below = {"runners": {"a": {"needs": 1}}, "aws": {"region": "x"}}

    assert overlaid(below, {"runners": {"b": {"needs": 2}}, "aws": {"region": "y"}}) == {
        "runners": {"a": {"needs": 1}, "b": {"needs": 2}},
        "aws": {"region": "y"},
    }


def test_every_shell_command_of_a_page_parses() -> None:
    def fault(text: str) -> str:
        return subprocess.run(["bash", "-n"], capture_output=True, check=False, input=text, text=True).stderr

    scripts = [(page, text) for page in PAGES for text in blocks(page, "bash")]

    assert [(page, text, found) for page, text in scripts if (found := fault(text))] == []


@pytest.mark.parametrize("page", [README, CONTRIBUTING], ids=lambda page: page.name)
def test_every_relative_link_outside_the_site_exists(page: Path) -> None:
    targets = [target.partition("#")[0] for target in re.findall(r"\]\((?!https?:)([^)]+)\)", page.read_text())]

    assert targets
    assert [target for target in targets if not (ROOT / target).exists()] == []


def test_every_file_that_contributing_names_exists() -> None:
    text = CONTRIBUTING.read_text()
    names = [
        name for name in re.findall(r"`([\w.*/-]+/[\w.*/-]*)`", text) if "NAME" not in name and "CHAPTER" not in name
    ]

    assert names
    assert [name for name in names if not list(ROOT.glob(name.rstrip("/")))] == []


def test_every_file_of_the_project_that_a_page_names_exists() -> None:
    folders = "|".join(sorted(one.name for one in ROOT.iterdir() if one.is_dir() and one.name.isidentifier()))
    form = re.compile(rf"`((?:{folders})/[\w./-]+\.[a-z]+)`")
    of_a_repository = {"tests/test_gpu_smoke.py"}
    named = [(page, name) for page, text in TEXTS.items() for name in {*form.findall(text)} - of_a_repository]

    assert [
        (page, name)
        for page, name in named
        if "NAME" not in name and "CHAPTER" not in name and not (ROOT / name).exists()
    ] == []


def test_the_outputs_page_lists_exactly_the_exported_outputs() -> None:
    sources = [*(ROOT / "gpu_ci" / "program").glob("*.py"), *(ROOT / "gpu_ci" / "back_ends").rglob("*.py")]
    exported = {
        re.sub(r"\{\w+\}", "NAME", name)
        for path in sources
        for name in re.findall(r'pulumi\.export\(\s*f?"([a-z_{}]+)"', path.read_text())
    }
    # These names are computed, from the sections of the stack file.
    exported |= {"ec2_image", "eks_image"}
    explained = set(re.findall(r"^\| `(\w+)` \|", (ROOT / "docs/reference/outputs.md").read_text(), re.MULTILINE))

    assert exported == explained


def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    ended = run(sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site"))

    assert (ended.returncode, [line for line in ended.stderr.splitlines() if line.startswith("WARNING")]) == (0, [])


def test_the_generated_pages_are_up_to_date() -> None:
    from tools import reference  # noqa: PLC0415  # the other tests of this file need neither pydantic nor Typer

    stale = [path.name for path, text in reference.pages().items() if path.read_text(encoding="utf-8") != text]

    assert stale == [], "run `make reference`"


def test_the_stack_file_reference_has_every_section_and_an_example_of_it() -> None:
    from gpu_ci.stack_file.sections.settings import Settings  # noqa: PLC0415  # as above
    from tools import reference_sections  # noqa: PLC0415

    page = (ROOT / "docs/reference/stack-file.md").read_text()
    headings = re.findall(r"^## ([a-z0-9-]+)$", page, re.MULTILINE)
    names = [field.alias or "" for field in Settings.model_fields.values()]

    assert [heading for heading in headings if heading != reference_sections.KEY_OF_THE_APP] == names
    assert [name for name in names if reference_sections.example(name) is None] == []


def test_the_command_line_reference_has_every_command_and_target() -> None:
    page = (ROOT / "docs/reference/command-line.md").read_text()

    assert "\n## plan\n" in page
    assert set(re.findall(r"^\| `make ([a-z-]+)` \|", page, re.MULTILINE)) == TARGETS
