"""The cost of a stack in a month of 730 hours: idle, expected and worst.

Idle is the cost without a job. Expected adds the stated jobs, each on a machine of its own: its start, its minutes, the
minutes until the machine is removed, attempts lost to interruptions, and the useless machine that follows a lost one.
Jobs that share a machine or find a warm one cost less, so the figure is on the high side. Worst has every machine at
its maximum for the whole month, at the most expensive of its types, markets and regions.
`gpu_ci.knowledge.cost.running` has the hours of a machine that exists between jobs; its disk and its alarms cost the
whole month, also while it is stopped. Sums of money are exact decimals. Egress traffic, support plans and taxes are not
included, and neither are schedulers and the functions that they start, which cost less than a cent a month.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from typing import Final

from gpu_ci.knowledge.cost.jobs import JobLoad, machine_hours
from gpu_ci.knowledge.cost.prices import HOURS_A_MONTH, NoPrice, Price, Source, Unit
from gpu_ci.knowledge.cost.prices_aws import aws_price, ebs_price, ec2_price
from gpu_ci.knowledge.cost.prices_gcp import GCP_ITEMS, gce_price, gcp_disk_price
from gpu_ci.knowledge.cost.prices_jarvis import jarvis_price, jarvis_storage_price
from gpu_ci.knowledge.cost.running import expected_hours, idle_hours, worst_hours
from gpu_ci.knowledge.machines.groups import MachineGroup, Placement
from gpu_ci.knowledge.regions import Cloud

_MICRO: Final = Decimal("0.000001")
_MONTH: Final = Decimal(HOURS_A_MONTH)
_STATED: Final = Source(name="the stack file", read="as stated in instance-types")


class Case(StrEnum):
    """One of the three months."""

    IDLE = "idle"
    EXPECTED = "expected"
    WORST = "worst"


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """The units of an item in each month."""

    idle: Decimal = Decimal(0)
    expected: Decimal = Decimal(0)
    worst: Decimal = Decimal(0)

    @classmethod
    def always(cls, units: Decimal) -> Quantity:
        """Return the same units in every month."""
        return cls(idle=units, expected=units, worst=units)

    def hours_as_months(self) -> Quantity:
        """Return a quantity of hours in months."""
        idle, expected, worst = ((hours / _MONTH).quantize(_MICRO) for hours in (self.idle, self.expected, self.worst))
        return Quantity(idle=idle, expected=expected, worst=worst)

    def of(self, case: Case) -> Decimal:
        """Return the units of one month."""
        return {Case.IDLE: self.idle, Case.EXPECTED: self.expected, Case.WORST: self.worst}[case]


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One item of the bill."""

    path: str
    """The path in the stack file of the part that costs this."""
    what: str
    price: Price | NoPrice
    quantity: Quantity
    worst_only: bool = False
    """True for a machine that is only tried after another one, so that only the worst month contains it."""

    def usd(self, case: Case) -> Decimal:
        """Return the cost in one month, exactly; 0 where no price is known."""
        return Decimal(0) if isinstance(self.price, NoPrice) else self.price.usd * self.quantity.of(case)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bill:
    """All items of a stack."""

    items: tuple[Item, ...]

    @property
    def unpriced(self) -> dict[NoPrice, list[Item]]:
        """The items without a price, by the price that is missing."""
        found: dict[NoPrice, list[Item]] = {}
        for item in self.items:
            if isinstance(item.price, NoPrice):
                found.setdefault(item.price, []).append(item)
        return found

    def total(self, case: Case) -> Decimal:
        """Return the cost of one month, exactly."""
        return sum((item.usd(case) for item in self.items), Decimal(0))

    def by_path(self, case: Case) -> dict[str, Decimal]:
        """Return the cost of each part of the stack file."""
        sums: dict[str, Decimal] = {}
        for item in self.items:
            sums[item.path] = sums.get(item.path, Decimal(0)) + item.usd(case)
        return sums


@dataclass(frozen=True, slots=True, kw_only=True)
class PricedMachine:
    """A machine type in one placement, with its prices."""

    type: str
    spot: bool
    hour: Price
    """The price of an hour without the disk."""
    disk: Price
    """The price of its disk for a month."""

    @property
    def month(self) -> Decimal:
        """The cost of one machine that runs for a month."""
        return self.hour.usd * HOURS_A_MONTH + self.disk.usd

    @property
    def label(self) -> str:
        """The type and the market."""
        if self.hour.bound:
            return f"{self.type}, spot, bounded by the on-demand price"
        return f"{self.type}, {'spot' if self.spot else 'on-demand'}"


def priced(group: MachineGroup, name: str, placement: Placement) -> PricedMachine | NoPrice:
    """Return the prices of one machine type of a group in one placement."""
    machine = group.catalogue.machine(group.cloud, name)
    hour: Price | NoPrice
    if machine.hour is not None:
        hour = Price(usd=machine.hour, unit=Unit.HOUR, source=_STATED, bound=placement.spot)
    elif machine.stated:
        hour = NoPrice(item=name, table=f"instance-types.{name}.price-per-hour", known=())
    elif group.cloud is Cloud.AWS:
        hour = ec2_price(name, placement.region, spot=placement.spot)
    elif group.cloud is Cloud.GCP:
        hour = gce_price(name, placement.region, spot=placement.spot, gpu=group.attached_gpu, gpus=group.attached_gpus)
    else:
        hour = jarvis_price(name)
    disk = disk_price(group, placement)
    if isinstance(hour, NoPrice):
        return hour
    return disk if isinstance(disk, NoPrice) else PricedMachine(type=name, spot=placement.spot, hour=hour, disk=disk)


def disk_price(group: MachineGroup, placement: Placement) -> Price | NoPrice:
    """Return the price of the root disk of one machine for a month."""
    if group.cloud is Cloud.JARVIS:
        return jarvis_storage_price(group.disk)
    return (ebs_price if group.cloud is Cloud.AWS else gcp_disk_price)(group.disk, placement.region)


def expected_machine(group: MachineGroup) -> PricedMachine | NoPrice:
    """Return the prices of the machine that is tried first."""
    return priced(group, group.types[0], group.expected)


def machine_items(group: MachineGroup, hours: Quantity, purpose: str = "") -> Iterator[Item]:
    """Yield the items of machines that run for these hours; only the unpriced ones where the first has no price."""
    first = expected_machine(group)
    if isinstance(first, NoPrice):
        yield Item(path=group.path, what=group.types[0], price=first, quantity=hours)
        return
    known = [first]
    for placement in group.placements:
        for name in group.types:
            machine = priced(group, name, placement)
            if isinstance(machine, PricedMachine):
                known.append(machine)
            else:
                yield Item(path=group.path, what=name, price=machine, quantity=Quantity(), worst_only=True)
    dearest = max(known, key=lambda machine: machine.month)
    disks = Quantity.always(Decimal(1)) if group.running is not None else hours.hours_as_months()
    for machine, used, disk in (
        (first, replace(hours, worst=Decimal(0)), replace(disks, worst=Decimal(0))),
        (dearest, Quantity(worst=hours.worst), Quantity(worst=disks.worst)),
    ):
        yield Item(path=group.path, what=f"{machine.label}{purpose}", price=machine.hour, quantity=used)
        yield Item(path=group.path, what=f"root disk{purpose}", price=machine.disk, quantity=disk)


def running_items(group: MachineGroup, hours: Quantity) -> Iterator[Item]:
    """Yield what a machine that exists between jobs costs besides its hours and its disk."""
    time, region = group.running, group.expected.region
    if time is None or group.cloud is Cloud.JARVIS:
        return
    on_aws = group.cloud is Cloud.AWS
    items = [("public address", "public-ipv4", hours if time.public_address else Quantity())]
    items.append(("alarms", "alarm", Quantity.always(Decimal(time.alarms))))
    if on_aws:  # Google Cloud includes 150 MiB a month, and these figures take less than one.
        published = hours.hours_as_months()
        every = {case: published.of(case) * time.metrics for case in Case}
        figures = Quantity(idle=every[Case.IDLE], expected=every[Case.EXPECTED], worst=every[Case.WORST])
        items.append(("figures for the alarms", "metric", figures))
    for what, item, quantity in items:
        if quantity.worst:
            price = aws_price(item, region) if on_aws else GCP_ITEMS[item]
            yield Item(path=group.path, what=what, price=price, quantity=quantity)


def group_hours(group: MachineGroup, loads: Sequence[JobLoad]) -> Quantity:
    """Return the machine hours of a group in each month."""
    if group.running is not None:
        return Quantity(
            idle=idle_hours(group.running),
            expected=expected_hours(group.running, loads, group.expected_rate),
            worst=worst_hours(group.running),
        )
    for_idle_runners = -(-sum(load.idle for load in loads) // group.jobs_per_machine)
    worst = _MONTH * group.max
    idle = min(_MONTH * max(group.min, for_idle_runners), worst)
    return Quantity(idle=idle, expected=min(max(idle, job_hours(group, loads)), worst), worst=worst)


def job_hours(group: MachineGroup, loads: Iterable[JobLoad]) -> Decimal:
    """Return the machine hours of the stated jobs, each on a machine of its own."""
    rate = group.expected_rate
    return sum(
        (
            # A machine costs at most a whole month, however often its job is interrupted.
            load.jobs_per_month
            * min(
                Decimal(
                    machine_hours(load.mean_minutes, rate, after_loss=group.minutes_after_loss)
                    + group.idle_minutes / 60
                ).quantize(_MICRO),
                _MONTH,
            )
            for load in loads
        ),
        Decimal(0),
    )
