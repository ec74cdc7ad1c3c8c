"""What of a stack has no known price, and the rest of it, which is reckoned.

Owns the parting; what a month of the rest costs is `gpu.cost.month`, what is said of both `checks.money`. A machine type, a
region or a market that is only tried after another one is left out by itself: then the worst month lacks it, and no
other. What is tried first is left out with everything that it is tried with.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gpu.cost.estate import Estate
from gpu.cost.month import Case, bill, node_month
from gpu.nearest import UnknownName

if TYPE_CHECKING:
    from gpu.cost.estate import Fleet, Way


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """Something without a known price."""

    path: str
    """Where the stack file states it."""
    fault: UnknownName
    """The name that has no price."""
    later: bool = False
    """Whether it is only tried after something that has one."""


def part(estate: Estate) -> tuple[Estate, tuple[Missing, ...]]:
    """What can be reckoned, and what cannot."""
    missing: list[Missing] = []

    def priced(path: str, alone: Estate) -> bool:
        try:
            bill(alone, Case.WORST)
        except UnknownName as fault:
            missing.append(Missing(path=path, fault=fault))
            return False
        return True

    fleets = (_known_ways(fleet, missing) for fleet in estate.fleets)
    builds = ((build, _known_ways(build.machine, missing)) for build in estate.builds)
    rest = replace(
        estate,
        control_planes=tuple(one for one in estate.control_planes if priced(one.path, Estate(control_planes=(one,)))),
        networks=tuple(one for one in estate.networks if priced(one.path, Estate(networks=(one,)))),
        fleets=tuple(fleet for fleet in fleets if fleet is not None),
        builds=tuple(replace(build, machine=machine) for build, machine in builds if machine is not None),
        registries=tuple(one for one in estate.registries if priced(one.path, Estate(registries=(one,)))),
        keys=tuple(one for one in estate.keys if priced(one.path, Estate(keys=(one,)))),
    )
    paths = {fleet.path for fleet in rest.fleets}
    return replace(rest, loads=tuple(load for load in estate.loads if load.fleet in paths)), tuple(missing)


def _known_ways(fleet: Fleet, missing: list[Missing]) -> Fleet | None:
    """The fleet without what has no price; nothing where that is what is tried first."""
    machines: list[str] = []
    for name in fleet.machines:
        try:
            node_month(replace(fleet, machines=(name,), others=()))
        except UnknownName as fault:
            missing.append(Missing(path=fleet.path, fault=fault, later=bool(machines)))
            if not machines:
                return None
        else:
            machines.append(name)
    kept = replace(fleet, machines=tuple(machines), others=())
    others: list[Way] = []
    for way in fleet.others:
        try:
            for name in machines:
                node_month(replace(kept.by(way), machines=(name,)))
        except UnknownName as fault:
            missing.append(Missing(path=fleet.path, fault=fault, later=True))
        else:
            others.append(way)
    return replace(kept, others=tuple(others))
