"""A stack without mistakes, small or large, and the verdicts of all checks on it."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import gpu_ci.checks
from gpu_ci.back_ends.registry import stack_of
from gpu_ci.back_ends.stack_file import settings_of
from gpu_ci.knowledge.verdict import Verdict
from gpu_ci.stack_file.identity import Identity
from gpu_ci.stack_file.sections.settings import Settings
from ops.cli.options import ROOT
from ops.plan.stack_file import read
from tests.stack_file.stacks import STAGING

IDENTITY: Final = Identity(project="gpu-ci", stack="staging", extra={})
_KEY: Final = "gpu-ci:"


def settings_in(path: Path) -> Settings:
    """Return the settings of a stack file."""
    file = read(path)
    return settings_of(file.config, file.secret_keys, file.name, file.path.name)


def verdicts(settings: Settings) -> list[Verdict]:
    """Return the verdicts of all gpu_ci.checks."""
    return gpu_ci.checks.verdicts(stack_of(settings, replace(IDENTITY, extra=settings.stack.tags)))


def staging() -> Settings:
    """Return the settings of the tests' staging stack."""
    return settings_in(ROOT / STAGING)


def large(pools: int) -> Settings:
    """Return staging with `pools` different pools, and a runner on each."""
    file = read(ROOT / STAGING)
    sections: dict[str, Any] = {key: json.loads(file.config[f"{_KEY}{key}"]) for key in ("gpu-pools", "runners")}
    pool, runner = sections["gpu-pools"]["t4-spot"], sections["runners"]["gpu-t4"]
    many: dict[str, Any] = {"gpu-pools": {}, "runners": {}}
    for number in range(pools):
        own_pool, own_runner = copy.deepcopy(pool), copy.deepcopy(runner)
        own_pool["disk"]["size"] = f"{100 + number}Gi"
        own_pool["max"] = own_runner["arc"]["max"] = 1 + number % 20
        own_runner["needs"]["memory"] = f"{8 * 1024 + number}Mi"
        own_runner["timeout-minutes"] = 60 + number
        own_runner["workload"] = {"jobs-per-month": 10 + number, "minutes": 5 + number % 50}
        own_runner["arc"] |= {"pool": f"pool-{number}", "fallback": f"pool-{(number + 1) % pools}"}
        many["gpu-pools"][f"pool-{number}"] = own_pool
        many["runners"][f"gpu-{number}"] = own_runner
    config = {
        **file.config,
        **{f"{_KEY}{key}": json.dumps(value) for key, value in many.items()},
        f"{_KEY}quotas": "{}",
    }
    return settings_of(config, file.secret_keys, file.name, "a large stack")
