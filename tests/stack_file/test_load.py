"""The configuration: secrets are separate from sections, every key is read, and no credential is printed."""

from __future__ import annotations

import json
from pathlib import Path

import pulumi
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_ci.back_ends.stack_file import load
from gpu_ci.stack_file.faults import Fault
from gpu_ci.stack_file.reading.load import StackFileError
from ops.cli.options import ROOT
from ops.plan import isolation
from ops.plan.recorder import Recorder
from ops.plan.stack_file import StackFile, read
from tests.stack_file import stacks
from tests.stack_file.stacks import SECRET_KEYS, STAGING

pytestmark = pytest.mark.pure

KEY = "gpu-ci:github-app-private-key"
PLAIN = "is in plain text; run: pulumi config set --secret gpu-ci:github-app-private-key"
CREDENTIAL = "contains a credential in plain text; revoke it, and set secrets with --secret"


@pytest.mark.parametrize("name", stacks.FILES)
def test_a_committed_stack_file_is_loaded(name: str) -> None:
    file = read(ROOT / name)

    assert stacks.loaded(file.config, file.secret_keys) == stacks.settings(name)


def test_the_key_is_a_secret_output() -> None:
    file = read(ROOT / STAGING)
    reported: list[tuple[str, bool]] = []

    def program() -> None:
        key = load()[1].github_app_private_key
        assert key is not None
        pulumi.Output.all(key, key.is_secret()).apply(lambda both: reported.append((both[0], both[1])))

    isolation.run(file, program, Recorder("staging", preview=False), preview=False)

    assert reported == [(file.config[KEY], True)]


def test_a_stack_without_github_needs_no_secret() -> None:
    config = {"gpu-ci:stack": '{"protect":false}', "pulumi:disable-default-providers": '["*"]'}

    assert stacks.refusal(config) == []


def test_a_secret_in_plain_text_is_rejected_and_not_printed() -> None:
    assert stacks.refusal(stacks.texts(stacks.sections())) == [f"github-app-private-key: {PLAIN}"]


@pytest.mark.parametrize(
    "inner",
    [
        '{secure: "-----BEGIN RSA PRIVATE KEY-----"}',
        "{secure: hunter2}",
        "{secure: v1:abc:def, plain: x}",
        "{secure: {secure: v1:abc:def}}",
        "{secure: v1:abc:def, other: {secure: v1:abc:def}}",
        "[{secure: v1:abc:def}]",
    ],
)
def test_a_key_that_is_not_encrypted_as_a_whole_is_rejected(inner: str, tmp_path: Path) -> None:
    path = tmp_path / "Pulumi.test.yaml"
    path.write_text(f"config:\n  gpu-ci:stack: {{protect: false}}\n  {KEY}: {inner}\n", encoding="utf-8")
    file = read(path)

    reported = stacks.refusal(file.config, file.secret_keys)

    assert [line.partition(":")[0] for line in reported] == ["github-app-private-key"]
    assert not any("hunter2" in line or "BEGIN" in line for line in reported)


@pytest.mark.parametrize(
    "text", ["", "key.pem", "MIIEpAIBAAKCAQEA", "-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----"]
)
def test_a_secret_that_is_not_a_private_key_is_rejected(text: str) -> None:
    reported = stacks.refusal({**stacks.texts(stacks.sections()), KEY: text}, SECRET_KEYS)

    assert reported == [
        (
            "github-app-private-key: is not a private key in PEM form; run: pulumi config set --secret "
            "gpu-ci:github-app-private-key < key.pem"
        )
    ]


@pytest.mark.parametrize(
    ("key", "text", "reported"),
    [
        ("aws:secretKey", "x", "contains a credential in plain text; revoke it, and remove it"),
        ("github:token", "x", "contains a credential in plain text; revoke it, and remove it"),
        ("gcp:credentials", "{}", "contains a credential in plain text; revoke it, and remove it"),
        ("other:thing", f"hf_{'aBc' * 12}", "contains a credential in plain text; revoke it, and remove it"),
        ("GPU-CI:budget", '{"expected": 900}', 'unknown namespace; did you mean "gpu-ci:budget"?'),
        ("gpu_ci:budget", '{"expected": 900}', 'unknown namespace; did you mean "gpu-ci:budget"?'),
        (
            "pulumi:disable-default-providers",
            '["aws"]',
            'other providers would use credentials that no section states; write ["*"]',
        ),
    ],
)
def test_a_wrong_key_of_another_namespace_is_rejected(key: str, text: str, reported: str) -> None:
    assert stacks.refusal({**stacks.texts(stacks.sections()), key: text}, SECRET_KEYS) == [f"{key}: {reported}"]


def test_an_encrypted_credential_of_a_provider_has_no_effect() -> None:
    reported = stacks.refusal(
        {**stacks.texts(stacks.sections()), "aws:secretKey": "x"}, (*SECRET_KEYS, "aws:secretKey")
    )

    assert reported == ["aws:secretKey: has no effect: the program configures its providers itself; remove it"]


def test_an_encrypted_section_is_rejected() -> None:
    reported = stacks.refusal(stacks.texts(stacks.sections()), [*SECRET_KEYS, "gpu-ci:github"])

    assert reported == ["github: is encrypted, but only github-app-private-key may be; state it in plain text"]


@pytest.mark.parametrize(
    "credential",
    [
        f"ghp_{'a1B2' * 9}",
        f"github_pat_{'a1B2' * 9}",
        f"AKIA{'A1B2' * 4}",
        f"ASIA{'A1B2' * 4}",
        "-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----",
    ],
    ids=lambda text: text[:12],
)
def test_a_credential_is_reported_by_its_path_and_not_printed(credential: str) -> None:
    raw = stacks.sections(STAGING, {"github/url": f"https://x:{credential}@github.com/org"})

    assert stacks.refusal(stacks.texts(raw), SECRET_KEYS) == [f"github.url: {CREDENTIAL}"]


@pytest.mark.parametrize(
    ("path", "reported"),
    [
        ("gpu-pools/t4-spot/zones/0", "gpu-pools.t4-spot.zones[0]"),
        ("stack/tags/Team", "stack.tags.Team"),
        ("autoscaler", "autoscaler"),
    ],
)
def test_a_credential_hides_no_other_fault(path: str, reported: str) -> None:
    raw = stacks.sections(STAGING, {path: f"ghp_{'a1B2' * 9}", "system-nodes/min": 9})

    assert stacks.refusal(stacks.texts(raw), SECRET_KEYS) == [
        f"{reported}: {CREDENTIAL}",
        "system-nodes.min: 9 is more than max 4; write at most 4, or raise max",
    ]


def test_a_credential_as_a_key_is_not_printed() -> None:
    raw = stacks.sections(STAGING, {f"stack/tags/ghp_{'a1B2' * 9}": "x"})

    assert stacks.refusal(stacks.texts(raw), SECRET_KEYS) == [f"stack.tags: {CREDENTIAL}"]


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("gpu-pool", 'did you mean "gpu-pools"?'),
        ("github-app-private-keys", 'did you mean "github-app-private-key"?'),
    ],
)
def test_a_misspelt_section_is_reported(name: str, hint: str) -> None:
    config = {**stacks.texts(stacks.sections()), f"gpu-ci:{name}": "{}"}

    assert stacks.refusal(config, SECRET_KEYS) == [f"{name}: unknown section; {hint}"]


def test_keys_of_other_projects_are_ignored() -> None:
    config = {**stacks.texts(stacks.sections()), "aws:region": "us-west-2", "other:gpu-pool": "{}", "pulumi:tags": "{}"}

    assert stacks.refusal(config, SECRET_KEYS) == []


@pytest.mark.parametrize(
    ("text", "shown"), [("hello", '"hello"'), ("5", "5"), ("[]", "an empty list"), ("true", "true")]
)
def test_a_section_that_is_not_a_map_is_one_fault(text: str, shown: str) -> None:
    """The sections that need it are not reported."""
    config = {**stacks.texts(stacks.sections()), "gpu-ci:cluster": text}

    assert stacks.refusal(config, SECRET_KEYS) == [f"cluster: {shown} is not valid; write a map: key: value"]


def test_the_error_has_the_file_and_the_number_of_faults() -> None:
    one, two = Fault("a.min", "3 is more than max 2", "write at most 2"), Fault("b", "missing", "state b")

    assert str(StackFileError([two, one, one], "Pulumi.staging.yaml")) == (
        "2 faults in Pulumi.staging.yaml:\n  a.min: 3 is more than max 2; write at most 2\n  b: missing; state b"
    )
    assert str(StackFileError([one])).splitlines()[0] == "1 fault in the stack file:"


def test_the_error_names_the_loaded_stack() -> None:
    file = StackFile(name="qa", path=ROOT / "Pulumi.qa.yaml", config={}, secret_keys=frozenset())

    with pytest.raises(StackFileError, match=r"\A1 fault in Pulumi\.qa\.yaml:\n  stack: missing; state stack\Z"):
        isolation.run(file, load, Recorder("qa", preview=False), preview=False)


@given(st.text(max_size=30))
def test_any_text_of_a_section_is_accepted_or_reported(text: str) -> None:
    reported = stacks.refusal({**stacks.texts(stacks.sections()), "gpu-ci:storage": text}, SECRET_KEYS)

    assert all(line.startswith("storage") for line in reported)
    assert reported or json.loads(text) in ({}, {"default-class": True}, {"default-class": False}, None)


@pytest.mark.parametrize("text", ["", "null"])
def test_an_empty_section_is_reported(text: str) -> None:
    """Pulumi returns it as an empty text; a YAML reader returns null."""
    reported = stacks.refusal({**stacks.texts(stacks.sections()), "gpu-ci:arc": text}, SECRET_KEYS)

    assert reported == ["arc: is empty; give it a value, or {} for the defaults"]


def test_an_empty_part_is_reported_at_its_path() -> None:
    changes = {"monitoring/dcgm": None, "runners/gpu-t4/arc": None, "gpu-pools/t4-spot/zones": ["us-west-2a", None]}
    refused = stacks.refusal(stacks.texts(stacks.sections(changes=changes)), SECRET_KEYS)
    reported = [line.partition(": ")[0] for line in refused]

    assert reported == ["gpu-pools.t4-spot.zones[1]", "monitoring.dcgm", "runners.gpu-t4.arc"]


def test_a_misspelt_namespace_is_reported() -> None:
    reported = stacks.refusal({**stacks.texts(stacks.sections()), "gpuci:budget": '{"expected": 900}'}, SECRET_KEYS)

    assert reported == ['gpuci:budget: unknown namespace; did you mean "gpu-ci:budget"?']


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("9" * 5000, "is not valid; write a map: key: value"),
        ("[" * 100_000, "is not valid; write a map: key: value"),
        ("[" * 500 + "]" * 500, "is nested more than 64 deep; remove what is no setting"),
        ('{"a":' * 500 + "1" + "}" * 500, "is nested more than 64 deep; remove what is no setting"),
        (json.dumps("x" * 1_000_000), "is not valid; write a map: key: value"),
    ],
    ids=["digits", "open lists", "lists", "maps", "a long text"],
)
def test_a_dangerous_value_from_the_engine_is_reported_shortly(text: str, fault: str) -> None:
    reported = stacks.refusal({**stacks.texts(stacks.sections()), "gpu-ci:storage": text}, SECRET_KEYS)

    assert any(line.endswith(fault) for line in reported)
    assert all(line.startswith("storage") and len(line) < 2000 for line in reported)
