"""A sound stack, small or large, as settings: for tests that judge without a program."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any, Final

from config.identity import Identity
from config.load import settings_of
from ops.cli.options import ROOT
from ops.plan.stack_file import read
from tests.config.stacks import STAGING

if TYPE_CHECKING:
    from config.settings import Settings

IDENTITY: Final = Identity(project="gpu-ci", stack="staging", extra={})
_KEY: Final = "gpu-ci:"


def staging() -> Settings:
    """The settings of the staging that tests speak about."""
    file = read(ROOT / STAGING)
    return settings_of(file.config, file.secret_keys, file.name, file.path.name)


def large(pools: int) -> Settings:
    """Staging with so many pools, and a runner on each, no two of them alike."""
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
