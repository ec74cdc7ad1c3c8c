"""Rules that both back ends of cirun share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gpu_ci.back_ends.shared.cirun.section import CirunSection
from gpu_ci.knowledge.nearest import did_you_mean
from gpu_ci.stack_file.faults import Fault, listed
from gpu_ci.stack_file.rules.stated import Reference, Rule, Stated
from gpu_ci.stack_file.sections.cirun import ONE_LINE, cirun_label
from gpu_ci.stack_file.sections.settings import Settings


def cirun_has_access(settings: Settings, stated: Stated) -> Iterator[Fault]:
    """Require access for cirun in the cloud of each runner that it serves."""
    if settings.cirun is None and "cirun" in stated.sections:
        return
    needy: dict[str, list[str]] = {}
    for name, _, section in settings.served(CirunSection):
        needy.setdefault(section.CLOUD, []).append(f"runners.{name}")
    enabled = {"aws": settings.cirun.aws, "gcp": settings.cirun.gcp} if settings.cirun is not None else {}
    for cloud, paths in needy.items():
        if not enabled.get(cloud):
            verb = "needs" if len(paths) == 1 else "need"
            yield Fault(
                f"cirun.{cloud}", f"not enabled, but {listed(paths)} {verb} it", f"state cirun: {{{cloud}: true}}"
            )


def access_names_runners(settings: Settings, stated: Stated) -> Iterator[Fault]:
    """Look for the runners of `cirun.access`; a runner that no entry names cannot be started."""
    access = settings.cirun.access if settings.cirun is not None else {}
    served = _served(settings)
    for name, entry in access.items():
        for index, runner in enumerate(entry.runners):
            yield from _not_served(f"cirun.access.{name}.runners[{index}]", runner, settings, stated)
    named = {runner for entry in access.values() for runner in entry.runners}
    for runner in served:
        if access and runner not in named:
            yield Fault(
                f"runners.{runner}", "no entry of cirun.access names it, so no job can start it", "add it to an entry"
            )


def labels_differ(settings: Settings, stated: Stated) -> Iterator[Fault]:
    """Reject a label of two runners, and one that cirun reads as a machine.

    `cirun-CLOUD-TYPE-IMAGE` starts that machine without an entry in a file (AktechLabs/cirun-docs, 18 May 2026).
    """
    served = _served(settings)
    taken = {name: name for name in stated.entries["runners"] if name not in served}
    for name in served:
        path, label = f"runners.{name}", cirun_label(name)
        if label in taken:
            yield Fault(path, f"has the label {label}, as has runners.{taken[label]}", "rename one of them")
        elif ONE_LINE.fullmatch(label):
            problem = f"cirun reads the label {label} as CLOUD-TYPE-IMAGE and starts that machine"
            yield Fault(path, problem, "rename the runner, for example with the cloud's name last")
        taken.setdefault(label, name)


def _not_served(path: str, runner: str, settings: Settings, stated: Stated) -> Iterator[Fault]:
    """Report a runner that does not exist or that cirun does not serve; of a faulty runner nothing is known."""
    served = _served(settings)
    if runner not in stated.entries["runners"]:
        yield Fault(path, f'"{runner}" is not in runners', did_you_mean(runner, served))
    elif runner in settings.runners and runner not in served:
        yield Fault(path, f"cirun does not serve {runner}", did_you_mean(runner, served))


def _served(settings: Settings) -> list[str]:
    return list(dict.fromkeys(name for name, *_ in settings.served(CirunSection)))


RULES: Final[tuple[Rule, ...]] = ()
REFERENCES: Final[tuple[Reference, ...]] = (
    cirun_has_access,
    access_names_runners,
    labels_differ,
)
