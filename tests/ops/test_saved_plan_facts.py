"""The facts of a saved plan: a plan of something else is refused with the fix."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ops.fakes.protocol.wire import UNKNOWN_MARK
from ops.outcome import Exit, Stop
from ops.pipeline import saved_plan
from ops.pipeline.saved_plan import AGAIN, Facts

pytestmark = pytest.mark.pure

NOW = Facts(stack="staging", commit="c0ffee", state="5ta7e", cli="v3.258.0", made="2026-11-22T12:00:00+00:00")


def test_a_plan_of_the_same_circumstances_is_applied() -> None:
    assert NOW.refusal(replace(NOW, made="2026-11-23T12:00:00+00:00")) == ""


@pytest.mark.parametrize(
    ("now", "reason"),
    [
        ({"stack": "production"}, "the plan is for the stack staging, not for production; apply it to staging"),
        ({"commit": "decaf"}, f"the plan is of the commit c0ffee, and this is decaf: {AGAIN}"),
        ({"cli": "v3.259.0"}, f"the plan was made with the Pulumi CLI v3.258.0, and this is v3.259.0: {AGAIN}"),
        ({"state": "0ther"}, f"the state of staging has changed since the plan was made: {AGAIN}"),
        (
            {"made": "2026-11-23T18:00:00+00:00"},
            f"the plan is 30 hours old; a plan is valid for 24: {AGAIN}",
        ),
    ],
)
def test_a_plan_of_other_circumstances_is_refused(now: dict[str, str], reason: str) -> None:
    assert NOW.refusal(replace(NOW, **now)) == reason


def test_facts_are_read_as_they_were_written(tmp_path: Path) -> None:
    NOW.write(tmp_path)

    assert Facts.read(tmp_path) == NOW


@pytest.mark.parametrize("content", [None, "", "{}", "[]", '{"stack": "x"}'])
def test_a_missing_plan_is_reported_with_the_fix(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "facts.json").write_text(content)

    with pytest.raises(Stop) as stopped:
        Facts.read(tmp_path)

    assert stopped.value.code == Exit.WRONG
    assert stopped.value.message == f"{tmp_path} has no saved plan, for example because it expired: {AGAIN}"


def saved(tmp_path: Path, **plan: Any) -> Path:
    path = tmp_path / "plan.json"
    path.write_text(json.dumps({"resourcePlans": {"urn:pool": plan}}))
    return path


@pytest.mark.parametrize(
    ("plan", "changes"),
    [
        ({"steps": ["same"], "goal": {"outputDiff": {}}}, False),
        ({"steps": ["update"], "goal": {}}, True),
        ({"steps": ["delete"]}, True),
        ({"steps": ["same"], "goal": {"outputDiff": {"adds": {"url": "x"}}}}, True),
    ],
)
def test_a_plan_with_a_step_or_an_output_changes_something(tmp_path: Path, plan: dict[str, Any], changes: bool) -> None:
    assert saved_plan.changes_something(saved(tmp_path, **plan)) is changes


def test_a_value_at_an_ignored_path_may_change(tmp_path: Path) -> None:
    sizes = {"desiredSize": 4, "maxSize": 6}
    ignored = ["scalingConfig.desiredSize", 'tags["status"]', "missing.path"]
    path = saved(
        tmp_path,
        goal={"inputDiff": {"updates": {"scalingConfig": sizes, "tags": {"status": "x"}}}, "ignoreChanges": ignored},
    )

    saved_plan.free_ignored_values(path)

    changed = json.loads(path.read_text())["resourcePlans"]["urn:pool"]["goal"]["inputDiff"]["updates"]
    assert changed == {
        "scalingConfig": {"desiredSize": UNKNOWN_MARK, "maxSize": 6},
        "tags": {"status": UNKNOWN_MARK},
    }


@given(st.dictionaries(st.text(), st.one_of(st.integers(), st.text(), st.none())))
def test_the_digest_depends_on_the_content_only(state: dict[str, Any]) -> None:
    turned = dict(reversed(list(state.items())))
    assert saved_plan.digest(json.dumps({"deployment": state})) == saved_plan.digest(json.dumps({"deployment": turned}))
    other = {**state, "more": [1]}
    assert saved_plan.digest(json.dumps({"deployment": state})) != saved_plan.digest(json.dumps({"deployment": other}))
