"""The only reader of Pulumi's configuration: sections plain and typed, secrets as outputs, every fault at once."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import pulumi
from pulumi.runtime.config import CONFIG, get_config_env, is_config_secret

from config.faults import Fault, summary
from config.identity import PROJECT
from config.rules import broken
from config.settings import GITHUB_APP_PRIVATE_KEY, SECRETS, Settings
from config.stack_name import stack_name_faults
from config.stated import SECTIONS, Stated, settle
from gpu.nearest import did_you_mean, nearest

_CREDENTIAL = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----|\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_\w{20,}|\bA(?:KIA|SIA)[A-Z0-9]{16}\b"
)

_DEPTH: Final = 64
"""The deepest nesting of a section."""


class StackFileError(pulumi.RunError):
    """All faults of one stack file. Pulumi shows a `RunError` as a message, without a traceback."""

    def __init__(self, faults: Iterable[Fault], source: str = "the stack file") -> None:
        self.faults = tuple(sorted(set(faults)))
        self.source = source
        super().__init__(summary(self.faults, source))


@dataclass(frozen=True, slots=True, kw_only=True)
class Secrets:
    """The secrets of a stack file. They are read separately and never validated."""

    github_app_private_key: pulumi.Output[str] | None
    """The GitHub App's key in PEM form, where the stack registers runners at GitHub."""


def load() -> tuple[Settings, Secrets]:
    """Read the stack file of the running Pulumi program.

    Raises:
        StackFileError: with every fault of the file.

    """
    # `pulumi.Config` cannot list keys, and a misspelt section must not be ignored.
    config = {**get_config_env(), **CONFIG.get()}
    secret = frozenset(key for key in config if is_config_secret(key))
    stack = pulumi.get_stack()
    settings = settings_of(config, secret, stack, f"Pulumi.{stack}.yaml")
    return settings, Secrets(github_app_private_key=pulumi.Config(PROJECT).get_secret(GITHUB_APP_PRIVATE_KEY))


def settings_of(config: Mapping[str, str], secret_keys: frozenset[str], stack: str, source: str) -> Settings:
    """Return the settings in `config`: keys with their namespace, values as JSON, as Pulumi hands them over.

    Raises:
        StackFileError: with every fault of the file.

    """
    own = f"{PROJECT}:"
    texts = {key.removeprefix(own): text for key, text in config.items() if key.startswith(own)}
    raw, faults = _sections(texts, frozenset(key.removeprefix(own) for key in secret_keys))
    settings, invalid = settle(raw)
    stated = Stated.of(raw, frozenset(name for name in SECRETS if name in texts))
    # Other faults at the place of a removed secret are consequences of its removal.
    hidden = tuple(fault.path for fault in faults)
    faults += [fault for fault in (*invalid, *broken(settings, stated)) if not _within(fault.path, hidden)]
    faults += _misspelt(config)
    faults += stack_name_faults(stack, gcp="gcp" in stated.sections)
    if faults:
        raise StackFileError(faults, source)
    return settings


def _misspelt(keys: Iterable[str]) -> Iterator[Fault]:
    """Report keys with a misspelt namespace of ours; other namespaces belong to other programs."""
    for key in keys:
        namespace, _, name = key.partition(":")
        if namespace != PROJECT and nearest(namespace, [PROJECT]):
            yield Fault(key, "unknown namespace", f'did you mean "{PROJECT}:{name}"?')


def _sections(texts: Mapping[str, str], secrets: frozenset[str]) -> tuple[dict[str, Any], list[Fault]]:
    """Return the sections as plain values, and the faults of unknown sections, empty values and plain secrets."""
    known = [*SECTIONS, *SECRETS]
    sections: dict[str, Any] = {}
    faults: list[Fault] = []
    for name, text in texts.items():
        secret = name in secrets
        if name in SECRETS:
            if not secret:
                faults.append(Fault(name, "is in plain text", f"run: pulumi config set --secret {PROJECT}:{name}"))
        elif name not in known:
            faults.append(Fault(name, "unknown section", did_you_mean(name, known)))
        elif secret:
            sections[name] = {}
            faults.append(Fault(name, f"is encrypted, but only {SECRETS[0]} may be", "state it in plain text"))
        else:
            sections[name] = _without_secrets(_parsed(text), name, faults)
    return sections, faults


def _parsed(text: str) -> Any:
    """Return the value in `text`. Pulumi hands over a key without a value as an empty text."""
    try:
        return json.loads(text) if text else None
    except (ValueError, RecursionError):  # Python refuses numbers of thousands of digits, and deep nesting.
        return text


def _without_secrets(value: Any, path: str, faults: list[Fault], depth: int = 0) -> Any:
    """Replace empty values and plaintext credentials with placeholders, recording a fault for each.

    No message then echoes a credential, and an empty section is not taken for one that is absent.
    """
    if value is None:
        faults.append(Fault(path, "is empty", "give it a value, or {} for the defaults"))
        return {}
    if depth > _DEPTH:
        faults.append(Fault(path, f"is nested more than {_DEPTH} deep", "remove what is no setting"))
        return {}
    if isinstance(value, Mapping):
        keys = {key: _without_secrets(key, path, faults) for key in value}
        return {
            keys[key]: _without_secrets(inner, f"{path}.{keys[key]}", faults, depth + 1) for key, inner in value.items()
        }
    if isinstance(value, list):
        return [_without_secrets(inner, f"{path}[{index}]", faults, depth + 1) for index, inner in enumerate(value)]
    if isinstance(value, str) and _CREDENTIAL.search(value):
        faults.append(Fault(path, "contains a credential in plain text", "revoke it, and set secrets with --secret"))
        return "[credential]"
    return value


def _within(path: str, places: tuple[str, ...]) -> bool:
    return any(path == place or path.startswith((f"{place}.", f"{place}[")) for place in places)
