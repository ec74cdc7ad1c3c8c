"""The life of a scale set on the real engine: another owner, a removal while a job runs, and the recovery."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pulumi
import pytest
from pulumi import ResourceOptions

from back_ends.protocol import Site
from back_ends.registry import BACK_ENDS, stack_of
from config.identity import Identity
from config.load import load
from fakes import arc
from ops.engine.engine import Engine
from tests.plan import stacks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ops.engine.events import Outcome
    from ops.engine.pulumi_cli import Found
    from ops.plan.stack_file import StackFile

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


def inside() -> None:
    """Declare only the back end, in a cluster outside the stack, which takes seconds."""
    settings, secrets = load()
    identity = Identity(project="gpu-ci", stack="small")
    cluster = pulumi.ProviderResource("kubernetes", "cluster", {"clusterIdentifier": "elsewhere"})
    site = Site(
        stack=stack_of(settings, identity),
        secrets=secrets,
        cluster=ResourceOptions(providers=[cluster]),
        repositories={},
    )
    BACK_ENDS["arc"].declare(site)


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
    arc.start_job(live.cloud, RUNNER, TIMEOUT)
    outcome = live.destroy()

    assert outcome.fault == ""
    assert live.cloud.remaining() == []


def test_a_removal_that_timed_out_is_repeated_after_the_job_and_a_refresh(live: Engine) -> None:
    """This is the recovery on the page about the destruction of a stack."""
    arc.start_job(live.cloud, RUNNER, 10 * TIMEOUT)
    timed_out, again = live.destroy(), live.destroy()
    refreshed = live.refresh()
    too_early = live.destroy()

    assert "context deadline exceeded" in timed_out.fault
    assert f"uninstall: Release not loaded: {RUNNER}: release: not found" in again.fault
    assert refreshed.ok
    assert "some content in the namespace has finalizers remaining" in too_early.fault


def test_the_recovery_of_a_timed_out_removal(live: Engine) -> None:
    arc.start_job(live.cloud, RUNNER, 10 * TIMEOUT)
    assert not live.destroy().ok
    arc.finish_jobs(live.cloud)
    assert arc.find(live.cloud, RUNNER) is None
    assert live.refresh().ok

    assert live.destroy().fault == ""
    assert live.cloud.remaining() == []


def test_a_withdrawn_key_is_replaced_before_the_removal(live: Engine) -> None:
    arc.withdraw_key(live.cloud)
    timed_out = live.destroy()
    live.configure(stack(**{"app-id": 7}))
    live.up()

    assert "GitHub rejects its key" in timed_out.fault
    assert arc.find(live.cloud, RUNNER) is None
    assert live.refresh().ok
    assert live.destroy().fault == ""
    assert live.cloud.remaining() == []
