"""The rules as a Pulumi policy pack: `pulumi preview --policy-pack gpu_ci/policy`.

The policy engine runs this file as a script, in the environment of the pack (`gpu_ci/policy/requirements.txt`). That
environment has neither the packages of the clouds nor the rest of the project.

The engine passes the configuration of the stack to the pack. A violation that an exception allows is advisory.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

# The engine adds the folder of the pack to the path, but the modules are imported from the folder above.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import pulumi
import pulumi_policy  # type: ignore[import-not-found, unused-ignore]  # pyright: ignore[reportMissingImports]  # only in the environment of the pack

from gpu_ci.policy.exceptions import Read, allowing, read, today
from gpu_ci.policy.rules import RULES, Predicate, effective, problems, rule_name, subject

_UNKNOWN: Final = "[unknown]"
"""The value of an input that a preview does not know. No rule matches it."""


def plain(value: Any) -> Any:
    """Convert maps and lists of the policy engine to plain data. Its own maps raise an error for an unknown value."""
    if isinstance(value, Mapping):
        return {key: _plain_at(value, key) for key in value}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain_at(value, index) for index in range(len(value))]
    return value


def _plain_at(container: Any, key: Any) -> Any:
    try:
        return plain(container[key])
    except pulumi_policy.proxy.UnknownValueError:
        return _UNKNOWN


@cache
def exceptions() -> dict[str, Read]:
    """Return the exceptions of the stack."""
    return read(pulumi.Config("gpu-ci").get("exceptions"))


def violations(rule: Predicate, args: Any) -> Iterator[tuple[str, str | None]]:
    """Yield the problems of a resource, each with the name of the exception that allows it."""
    provider = plain(args.provider.props) if args.provider else {}
    seen = effective(args.resource_type, plain(args.props), provider)
    allowed = allowing(exceptions(), rule_name(rule), subject(args.resource_type, args.name), today())
    for problem in problems(rule, args.resource_type, args.name, seen):
        yield problem, allowed


def policy(rule: Predicate) -> Any:
    """Return a rule as a policy that stops an update."""

    def validate(args: Any, report: Any) -> None:
        for problem, allowed in violations(rule, args):
            if allowed is None:
                report(problem, args.urn)

    return pulumi_policy.ResourceValidationPolicy(
        name=rule_name(rule),
        description=(rule.__doc__ or "").strip(),
        enforcement_level=pulumi_policy.EnforcementLevel.MANDATORY,
        validate=validate,
    )


def advisory() -> Any:
    """Return the policy that reports the allowed violations, which stop nothing."""

    def validate(args: Any, report: Any) -> None:
        for rule in RULES:
            if any(one.check == rule_name(rule) for one in exceptions().values()):
                for problem, allowed in violations(rule, args):
                    if allowed is not None:
                        one = exceptions()[allowed]
                        until = f"until {one.until}, by exceptions.{allowed}: {one.reason}"
                        report(f"{rule_name(rule)}: {problem}; {until}", args.urn)

    return pulumi_policy.ResourceValidationPolicy(
        name="allowed-violations",
        description="Violations that an exception of the stack file allows.",
        enforcement_level=pulumi_policy.EnforcementLevel.ADVISORY,
        validate=validate,
    )


if __name__ == "__main__":
    pulumi_policy.PolicyPack("gpu-ci", [*(policy(rule) for rule in RULES), advisory()])
