"""Values of `gpu-tests`: each accepted value is in the workflow unchanged, in all combinations of options."""

from __future__ import annotations

from typing import Any, Final

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from gpu_ci.repository.gpu_workflow import TESTS_FILE, entry, workflows
from gpu_ci.stack_file.sections import gpu_tests as section
from gpu_ci.stack_file.sections.gpu_tests import GpuTestsSettings
from gpu_ci.stack_file.sections.runners import RunnerSettings

pytestmark = pytest.mark.pure

RUNNER: Final = RunnerSettings.model_validate(
    {"needs": {"gpu": "t4", "cpu": 3, "memory": "12Gi", "cuda": "12.9"}, "timeout-minutes": 60}
)
SIGNS: Final = st.characters(codec="utf-8", exclude_categories=("C", "Z"), include_characters=" ")
"""What a YAML file may contain: no control characters, and no other spaces."""


def matching(pattern: str) -> st.SearchStrategy[str]:
    return st.from_regex(pattern, fullmatch=True, alphabet=SIGNS)


ENTRIES: Final = st.fixed_dictionaries(
    {},
    optional={
        "tool": st.sampled_from(["uv", "pip", "micromamba", "make"]),
        "install": st.lists(matching(section.COMMAND), max_size=2, unique=True),
        "tests": st.lists(matching(section.COMMAND), min_size=1, max_size=2, unique=True),
        "cpu": st.lists(matching(section.COMMAND), max_size=2, unique=True),
        "python": st.sampled_from(["3.12", "3.13t"]),
        "matrix": st.dictionaries(
            st.sampled_from(["python", "torch", "on", "no"]),
            st.lists(st.sampled_from(["3.12", "3.10", "1e3", "0x1", "null", "yes"]), min_size=1, unique=True),
            max_size=2,
        ),
        "env": st.dictionaries(matching(r"[A-Z_]{1,9}"), matching(section.VALUE), max_size=2),
        "paths": st.lists(matching(section.PATH), max_size=2, unique=True),
        "cache": st.sampled_from(["none", "actions", "/mnt/cache", "s3://a-bucket/x", "gs://a-bucket"]),
        "ccache": st.booleans(),
        "reusable": st.booleans(),
        "codecov-flag": matching(section.FLAG),
        "switch": matching(section.VARIABLE),
        "run-label": matching(section.LABEL),
    },
)


@settings(max_examples=150, deadline=None)
@given(stated=ENTRIES)
def test_every_accepted_value_is_in_the_workflow_unchanged(stated: dict[str, Any]) -> None:
    lists = {key: tuple(value) for key, value in stated.items() if isinstance(value, list)}
    try:
        values = GpuTestsSettings.model_validate(
            {**stated, **lists, "matrix": {key: tuple(one) for key, one in stated.get("matrix", {}).items()}}
        )
    except ValidationError:
        return
    tests = entry(values, RUNNER, label="gpu-t4", runs_on="runs-on: gpu-t4", branches=("main",))
    document = yaml.load(workflows(tests)[TESTS_FILE], Loader=yaml.BaseLoader)  # noqa: S506 - keeps `on` a word
    job = document["jobs"]["test"]
    steps = {step["name"]: step for step in job["steps"]}

    assert steps["Test"]["run"] == "".join(f"{command}\n" for command in tests.tests)
    assert steps.get("Install", {"run": ""})["run"] == "".join(f"{command}\n" for command in tests.install)
    assert {name: value for name, value in job.get("env", {}).items() if name in values.env} == values.env
    assert job.get("strategy", {"matrix": {}})["matrix"] == {key: list(one) for key, one in values.matrix.items()}
    assert document["on"]["push"].get("paths", []) == list(values.paths)
    assert ("cpu" in document["jobs"], "check" in document["jobs"]) == (bool(values.cpu), not values.paths)
    assert values.run_label in job["if"]
    assert set(job) >= {"name", "if", "runs-on", "timeout-minutes", "permissions", "defaults", "steps"}
