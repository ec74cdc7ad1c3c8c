"""Applies every rule to what is asked, and says what came of it, or why it holds.

What contradicts what is for `hardware` and `software`, what ends when for `ends`; this module knows no rule itself.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from gpu.software.compatibility.case import Ask, Case, look_up
from gpu.software.compatibility.end_of_life import ENDS
from gpu.software.compatibility.finding import Finding, dotted_driver, identity, open_or_proprietary
from gpu.software.compatibility.hardware import HARDWARE
from gpu.software.compatibility.software import SOFTWARE
from gpu.software.cuda import FLOORS, Support, support
from gpu.software.drivers import AS_OF
from gpu.verdict import Level, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date

    from gpu.nearest import UnknownName

CHECK = "compatibility"


def solve(ask: Ask, *, as_of: date = AS_OF) -> tuple[Verdict, ...]:
    """Everything that is wrong with the asking, gravest first; one verdict that explains why it holds if nothing is.

    A part that has a place of its own and cannot be right is told once, there, with nothing else that it does.
    """
    places = dict(ask.places)
    told: set[str] = set()
    found: list[Verdict] = []
    for finding in _findings(replace(ask, path=""), as_of):
        blamed = next((term for term in reversed(finding.terms) if term in places), "")
        if blamed and blamed in told:
            continue
        if finding.level is Level.ERROR:
            told.add(blamed)
        found.append(
            Verdict(
                check=CHECK,
                level=finding.level,
                subject=places.get(blamed, ask.path),
                reason=finding.reason,
                fix=finding.fix,
                chain=finding.chain,
            )
        )
    return tuple(found)


def conflicts(ask: Ask, *, as_of: date = AS_OF) -> tuple[tuple[str, ...], ...]:
    """The smallest contradictions in the asking, each as the parts that take part in it."""
    return tuple(
        dict.fromkeys(
            finding.terms for finding in _findings(replace(ask, path=""), as_of) if finding.level is Level.ERROR
        )
    )


@lru_cache(maxsize=4096)
def _findings(ask: Ask, as_of: date) -> tuple[Finding, ...]:
    case, unknown = look_up(ask, as_of)
    found = [_unknown(term, fault) for term, fault in unknown]
    found += [finding for rule in (*HARDWARE, *SOFTWARE, *ENDS) for finding in rule(case)]
    found = [finding for finding in found if not set(finding.terms) <= set(ask.elsewhere)]
    gravest = sorted(found, key=lambda finding: finding.level is not Level.ERROR)
    return tuple(dict.fromkeys(gravest)) or (_holds(case),)


def _unknown(term: str, fault: UnknownName) -> Finding:
    hint = fault.nearest or ", ".join(fault.known)
    return Finding(
        level=Level.ERROR,
        terms=(term,),
        reason=f"{fault.name} is not a known {fault.kind}",
        fix=f"did you mean {hint}?" if fault.nearest else f"name one of {hint}",
        chain=("what a name that is not in the tables brings cannot be judged, and is not guessed",),
    )


def _holds(case: Case) -> Finding:
    chain = tuple(_explained(case))
    parts = [*(model.slug for model in case.gpus)]
    if case.driver:
        parts.append(f"driver {case.driver.label}")
    parts += [runtime.label for runtime in case.runtimes]
    reason = f"{', '.join(parts)} go together" if len(parts) > 1 else "nothing contradicts it"
    return Finding(level=Level.OK, terms=(), reason=reason, fix="", chain=chain)


def _explained(case: Case) -> Iterator[str]:
    for model in case.gpus:
        yield identity(model)
        yield open_or_proprietary(model)
    driver = case.driver
    if driver:
        yield f"{driver.name} is of {driver.branch.label}, a {driver.branch.designation} branch"
    for runtime in case.runtimes:
        wanted = runtime.toolkit
        for model in case.gpus:
            yield f"{runtime.label} supports {model.sm}"
        if driver and support(driver, wanted) is Support.FULL:
            yield f"{runtime.label} needs driver {dotted_driver(wanted.driver)}, and {driver.label} is that or newer"
        elif not driver:
            yield f"{runtime.label} needs driver {dotted_driver(FLOORS[wanted.version[0]])} or newer"
