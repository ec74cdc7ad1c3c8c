"""The bootstrap on the real engine with fake clouds: idempotent, protected, and without a secret in its state."""

from __future__ import annotations

import json
from collections.abc import Generator
from pathlib import Path
from typing import Final

import pytest

from bootstrap.program import run
from ops.engine.engine import Engine
from ops.engine.pulumi_cli import Found
from ops.fakes.aws import names as aws
from ops.fakes.aws.state import OBJECTS
from ops.fakes.cloud.cloud import Cloud
from ops.fakes.cloud.objects import Caller
from tests.bootstrap.declared import BOTH, variant

pytestmark = pytest.mark.engine

GITHUB: Final = "https://token.actions.githubusercontent.com"


@pytest.fixture
def engine(cli: Found) -> Generator[Engine]:
    with Engine(cli, variant(*BOTH), run) as ready:
        yield ready


def put_an_object_in_the_bucket(cloud: Cloud) -> None:
    (bucket,) = cloud.of(aws.BUCKET)
    bucket.outputs = {**bucket.outputs, OBJECTS: 1}


def test_the_second_run_changes_nothing_and_the_state_has_no_secret(engine: Engine) -> None:
    first = engine.up()
    second = engine.up()
    state = engine.state()

    assert (first.ok, first.fault) == (True, "")
    assert [str(step) for step in second.changes] == []
    assert [urn for urn, resource in state.resources.items() if resource.secret_paths] == []
    assert "PRIVATE KEY" not in json.dumps([dict(resource.inputs) for resource in state.resources.values()])


def files(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Return the time and the content of every file."""
    found = (path for path in folder.rglob("*") if path.is_file())
    return {str(path): (path.stat().st_mtime_ns, path.read_bytes()) for path in found}


def test_a_preview_writes_nothing_into_the_state_and_needs_no_lock(engine: Engine) -> None:
    """A role that can only read the state is sufficient for it, also during an update (pulumi/pulumi#8642)."""
    assert engine.up().ok
    state = engine.folder / "state"
    stack = next((state / ".pulumi" / "stacks").rglob("staging.json"))
    lock = state / ".pulumi" / "locks" / "organization" / stack.parent.name / "staging" / "other.json"
    lock.parent.mkdir(parents=True, exist_ok=True)
    lock.write_text('{"pid": 1, "username": "a", "hostname": "b", "timestamp": "2026-01-01T00:00:00Z"}')
    before = files(state)
    preview = engine.preview()

    assert (preview.ok, preview.fault) == (True, "")
    assert files(state) == before
    assert "locked" in engine.up().fault


def test_a_state_in_use_is_not_destroyed(engine: Engine) -> None:
    assert engine.up().ok
    put_an_object_in_the_bucket(engine.cloud)
    protected = engine.preview_destroy()
    engine.unprotect()
    emptied = engine.destroy()

    assert not protected.ok
    assert "protect" in protected.fault
    assert not emptied.ok
    assert "BucketNotEmpty" in emptied.fault
    assert len(engine.cloud.of(aws.BUCKET)) == 1


def test_a_provider_of_another_team_is_reported(engine: Engine) -> None:
    engine.cloud.put(aws.OIDC_PROVIDER, "theirs", {"url": GITHUB}, Caller())
    outcome = engine.up()

    assert not outcome.ok
    assert f"EntityAlreadyExists: Provider with url {GITHUB} already exists" in outcome.fault


def test_an_update_continues_after_a_bucket_name_was_taken(engine: Engine) -> None:
    theirs = engine.cloud.put(aws.BUCKET, "theirs", {"bucket": "gpu-ci-staging-123456789012"}, Caller())
    taken = engine.up()
    engine.cloud.delete(aws.BUCKET, theirs.id)
    after = engine.up()

    assert "BucketAlreadyExists" in taken.fault
    assert after.ok
