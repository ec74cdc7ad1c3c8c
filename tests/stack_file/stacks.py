"""The sections of valid stack files, for tests to change, and the faults of the result."""

from __future__ import annotations

import copy
import functools
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from gpu_ci.back_ends.stack_file import GRAMMAR, load
from gpu_ci.back_ends.stack_file import Settings as StackSettings
from gpu_ci.stack_file.identity import PROJECT
from gpu_ci.stack_file.reading.load import StackFileError
from gpu_ci.stack_file.reading.settle import settle
from gpu_ci.stack_file.rules.stated import Stated
from gpu_ci.stack_file.sections.settings import SECRETS, Settings
from ops.cli.options import ROOT
from ops.plan import golden
from ops.plan.recorder import record
from ops.plan.stack_file import StackFile, placeholder_secret, read
from tests.tables import OUT

AWS: Final = "examples/cirun-aws.yaml"
GCP: Final = "examples/cirun-gcp.yaml"
MACHINE: Final = "examples/vm-aws.yaml"
"""The stack with a machine on EC2."""

FILES: Final = tuple(str(path.relative_to(ROOT)) for path in golden.stack_files())
"""Every committed stack file, by its path in the project."""
STAGING: Final = "tests/stacks/staging.yaml"
"""The stack of most tests. A user may edit `Pulumi.staging.yaml`, so tests do not depend on it."""
PRODUCTION: Final = "tests/stacks/production.yaml"
"""The same for production."""
SHARED: Final = "examples/eks-arc.yaml"
"""The stack with a pool that shares its GPUs, and one with another taint."""


@functools.cache
def _read(name: str) -> dict[str, Any]:
    texts = {key.partition(":")[2]: text for key, text in read(ROOT / name).config.items() if key.startswith(PROJECT)}
    return {key: json.loads(text) for key, text in texts.items() if key not in SECRETS}


def sections(name: str = STAGING, changes: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the sections of a committed stack file with the parts at these paths changed; `/` separates steps."""
    found = copy.deepcopy(_read(name))
    for path, value in (changes or {}).items():
        change(found, path.split("/"), value)
    return found


def change(inside: Any, steps: Iterable[str | int], value: Any) -> None:
    """Change the value at the end of these steps in place."""
    *before, last = [int(step) if isinstance(step, str) and step.isdecimal() else step for step in steps]
    for step in before:
        inside = inside.setdefault(step, {}) if isinstance(inside, dict) else inside[step]
    if value is OUT:
        del inside[last]
    else:
        inside[last] = value


def settings(name: str = STAGING, changes: Mapping[str, Any] | None = None) -> Settings:
    """Return the settings of a committed stack file with valid changes."""
    raw = sections(name, changes)
    assert faults(raw) == []
    return settle(raw, StackSettings)[0]


def faults(raw: Mapping[str, Any], secrets: Iterable[str] = SECRETS) -> list[str]:
    """Return every fault of these sections, a line each."""
    valid, invalid = settle(raw, StackSettings)
    return [str(fault) for fault in sorted({*invalid, *GRAMMAR.broken(valid, Stated.of(raw, frozenset(secrets)))})]


def breaking(raw: Mapping[str, Any], secrets: Iterable[str] = SECRETS) -> list[str]:
    """Return the names of the rules that these sections break."""
    valid, _ = settle(raw, StackSettings)
    stated = Stated.of(raw, frozenset(secrets))
    found = [rule.__name__ for rule in GRAMMAR.rules if list(rule(valid))]
    return found + [rule.__name__ for rule in GRAMMAR.references if list(rule(valid, stated))]


def loaded(config: Mapping[str, str], secret_keys: Iterable[str] = ()) -> Settings:
    """Return the settings that the program loads from a configuration."""
    found: list[Settings] = []
    file = StackFile(name="test", path=ROOT / "Pulumi.test.yaml", config=config, secret_keys=frozenset(secret_keys))
    record(file, program=lambda: found.append(load()[0]))
    return found[0]


def refusal(config: Mapping[str, str], secret_keys: Iterable[str] = ()) -> list[str]:
    """Return the faults that the program reports for a configuration, a line each."""
    try:
        loaded(config, secret_keys)
    except StackFileError as error:
        return [str(fault) for fault in error.faults]
    return []


def texts(raw: Mapping[str, Any]) -> dict[str, str]:
    """Return sections as the engine passes them, with the secret."""
    plain = {f"{PROJECT}:{name}": value if isinstance(value, str) else json.dumps(value) for name, value in raw.items()}
    return {**plain, **{f"{PROJECT}:{name}": placeholder_secret(name) for name in SECRETS}}


SECRET_KEYS: Final = tuple(f"{PROJECT}:{name}" for name in SECRETS)
"""The keys of the secrets in the engine's configuration."""


@dataclass(frozen=True, kw_only=True)
class Broken:
    """A stack file with a fault."""

    rules: list[str]
    """The rules that it breaks; none where a value itself is invalid."""
    changes: Mapping[str, Any]
    reported: tuple[str, ...]
    """Every fault, in order."""
    stack: str
    secrets: tuple[str, ...]

    def __str__(self) -> str:
        return f"{' '.join(self.rules)}:{','.join(self.changes)}"


def broken(
    rules: str, changes: Mapping[str, Any], *reported: str, stack: str = STAGING, secrets: tuple[str, ...] = SECRETS
) -> Broken:
    """Return a case of these rules, separated by spaces."""
    return Broken(rules=rules.split(), changes=changes, reported=reported, stack=stack, secrets=secrets)


def not_as_stated(cases: Iterable[Broken]) -> list[tuple[str, list[str], list[str]]]:
    """Return the cases whose faults or rules differ from the stated ones, with those found."""
    found = []
    for case in cases:
        raw = sections(case.stack, case.changes)
        reported, broken = faults(raw, case.secrets), breaking(raw, case.secrets)
        if (reported, broken) != (list(case.reported), case.rules):
            found.append((str(case), reported, broken))
    return found
