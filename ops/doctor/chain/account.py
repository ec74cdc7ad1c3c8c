"""Simulate the permissions with which the stack is deployed: those that `make bootstrap` grants."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from bootstrap.grants import Place
from bootstrap.permissions_aws import deploy_policies
from ops.doctor.chain.sections import aws as applies
from ops.doctor.finding import broken, doubtful, works
from ops.doctor.world.source import Unanswered

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_ci.knowledge.verdict import Verdict
    from ops.doctor.world.world import World

__all__ = ["CHECK", "NEEDS", "applies", "check"]

CHECK: Final = "deployer-permissions"
NEEDS: Final = ("aws-account",)

_SHOWN: Final = 8
"""The number of actions in a message."""
_TEXT: Final = re.compile(r"[*?]+")


def check(world: World) -> Iterator[Verdict]:
    """Yield actions that the role of pipelines lacks; without such a role, those of the credentials."""
    stated, identity = world.settings.aws, world.stack.identity
    if stated is None:
        return
    name = f"{identity.prefix}-deploy"
    try:
        found = world.aws.ask("iam.get_role", RoleName=name)
        who = _role(world) if found is None else str(found["Role"]["Arn"])
        place = Place(account=stated.account, region=stated.region, prefix=identity.prefix, tags=identity.tags)
        denied = _denied(world, who, place)
    except Unanswered as fault:
        yield doubtful(
            CHECK,
            "aws.account",
            seen=f"could not ask, because {fault.reason}",
            means="the permissions of deployments are not checked; running jobs do not need them",
            fix="use credentials that may call iam:GetRole and iam:SimulatePrincipalPolicy",
        )
        return
    if not denied:
        yield works(CHECK, "aws.account", f"{who} may deploy the stack")
        return
    listed = ", ".join([*denied[:_SHOWN], *([f"and {len(denied) - _SHOWN} more"] if len(denied) > _SHOWN else [])])
    yield (doubtful if found is None else broken)(
        CHECK,
        "aws.account",
        seen=f"{who} may not {listed}",
        means="`pulumi up` stops at the first of them, unless the stack does not declare such a resource",
        fix="run `make bootstrap`, which updates the role; a limit of the organisation or a boundary can deny, too",
    )


def _role(world: World) -> str:
    """Return the role or user of the credentials. A session of a role is simulated as its role."""
    arn = str(world.aws.ask("sts.get_caller_identity")["Arn"])
    match = re.fullmatch(r"arn:aws:sts::\d+:assumed-role/([^/]+)/.+", arn)
    if match is None:
        return arn
    found = world.aws.ask("iam.get_role", RoleName=match[1])
    if found is None:
        raise Unanswered(f"IAM has no role {match[1]}")
    return str(found["Role"]["Arn"])


def _denied(world: World, who: str, place: Place) -> list[str]:
    denied: set[str] = set()
    for text in deploy_policies(place).values():
        for statement in json.loads(text)["Statement"]:
            answer = world.aws.ask("iam.simulate_principal_policy", **_simulation(who, statement))
            denied |= {one["EvalActionName"] for one in answer["EvaluationResults"] if one["EvalDecision"] != "allowed"}
    return sorted(denied)


def _simulation(who: str, statement: dict[str, Any]) -> dict[str, Any]:
    """Return a request for one statement: its actions on its first resource, in the context of its condition."""
    resources: str | list[str] = statement["Resource"]
    first = resources if isinstance(resources, str) else resources[0]
    context = [
        {
            "ContextKeyName": key,
            "ContextKeyType": "string",
            "ContextKeyValues": [values] if isinstance(values, str) else [values[0]],
        }
        for tests in statement.get("Condition", {}).values()
        for key, values in tests.items()
    ]
    return {
        "PolicySourceArn": who,
        "ActionNames": statement["Action"],
        "ResourceArns": [first if first == "*" else _TEXT.sub("0000000", first)],
        "ContextEntries": context,
    }
