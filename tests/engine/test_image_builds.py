"""Machine images on AWS: a build that fails its tests, another build, and the pools that use an image."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, Final

import pytest

from ops.engine.engine import Engine
from ops.engine.events import Outcome
from ops.engine.pulumi_cli import Found
from ops.fakes.aws import image_builder
from ops.fakes.aws.eks_nodes import autoscale
from ops.fakes.aws.names import LAUNCH_TEMPLATE, NODE_GROUP
from ops.fakes.cloud.kinds import RefusedError
from ops.fakes.cloud.paths import values_at
from ops.plan.stack_file import StackFile
from tests.engine.lifecycle import run_lifecycle
from tests.plan import stacks

pytestmark = pytest.mark.engine

EXAMPLE: Final = "examples/eks-own-image.yaml"
KEPT: Final = (image_builder.COMPONENT, image_builder.RECIPE, image_builder.IMAGE)
MISSING: Final = "ghcr.io/example-org/runner@sha256:" + "0" * 64


def image_only(section: str = "eks-image", /, **changes: Any) -> StackFile:
    """Return a stack that only builds the image of EKS nodes, or that of another section."""
    original = stacks.stack_file(EXAMPLE)
    kept = ("pulumi:disable-default-providers", "gpu-ci:stack", "gpu-ci:aws")
    stated = {**json.loads(original.config[f"gpu-ci:{section}"]), **changes}
    config = {**{key: original.config[key] for key in kept}, f"gpu-ci:{section}": json.dumps(stated)}
    return replace(original, config=config, secret_keys=frozenset())


def with_pool(image: str, **changes: Any) -> StackFile:
    """Return the example with an image of its pool and changes of the image of EKS nodes."""
    own = stacks.changed(EXAMPLE, "gpu-pools", lambda pools: pools["t4"].update(image=image))
    stated = {**json.loads(own.config["gpu-ci:eks-image"]), **changes}
    return replace(own, config={**own.config, "gpu-ci:eks-image": json.dumps(stated)})


def amis(engine: Engine, region: str = "us-east-1") -> list[str]:
    """Return the AMIs of the EKS images in a region, the oldest first."""
    return [
        ami["image"]
        for image in engine.cloud.of(image_builder.IMAGE)
        if "eks-image" in image.id
        for _, ami in values_at("outputResources.*.amis.*", image.outputs)
        if ami["region"] == region
    ]


def used(engine: Engine) -> str | None:
    """Return the AMI of the pool's launch template."""
    (template,) = [one for one in engine.cloud.of(LAUNCH_TEMPLATE) if one.name == "pool-t4"]
    found: str | None = template.inputs.get("imageId")
    return found


def operations(outcome: Outcome, name: str) -> set[str]:
    return {step.op for step in outcome.changes if step.name == name and step.type == NODE_GROUP}


def test_a_failed_build_fails_the_update_until_the_image_is_built_again(cli: Found) -> None:
    with Engine(cli, image_only(**{"pre-pull": [MISSING]})) as engine:
        failed = engine.up()
        again = engine.up()
        engine.configure(image_only(build=2))
        built = engine.up()
        unchanged = engine.preview()
        tagged = {one.inputs["resourceId"] for one in engine.cloud.of(image_builder.EC2_TAG)}
        found = amis(engine)

    assert not failed.ok
    assert "the build phase failed: an image in IMAGES was not found" in failed.fault
    assert not again.ok
    assert "the last build of the image is FAILED, so nothing uses it" in again.fault
    assert (built.ok, unchanged.changes) == (True, ())
    assert tagged == set(found)


def test_an_image_that_fails_its_tests_is_never_used_although_its_ami_exists(cli: Found) -> None:
    with Engine(cli, image_only("ec2-image")) as engine:
        engine.cloud.gpus_work = False
        failed = engine.up()
        existing = engine.cloud.of(image_builder.IMAGE)
        again = engine.up()
        used = engine.cloud.of(image_builder.EC2_TAG)
        engine.cloud.gpus_work = True
        engine.configure(image_only("ec2-image", build=2))
        built = engine.up()

    assert not failed.ok
    assert "the test phase failed: NVIDIA-SMI has failed" in failed.fault
    assert [bool(list(values_at("outputResources.*.amis.*", one.outputs))) for one in existing] == [True]
    assert not again.ok
    assert "the last build of the image is FAILED, so nothing uses it" in again.fault
    assert used == []
    assert built.ok


def test_the_same_content_is_built_again_only_with_a_higher_number_and_a_destroy_keeps_images(cli: Found) -> None:
    with Engine(cli, image_only()) as engine:
        assert engine.up().ok
        engine.configure(image_only(packages=["git"]))
        assert engine.up().ok
        engine.configure(image_only())
        refused = engine.up()
        engine.configure(image_only(build=2))
        accepted = engine.up()
        for named in (one for one in engine.cloud if one.type in KEPT[:2]):
            with pytest.raises(RefusedError, match=r"ResourceDependencyException: .* other resources depended on it"):
                engine.cloud.delete(named.type, named.id)
        destroyed = engine.destroy()
        remaining = {one.type for one in engine.cloud}

    assert not refused.ok
    assert "ResourceAlreadyExistsException" in refused.fault
    assert (accepted.ok, destroyed.ok, remaining) == (True, True, {*KEPT})


def test_a_pool_changes_to_its_own_image_and_back(cli: Found) -> None:
    with Engine(cli, with_pool("stock")) as engine:
        assert engine.up().ok
        stock = used(engine)
        engine.configure(with_pool("own"))
        changed = engine.up()
        first = used(engine)
        (group,) = [one for one in engine.cloud.of(NODE_GROUP) if one.name == "pool-t4"]
        autoscale(engine.cloud, group.id, 2)
        engine.configure(with_pool("own", packages=["git"]))
        previewed = engine.preview()
        autoscale(engine.cloud, group.id, 0)
        assert engine.up().ok
        second, known = used(engine), amis(engine)
        deleted = [ami for _ in range(9) for ami in run_lifecycle(engine.cloud)]
        engine.configure(with_pool(str(first), packages=["git"]))
        assert engine.up().ok
        pinned = used(engine)
        engine.configure(with_pool("stock", packages=["git"]))
        back = engine.up()
        last = used(engine)

    assert (stock, last) == (None, None)
    assert [first, second] == known
    assert pinned == first
    assert deleted == []
    assert operations(changed, "pool-t4") == {"create-replacement", "replace", "delete-replaced"}
    assert operations(back, "pool-t4") == {"create-replacement", "replace", "delete-replaced"}
    assert operations(previewed, "pool-t4") == {"update"}
    warned = [one.message for one in previewed.diagnostics if one.severity == "warning"]
    assert [line.partition(" one after another")[0] for line in warned] == ["pool-t4: EKS replaces all 2 running nodes"]


def test_the_lifecycle_deletes_old_images_and_none_in_use(cli: Found) -> None:
    with Engine(cli, image_only(keep=2)) as engine:
        for number in range(1, 6):
            engine.configure(image_only(keep=2, build=number))
            assert engine.up().ok
        before = amis(engine)
        launched = {before[0]: 89, before[1]: 91}
        deleted = run_lifecycle(engine.cloud, launched_days=launched)
        after = amis(engine)
        preview = engine.preview()

    assert len(before) == 5
    assert after == [before[0], *before[3:]]
    assert {before[1], before[2]} <= set(deleted)
    assert (preview.ok, preview.changes) == (True, ())
