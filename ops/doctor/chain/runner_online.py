"""Check the registrations at GitHub of machines that run, and their labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from gpu_ci.back_ends.registry import BACK_ENDS
from ops.doctor.finding import broken, works
from ops.doctor.questions.machines import expected, found
from ops.doctor.questions.machines import has_machines as applies
from ops.doctor.questions.repositories import scope

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_ci.knowledge.verdict import Verdict
    from ops.doctor.questions.machines import Expected
    from ops.doctor.world.world import World

__all__ = ["CHECK", "NEEDS", "applies", "check"]

CHECK: Final = "runner-online"
NEEDS: Final = ("github-token", "machine")


def check(world: World) -> Iterator[Verdict]:
    """Yield a verdict for each machine of the stack file."""
    place = scope(world.settings)
    answer = world.github.ask(f"{place}/actions/runners")
    if answer is None:
        yield broken(
            CHECK,
            "github.url",
            seen=f"GitHub does not show the runners of {place.split('/', 2)[-1]}",
            means="the address is wrong, or the token is not of an administrator",
            fix="correct github.url, or give the token the permission that github-token names",
        )
        return
    for one in expected(world):
        yield _verdict(world, one, [each for each in answer["runners"] if each["name"].startswith(one.title)])


def _verdict(world: World, one: Expected, registered: list[dict[str, Any]]) -> Verdict:
    subject, runner = f"runners.{one.runner}", world.settings.runners[one.runner]
    online = [each for each in registered if each["status"] == "online"]
    label = BACK_ENDS[runner.back_end].runs_on(one.runner, runner).label
    if not online:
        machine = found(world, one)
        state = machine.state if machine is not None else "deleted"
        if state == "running":
            names = ", ".join(f"{each['name']} ({each['status']})" for each in registered) or "no runner"
            return broken(
                CHECK,
                subject,
                seen=f"the machine runs, and GitHub has {names}",
                means="the runner is not connected: its service failed, or HTTPS to GitHub is blocked",
                fix="read the log on the machine with `journalctl -u gpu-ci -u gpu-ci-job`; check egress-ports",
            )
        return works(CHECK, subject, f"the machine is {state}, and GitHub has no runner of it online")
    without = [each for each in online if label.casefold() not in _labels(each)]
    if without:
        return broken(
            CHECK,
            subject,
            seen=f"{without[0]['name']} is online with the labels {', '.join(sorted(_labels(without[0])))}",
            means=f"jobs with runs-on {label} do not reach it",
            fix="stop and start the machine: it registers again with the labels of the stack file",
        )
    busy = sum(bool(each["busy"]) for each in online)
    return works(CHECK, subject, f"{online[0]['name']} is online{' and busy' if busy else ''}")


def _labels(registered: dict[str, Any]) -> set[str]:
    return {str(label["name"]).casefold() for label in registered["labels"]}
