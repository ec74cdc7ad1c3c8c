"""Compare the quotas that the account has with the machines that the stack may use at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gpu_ci.checks.capacity.quota import stack_needs
from gpu_ci.knowledge.regions import Cloud
from ops.doctor.chain.sections import aws as applies
from ops.doctor.finding import broken, doubtful, works

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_ci.checks.capacity.quota import QuotaNeed
    from gpu_ci.knowledge.verdict import Verdict
    from ops.doctor.world.world import World

__all__ = ["CHECK", "NEEDS", "applies", "check"]

CHECK: Final = "live-quota"
NEEDS: Final = ("aws-account",)


def check(world: World) -> Iterator[Verdict]:
    """Yield whether each quota on AWS is large enough, and whether the stack file states its real value."""
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


def _compared(need: QuotaNeed, granted: int) -> Iterator[Verdict]:
    quota, subject = need.quota, f"quotas.{need.key}"
    named = f"{quota.name} ({quota.title}) in {quota.place}"
    if granted == 0:
        yield broken(
            CHECK,
            subject,
            seen=f"the account has {granted} {quota.unit} of {named}",
            means=f"not one machine can start: a {need.claims[0].machine} needs {need.claims[0].each}",
            fix=f"request it: {quota.request(need.needed)}",
        )
    elif granted < need.needed:
        yield doubtful(
            CHECK,
            subject,
            seen=f"the account has {granted} {quota.unit} of {named}",
            means=f"the stack may use {need.needed} at once, so the last machines do not start",
            fix=f"request more: {quota.request(need.needed)}",
        )
    else:
        yield works(CHECK, subject, f"the account has {granted} {quota.unit} of {named}; the stack needs {need.needed}")
    if need.stated is not None and need.stated != granted and granted > 0:
        yield doubtful(
            CHECK,
            subject,
            seen=f"the stack file states {need.stated}, and the account has {granted}",
            means="`make plan` checks against the number in the stack file",
            fix=f"state {granted} as {subject}",
        )
