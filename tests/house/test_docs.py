"""What the documents say is so: commands exist, shown output is what is printed, stack file fragments plan."""

from __future__ import annotations

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
PAGES = [README, *sorted((ROOT / "docs").rglob("*.md"))]
TARGETS = set(re.findall(r"^([a-z-]+):[^=\n]*## ", (ROOT / "Makefile").read_text(), re.MULTILINE))
STACK_FILE = "tests/stacks/staging.yaml"
"""The stack that the pages show: who deploys `Pulumi.staging.yaml` may change it."""
STAGING: dict[str, Any] = yaml.safe_load((ROOT / STACK_FILE).read_text())["config"]

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())


def blocks(page: Path, language: str) -> list[str]:
    """The page's code blocks in one language, inside lists too, without their indentation."""
    fence = re.compile(rf"^( *)```{language}\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
    return [
        "".join(line.removeprefix(match[1]) for line in match[2].splitlines(keepends=True))
        for match in fence.finditer(page.read_text())
    ]


def fragments() -> Iterator[Any]:
    """Every fragment of a stack file that a page shows."""
    for page in PAGES:
        for number, text in enumerate(blocks(page, "yaml")):
            if "gpu-ci:" in text:
                yield pytest.param(page, yaml.safe_load(text), id=f"{page.relative_to(ROOT).as_posix()}-{number}")


def shown() -> Iterator[Any]:
    """Every command that a page shows with its output."""
    for page in PAGES:
        for number, text in enumerate(blocks(page, "console")):
            command, _, output = text.partition("\n")
            if output and not output.startswith("$ "):
                name = f"{page.relative_to(ROOT).as_posix()}-{number}"
                yield pytest.param(command.removeprefix("$ "), output.splitlines(), id=name)


def overlaid(below: Any, above: Any) -> Any:
    """One stack file's values with a fragment's put over them, map by map."""
    if isinstance(below, Mapping) and isinstance(above, Mapping):
        return {key: overlaid(below.get(key), above.get(key, below.get(key))) for key in {**below, **above}}
    return above


def is_part(part: Any, whole: Any) -> bool:
    """Whether everything that is stated in `part` stands so in `whole`."""
    if isinstance(part, Mapping):
        return isinstance(whole, Mapping) and all(key in whole and is_part(part[key], whole[key]) for key in part)
    return bool(part == whole)


def run(*words: str) -> subprocess.CompletedProcess[str]:
    """A command in the checkout, with this interpreter in the place of the environment that make would set up."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    if words[0] == "make":
        words = ("make", "-o", ".venv/run", "-o", ".venv/dev", f"PY={sys.executable}", *words[1:])
    return subprocess.run(words, capture_output=True, check=False, cwd=ROOT, env={**kept, "NO_COLOR": "1"}, text=True)


def test_the_readme_begins_with_the_preview_and_the_tests() -> None:
    assert blocks(README, "console")[0] == "$ make preview\n$ make test\n"


@each_page
def test_every_target_that_a_page_names_exists(page: Path) -> None:
    named = set(re.findall(r"(?:`|\$ |^)make (?:-s )?([a-z][a-z-]*)", page.read_text(), re.MULTILINE))

    assert named - TARGETS == set()


@pytest.mark.parametrize(("command", "output"), list(shown()))
def test_the_output_that_a_page_shows_is_what_the_command_prints(command: str, output: list[str]) -> None:
    """… stands for any number of lines, or for a part of one; everything else stands there, in this order."""
    words = command.split()
    if {"plan", "preview", "kit"} & {*words} and not any(word.startswith(("STACK=", "FILE=")) for word in words):
        words = [*words, f"FILE={STACK_FILE}"]
    ended = run(*words)
    if "no Pulumi CLI" in ended.stdout + ended.stderr and os.environ.get("CI") != "true":
        pytest.skip("no Pulumi CLI is to be had")
    printed = ended.stdout.splitlines()
    at = 0
    for line in output:
        if line.strip() == "…":
            continue
        pattern = re.compile(".*".join(re.escape(part) for part in line.split("…")))
        found = next((number for number in range(at, len(printed)) if pattern.fullmatch(printed[number])), None)
        assert found is not None, f"{command} does not print, after its line {at}: {line}\n{ended.stderr}"
        at = found + 1


@pytest.mark.parametrize(("page", "fragment"), [case for case in fragments() if case.values[0] == README])
def test_what_the_readme_shows_of_the_stack_file_stands_in_it(page: Path, fragment: dict[str, Any]) -> None:
    assert is_part(fragment, STAGING), f"{page.name} shows what {STACK_FILE} does not say"


@pytest.mark.parametrize(("page", "fragment"), [case for case in fragments() if case.values[0] != README])
def test_a_stack_file_with_a_fragment_from_a_page_plans(page: Path, fragment: dict[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "Pulumi.shown.yaml"
    file.write_text(yaml.safe_dump({"config": overlaid(STAGING, fragment)}))

    ended = run(sys.executable, "-m", "ops", "plan", "--file", str(file))

    assert ended.returncode == 0, f"{page.name}: {ended.stdout[-2000:]}{ended.stderr}"


def test_the_tutorial_breaks_the_stack_file_as_it_says(tmp_path: Path) -> None:
    tutorial = ROOT / "docs" / "tutorial" / "first-preview.md"
    greedy = overlaid(STAGING, {"gpu-ci:runners": {"gpu-t4": {"needs": {"cpu": 4, "memory": "16Gi"}}}})
    misspelt = overlaid(STAGING, {"gpu-ci:gpu-pools": {"t4-spot": {"capcity": "spot"}}})
    del misspelt["gpu-ci:gpu-pools"]["t4-spot"]["capacity"]
    said = []
    for number, config in enumerate((greedy, misspelt)):
        file = tmp_path / f"Pulumi.broken-{number}.yaml"
        file.write_text(yaml.safe_dump({"config": config}))
        ended = run(sys.executable, "-m", "ops", "plan", "--file", str(file))
        said.append((ended.returncode, "\n".join(line.rstrip() for line in [*ended.stdout.splitlines(), ended.stderr])))
    refusal, faults = (text.strip() for text in blocks(tutorial, "text"))

    assert [code for code, _ in said] == [1, 2]
    assert refusal in said[0][1]
    assert faults in said[1][1]


def test_a_fragment_is_put_over_a_stack_file_map_by_map() -> None:
    below = {"runners": {"a": {"needs": 1}}, "aws": {"region": "x"}}

    assert overlaid(below, {"runners": {"b": {"needs": 2}}, "aws": {"region": "y"}}) == {
        "runners": {"a": {"needs": 1}, "b": {"needs": 2}},
        "aws": {"region": "y"},
    }


@each_page
def test_what_a_page_shows_as_a_shell_command_parses(page: Path) -> None:
    faults = [
        ended.stderr
        for text in blocks(page, "bash")
        if (ended := subprocess.run(["bash", "-n"], capture_output=True, check=False, input=text, text=True)).returncode
    ]

    assert faults == []


def test_the_readme_links_to_what_is_there() -> None:
    targets = [target.partition("#")[0] for target in re.findall(r"\]\((?!https?:)([^)]+)\)", README.read_text())]

    assert targets
    assert [target for target in targets if not (ROOT / target).exists()] == []


def test_every_output_is_explained_and_every_explained_output_is_there() -> None:
    sources = [ROOT / "program.py", *(ROOT / "composition").glob("*.py")]
    exported = {
        re.sub(r"\{\w+\}", "NAME", name)
        for path in sources
        for name in re.findall(r'pulumi\.export\(\s*f?"([a-z_{}]+)"', path.read_text())
    }
    explained = set(
        re.findall(r"^\| `([a-zA-Z_]+)` \|", (ROOT / "docs/reference/outputs.md").read_text(), re.MULTILINE)
    )

    assert exported == explained


def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    ended = run(sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site"))

    assert (ended.returncode, [line for line in ended.stderr.splitlines() if line.startswith("WARNING")]) == (0, [])


def test_the_site_holds_what_the_program_says_of_itself() -> None:
    from config.settings import Settings  # noqa: PLC0415  # the other tests of this file need no pydantic
    from tools import reference  # noqa: PLC0415

    headings = re.findall(r"^## `gpu-ci:([a-z-]+)`", reference.stack_file(), re.MULTILINE)
    sections = [field.alias for field in Settings.model_fields.values()]

    assert [heading for heading in headings if heading != "github-app-private-key"] == sections
    assert "::: components.aws.network\n" in reference.components()
    assert "## plan\n" in reference.command_line()
    assert "| `make plan` |" in reference.targets()
    assert "(0001-one-stack-file.md)" in reference.decisions()
