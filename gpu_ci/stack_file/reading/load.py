"""The only reader of Pulumi's configuration: sections plain and typed, secrets as outputs, every fault at once."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import pulumi
from pulumi.runtime.config import CONFIG, get_config_env, is_config_secret

from gpu_ci.knowledge.nearest import did_you_mean, nearest
from gpu_ci.stack_file.faults import Fault, summary
from gpu_ci.stack_file.identity import PROJECT
from gpu_ci.stack_file.reading import translate
from gpu_ci.stack_file.reading.credentials import CREDENTIAL, contradiction_faults, credential_faults
from gpu_ci.stack_file.reading.respelling import meant, respelled
from gpu_ci.stack_file.reading.settle import settle
from gpu_ci.stack_file.reading.stack_name import stack_name_faults
from gpu_ci.stack_file.rules.stated import SECTIONS, Grammar, Stated
from gpu_ci.stack_file.sections.settings import GITHUB_APP_PRIVATE_KEY, SECRETS, Settings

_EMPTY: Final = "is empty"
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


def load(grammar: Grammar) -> tuple[Settings, Secrets]:
    """Read the stack file of the running Pulumi program.

    Raises:
        StackFileError: with every fault of the file.

    """
    # `pulumi.Config` cannot list keys, and a misspelt section must not be ignored.
    config = {**get_config_env(), **CONFIG.get()}
    secret = frozenset(key for key in config if is_config_secret(key))
    stack = pulumi.get_stack()
    settings = settings_of(grammar, config, secret, stack, f"Pulumi.{stack}.yaml")
    return settings, Secrets(github_app_private_key=pulumi.Config(PROJECT).get_secret(GITHUB_APP_PRIVATE_KEY))


def settings_of(
    grammar: Grammar, config: Mapping[str, str], secret_keys: frozenset[str], stack: str, source: str
) -> Settings:
    """Return the settings in `config`: keys with their namespace, values as JSON, as Pulumi hands them over.

    Raises:
        StackFileError: with every fault of the file.

    """
    texts, secret, faults = _known(config, secret_keys)
    raw = {
        name: _section(name, text, faults, secret=name in secret) for name, text in texts.items() if name in SECTIONS
    }
    sections, misspelt, moved = respelled(raw, grammar.settings)
    settings, invalid = settle(sections, grammar.settings)
    stated = Stated.of(sections, frozenset(name for name in SECRETS if name in texts))
    unknown = tuple(fault.path for fault in (*misspelt, *invalid) if fault.problem == translate.UNKNOWN)
    places = {fault: _moved(fault.path, moved) for fault in faults}
    # An unknown key without a value is only unknown. Other faults at the place of a removed value follow from that.
    faults = [
        fault
        for fault, place in places.items()
        if fault.problem != _EMPTY or not (fault.path in unknown or _within(place, unknown))
    ]
    faults += [
        fault
        for fault in (*invalid, *grammar.broken(settings, stated))
        if fault.problem == translate.UNKNOWN or not _within(fault.path, tuple(places.values()))
    ]
    faults += misspelt
    faults += credential_faults(config, secret_keys)
    faults += contradiction_faults(config, sections)
    faults += stack_name_faults(stack, gcp="gcp" in stated.sections)
    if faults:
        raise StackFileError(faults, source)
    return settings


def _known(
    config: Mapping[str, str], secret_keys: frozenset[str]
) -> tuple[dict[str, str], frozenset[str], list[Fault]]:
    """Return the text of each known section and secret, the names of the encrypted ones, and the faults of other keys.

    A misspelt name is reported, and read as the known name unless that is stated, too.
    """
    own = {key.partition(":")[2]: key for key in config if key.startswith(f"{PROJECT}:")}
    known = (*SECTIONS, *SECRETS)
    faults: list[Fault] = []
    for key in config:
        namespace, _, name = key.partition(":")
        if namespace != PROJECT:
            if nearest(namespace, [PROJECT]) is None:
                continue  # It belongs to another program.
            faults.append(Fault(key, "unknown namespace", f'did you mean "{PROJECT}:{name}"?'))
        elif name not in known:
            faults.append(Fault(name, "unknown section", did_you_mean(name, known)))
        if (close := meant(name, known)) is not None:
            own.setdefault(close, key)
    faults += [
        Fault(name, "is in plain text", f"run: pulumi config set --secret {PROJECT}:{name}")
        for name in SECRETS
        if name in own and own[name] not in secret_keys
    ]
    texts = {name: config[key] for name, key in own.items() if name in known}
    return texts, frozenset(name for name in texts if own[name] in secret_keys), faults


def _section(name: str, text: str, faults: list[Fault], *, secret: bool) -> Any:
    """Return a section as plain values, and record the faults of empty values and of plain secrets."""
    if secret:
        faults.append(Fault(name, f"is encrypted, but only {SECRETS[0]} may be", "state it in plain text"))
        return {}
    return _without_secrets(_parsed(text), name, faults)


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
        fix = "give it a value, or remove the key" if depth else "give it a value, or {} for the defaults"
        faults.append(Fault(path, _EMPTY, fix))
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
    if isinstance(value, str) and CREDENTIAL.search(value):
        faults.append(Fault(path, "contains a credential in plain text", "revoke it, and set secrets with --secret"))
        return "[credential]"
    return value


def _moved(path: str, moved: Mapping[str, str]) -> str:
    """Return a path with the known names of misspelt keys."""
    for before, after in moved.items():
        if _within(path, (before,)):
            path = f"{after}{path.removeprefix(before)}"
    return path


def _within(path: str, places: tuple[str, ...]) -> bool:
    return any(path == place or path.startswith((f"{place}.", f"{place}[")) for place in places)
