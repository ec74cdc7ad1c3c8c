"""The account of AWS: its identity, the permissions of the deployment, and its quotas."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from bootstrap.grants import Place
from bootstrap.permissions_aws import deploy_policies
from gpu_ci.checks.capacity.quota import QuotaNeed, stack_needs
from gpu_ci.knowledge.regions import Cloud
from ops.doctor.chain import sections
from ops.doctor.check import Chapter
from ops.doctor.finding import Finding, broken, doubtful, works
from ops.doctor.world.source import Unanswered
from ops.doctor.world.world import World

CHAPTER: Final = Chapter()


@CHAPTER.check(applies=sections.aws)
def aws_account(world: World) -> Iterator[Finding]:
    """Check that the credentials are of the stack's account."""
    stated = world.settings.aws
    if stated is None:
        return
    identity = world.aws.ask("sts.get_caller_identity")
    if identity["Account"] == stated.account:
        yield works("aws.account", f"{identity['Arn']} is in account {stated.account}")
        return
    yield broken(
        "aws.account",
        seen=f"the credentials are {identity['Arn']}, in account {identity['Account']}",
        means=f"the stack file states account {stated.account}, so nothing of this stack is in reach",
        fix=f"use credentials of account {stated.account}: set AWS_PROFILE, or run `aws sso login`",
    )


_SHOWN: Final = 8
"""The number of actions in a message."""
_TEXT: Final = re.compile(r"[*?]+")


@CHAPTER.check(needs=("aws-account",), applies=sections.aws)
def deployer_permissions(world: World) -> Iterator[Finding]:
    """Simulate the permissions with which the stack is deployed: those that `make bootstrap` grants."""
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
            "aws.account",
            seen=f"could not ask, because {fault.reason}",
            means="the permissions of deployments are not checked; running jobs do not need them",
            fix="use credentials that may call iam:GetRole and iam:SimulatePrincipalPolicy",
        )
        return
    if not denied:
        yield works("aws.account", f"{who} may deploy the stack")
        return
    listed = ", ".join([*denied[:_SHOWN], *([f"and {len(denied) - _SHOWN} more"] if len(denied) > _SHOWN else [])])
    yield (doubtful if found is None else broken)(
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


@CHAPTER.check(needs=("aws-account",), applies=sections.aws)
def live_quota(world: World) -> Iterator[Finding]:
    """Compare the quotas that the account has with the machines that the stack may use at once."""
    for need in stack_needs(world.stack):
        if need.quota.cloud is Cloud.AWS:
            yield from _compared(need, _granted(world, need))


def _granted(world: World, need: QuotaNeed) -> int:
    """Return the value of the account; the default of AWS if none was ever applied."""
    asked = {"ServiceCode": "ec2", "QuotaCode": need.quota.name, "region": need.quota.region}
    answer = world.aws.ask("service-quotas.get_service_quota", **asked) or world.aws.ask(
        "service-quotas.get_aws_default_service_quota", **asked
    )
    return int(answer["Quota"]["Value"]) if answer is not None else need.quota.default


def _compared(need: QuotaNeed, granted: int) -> Iterator[Finding]:
    quota, subject = need.quota, f"quotas.{need.key}"
    named = f"{quota.name} ({quota.title}) in {quota.place}"
    if granted == 0:
        yield broken(
            subject,
            seen=f"the account has {granted} {quota.unit} of {named}",
            means=f"not one machine can start: a {need.claims[0].machine} needs {need.claims[0].each}",
            fix=f"request it: {quota.request(need.needed)}",
        )
    elif granted < need.needed:
        yield doubtful(
            subject,
            seen=f"the account has {granted} {quota.unit} of {named}",
            means=f"the stack may use {need.needed} at once, so the last machines do not start",
            fix=f"request more: {quota.request(need.needed)}",
        )
    else:
        yield works(subject, f"the account has {granted} {quota.unit} of {named}; the stack needs {need.needed}")
    if need.stated is not None and need.stated != granted and granted > 0:
        yield doubtful(
            subject,
            seen=f"the stack file states {need.stated}, and the account has {granted}",
            means="`make plan` checks against the number in the stack file",
            fix=f"state {granted} as {subject}",
        )
