"""Check the instances of Jarvis Labs that workflows start."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from gpu_ci.knowledge.regions import Cloud
from ops.doctor.finding import broken, doubtful, works
from ops.kit import stack as kit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_ci.knowledge.verdict import Verdict
    from gpu_ci.stack_file.sections.settings import Settings
    from ops.doctor.world.world import World

CHECK: Final = "jarvis-instance"
NEEDS: Final = ()
FACTS: Final = "/instances.json"
"""The end of the path of the generated file that describes the machines."""


def applies(settings: Settings) -> bool:
    """Return whether a workflow starts an instance of Jarvis Labs."""
    sections = [section for runner in settings.runners.values() for section in runner.stated.values()]
    return any(getattr(section, "jarvis", None) is not None for section in sections)


def check(world: World) -> Iterator[Verdict]:
    """Yield a verdict for each instance of the stack file."""
    instances = world.jarvis.ask("instances.list")
    for runner, facts in _stated(world):
        named = [one for one in instances if one["name"] == facts["name"]]
        yield _verdict(f"runners.{runner}", facts, named)


def _stated(world: World) -> Iterator[tuple[str, dict[str, Any]]]:
    files = kit.files(world.settings, world.stack.identity)
    for path, text in files.items():
        if path.endswith(FACTS):
            yield from (
                (name, facts) for name, facts in json.loads(text).items() if facts["cloud"] == Cloud.JARVIS.value
            )


def _verdict(subject: str, facts: dict[str, Any], named: list[dict[str, Any]]) -> Verdict:
    name = facts["name"]
    if len(named) > 1:
        return broken(
            CHECK,
            subject,
            seen=f'{len(named)} instances have the name "{name}"',
            means="the workflow refuses to choose one, and each costs money",
            fix="destroy all but one at https://jarvislabs.ai",
        )
    if not named:
        return works(CHECK, subject, f'there is no instance "{name}"; the next run of its workflow creates it')
    one = named[0]
    status = one["status"]
    if status in {"Failed", "Destroying", "Destroyed"}:
        return broken(
            CHECK,
            subject,
            seen=f'the instance "{name}" is {status}',
            means="the workflow cannot resume it",
            fix="destroy it at https://jarvislabs.ai; the next run creates another one",
        )
    if (one["gpu_type"], one["num_gpus"]) != (facts["gpu"], facts["gpus"]) and status != "Running":
        return doubtful(
            CHECK,
            subject,
            seen=f'the instance "{name}" has {one["num_gpus"]} {one["gpu_type"]}',
            means=f"the stack file states {facts['gpus']} {facts['gpu']}; the next resume requests them",
            fix="run the workflow, or destroy the instance",
        )
    if status == "Running":
        return doubtful(
            CHECK,
            subject,
            seen=f'the instance "{name}" runs',
            means="it costs money until its workflow pauses it; the sweep pauses it at its limit",
            fix="if no job runs, pause it at https://jarvislabs.ai, and look for a cancelled run",
        )
    return works(CHECK, subject, f'the instance "{name}" is {status}')
