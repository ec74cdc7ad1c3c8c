"""Check that the credentials are of the stack's account."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ops.doctor.chain.sections import aws as applies
from ops.doctor.finding import broken, works

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_ci.knowledge.verdict import Verdict
    from ops.doctor.world.world import World

__all__ = ["CHECK", "NEEDS", "applies", "check"]

CHECK: Final = "aws-account"
NEEDS: Final = ()


def check(world: World) -> Iterator[Verdict]:
    """Yield whether the identity of the credentials is in the account of the stack file."""
    stated = world.settings.aws
    if stated is None:
        return
    identity = world.aws.ask("sts.get_caller_identity")
    if identity["Account"] == stated.account:
        yield works(CHECK, "aws.account", f"{identity['Arn']} is in account {stated.account}")
        return
    yield broken(
        CHECK,
        "aws.account",
        seen=f"the credentials are {identity['Arn']}, in account {identity['Account']}",
        means=f"the stack file states account {stated.account}, so nothing of this stack is in reach",
        fix=f"use credentials of account {stated.account}: set AWS_PROFILE, or run `aws sso login`",
    )
