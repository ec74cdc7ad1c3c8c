"""Check the state of each machine that exists between jobs, and the status that it publishes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ops.doctor.finding import broken, doubtful, works
from ops.doctor.log.messages import found_in
from ops.doctor.questions.machines import expected, found
from ops.doctor.questions.machines import has_machines as applies

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_ci.knowledge.verdict import Verdict
    from ops.doctor.questions.machines import Expected, Machine
    from ops.doctor.world.world import World

__all__ = ["CHECK", "NEEDS", "applies", "check"]

CHECK: Final = "machine"
NEEDS: Final = ("aws-account", "google-project")
LOG: Final = (
    "open a shell with the command in `pulumi stack output`, and run `gpu-ci check` and journalctl -u 'gpu-ci*'"
)


def check(world: World) -> Iterator[Verdict]:
    """Yield a verdict for each machine."""
    for one in expected(world):
        machine = found(world, one)
        if machine is None or machine.state == "deleted":
            yield broken(
                CHECK,
                f"runners.{one.runner}",
                seen=f"{one.zone} has no machine {one.title}",
                means="it was never created, or was deleted outside of this program",
                fix="run `pulumi up --refresh`",
            )
        else:
            yield _verdict(one, machine)


def _verdict(one: Expected, machine: Machine) -> Verdict:
    subject, status = f"runners.{one.runner}", machine.status
    seen = f"{one.title} ({machine.id}) is {machine.state}, and published {status or 'no status'}"
    if status.startswith("failed:"):
        known = found_in(f"gpu-ci: status: {status}")
        return broken(
            CHECK,
            subject,
            seen=seen,
            means=known[0].message.meaning,
            fix=f"{LOG}; then stop and start it: {machine.start}",
        )
    if machine.state == "running":
        return _running(subject, seen, status)
    if machine.state == "stopped":
        return _stopped(one, machine, subject, seen)
    return works(CHECK, subject, seen)


def _running(subject: str, seen: str, status: str) -> Verdict:
    if status in {"online", "busy"}:
        return works(CHECK, subject, seen)
    if status.startswith("waiting: GitHub"):
        return broken(
            CHECK,
            subject,
            seen=seen,
            means="the machine repeats the request until GitHub accepts it, and takes no jobs until then",
            fix="correct app-id, installation-id, the permission or the key of the App, as the text says",
        )
    if "no key" in status or "not a private key" in status:
        return broken(
            CHECK,
            subject,
            seen=seen,
            means="the machine cannot sign in at GitHub without the private key of the App",
            fix="add the key with the command `add-key` in `pulumi stack output`",
        )
    return doubtful(
        CHECK,
        subject,
        seen=seen,
        means="the machine runs and its runner is not online; a first boot takes up to twenty minutes",
        fix=f"wait, and run the doctor again; if it stays, {LOG}",
    )


def _stopped(one: Expected, machine: Machine, subject: str, seen: str) -> Verdict:
    reason = f": {machine.reason}" if machine.reason else ""
    if "Spot" in machine.reason or "preempted" in machine.reason or "spot capacity" in machine.status:
        return doubtful(
            CHECK,
            subject,
            seen=f"{seen}{reason}",
            means="the cloud took the spot capacity; jobs wait until it is free again",
            fix=f"start it again: {machine.start}; or state spot: false",
        )
    if one.standing.time.by_workflow or one.standing.time.schedule is not None:
        return works(CHECK, subject, f"{seen}; it starts by its workflow or its schedule")
    return doubtful(
        CHECK,
        subject,
        seen=f"{seen}{reason}",
        means="nothing starts this machine automatically, so its jobs wait",
        fix=f"start it: {machine.start}; or state a schedule",
    )
