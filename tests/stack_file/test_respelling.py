"""A key in another spelling is one fault, with the right spelling, and what depends on the key is not reported."""

from __future__ import annotations

from typing import Any

import pytest

from tests.stack_file import stacks

pytestmark = pytest.mark.pure


def respelled(path: str, spelling: str) -> dict[str, Any]:
    """Return the sections of staging with the last key of a path in another spelling."""
    *above, last = path.split("/")
    sections = stacks.sections()
    inside = sections
    for step in above:
        inside = inside[step]
    inside[spelling] = inside.pop(last)
    return sections


@pytest.mark.parametrize(
    ("path", "spelling", "fault"),
    [
        ("runners/cirun-gcp-gpu/cirun-gcp", "cirun_gcp", 'unknown key; did you mean "cirun-gcp"?'),
        ("runners/gpu-t4/timeout-minutes", "timeout_minutes", 'unknown key; did you mean "timeout-minutes"?'),
        ("runners/gpu-t4/timeout-minutes", "timeoutMinutes", 'unknown key; did you mean "timeout-minutes"?'),
        ("runners/gpu-t4/needs", "neds", 'unknown key; did you mean "needs"?'),
        ("runners/gpu-t4/arc/pool", "pools", 'unknown key; did you mean "pool"?'),
        ("gpu-pools", "gpu_pools", 'unknown section; did you mean "gpu-pools"?'),
        ("device-plugin", "devicePlugin", 'unknown section; did you mean "device-plugin"?'),
        ("system-nodes", "SYSTEM-NODES", 'unknown section; did you mean "system-nodes"?'),
        ("gpu-pools/t4-spot", "T4_Spot", '"T4_Spot" is not a name; write "t4-spot"'),
        ("runners/gpu-t4", "GPU T4", '"GPU T4" is not a runner\'s name; write "gpu-t4"'),
    ],
)
def test_another_spelling_is_reported_once(path: str, spelling: str, fault: str) -> None:
    place = ".".join([*path.split("/")[:-1], spelling])

    assert stacks.refusal(stacks.texts(respelled(path, spelling)), stacks.SECRET_KEYS) == [f"{place}: {fault}"]


def test_faults_inside_of_a_misspelt_key_are_reported() -> None:
    sections = respelled("runners/gpu-t4/arc", "ARC")
    sections["runners"]["gpu-t4"]["ARC"]["pool"] = "t4-spto"

    assert stacks.refusal(stacks.texts(sections), stacks.SECRET_KEYS) == [
        'runners.gpu-t4.ARC: unknown key; did you mean "arc"?',
        'runners.gpu-t4.arc.pool: "t4-spto" is not in gpu-pools; did you mean "t4-spot"?',
    ]


def test_a_misspelt_namespace_is_reported_once() -> None:
    config = stacks.texts(stacks.sections())
    config["gpuci:stack"] = config.pop("gpu-ci:stack")

    assert stacks.refusal(config, stacks.SECRET_KEYS) == [
        'gpuci:stack: unknown namespace; did you mean "gpu-ci:stack"?'
    ]


def test_a_misspelt_key_next_to_the_right_one_does_not_replace_it() -> None:
    config = stacks.texts(stacks.sections(changes={"runners/gpu-t4/timeout_minutes": "x"}))

    assert stacks.refusal(config, stacks.SECRET_KEYS) == [
        'runners.gpu-t4.timeout_minutes: unknown key; did you mean "timeout-minutes"?'
    ]


@pytest.mark.parametrize(
    ("path", "value", "fault"),
    [
        ("ecr/runner-gpu/force-delet", None, 'unknown key; did you mean "force-delete"?'),
        ("ecr/runner-gpu/extra", None, "unknown key; known: force-delete, keep, mutable-tags, pull-request-days, pushed-by, untag"),
        ("ecr/runner-gpu/extra", [None], "unknown key; known: force-delete, keep, mutable-tags, pull-request-days, pushed-by, untag"),
        ("monitoring/dcgm", None, "is empty; give it a value, or remove the key"),
    ],
)  # fmt: skip
def test_an_unknown_key_without_a_value_is_unknown(path: str, value: Any, fault: str) -> None:
    config = stacks.texts(stacks.sections(changes={path: value}))

    (reported,) = stacks.refusal(config, stacks.SECRET_KEYS)

    assert reported.startswith(f"{path.replace('/', '.')}: {fault}")


def test_a_credential_in_a_misspelt_key_is_reported() -> None:
    sections = respelled("runners/gpu-t4/arc", "Arc")
    sections["runners"]["gpu-t4"]["Arc"]["image"] = f"ghp_{'a1B2' * 9}"

    reported = stacks.refusal(stacks.texts(sections), stacks.SECRET_KEYS)

    assert [line.partition(": ")[0] for line in reported] == ["runners.gpu-t4.Arc", "runners.gpu-t4.Arc.image"]


@pytest.mark.parametrize(
    ("path", "value", "fault"),
    [
        ("system-nodes/min", "2", '"2" is text; remove the quotes: 2'),
        ("stack/protect", "false", '"false" is text; remove the quotes: false'),
        ("stack/protect", "yes", '"yes" is not valid; write true or false'),
        ("system-nodes/zones", "us-west-2a", '"us-west-2a" is not a list; write [us-west-2a]'),
        ("runners/cirun-gcp-gpu/cirun-gcp/spot", True, "true is not a list; write [true]"),
    ],
)
def test_a_value_of_another_kind_has_the_right_form_as_its_fix(path: str, value: Any, fault: str) -> None:
    config = stacks.texts(stacks.sections(changes={path: value}))

    assert stacks.refusal(config, stacks.SECRET_KEYS) == [f"{path.replace('/', '.')}: {fault}"]
