"""The life of a scale set on the real engine: another owner, a removal while a job runs, and the recovery."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pulumi
import pytest
from pulumi import ResourceOptions

from components.kubernetes.arc import arc_controller
from components.kubernetes.arc.arc_controller_values import controller_values
from gpu_ci.back_ends.protocol import ProgramContext
from gpu_ci.back_ends.registry import BACK_ENDS, stack_of
from gpu_ci.back_ends.stack_file import load
from gpu_ci.knowledge import pins
from gpu_ci.stack_file.identity import Identity
from ops.engine.engine import Engine
from ops.engine.events import Outcome
from ops.engine.pulumi_cli import Found
from ops.fakes.cloud.paths import value_at
from ops.fakes.kubernetes import arc
from ops.plan.stack_file import StackFile
from tests.engine import jobs
from tests.plan import stacks

pytestmark = pytest.mark.engine

SMALL = "examples/eks-arc.yaml"
RUNNER = "gpu-light"
TIMEOUT = 30
"""The `timeout-minutes` of the runner."""


def stack(section: str = "github", /, **values: Any) -> StackFile:
    """Return the small stack with other values in one section."""
    return stacks.changed(SMALL, section, lambda stated: stated.update(values))


def runner(**values: Any) -> StackFile:
    """Return the small stack with other values in the `arc` section of its runner."""
    return stacks.changed(SMALL, "runners", lambda runners: runners[RUNNER]["arc"].update(values))


def without(*sections: str) -> StackFile:
    """Return the small stack without some sections."""
    original = stacks.stack_file(SMALL)
    omitted = {f"gpu-ci:{section}" for section in sections}
    return replace(original, config={key: text for key, text in original.config.items() if key not in omitted})


def inside() -> None:
    """Declare only the back end, in a cluster outside the stack, which takes seconds."""
    settings, secrets = load()
    identity = Identity(project="gpu-ci", stack="small")
    cluster = pulumi.ProviderResource("kubernetes", "cluster", {"clusterIdentifier": "elsewhere"})
    context = ProgramContext(
        stack=stack_of(settings, identity),
        secrets=secrets,
        cluster=ResourceOptions(providers=[cluster]),
        repositories={},
    )
    BACK_ENDS["arc"].declare(context)


def operations(outcome: Outcome, name: str) -> list[str]:
    return [step.op for step in outcome.changes if step.urn.endswith(f"::{name}")]


@pytest.fixture
def live(cli: Found) -> Iterator[Engine]:
    with Engine(cli, stacks.stack_file(SMALL), inside) as engine:
        assert engine.up().ok
        yield engine


def test_another_owner_removes_the_scale_set_with_the_old_key(live: Engine) -> None:
    """GitHub refuses to remove a scale set of one organisation with the key of another one."""
    live.configure(stack(url="https://github.com/other-org", **{"installation-id": 7}))
    outcome = live.up()

    assert outcome.fault == ""
    order = [(step.op, step.urn.rpartition("::")[2]) for step in outcome.changes]
    removed, key = ("delete-replaced", f"runner-{RUNNER}"), ("delete-replaced", "arc-github-app")
    assert order.index(removed) < order.index(key)
    found = arc.find(live.cloud, RUNNER)
    assert found is not None
    assert found.outputs["installation"] == "7"


def test_another_runner_group_replaces_the_scale_set_and_keeps_the_key(live: Engine) -> None:
    live.configure(stack("arc", **{"runner-group": "gpu"}))
    outcome = live.preview()

    assert operations(outcome, f"runner-{RUNNER}") == ["delete-replaced", "replace", "create-replacement"]
    assert operations(outcome, "arc-github-app") == []


def test_another_key_keeps_the_scale_set(live: Engine) -> None:
    live.configure(stack(**{"app-id": 7}))
    outcome = live.preview()

    assert operations(outcome, "arc-github-app") == ["delete-replaced", "replace", "create-replacement"]
    assert operations(outcome, f"runner-{RUNNER}") == []


def test_a_removal_waits_for_the_longest_job(live: Engine) -> None:
    jobs.start_job(live.cloud, RUNNER, TIMEOUT)
    outcome = live.destroy()

    assert outcome.fault == ""
    assert live.cloud.remaining() == []


def test_a_removal_that_timed_out_keeps_the_key_until_the_job_ends(live: Engine) -> None:
    """Helm forgets the release, and the next destroy reads the cloud first, so it does not see the scale set."""
    jobs.start_job(live.cloud, RUNNER, 10 * TIMEOUT)
    timed_out, too_early = live.destroy(), live.destroy()
    kept = [live.cloud.find(arc.SECRET, "arc-runners/github-app"), live.cloud.find(arc.RELEASE, "arc-systems/arc")]
    jobs.finish_jobs(live.cloud)
    done = live.destroy()

    assert "context deadline exceeded" in timed_out.fault
    assert f"scale sets are still terminating: {RUNNER}" in too_early.fault
    assert None not in kept
    assert done.fault == ""
    assert live.cloud.remaining() == []


def test_without_a_refresh_a_timed_out_removal_cannot_be_repeated(live: Engine) -> None:
    jobs.start_job(live.cloud, RUNNER, 10 * TIMEOUT)
    live.destroy()
    jobs.finish_jobs(live.cloud)
    stale = live.destroy(refresh=False)

    assert f"uninstall: Release not loaded: {RUNNER}: release: not found" in stale.fault
    assert live.destroy().fault == ""


def test_a_change_of_owner_with_timed_out_removals_can_be_reverted_and_repeated(live: Engine) -> None:
    """The engine removes a scale set again that it removed for a replacement, and Helm refuses that."""
    other = stack(url="https://github.com/other-org", **{"installation-id": 7})
    jobs.start_job(live.cloud, RUNNER, 10 * TIMEOUT)
    live.configure(other)
    timed_out, too_early = live.up(), live.up()
    secret = live.cloud.find(arc.SECRET, "arc-runners/github-app")
    kept = value_at("stringData.github_app_installation_id", secret.inputs) if secret else None
    jobs.finish_jobs(live.cloud)
    refused = live.up()
    live.configure(stacks.stack_file(SMALL))
    reverted = live.up()
    live.configure(other)
    done = live.up()

    assert "context deadline exceeded" in timed_out.fault
    # The order of the two removals decides which error the second update reports.
    assert not too_early.ok
    assert kept == "51234569"
    assert "release: not found" in refused.fault
    assert (reverted.fault, done.fault) == ("", "")
    assert arc.session_problem(live.cloud, RUNNER) is None


def test_a_withdrawn_key_is_replaced_before_the_removal(live: Engine) -> None:
    jobs.withdraw_key(live.cloud)
    timed_out = live.destroy()
    live.configure(stack(**{"app-id": 7}))
    installed = live.up()

    assert "GitHub rejects its key" in timed_out.fault
    assert installed.fault == ""
    assert live.destroy().fault == ""
    assert live.cloud.remaining() == []


def test_a_scale_set_that_is_installed_while_the_old_one_terminates_is_an_error(live: Engine) -> None:
    """Helm patches the dying scale set and reports success."""
    jobs.start_job(live.cloud, RUNNER, 10 * TIMEOUT)
    live.configure(runner(labels=["linux-gpu"]))
    timed_out, installed = live.up(), live.up()

    assert "context deadline exceeded" in timed_out.fault
    assert f"{RUNNER} is still terminating" in installed.fault


def test_a_change_of_the_controller_repeats_the_check_of_every_listener(live: Engine) -> None:
    live.configure(stack("arc", **{"log-level": "debug"}))
    outcome = live.preview()

    assert operations(outcome, "arc") == ["update"]
    assert [operations(outcome, f"runner-{name}-listener") for name in (RUNNER, "gpu-l4")] == [["update"], ["update"]]
    assert operations(outcome, f"runner-{RUNNER}") == []


def test_a_rejected_key_is_an_error(live: Engine) -> None:
    jobs.withdraw_key(live.cloud)
    live.configure(runner(max=3))

    assert f"GitHub rejects the key of {RUNNER}" in live.up().fault


@pytest.mark.parametrize("idle", [0, 1])
@pytest.mark.parametrize("strategy", ["immediate", "eventual"])
def test_a_change_keeps_the_listener(cli: Found, monkeypatch: pytest.MonkeyPatch, strategy: str, idle: int) -> None:
    """With the strategy `eventual` a change deletes the listener of a scale set with a runner."""
    values = controller_values("info")
    values["flags"]["updateStrategy"] = strategy if strategy != "immediate" else values["flags"]["updateStrategy"]
    monkeypatch.setattr(arc_controller, "controller_values", lambda _level: values)
    with Engine(cli, runner(min=idle), inside) as engine:
        assert engine.up().fault == ""
        jobs.start_job(engine.cloud, RUNNER, TIMEOUT)
        engine.configure(runner(min=idle, max=3))
        changed = engine.up()

    assert changed.ok == (strategy == "immediate")
    assert (f"{RUNNER} has no listener" in changed.fault) == (strategy == "eventual")


def test_a_minor_update_of_the_controller_is_refused_and_the_staged_procedure_works(
    live: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The controller deletes scale sets of another minor version, also those with running jobs."""
    monkeypatch.setattr(pins, "ARC_CHARTS", "0.15.0")
    previewed, refused = live.preview(), live.up()
    monkeypatch.setattr(pins, "ARC_CHARTS", "0.14.9")
    patch = live.preview()
    live.configure(without("runners", "arc"))
    removed = live.up()
    monkeypatch.setattr(pins, "ARC_CHARTS", "0.15.0")
    live.configure(stacks.stack_file(SMALL))
    installed = live.up()

    assert "the Actions Runner Controller cannot be updated from 0.14.2 to 0.15.0" in previewed.fault
    assert [step.op for step in refused.changes] == []
    assert (patch.fault, removed.fault, installed.fault) == ("", "", "")
    assert arc.session_problem(live.cloud, RUNNER) is None
