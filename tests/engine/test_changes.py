"""Changes of a stack that is there already: what a person who runs `pulumi up` after an edit gets."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from ops.engine.engine import Engine
from tests.plan import stacks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ops.engine.pulumi_cli import Found
    from ops.plan.stack_file import StackFile

pytestmark = pytest.mark.engine

SMALL = "examples/eks-arc.yaml"
RELEASE = "kubernetes:helm.sh/v3:Release"


def changed(section: str, change: Callable[[Any], None]) -> StackFile:
    """The small stack, its first runner with a label, with one section changed."""
    labelled = stacks.changed(SMALL, "runners", relabel(["linux-gpu"]))
    value = json.loads(labelled.config[f"gpu-ci:{section}"])
    change(value)
    return replace(labelled, config={**labelled.config, f"gpu-ci:{section}": json.dumps(value)})


def relabel(labels: list[str]) -> Callable[[Any], None]:
    def change(runners: dict[str, Any]) -> None:
        next(iter(runners.values()))["arc"]["labels"] = labels

    return change


@pytest.fixture(scope="module")
def live(cli: Found) -> Iterator[Engine]:
    """The small stack, up. A test here previews its change, and leaves the stack as it was."""
    with Engine(cli, changed("runners", relabel(["linux-gpu"]))) as engine:
        assert engine.up().ok
        yield engine


@pytest.mark.parametrize("labels", [["another"], ["linux-gpu", "another"], []])
def test_other_labels_make_a_scale_set_anew(live: Engine, labels: list[str]) -> None:
    """GitHub takes labels when a scale set is made, and a change in place would never arrive there."""
    live.configure(changed("runners", relabel(labels)))
    outcome = live.preview()

    assert outcome.ok
    assert {step.op for step in outcome.changes} == {"delete-replaced", "replace", "create-replacement"}
    assert {step.type for step in outcome.changes} == {RELEASE}


def test_a_new_zone_touches_nothing_that_was_there_but_the_endpoint_of_s3(live: Engine) -> None:
    live.configure(changed("network", lambda network: network["zones"].update({"us-east-1c": 2})))
    outcome = live.preview()

    assert outcome.ok
    assert [str(step) for step in outcome.changes if step.op != "create"] == [
        "update aws:ec2/vpcEndpoint:VpcEndpoint network-s3"
    ]
    assert outcome.counts["create"] == 6


def test_another_cluster_takes_a_stack_down_and_up_again(cli: Found) -> None:
    """The engine closes its way into the old cluster too early: the runbook tells of it, and of the way round."""
    other = changed("cluster", lambda cluster: cluster.update({"service-cidr": "10.100.0.0/16"}))
    before = changed("runners", relabel(["linux-gpu"]))
    with Engine(cli, before) as engine:
        assert engine.up().ok
        engine.configure(other)
        refused = engine.up()
        engine.configure(before)
        back = engine.up()
        gone = engine.destroy()
        engine.configure(other)
        again = engine.up()

    assert (refused.ok, refused.changes) == (False, ())
    assert "the client connection is closing" in refused.fault
    assert (back.ok, back.changes) == (True, ())
    assert (gone.ok, again.ok) == (True, True)
