"""The stack file with the sections and the rules of all back ends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pydantic import Field

from gpu_ci.back_ends.arc import rules as arc_rules
from gpu_ci.back_ends.arc.section import ArcSection
from gpu_ci.back_ends.cirun_aws import rules as cirun_aws_rules
from gpu_ci.back_ends.cirun_aws.section import CirunAwsSection
from gpu_ci.back_ends.cirun_gcp import rules as cirun_gcp_rules
from gpu_ci.back_ends.cirun_gcp.section import CirunGcpSection
from gpu_ci.back_ends.start_stop import rules as start_stop_rules
from gpu_ci.back_ends.start_stop.section import StartStopSection
from gpu_ci.back_ends.vm import rules as vm_rules
from gpu_ci.back_ends.vm.section import VmSection
from gpu_ci.stack_file.reading import load as reading
from gpu_ci.stack_file.rules import between_sections
from gpu_ci.stack_file.rules.stated import Grammar, Reference, Rule
from gpu_ci.stack_file.sections import runners, settings
from gpu_ci.stack_file.values.general import RunnerName


class RunnerSettings(runners.RunnerSettings):
    __doc__ = runners.RunnerSettings.__doc__

    arc: ArcSection | None = None
    cirun_aws: CirunAwsSection | None = None
    cirun_gcp: CirunGcpSection | None = None
    vm: VmSection | None = None
    start_stop: StartStopSection | None = None


class Settings(settings.Settings):
    __doc__ = settings.Settings.__doc__

    runners: Mapping[RunnerName, RunnerSettings] = Field(default_factory=dict)  # pyright: ignore[reportIncompatibleVariableOverride]  # settings are frozen


_MODULES: Final = (arc_rules, cirun_aws_rules, cirun_gcp_rules, vm_rules, start_stop_rules)
# Back ends share rules, so each rule is listed once.
RULES: Final[tuple[Rule, ...]] = (
    *between_sections.RULES,
    *dict.fromkeys(rule for module in _MODULES for rule in module.RULES),
)
REFERENCES: Final[tuple[Reference, ...]] = (
    *between_sections.REFERENCES,
    *dict.fromkeys(rule for module in _MODULES for rule in module.REFERENCES),
)
GRAMMAR: Final = Grammar(settings=Settings, rules=RULES, references=REFERENCES)


def load() -> tuple[settings.Settings, reading.Secrets]:
    """Read the stack file of the running Pulumi program.

    Raises:
        StackFileError: with every fault of the file.

    """
    return reading.load(GRAMMAR)


def settings_of(config: Mapping[str, str], secret_keys: frozenset[str], stack: str, source: str) -> settings.Settings:
    """Return the settings in `config`: keys with their namespace, values as JSON, as Pulumi passes them.

    Raises:
        StackFileError: with every fault of the file.

    """
    return reading.settings_of(GRAMMAR, config, secret_keys, stack, source)
