"""The only reader of Pulumi's configuration: sections plain and typed, secrets as outputs, every fault at once."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pulumi
from pulumi.runtime.config import CONFIG, get_config_env, is_config_secret

from config.faults import Fault, summary
from config.rules import broken
from config.settings import GITHUB_APP_PRIVATE_KEY, SECRETS, Settings
from config.stack_name import stack_name_faults
from config.stated import section_names, settle
from gpu.nearest import did_you_mean, nearest

PROJECT = "gpu-ci"
_CREDENTIAL = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----|\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_\w{20,}|\bA(?:KIA|SIA)[A-Z0-9]{16}\b"
)


class StackFileError(pulumi.RunError):
    """All faults of one stack file. Pulumi shows a `RunError` as a message, without a traceback."""

    def __init__(self, faults: Iterable[Fault], source: str = "the stack file") -> None:
        self.faults = tuple(sorted(set(faults)))
        super().__init__(summary(self.faults, source))


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
    stated = _all()
    secret = frozenset(key for key in stated if is_config_secret(key))
    stack = pulumi.get_stack()
    settings = settings_of(stated, secret, stack, f"Pulumi.{stack}.yaml")
    config = pulumi.Config(PROJECT)
    return settings, Secrets(github_app_private_key=config.get_secret(GITHUB_APP_PRIVATE_KEY))


def settings_of(config: Mapping[str, str], secret_keys: frozenset[str], stack: str, source: str) -> Settings:
    """The settings in `config`, for whoever has a stack file without Pulumi: keys with their namespace, texts as JSON.

    Raises:
        StackFileError: it says something it may not; all of it is named.

    """
    texts = {key.removeprefix(f"{PROJECT}:"): text for key, text in config.items() if key.startswith(f"{PROJECT}:")}
    raw, faults = _sections(texts, frozenset(key.removeprefix(f"{PROJECT}:") for key in secret_keys))
    stated, wrong = settle(raw, frozenset(name for name in SECRETS if name in texts))
    # What else is wrong where a secret stood follows from its having been taken out.
    hidden = tuple(fault.path for fault in faults)
    faults += [fault for fault in (*wrong, *broken(stated)) if not _within(fault.path, hidden)]
    faults += _misspelt(config)
    faults += stack_name_faults(stack, google=stated.has("gcp"))
    if faults:
        raise StackFileError(faults, source)
    return stated.settings


def _misspelt(keys: Iterable[str]) -> Iterator[Fault]:
    """Keys of our namespace misspelt; other namespaces belong to other programs."""
    for key in keys:
        namespace, _, name = key.partition(":")
        if namespace != PROJECT and nearest(namespace, [PROJECT]):
            yield Fault(key, "nobody reads this namespace", f'did you mean "{PROJECT}:{name}"?')


def _all() -> Mapping[str, str]:
    """Every configured key. `pulumi.Config` cannot list them, and a misspelt section must not be passed over."""
    return {**get_config_env(), **CONFIG.get()}


def _sections(texts: Mapping[str, str], secrets: frozenset[str]) -> tuple[dict[str, Any], list[Fault]]:
    """The sections, and the faults of what no section may be or hold: unknown names, plain secrets."""
    known = [*section_names(), *SECRETS]
    sections: dict[str, Any] = {}
    faults: list[Fault] = []
    for name, text in texts.items():
        secret = name in secrets
        if name in SECRETS:
            if not secret:
                faults.append(Fault(name, "stands in plain text", f"run: pulumi config set --secret {PROJECT}:{name}"))
        elif name not in known:
            faults.append(Fault(name, "unknown section", did_you_mean(name, known)))
        elif secret:
            sections[name] = {}
            faults.append(Fault(name, "holds a secret, and sections are read in clear", f"only {SECRETS[0]} is secret"))
        else:
            sections[name] = _sound(_parsed(text), name, faults)
    return sections, faults


def _parsed(text: str) -> Any:
    """What a section's text says. Pulumi hands a key without a value over as no text at all."""
    try:
        return json.loads(text) if text else None
    except json.JSONDecodeError:
        return text


def _sound(value: Any, path: str, faults: list[Fault]) -> Any:
    """`value` with something in place of nothing and of every credential, each told of, so that no message repeats it.

    A key with nothing after it reads as a part that is switched on, and would be taken for one that is left out.
    """
    if value is None:
        faults.append(Fault(path, "has nothing after it", "state what it holds, {} for no more than that it is there"))
        return {}
    if isinstance(value, Mapping):
        keys = {key: _sound(key, path, faults) for key in value}
        return {keys[key]: _sound(inner, f"{path}.{keys[key]}", faults) for key, inner in value.items()}
    if isinstance(value, list):
        return [_sound(inner, f"{path}[{index}]", faults) for index, inner in enumerate(value)]
    if isinstance(value, str) and _CREDENTIAL.search(value):
        faults.append(Fault(path, "holds a credential in plain text", "revoke it, and set secrets with --secret"))
        return "[credential]"
    return value


def _within(path: str, places: tuple[str, ...]) -> bool:
    return any(path == place or path.startswith((f"{place}.", f"{place}[")) for place in places)
