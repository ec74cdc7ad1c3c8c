"""Changes of an existing stack: the steps of `pulumi up` after an edit."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from ops.engine.engine import Engine
from ops.engine.events import Outcome
from ops.engine.pulumi_cli import Found
from ops.fakes.aws.names import INSTANCE, LAUNCH_TEMPLATE
from ops.fakes.cloud.paths import value_at
from ops.plan.stack_file import StackFile
from tests.plan import stacks

pytestmark = pytest.mark.engine

SMALL = "examples/eks-arc.yaml"
MACHINE = "examples/vm-aws.yaml"
RELEASE = "kubernetes:helm.sh/v3:Release"


def changed(section: str, change: Callable[[Any], None]) -> StackFile:
    """Return the small stack with a label on its first runner and one changed section."""
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
    """The small stack after an update; the tests only preview changes."""
    with Engine(cli, changed("runners", relabel(["linux-gpu"]))) as engine:
        assert engine.up().ok
        yield engine


@pytest.mark.parametrize("labels", [["another"], ["linux-gpu", "another"], []])
def test_changed_labels_replace_a_scale_set(live: Engine, labels: list[str]) -> None:
    """GitHub reads the labels only when a scale set is created."""
    live.configure(changed("runners", relabel(labels)))
    outcome = live.preview()

    assert outcome.ok
    updated = [step for step in outcome.changes if step.op == "update"]
    replaced = [step for step in outcome.changes if step.op != "update"]
    assert {step.op for step in replaced} == {"delete-replaced", "replace", "create-replacement"}
    assert {step.type for step in replaced} == {RELEASE}
    # The check of the new listener runs again.
    assert [str(step) for step in updated] == ["update command:local:Command runner-gpu-l4-listener"]


def test_a_new_zone_updates_only_the_endpoint_of_s3(live: Engine) -> None:
    live.configure(changed("network", lambda network: network["zones"].update({"us-east-1c": 2})))
    outcome = live.preview()

    assert outcome.ok
    assert [str(step) for step in outcome.changes if step.op != "create"] == [
        "update aws:ec2/vpcEndpoint:VpcEndpoint network-s3"
    ]
    assert outcome.counts["create"] == 6


def warnings(outcome: Outcome) -> list[str]:
    return [one.message for one in outcome.diagnostics if one.severity == "warning"]


def test_a_new_tag_replaces_no_node(live: Engine) -> None:
    live.configure(changed("stack", lambda stack: stack.update(tags={"Team": "vision"})))
    outcome = live.preview()

    assert outcome.ok
    assert {step.type for step in outcome.changes} == {
        "pulumi:providers:aws",
        "aws:autoscaling/tag:Tag",
    }
    assert warnings(outcome) == []


def test_an_update_that_replaces_nodes_is_reported(live: Engine) -> None:
    live.configure(changed("system-nodes", lambda nodes: nodes.update(disk={"size": "80Gi"})))
    outcome = live.preview()

    assert outcome.ok
    assert [line.partition(" EKS waits")[0].partition(" It waits")[0] for line in warnings(outcome)] == [
        "system-nodes: EKS replaces all 2 running nodes one after another (launch template: image, disk or node configuration)."
    ]


def test_sizes_that_eks_refuses_stop_the_preview(live: Engine) -> None:
    live.configure(changed("system-nodes", lambda nodes: nodes.update(min=3, max=4)))
    outcome = live.preview()

    assert not outcome.ok
    assert "EKS refuses min 3 while 2 nodes run" in outcome.fault
    assert "--scaling-config minSize=3,maxSize=4,desiredSize=3`, and then `pulumi up` again" in outcome.fault


def test_another_zone_of_the_control_plane_stops_the_preview(live: Engine) -> None:
    def move(network: dict[str, Any]) -> None:
        network["zones"]["us-east-1c"] = 2

    grown = changed("network", move)
    zones = json.loads(grown.config["gpu-ci:cluster"])
    zones["zones"] = ["us-east-1a", "us-east-1c"]
    live.configure(replace(grown, config={**grown.config, "gpu-ci:cluster": json.dumps(zones)}))
    outcome = live.preview()

    assert not outcome.ok
    assert "EKS cannot move a control plane to other zones" in outcome.fault


def test_a_replaced_cluster_needs_a_destroy_first(cli: Found) -> None:
    """The engine closes its connection to the old cluster too early; the runbook describes the workaround."""
    other = changed("cluster", lambda cluster: cluster.update({"service-cidr": "10.100.0.0/16"}))
    before = changed("runners", relabel(["linux-gpu"]))
    with Engine(cli, before) as engine:
        assert engine.up().ok
        engine.configure(other)
        refused = engine.up()
        engine.configure(before)
        back = engine.up()
        destroyed = engine.destroy()
        engine.configure(other)
        again = engine.up()

    assert (refused.ok, refused.changes) == (False, ())
    assert "the client connection is closing" in refused.fault
    assert (back.ok, back.changes) == (True, ())
    assert (destroyed.ok, again.ok) == (True, True)


REPOSITORY = "gcp:artifactregistry/repository:Repository"


def images(region: str, *, force: bool) -> StackFile:
    """Return a stack with one repository of images on Google Cloud."""
    original = stacks.stack_file("examples/cirun-gcp.yaml")
    kept = {key: original.config[key] for key in ("gpu-ci:stack", "gpu-ci:gcp", "pulumi:disable-default-providers")}
    stated = {"gpu-tests": {"region": region} | ({"force-delete": True} if force else {})}
    return replace(original, config={**kept, "gpu-ci:artifact-registry": json.dumps(stated)})


def test_a_repository_with_images_moves_to_another_region_only_where_that_is_stated(cli: Found) -> None:
    """Google would delete it with its images, without asking."""
    with Engine(cli, images("us-central1", force=False)) as engine:
        assert engine.up().ok
        engine.configure(images("us-east1", force=False))
        refused = engine.preview()
        engine.configure(images("us-central1", force=True))
        assert engine.up().ok
        engine.configure(images("us-east1", force=True))
        moved = engine.preview()

    assert not refused.ok
    assert "protect" in refused.fault
    assert REPOSITORY in {step.type for step in moved.changes if step.op == "replace"}


def test_public_addresses_are_removed_and_added_in_place(cli: Found) -> None:
    def private(stack: StackFile) -> StackFile:
        stated = {**json.loads(stack.config["gpu-ci:gcp"]), "public-addresses": False}
        return replace(stack, config={**stack.config, "gpu-ci:gcp": json.dumps(stated)})

    public = stacks.stack_file("examples/cirun-gcp.yaml")
    with Engine(cli, public) as engine:
        assert engine.up().ok
        engine.configure(private(public))
        removed = engine.up()
        engine.configure(public)
        added = engine.up()

    gateways = {"build-network-nat-us-central1", "runner-network-nat-us-central1"}
    assert (removed.ok, added.ok) == (True, True)
    assert {(step.op, step.name) for step in removed.changes} == {
        ("update", "host-image"),
        *(("create", name) for name in gateways),
    }
    assert {(step.op, step.name) for step in added.changes} == {
        ("update", "host-image"),
        *(("delete", name) for name in gateways),
    }


def test_another_disk_replaces_a_stock_machine_and_its_template_and_a_tag_replaces_nothing(cli: Found) -> None:
    tagged = stacks.changed(MACHINE, "stack", lambda stack: stack.update(tags={"Team": "vision"}))
    larger = stacks.changed(MACHINE, "runners", lambda runners: runners["gpu-vm"]["vm"].update(disk="200Gi"))
    with Engine(cli, stacks.stack_file(MACHINE)) as engine:
        assert engine.up().ok
        engine.configure(tagged)
        tags = engine.preview()
        engine.configure(larger)
        disk = engine.up()
        unchanged = engine.preview()
        (template,), (machine,) = engine.cloud.of(LAUNCH_TEMPLATE), engine.cloud.of(INSTANCE)

    assert (disk.ok, unchanged.ok, unchanged.changes) == (True, True, ())
    assert [str(step) for step in tags.changes] == ["update pulumi:providers:aws aws"]
    assert {step.type for step in disk.changes if "replace" in step.op} >= {LAUNCH_TEMPLATE, INSTANCE}
    assert machine.inputs["launchTemplate"] == {"id": template.id, "version": "1"}
    assert value_at("blockDeviceMappings.0.ebs.volumeSize", template.inputs) == 200
