"""Read a changed stack file and run every rule and every check over it, without a plan."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

import gpu_ci.checks
from gpu_ci.back_ends.registry import stack_of
from gpu_ci.back_ends.stack_file import settings_of
from gpu_ci.knowledge.verdict import Level
from gpu_ci.stack_file.identity import PROJECT, Identity
from gpu_ci.stack_file.reading.load import StackFileError
from ops.cli.options import ROOT
from ops.plan.stack_file import UnreadableStackFileError, read

BASES: Final = {
    "staging": "tests/stacks/staging.yaml",
    "eks-arc": "examples/eks-arc.yaml",
    "cirun-aws": "examples/cirun-aws.yaml",
    "cirun-gcp": "examples/cirun-gcp.yaml",
    "vm-aws": "examples/vm-aws.yaml",
    "vm-gcp": "examples/vm-gcp.yaml",
    "start-stop": "examples/start-stop.yaml",
    "jarvis": "examples/jarvis.yaml",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The lines that a user reads about one stack file."""

    errors: tuple[str, ...] = ()
    """Each starts with the path. An unreadable file has one line."""
    warnings: tuple[str, ...] = ()


@functools.cache
def _text(base: str) -> str:
    return (ROOT / BASES[base]).read_text(encoding="utf-8")


@functools.cache
def _config(base: str) -> str:
    return json.dumps(yaml.load(_text(base), Loader=yaml.CSafeLoader)["config"])


def changed_text(row: Mapping[str, Any]) -> str:
    """Return the text of a committed stack file with the change of one row of the corpus."""
    base = row.get("base", "staging")
    if "replace" in row:
        assert row["replace"] in _text(base)
        return _text(base).replace(row["replace"], row["by"], 1)
    config = json.loads(_config(base))
    for path, value in row.get("set", {}).items():
        within, last = _place(config, path)
        within[last] = value
    for path in row.get("remove", ()):
        within, last = _place(config, path)
        del within[last]
    # JSON is YAML, and quick to write.
    return json.dumps({"config": config})


def _place(config: dict[str, Any], path: str) -> tuple[dict[str, Any], str]:
    """Return the map that a path leads into, and the last key."""
    section, *keys = path.split("/")
    *steps, last = [section if ":" in section else f"{PROJECT}:{section}", *keys]
    within = config
    for step in steps:
        if not isinstance(within.get(step), dict):
            within[step] = {}
        within = within[step]
    return within, last


def judge(text: str, folder: Path) -> Report:
    """Return what a user reads about a stack file with this text."""
    path = folder / "Pulumi.staging.yaml"
    path.write_text(text, encoding="utf-8")
    try:
        file = read(path)
        settings = settings_of(file.config, file.secret_keys, file.name, str(path))
    except UnreadableStackFileError as error:
        return Report(errors=(str(error),))
    except StackFileError as error:
        return Report(errors=tuple(f"{fault.path}: {fault.problem}; {fault.fix}" for fault in error.faults))
    identity = Identity(project=PROJECT, stack=file.name, extra=settings.stack.tags)
    found = gpu_ci.checks.verdicts(stack_of(settings, identity))
    return Report(
        errors=tuple(_line(verdict) for verdict in found if verdict.level is Level.ERROR),
        warnings=tuple(_line(verdict) for verdict in found if verdict.level is Level.WARNING),
    )


def _line(verdict: Any) -> str:
    return f"{verdict.subject}: {verdict.reason}; {verdict.fix}"
