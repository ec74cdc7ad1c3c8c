"""The rules as a Pulumi policy pack: `pulumi preview --policy-pack policy`.

Owns the translation of what Pulumi's policy engine hands over. It is run by that engine as a script, in the pack's
own environment (`policy/requirements.txt`), which holds neither the clouds' packages nor the rest of the project.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

# The engine puts the pack's folder on the path, not the one that the pack's modules are named from.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import pulumi_policy  # type: ignore[import-not-found, unused-ignore]  # pyright: ignore[reportMissingImports]  # in the pack's environment alone

from policy.rules import RULES, Predicate, effective, rule_name

_UNKNOWN: Final = "[unknown]"
"""What a preview cannot know; no rule takes it for anything."""


def plain(value: Any) -> Any:
    """What the policy engine hands over, as plain data: its own maps raise where a value is not known yet."""
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


def policy(rule: Predicate) -> Any:
    """One rule as a policy that stops an update."""

    def validate(args: Any, report: Any) -> None:
        provider = plain(args.provider.props) if args.provider else {}
        seen = effective(args.resource_type, plain(args.props), provider)
        for wrong in rule(args.resource_type, args.name, seen):
            report(wrong, args.urn)

    return pulumi_policy.ResourceValidationPolicy(
        name=rule_name(rule),
        description=(rule.__doc__ or "").strip(),
        enforcement_level=pulumi_policy.EnforcementLevel.MANDATORY,
        validate=validate,
    )


if __name__ == "__main__":
    pulumi_policy.PolicyPack("gpu-ci", [policy(rule) for rule in RULES])
