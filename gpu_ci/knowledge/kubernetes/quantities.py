"""Kubernetes quantities and sets of them, in whole numbers.

The grammar is the part of `k8s.io/apimachinery/pkg/api/resource` (v0.35, December 2025) that this project writes: "3",
"500m", "12Gi". CPU is counted in millicores, memory and disk in bytes, everything else in pieces. Fractions of a unit
are rounded up, as in the scheduler.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

CPU = "cpu"
MEMORY = "memory"
EPHEMERAL_STORAGE = "ephemeral-storage"
PODS = "pods"

MIB, GIB = 1024**2, 1024**3

_SUFFIXES: dict[str, Fraction] = {
    "m": Fraction(1, 1000),
    **{suffix: Fraction(1024) ** power for power, suffix in enumerate(("", "Ki", "Mi", "Gi", "Ti"))},
}
_QUANTITY = re.compile(r"(\d+(?:\.\d+)?)(m|[KMGT]i)?")


class BadQuantity(ValueError):
    """Text that is not a Kubernetes quantity."""

    def __init__(self, text: str) -> None:
        """Show the text and examples of quantities."""
        super().__init__(f"{text!r} is not a Kubernetes quantity; write 500m, 3, 512Mi or 12Gi")


def parse_amount(resource: str, text: str | float) -> int:
    """Return an amount of `resource` in the unit of this module."""
    found = _QUANTITY.fullmatch(str(text))
    if not found:
        raise BadQuantity(str(text))
    value = Fraction(found[1]) * _SUFFIXES[found[2] or ""]
    return math.ceil(value * 1000 if resource == CPU else value)


def format_cpu(millicores: int) -> str:
    """Return `3` for whole cores, otherwise millicores, for example `3920m`."""
    return str(millicores // 1000) if millicores % 1000 == 0 else f"{millicores}m"


def format_memory(size: int) -> str:
    """Return the shortest exact text with a binary suffix, for example `12Gi` or `14481Mi`."""
    for suffix, unit in (("Ti", 2**40), ("Gi", GIB), ("Mi", MIB), ("Ki", 1024)):
        if size and size % unit == 0:
            return f"{size // unit}{suffix}"
    return str(size)


def format_amount(resource: str, amount: int) -> str:
    """Return the exact text of an amount of `resource`."""
    if resource == CPU:
        return format_cpu(amount)
    return format_memory(amount) if resource in {MEMORY, EPHEMERAL_STORAGE} else str(amount)


def describe(resource: str, amount: int) -> str:
    """Return an amount of `resource` for people, rounded down, so that it never promises too much."""
    if resource == CPU:
        return f"{_decimal(amount // 10, 2)} CPU"
    if resource in {MEMORY, EPHEMERAL_STORAGE}:
        of = "" if resource == MEMORY else " of disk"
        return f"{amount // MIB}Mi{of}" if abs(amount) < GIB else f"{_decimal(amount * 10 // GIB, 1)}Gi{of}"
    return f"{amount} {resource}"


def _decimal(value: int, places: int) -> str:
    """Return a number with a decimal point before its last places, without trailing zeros."""
    whole, part = divmod(value, 10**places)
    return f"{whole}.{part:0{places}d}".rstrip("0").rstrip(".")


@dataclass(frozen=True, slots=True)
class Resources:
    """An amount of each resource; 0 for a resource that is not named."""

    amounts: tuple[tuple[str, int], ...] = ()
    """Resource and amount, sorted by resource, without zeros: equal sets are equal objects."""

    @classmethod
    def of(cls, amounts: Mapping[str, int]) -> Resources:
        """Return a set of amounts in the units of this module."""
        return cls(tuple(sorted((name, amount) for name, amount in amounts.items() if amount)))

    @classmethod
    def parse(cls, quantities: Mapping[str, str | float] | None) -> Resources:
        """Return a set of quantities as a manifest states them."""
        return cls.of({name: parse_amount(name, text) for name, text in (quantities or {}).items()})

    def __getitem__(self, resource: str) -> int:
        """Return the amount of one resource."""
        return dict(self.amounts).get(resource, 0)

    def __add__(self, other: Resources) -> Resources:
        """Return the sum."""
        total = dict(self.amounts)
        for name, amount in other.amounts:
            total[name] = total.get(name, 0) + amount
        return Resources.of(total)

    def __sub__(self, other: Resources) -> Resources:
        """Return the difference; negative where `other` is larger."""
        return self + Resources(tuple((name, -amount) for name, amount in other.amounts))

    @property
    def names(self) -> frozenset[str]:
        """Return the resources whose amount is not 0."""
        return frozenset(name for name, _ in self.amounts)

    def with_amount(self, resource: str, amount: int) -> Resources:
        """Return a copy with a different amount of one resource."""
        return Resources.of({**dict(self.amounts), resource: amount})


NOTHING = Resources()
"""The empty set."""


def total(bundles: Iterable[Resources]) -> Resources:
    """Return the sum of all."""
    result = NOTHING
    for bundle in bundles:
        result += bundle
    return result
