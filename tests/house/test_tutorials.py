"""Tests of docs/tutorial/: outputs that a tutorial reads exist, and the README has a page for every back end."""

from __future__ import annotations

import re
from functools import reduce
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from gpu_ci.back_ends.registry import BACK_ENDS
from ops.plan.recorder import record
from ops.plan.stack_file import StackFile, read
from tests.house.test_docs import overlaid

pytestmark = pytest.mark.plan

ROOT: Final = Path(__file__).resolve().parents[2]
TUTORIALS: Final = sorted((ROOT / "docs" / "tutorial").glob("*.md"))
COPIED: Final = re.compile(r"schema/\|' (examples/[\w-]+\.yaml)")
READ: Final = re.compile(r"pulumi stack output (\w+)(?: --json \| jq -r '\.([^']+)')?")


FLAGS: Final = re.MULTILINE | re.DOTALL


def stated(name: str) -> dict[str, Any]:
    """Return the configuration of an example."""
    config: dict[str, Any] = yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))["config"]
    return config


def written(content: dict[str, Any], folder: Path) -> StackFile:
    """Return a stack file with that content."""
    file = folder / "Pulumi.staging.yaml"
    file.write_text(yaml.safe_dump(content), encoding="utf-8")
    return read(file)


def value(outputs: Any, path: str) -> Any:
    """Return the value at a path of jq, for example `"gpu-vm".status`; None if there is none."""
    for key in path.split("."):
        outputs = outputs.get(key.strip('"')) if isinstance(outputs, dict) else None
    return outputs


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_every_output_that_a_tutorial_reads_is_an_output_of_its_example(page: Path, tmp_path: Path) -> None:
    text = page.read_text(encoding="utf-8")
    shown = [yaml.safe_load(block) for block in re.findall(r"^```yaml\n(gpu-ci:.*?)^```$", text, FLAGS)]
    files = [{"config": reduce(overlaid, shown, stated(name))} for name in COPIED.findall(text)]
    plans = [record(written(file, tmp_path)).outputs for file in files]
    read = [name if not path else f"{name}.{path}" for name, path in READ.findall(text)]

    assert [path for path in read if not any(value(outputs, path) for outputs in plans)] == []


def test_every_back_end_has_a_page_and_an_example_in_the_readme() -> None:
    rows = re.findall(r"^\| [^|]+ \| `([\w-]+)` \| (.+) \|$", (ROOT / "README.md").read_text(), re.MULTILINE)
    linked = {name: re.findall(r"\]\(([^)]+)\)", cells) for name, cells in rows}

    assert sorted(linked) == sorted(name.replace("_", "-") for name in BACK_ENDS)
    missing = {
        name: [
            wanted
            for wanted in (("docs/tutorial/", "docs/how-to/"), ("examples/",))
            if not any(link.startswith(wanted) for link in links)
        ]
        for name, links in linked.items()
    }
    assert {name: wanted for name, wanted in missing.items() if wanted} == {}
