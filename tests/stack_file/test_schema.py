"""The committed JSON schema for editors agrees with the types."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_ci.back_ends.stack_file import Settings
from gpu_ci.stack_file.reading.schema import stack_schema
from ops.cli import terminal
from ops.cli.options import ROOT
from tests.stack_file import stacks
from tests.stack_file.stacks import STAGING
from tests.tables import OUT

pytestmark = pytest.mark.pure

SCHEMA = stack_schema(Settings)
CHECK = jsonschema.Draft202012Validator(SCHEMA)


def document(raw: dict[str, Any]) -> dict[str, Any]:
    """Return sections as a stack file with an encrypted secret."""
    config = {f"gpu-ci:{name}": value for name, value in raw.items()}
    return {"config": {**config, "gpu-ci:github-app-private-key": {"secure": "v1:…"}}}


def refused(content: Any) -> list[str]:
    """Return the paths that the schema rejects."""
    return sorted({"/".join(map(str, error.absolute_path)) for error in CHECK.iter_errors(content)})


def test_the_schema_is_valid() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_the_committed_schema_is_current() -> None:
    """`make schema` writes it."""
    assert (ROOT / "schema" / "stack.schema.json").read_bytes() == terminal.encoded(SCHEMA), "run make schema"


@pytest.mark.parametrize("name", stacks.FILES)
def test_a_committed_stack_file_matches_the_schema(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")

    assert refused(yaml.safe_load(text)) == []


@pytest.mark.parametrize("name", [name for name in stacks.FILES if "/" in name])
def test_an_example_is_bound_to_the_schema(name: str) -> None:
    """Pulumi rewrites the stack files of the root, with their comments."""
    bound = (ROOT / name).read_text(encoding="utf-8").splitlines()[0].removeprefix("# yaml-language-server: $schema=")

    assert ((ROOT / name).parent / bound).resolve() == ROOT / "schema" / "stack.schema.json"


SOUND_POOL = stacks.sections()["gpu-pools"]["t4-spot"]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("cluster/log-retention-day", 14),
        ("montoring", {}),
        ("cluster/version", 1.35),
        ("cluster/endpoint/public", ["office"]),
        ("network/zones/us-west-2", 3),
        ("network/zones/us-west-2a", 8),
        ("network/nat", "none"),
        ("gpu-pools/T4_Spot", SOUND_POOL),
        ("gpu-pools/t4-spot/capacity", OUT),
        ("gpu-pools/t4-spot/disk/size", "200GB"),
        ("gpu-pools/t4-spot/taints", {"team": "vision:NO_SCHEDULE"}),
        ("gpu-pools/t4-spot/labels", {"a team": "vision"}),
        ("images/runner-gpu/tag", "latest"),
        ("runners/gpu-t4/needs/memory", "12GB"),
        ("runners/gpu-t4/arc/container-mode", "dind"),
        ("stack", OUT),
    ],
)
def test_an_editor_marks_a_fault_at_its_path(path: str, value: Any) -> None:
    marked = refused(document(stacks.sections(STAGING, {path: value})))
    whole = f"config/gpu-ci:{path}"

    assert len(marked) == 1
    assert whole.startswith(marked[0]) or marked[0].startswith(whole)


def test_an_editor_marks_a_secret_in_plain_text() -> None:
    content = document(stacks.sections())
    content["config"]["gpu-ci:github-app-private-key"] = "in plain text"

    assert refused(content) == ["config/gpu-ci:github-app-private-key"]


def test_every_section_and_every_part_has_a_description() -> None:
    """An editor shows it with the key."""
    silent = [name for name, part in SCHEMA["$defs"].items() if not part.get("description")]

    assert silent == []


PLACES = [
    "network/cidr", "network/reserved/office", "cluster/version", "cluster/endpoint/public/0",
    "cluster/administrators/deploy", "gpu-pools/t4-spot/instance-types/0", "gpu-pools/t4-spot/disk/size",
    "gpu-pools/t4-spot/labels/team", "gpu-pools/t4-spot/taints/team", "images/runner-gpu/cuda", "stack/tags/Team",
    "github/url", "runners/gpu-t4/needs/memory", "runners/gpu-t4/timeout-minutes", "arc/runner-group",
]  # fmt: skip
TEXTS = st.sampled_from(
    ["10.0.0.0/16", "8.8.8.8", "1.35", "12.9", "g4dn.xlarge", "9Gi", "true:NoSchedule", "x", "a-b", "https://g.c/o", ""]
)


@given(st.sampled_from(PLACES), TEXTS | st.text(max_size=8) | st.integers(-3, 20) | st.booleans())
@settings(max_examples=150)
def test_an_editor_marks_nothing_that_the_program_accepts(path: str, value: Any) -> None:
    raw = stacks.sections(STAGING, {path: value})

    assert stacks.faults(raw) or refused(document(raw)) == []


def test_the_schema_is_plain_json() -> None:
    assert json.loads(terminal.encoded(SCHEMA)) == SCHEMA
