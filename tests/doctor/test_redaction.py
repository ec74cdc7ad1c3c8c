"""Tests of the removal of secrets: by the names of keys, by the form of values, and by known values."""

from __future__ import annotations

import base64
import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ops.doctor.world.redaction import REDACTED, is_sensitive, known_values, redacted, text_without_secrets

pytestmark = pytest.mark.pure

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"


def letters(least: int, most: int = 0) -> st.SearchStrategy[str]:
    """Return texts of letters and digits."""
    return st.text(_LETTERS, min_size=least, max_size=most or least)


def _jwt(parts: tuple[str, str, str]) -> str:
    return "eyJ" + ".".join(parts)


def _pem(body: str) -> str:
    lines = "\n".join(base64.b64encode(body.encode()).decode()[at : at + 64] for at in range(0, len(body), 64))
    return f"-----BEGIN RSA PRIVATE KEY-----\n{lines}\n-----END RSA PRIVATE KEY-----"


FORMED = st.one_of(
    letters(36).map("ghp_{}".format),
    letters(36).map("ghs_{}".format),
    letters(60).map("github_pat_{}".format),
    st.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", min_size=16, max_size=16).map("AKIA{}".format),
    st.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", min_size=16, max_size=16).map("ASIA{}".format),
    letters(40).map("ya29.{}".format),
    st.tuples(letters(20, 60), letters(20, 60), letters(20, 60)).map(_jwt),
    letters(200, 400).map(_pem),
)
"""Secrets with a form of their own."""
PLAIN = letters(12, 40).map("S3cret{}".format)
"""Secrets without a form: only the name of their key tells."""
KEYS = st.sampled_from(
    [
        "token", "password", "secret", "SecretAccessKey", "aws_secret_access_key", "sessionToken", "private_key",
        "client-secret", "client-key-data", "apiKey", "authorization", "encoded_jit_config", "kubeconfig", "DB_PASSWORD",
        "TOKEN_JARVIS", "JL_API_KEY", "github_app_private_key", "Set-Cookie", "adminPassword", "jitConfig", "clientKey",
    ]
)  # fmt: skip
"""Names of keys and variables that hold a secret."""
WORDS = st.text("abcdefgh -_/.:\n", max_size=20)


@st.composite
def planted(draw: st.DrawFn) -> tuple[Any, str]:
    """Return a JSON value with a secret, and the secret."""
    kind = draw(st.sampled_from(["formed", "keyed", "pair", "object", "assigned", "header", "file"]))
    if kind == "formed":
        secret = draw(FORMED)
        value: Any = f"{draw(WORDS)} {secret} {draw(WORDS)}"
    else:
        secret = draw(PLAIN)
        key = draw(KEYS)
        value = {
            "keyed": {key: secret},
            "pair": {"env": [{"name": key, "value": secret}]},
            "object": {"kind": "Secret", "metadata": {"name": "x"}, "data": {"x": secret}},
            "assigned": f"+ export {key}={secret}\n{draw(WORDS)}",
            "file": {"encoding": "base64", "content": base64.encodebytes(f"{key}: {secret}\n".encode()).decode()},
            "header": f'curl -H "Authorization: Bearer {secret}" https://x/',
        }[kind]
    for _ in range(draw(st.integers(0, 4))):
        value = draw(st.sampled_from([[value], {"items": value}, {"a": 1, "spec": {"b": value}}, [1, [value]]]))
    return value, secret


def decoded(text: str) -> str:
    """Return the text that a value encodes, as far as there is one."""
    return base64.b64decode(text[: len(text) // 4 * 4]).decode(errors="replace")


@given(planted())
def test_no_planted_secret_survives(case: tuple[Any, str]) -> None:
    value, secret = case

    text = json.dumps(redacted(value))
    texts = [text, *map(decoded, re.findall(r"[A-Za-z0-9+/]{16,}={0,2}", text))]

    assert all(part not in one for part in (secret, *secret.split("\n")[1:-1]) for one in texts)


@given(PLAIN, WORDS, WORDS)
def test_a_known_value_is_removed_from_any_text(secret: str, before: str, after: str) -> None:
    known = known_values({"GITHUB_TOKEN": secret, "HOME": "/home/me"})

    assert secret not in json.dumps(redacted({f"x{secret}": [f"{before}{secret}{after}"]}, known))


@given(planted())
def test_redacting_twice_equals_redacting_once(case: tuple[Any, str]) -> None:
    once = redacted(case[0])

    assert redacted(once) == once


def test_a_value_that_is_not_a_secret_stays() -> None:
    values: list[object] = [
        {"githubConfigSecret": "gpu-ci-github-app", "imagePullSecrets": [{"name": "registry"}]},
        {"volumes": [{"name": "key", "secret": {"secretName": "gpu-ci-github-app"}}]},
        {"valueFrom": {"secretKeyRef": {"name": "gpu-ci-github-app", "key": "github_app_id"}}},
        {"NextToken": "abc", "KeyName": "alias/gpu-ci", "Tags": [{"Key": "Project", "Value": "gpu-ci"}]},
        {"labels": ["gpu-t4"], "status": "online", "busy": False, "version": "2.337.0"},
        "GitHub answers 403: Resource not accessible by integration",
        "arn:aws:iam::123456789012:role/gpu-ci-staging-start",
        "docker run --gpus all nvidia/cuda:13.0.3-base-ubuntu24.04 nvidia-smi",
    ]

    assert [value for value in values if redacted(value) != value] == []


def test_a_name_that_only_resembles_a_secret_is_not_sensitive() -> None:
    names = ("HOME", "monkey", "keyboard", "tokenizer", "secretName", "nextToken", "author")

    assert [name for name in names if is_sensitive(name)] == []


def test_a_pem_block_without_its_end_is_removed() -> None:
    assert text_without_secrets("log\n-----BEGIN PRIVATE KEY-----\nMIIE") == f"log\n{REDACTED}"


def test_short_values_of_variables_are_not_removed_from_texts() -> None:
    assert known_values({"TOKEN": "yes", "MY_TOKEN": "abcdefgh"}) == {"abcdefgh"}
