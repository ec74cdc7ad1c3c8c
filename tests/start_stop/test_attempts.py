"""The workflow over the attempts of one run: what each button of GitHub repeats, and what happens to the machine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tests.artefacts.callers import run_step
from tests.kit.github_expressions import holds, needed, results
from tests.kit.options import files

pytestmark = pytest.mark.pure

PLACES: Final = {
    "examples/start-stop.yaml": ".github/workflows/gpu-start-stop-gpu-t4.yml",
    "examples/jarvis.yaml": ".github/workflows/gpu-start-stop-jarvis-l4.yml",
}
JOBS: Final[dict[str, dict[str, Any]]] = {
    stack: yaml.safe_load((files(stack) or {})[path])["jobs"] for stack, path in PLACES.items()
}
ALL: Final = "Re-run all jobs"
FAILED: Final = "Re-run failed jobs"
Results = dict[str, dict[str, Any]]


def repeated(jobs: Mapping[str, Any], button: str, before: Results) -> set[str]:
    """Return the jobs that a button repeats: all, the failed ones or a single one, and the jobs that depend on them."""
    if button == ALL:
        return {*jobs}
    chosen = (
        {name for name in jobs if before[name]["result"] in {"failure", "cancelled"}} if button == FAILED else {button}
    )
    for name, job in jobs.items():
        chosen |= {name} if chosen.intersection(needed(job)) else set()
    return chosen


def attempt(jobs: Mapping[str, Any], number: int, ends: Mapping[str, str], kept: Results) -> tuple[Results, bool]:
    """Return the results of an attempt, and whether the last step of `stop` reports that nothing was tested."""
    github = {"event_name": "push", "event": {}, "repository": "acme/vision", "run_attempt": str(number)}
    contexts = {"github": github, "vars": {"ENABLE_GPU_SMOKE": "true"}}
    found = results(jobs, contexts, ends=ends.__getitem__, kept=kept)
    reports = "stop" not in kept and holds(jobs["stop"]["steps"][-1]["if"], {**contexts, "needs": found})
    if reports:
        found["stop"] = {"result": "failure", "outputs": {}}
    return found, reports


BUTTONS: Final = st.sampled_from((ALL, FAILED, "start", "test", "guard", "stop"))
ENDS: Final = st.fixed_dictionaries(
    {name: st.sampled_from(("success", "failure", "cancelled")) for name in ("start", "test", "guard", "stop")}
)


@given(st.sampled_from(sorted(PLACES)), ENDS, st.lists(st.tuples(BUTTONS, ENDS), max_size=4))
def test_a_job_on_the_machine_has_a_start_a_guard_and_a_stop_in_its_own_attempt(
    stack: str, first: dict[str, str], later: list[tuple[str, dict[str, str]]]
) -> None:
    jobs = JOBS[stack]
    found: Results = {}
    for number, (button, ends) in enumerate([(ALL, first), *later], start=1):
        again = repeated(jobs, button, found) if found else {*jobs}
        kept = {name: one for name, one in found.items() if name not in again}
        found, reports = attempt(jobs, number, ends, kept)
        ran = {name for name in again if found[name]["result"] != "skipped"}

        assert "test" not in ran or {"start", "guard", "stop"} <= ran
        assert "start" not in ran or "stop" in ran
        started, tested = (found[name]["result"] for name in ("start", "test"))
        assert reports == ((started, tested) == ("success", "skipped") and "stop" in ran)


def test_failed_jobs_that_run_again_end_at_once_and_all_jobs_test_again(tmp_path: Path) -> None:
    jobs = JOBS["examples/start-stop.yaml"]
    good = dict.fromkeys(jobs, "success")
    first, _ = attempt(jobs, 1, {**good, "test": "failure"}, {})
    again = repeated(jobs, FAILED, first)
    second, _ = attempt(jobs, 2, good, {name: first[name] for name in first if name not in again})
    third, _ = attempt(jobs, 3, good, {})
    report = run_step("kit", jobs["stop"]["steps"][-1], jobs["stop"], world=tmp_path, environment={})

    assert again == {"test", "stop"}
    assert [second[name]["result"] for name in jobs] == ["success", "skipped", "success", "failure"]
    assert (report.code, report.out.endswith("Choose Re-run all jobs.\n")) == (1, True)
    assert {one["result"] for one in third.values()} == {"success"}
