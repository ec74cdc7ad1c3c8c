"""What a stack costs in a month of 730 hours, line by line: idle, expected, and at its worst.

Idle is what is there when no job comes. Expected adds the stated jobs, each with the start of its machine, the minutes
until that goes again, and what is lost to interruptions; jobs that share a machine, or find one still warm, cost less
than that, so the figure is on the high side. Worst is everything at its maximum for the whole month, with the dearest
of the machine types, markets and regions. Money is `Decimal` throughout: products and sums are exact, and the only
rounding is of hours and gigabyte-months that jobs take, to a millionth. Traffic out of the cloud, support plans and
taxes are not reckoned.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from typing import TYPE_CHECKING

from gpu.cost.estate import BUILDS_A_MONTH
from gpu.cost.jobs import Length, Strategy, Terms, exact, outcome
from gpu.cost.prices import HOURS_A_MONTH, Price
from gpu.cost.prices_aws import GP3_FREE_IOPS, GP3_FREE_MIBPS, aws_price, ec2_price
from gpu.cost.prices_gcp import gce_price, gcp_disk_price, gcp_price
from gpu.regions import Cloud

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gpu.cost.estate import Build, ControlPlane, Estate, Fleet, Load, Network

_MICRO = Decimal("0.000001")
_NOTHING = Decimal(0)


class Case(StrEnum):
    """Which month."""

    IDLE = "idle"
    EXPECTED = "expected"
    WORST = "worst"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One item of a bill."""

    path: str
    """Where the stack file states what costs this."""
    what: str
    quantity: Decimal
    unit_price: Price

    @property
    def month(self) -> Decimal:
        """What it comes to, exactly."""
        return self.quantity * self.unit_price.usd


@dataclass(frozen=True, slots=True, kw_only=True)
class Bill:
    """A month."""

    case: Case
    lines: tuple[Line, ...]

    @property
    def total(self) -> Decimal:
        """The sum of all lines, exactly."""
        return sum((line.month for line in self.lines), _NOTHING)

    def by_path(self) -> dict[str, Decimal]:
        """What each stated thing comes to, dearest first."""
        sums: dict[str, Decimal] = {}
        for line in self.lines:
            sums[line.path] = sums.get(line.path, _NOTHING) + line.month
        return dict(sorted(sums.items(), key=lambda item: (-item[1], item[0])))


def bill(estate: Estate, case: Case) -> Bill:
    """The month of that case. Something without a known price raises `UnknownName`."""
    return Bill(case=case, lines=tuple(line for line in _lines(estate, case) if line.quantity))


def machine_price(fleet: Fleet, name: str) -> Price:
    """An hour of one of a fleet's machine types, without its disk."""
    if fleet.cloud is Cloud.AWS:
        return ec2_price(name, fleet.region, spot=fleet.spot)
    return gce_price(name, fleet.region, spot=fleet.spot, gpu=fleet.gpu, gpus=fleet.gpus)


def node_month(fleet: Fleet) -> Decimal:
    """What one machine of a fleet costs that stays for a month, its disk included."""
    hours = Decimal(HOURS_A_MONTH)
    return machine_price(fleet, fleet.machines[0]).usd * hours + disk_month(fleet)


def disk_month(fleet: Fleet) -> Decimal:
    """What the disk of one machine costs that stays, or is stopped, for a month."""
    return sum((line.month for line in _disk_lines(fleet, Decimal(HOURS_A_MONTH))), _NOTHING)


def _lines(estate: Estate, case: Case) -> Iterator[Line]:
    for cluster in estate.control_planes:
        yield from _control_plane(cluster, case)
    for network in estate.networks:
        yield from _network(network, case)
    loads: dict[str, list[Load]] = {}
    for load in estate.loads:
        loads.setdefault(load.fleet, []).append(load)
    for fleet in estate.fleets:
        yield from _fleet(fleet, loads.get(fleet.path, []), case)
    for registry in estate.registries:
        if registry.cloud is Cloud.AWS:
            price = aws_price("ecr-storage", registry.region)
        else:
            price = gcp_price("registry-storage")
        yield Line(path=registry.path, what="images", quantity=registry.gb, unit_price=price)
    for images in estate.host_images:
        price = gcp_price("image-storage")
        yield Line(path=images.path, what="images of machines", quantity=images.gb, unit_price=price)
    for build in estate.builds:
        yield from _build(build, case)
    for keys in estate.keys:
        price = aws_price("kms-key", keys.region)
        yield Line(path=keys.path, what="encryption keys", quantity=Decimal(keys.count), unit_price=price)


def _control_plane(cluster: ControlPlane, case: Case) -> Iterator[Line]:
    support = "extended" if cluster.extended or (case is Case.WORST and cluster.may_extend) else "standard"
    for what, item, quantity in (
        (f"control plane, {support} support", f"eks-{support}", Decimal(HOURS_A_MONTH)),
        ("control-plane logs, written", "logs-ingestion", cluster.logs_gb),
        ("control-plane logs, kept", "logs-storage", (cluster.logs_gb * cluster.retention_days / 30).quantize(_MICRO)),
    ):
        yield Line(path=cluster.path, what=what, quantity=quantity, unit_price=aws_price(item, cluster.region))


def _network(network: Network, case: Case) -> Iterator[Line]:
    hours = Decimal(HOURS_A_MONTH * network.gateways)
    for what, item, quantity in (
        ("NAT gateways", "nat-gateway", hours),
        ("their public addresses", "public-ipv4", hours),
        ("traffic through them", "nat-traffic", _NOTHING if case is Case.IDLE else network.traffic_gb),
    ):
        yield Line(path=network.path, what=what, quantity=quantity, unit_price=aws_price(item, network.region))


def _build(build: Build, case: Case) -> Iterator[Line]:
    """What an image's machines cost when each runs for as long as it may."""
    times = BUILDS_A_MONTH * (build.attempts if case is Case.WORST else 1)
    hours = (Decimal(build.minutes * times) / 60).quantize(_MICRO)
    yield from _machines(build.machine, hours, case, f" {build.what}")


def _fleet(fleet: Fleet, loads: list[Load], case: Case) -> Iterator[Line]:
    yield from _machines(fleet, fleet_hours(fleet, loads, case), case)


def _machines(fleet: Fleet, hours: Decimal, case: Case, what: str = "") -> Iterator[Line]:
    ways = [fleet]
    if case is Case.WORST:
        every = (fleet, *(fleet.by(way) for way in fleet.others))
        ways = [replace(way, machines=(name,)) for way in every for name in fleet.machines]
    dearest = max(ways, key=node_month)
    price = machine_price(dearest, dearest.machines[0])
    bought = "spot, bounded by the on-demand price" if price.bound else "spot" if dearest.spot else "on-demand"
    yield Line(path=fleet.path, what=f"{dearest.machines[0]}{what}, {bought}", quantity=hours, unit_price=price)
    yield from _disk_lines(dearest, hours)


def _disk_lines(fleet: Fleet, hours: Decimal) -> Iterator[Line]:
    disk = fleet.disk
    months = hours / HOURS_A_MONTH
    if fleet.cloud is Cloud.AWS:
        for what, item, amount in (
            ("gp3 disks", "gp3-storage", disk.gib),
            ("their IOPS beyond 3000", "gp3-iops", max(0, disk.iops - GP3_FREE_IOPS)),
            ("their throughput beyond 125 MiB/s", "gp3-throughput", max(0, disk.mibps - GP3_FREE_MIBPS)),
        ):
            quantity = (amount * months).quantize(_MICRO)
            yield Line(path=fleet.path, what=what, quantity=quantity, unit_price=aws_price(item, fleet.region))
    else:
        price = gcp_disk_price(disk.kind, fleet.region)
        quantity = (disk.gib * months).quantize(_MICRO)
        yield Line(path=fleet.path, what=f"{disk.kind} disks", quantity=quantity, unit_price=price)


def fleet_hours(fleet: Fleet, loads: list[Load], case: Case) -> Decimal:
    """Machine hours in a month of that case."""
    waiting = -(-sum(load.min_runners for load in loads) // fleet.jobs_per_node)
    kept = max(fleet.min_size, waiting)
    if fleet.max_size is not None:
        kept = min(kept, fleet.max_size)
    idle = Decimal(HOURS_A_MONTH * kept)
    if case is Case.IDLE:
        return idle
    expected = max(idle, job_hours(fleet, loads))
    most = None if fleet.max_size is None else Decimal(HOURS_A_MONTH * fleet.max_size)
    if case is Case.EXPECTED:
        return expected if most is None else min(expected, most)
    if most is not None:
        return most
    longest = (Length(minutes=max(load.minutes, load.limit_minutes)) for load in loads)
    return max(
        expected, sum((_hours(fleet, load, length) for load, length in zip(loads, longest, strict=True)), _NOTHING)
    )


def job_hours(fleet: Fleet, loads: Iterable[Load]) -> Decimal:
    """Machine hours that the stated jobs take in a month, were there as many machines as jobs."""
    return sum((_hours(fleet, load, _length(load)) for load in loads), _NOTHING)


def job_minutes(loads: Iterable[Load]) -> Decimal:
    """Minutes of the stated jobs in a month, by their mean."""
    return sum((Decimal(_length(load).mean).quantize(_MICRO) * load.jobs_per_month for load in loads), _NOTHING)


def _length(load: Load) -> Length:
    return Length(minutes=load.minutes, p95=load.p95_minutes, limit=load.limit_minutes or None)


def _hours(fleet: Fleet, load: Load, length: Length) -> Decimal:
    """Machine hours of a runner's jobs, each on a machine of its own, attempts that were lost included."""
    terms = Terms(
        length=length,
        rate=fleet.interruptions if fleet.spot else 0.0,
        spot_hour=_NOTHING,
        on_demand_hour=_NOTHING,
        start_minutes=fleet.start_minutes,
    )
    each = exact(outcome(terms, Strategy.SPOT).spot_hours + fleet.tail_minutes / 60)
    # A job that never survives an attempt keeps its machines busy for good; a month holds no more than 730 hours.
    return min(each, Decimal(HOURS_A_MONTH)) * load.jobs_per_month
