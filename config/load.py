"""The only reader of Pulumi's configuration: sections plain and typed, secrets as outputs, every fault at once."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pulumi
from pulumi.runtime.config import CONFIG, get_config_env, is_config_secret

from config.faults import Fault, StackFileError
from config.rules import broken
from config.settings import GITHUB_APP_PRIVATE_KEY, SECRETS, Settings
from config.stated import section_names, settle
from config.translate import nearest

if TYPE_CHECKING:
    from collections.abc import Mapping

PROJECT = "gpu-ci"
_CREDENTIAL = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----|\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_\w{20,}|\bA(?:KIA|SIA)[A-Z0-9]{16}\b"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Secrets:
    """What must never be plain: read apart from the sections, and never validated."""

    github_app_private_key: pulumi.Output[str] | None
    """The GitHub App's key in PEM form, where the stack speaks to GitHub."""


def load() -> tuple[Settings, Secrets]:
    """Read the whole stack file once.

    Raises:
        StackFileError: it says something it may not; all of it is named.

    """
    texts = {key.removeprefix(f"{PROJECT}:"): text for key, text in _all().items() if key.startswith(f"{PROJECT}:")}
    raw, faults = _sections(texts)
    stated, wrong = settle(raw, frozenset(name for name in SECRETS if name in texts))
    faults += wrong
    faults += broken(stated)
    if faults:
        raise StackFileError(faults, f"Pulumi.{pulumi.get_stack()}.yaml")
    config = pulumi.Config(PROJECT)
    return stated.settings, Secrets(github_app_private_key=config.get_secret(GITHUB_APP_PRIVATE_KEY))


def _all() -> Mapping[str, str]:
    """Every configured key. `pulumi.Config` cannot list them, and a misspelt section must not be passed over."""
    return {**get_config_env(), **CONFIG.get()}


def _sections(texts: Mapping[str, str]) -> tuple[dict[str, Any], list[Fault]]:
    """The sections, and the faults of what is none: unknown names, plain secrets, scalars."""
    known = [*section_names(), *SECRETS]
    sections: dict[str, Any] = {}
    faults: list[Fault] = []
    for name, text in texts.items():
        if name in SECRETS:
            if not is_config_secret(f"{PROJECT}:{name}"):
                faults.append(Fault(name, "stands in plain text", f"run: pulumi config set --secret {PROJECT}:{name}"))
        elif name not in known:
            faults.append(Fault(name, "unknown section", nearest(name, known)))
        elif _CREDENTIAL.search(text):
            faults.append(Fault(name, "holds a credential in plain text", "revoke it, and set secrets with --secret"))
        else:
            try:
                sections[name] = json.loads(text)
            except json.JSONDecodeError:
                faults.append(Fault(name, f'"{text}" does not fit', "write a map: key: value"))
    return sections, faults
