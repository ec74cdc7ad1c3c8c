"""Moved resources on the real engine: a renamed component and a renamed resource with aliases."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pulumi
import pytest
from pulumi import ComponentResource, ResourceOptions

from ops.engine import upgrade
from ops.engine.pulumi_cli import Found
from ops.fakes.aws import names as aws
from ops.report.base import Base
from ops.report.changes import Effect
from ops.report.comparison import Comparison, compare
from tests.engine.programs import Made, aws_provider, stack_file
from tests.report.test_edits import shown

pytestmark = pytest.mark.engine


def keys(component: str, *names: str, was: tuple[str, str] = ("", "")) -> Callable[[], None]:
    """A program with a component that has some keys; `was` are the old names of the component and of the first key."""

    def program() -> None:
        provider = aws_provider()
        options = ResourceOptions(aliases=[pulumi.Alias(name=was[0])] if was[0] else [])
        group = ComponentResource("gpu-ci:aws:Keys", component, {}, ResourceOptions.merge(provider, options))
        for number, name in enumerate(names):
            old = [pulumi.Alias(name=was[1])] if was[1] and number == 0 else []
            options = ResourceOptions(parent=group, aliases=old)
            Made(aws.KEY, name, {"description": "a key"}, ResourceOptions.merge(provider, options))

    return program


def moved(cli: Found, folder: Path, before: Callable[[], None], after: Callable[[], None]) -> Comparison:
    """The comparison of two programs."""
    path = folder / "state.json"
    path.write_text(upgrade.snapshot(cli, stack_file(), "base", before))
    base = Base(name="main", commit="0123456789", state=upgrade.Recorded.read(path))
    return compare(cli, base, stack_file(), program=after)


def test_a_renamed_resource_with_an_alias_is_moved(cli: Found, tmp_path: Path) -> None:
    found = moved(cli, tmp_path, keys("group", "old"), keys("group", "new", was=("", "old")))

    assert [(one.effect, one.name, one.inside) for one in found.changes] == [(Effect.MOVE, "new", ("group Keys",))]
    assert "> move     kms/key new\n    was old\n1 to move; " in shown(found)


def test_a_renamed_component_with_an_alias_is_moved(cli: Found, tmp_path: Path) -> None:
    names = [f"key-{letter}" for letter in "abcd"]
    found = moved(cli, tmp_path, keys("group", *names), keys("vault", *names, was=("group", "")))

    assert [(one.effect, one.name) for one in found.changes] == [(Effect.MOVE, "vault")]
    assert "> move     aws/keys vault\n    was group\n1 to move; " in shown(found)


def test_a_renamed_resource_without_an_alias_is_deleted_and_created(cli: Found, tmp_path: Path) -> None:
    found = moved(cli, tmp_path, keys("group", "old"), keys("group", "new"))

    assert [(one.effect, one.name) for one in found.changes] == [(Effect.DELETE, "old"), (Effect.CREATE, "new")]
    assert [one.name for one in found.loud] == ["old"]
