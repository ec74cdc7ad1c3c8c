"""Kubernetes quantities and bundles of them, in whole numbers.

Owns the grammar of `k8s.io/apimachinery/pkg/api/resource` (v0.35, December 2025): what "500m", "12Gi" or "1e3" mean,
and how much of each resource a thing has. CPU is counted in millicores, memory and disk in bytes, everything else
in pieces; like the scheduler, a part of such a unit counts as a whole one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

CPU = "cpu"
MEMORY = "memory"
EPHEMERAL_STORAGE = "ephemeral-storage"
PODS = "pods"
GPU = "nvidia.com/gpu"
SHARED_GPU = "nvidia.com/gpu.shared"

KIB, MIB, GIB = 1024, 1024**2, 1024**3

_SUFFIXES: dict[str, Fraction] = {
    **{suffix: Fraction(1024) ** power for power, suffix in enumerate(("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"))},
    **{suffix: Fraction(1000) ** power for power, suffix in enumerate(("k", "M", "G", "T", "P", "E"), start=1)},
    **{suffix: Fraction(1, 1000**power) for power, suffix in enumerate(("m", "u", "n"), start=1)},
}
_QUANTITY = re.compile(r"([+-]?)(\d+\.?\d*|\.\d+)(?:([eE][+-]?\d{1,9})|([KMGTPE]i|[numkMGTPE])?)")
_MOST = 2**63 - 1


class BadQuantity(ValueError):
    """Text that is not a Kubernetes quantity."""

    def __init__(self, text: str) -> None:
        """Show what was written, and what could have been."""
        super().__init__(f"{text!r} is not a Kubernetes quantity; write 500m, 3, 512Mi or 12Gi")


def parse(text: str | float) -> Fraction:
    """The exact value of a quantity, a part of a billionth counting as a whole one."""
    written = str(text)
    found = _QUANTITY.fullmatch(written)
    if not found:
        raise BadQuantity(written)
    sign, digits, exponent, suffix = found.groups()
    # An exponent beyond what a quantity can hold would only burn time: both ends are reached long before.
    power = max(-400, min(400, int(exponent[1:]))) if exponent else 0
    value = Fraction(digits) * Fraction(10) ** power * _SUFFIXES[suffix or ""]
    value = min(Fraction(_ceiling(value * 10**9), 10**9), Fraction(_MOST))
    return -value if sign == "-" else value


def parse_cpu(text: str | float) -> int:
    """Millicores."""
    return _ceiling(parse(text) * 1000)


def parse_memory(text: str | float) -> int:
    """Bytes, of memory or of disk."""
    return _ceiling(parse(text))


def parse_amount(resource: str, text: str | float) -> int:
    """How much of `resource` is meant, in the unit that this module counts it in."""
    return parse_cpu(text) if resource == CPU else _ceiling(parse(text))


def format_cpu(millicores: int) -> str:
    """`3` or `3920m`: whole cores where they are whole."""
    return str(millicores // 1000) if millicores % 1000 == 0 else f"{millicores}m"


def format_memory(size: int) -> str:
    """The shortest exact spelling with a binary suffix, as in `12Gi` or `14481Mi`."""
    for suffix, unit in (("Ei", 2**60), ("Pi", 2**50), ("Ti", 2**40), ("Gi", GIB), ("Mi", MIB), ("Ki", KIB)):
        if size and size % unit == 0:
            return f"{size // unit}{suffix}"
    return str(size)


def format_amount(resource: str, amount: int) -> str:
    """An amount of `resource`, exactly."""
    if resource == CPU:
        return format_cpu(amount)
    return format_memory(amount) if resource in {MEMORY, EPHEMERAL_STORAGE} else str(amount)


def describe(resource: str, amount: int) -> str:
    """An amount of `resource` for a person: rounded down, so that it never promises more than there is."""
    if resource == CPU:
        return f"{_decimal(amount // 10, 2)} CPU"
    if resource in {MEMORY, EPHEMERAL_STORAGE}:
        of = "" if resource == MEMORY else " of disk"
        return f"{amount // MIB}Mi{of}" if abs(amount) < GIB else f"{_decimal(amount * 10 // GIB, 1)}Gi{of}"
    return f"{amount} {resource}"


def _decimal(value: int, places: int) -> str:
    """A whole number with a point before its last places, without idle noughts."""
    whole, part = divmod(value, 10**places)
    return f"{whole}.{part:0{places}d}".rstrip("0").rstrip(".")


@dataclass(frozen=True, slots=True)
class Resources:
    """How much there is, or is asked for, of each resource. What is not named is none."""

    amounts: tuple[tuple[str, int], ...] = ()
    """Resource and amount, sorted by resource, none of them zero: equal bundles are equal objects."""

    @classmethod
    def of(cls, amounts: Mapping[str, int]) -> Resources:
        """A bundle from amounts in this module's units."""
        return cls(tuple(sorted((name, amount) for name, amount in amounts.items() if amount)))

    @classmethod
    def parse(cls, quantities: Mapping[str, str | float] | None) -> Resources:
        """A bundle from quantities as a manifest spells them."""
        return cls.of({name: parse_amount(name, text) for name, text in (quantities or {}).items()})

    def __getitem__(self, resource: str) -> int:
        """The amount of one resource."""
        return dict(self.amounts).get(resource, 0)

    def __add__(self, other: Resources) -> Resources:
        """Both together."""
        total = dict(self.amounts)
        for name, amount in other.amounts:
            total[name] = total.get(name, 0) + amount
        return Resources.of(total)

    def __sub__(self, other: Resources) -> Resources:
        """What is left; below zero where `other` is more."""
        return self + Resources(tuple((name, -amount) for name, amount in other.amounts))

    def __or__(self, other: Resources) -> Resources:
        """The larger of the two, resource by resource."""
        return Resources.of({name: max(self[name], other[name]) for name in self.names | other.names})

    @property
    def names(self) -> frozenset[str]:
        """The resources of which there is any."""
        return frozenset(name for name, _ in self.amounts)

    def with_amount(self, resource: str, amount: int) -> Resources:
        """The same with one amount set anew."""
        return Resources.of({**dict(self.amounts), resource: amount})


NOTHING = Resources()
"""None of anything."""


def total(bundles: Iterable[Resources]) -> Resources:
    """All of them together."""
    result = NOTHING
    for bundle in bundles:
        result += bundle
    return result


def _ceiling(value: Fraction) -> int:
    """The next whole number away from zero, as the API server rounds."""
    return -((-value.numerator) // value.denominator) if value >= 0 else value.numerator // value.denominator
