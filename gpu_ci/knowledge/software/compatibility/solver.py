"""Apply the rules to a query."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from functools import lru_cache
from typing import TYPE_CHECKING

from gpu_ci.knowledge.nearest import UnknownName
from gpu_ci.knowledge.software.architectures import KernelModule, architecture
from gpu_ci.knowledge.software.compatibility.hardware import HARDWARE
from gpu_ci.knowledge.software.compatibility.query import Finding, Query, look_up
from gpu_ci.knowledge.software.compatibility.remedies import identity
from gpu_ci.knowledge.software.compatibility.software import SOFTWARE
from gpu_ci.knowledge.software.cuda import FLOORS, Support, support
from gpu_ci.knowledge.software.drivers import AS_OF, written
from gpu_ci.knowledge.verdict import Level

if TYPE_CHECKING:
    from gpu_ci.knowledge.software.compatibility.query import Case


@lru_cache(maxsize=4096)
def findings(query: Query, *, as_of: date = AS_OF) -> tuple[Finding, ...]:
    """Return all errors and then all warnings; empty where everything is compatible.

    `as_of` is the day on which ends of life are checked.
    """
    case, unknown = look_up(query, as_of)
    found = [_unknown(part, fault) for part, fault in unknown]
    found += [finding for rule in (*HARDWARE, *SOFTWARE) for finding in rule(case)]
    return tuple(dict.fromkeys(sorted(found, key=lambda finding: finding.level is not Level.ERROR)))


@lru_cache(maxsize=4096)
def explain(query: Query) -> tuple[str, tuple[str, ...]]:
    """Return the reason and the chain for a query without findings."""
    case, _ = look_up(query)
    labels = [case.gpu.slug] if case.gpu else []
    labels += [f"driver {case.driver.label}"] if case.driver else []
    labels += [runtime.label for runtime in case.runtimes]
    reason = f"{', '.join(labels)} are compatible" if len(labels) > 1 else "there are no conflicts"
    return reason, tuple(_chain(case))


def _unknown(part: str, fault: UnknownName) -> Finding:
    return Finding(
        level=Level.ERROR,
        parts=(part,),
        reason=f"{fault.name} is not a known {fault.kind}",
        fix=fault.fix,
        chain=("a name that is not in the tables cannot be checked",),
    )


def _chain(case: Case) -> Iterator[str]:
    model, driver = case.gpu, case.driver
    if model:
        yield identity(model)
        modules = architecture(model.capability).modules
        both = len(modules) == len(KernelModule)
        yield f"{model.slug} works with {'open and proprietary' if both else next(iter(modules))} kernel modules"
    if driver:
        yield f"{driver.name} is a driver of {driver.branch.label}, a {driver.branch.designation} branch"
    for runtime in case.runtimes:
        wanted = runtime.toolkit
        if model:
            yield f"{runtime.label} supports {model.sm}"
        if driver and support(driver, wanted) is Support.FULL:
            yield f"{runtime.label} needs driver {written(wanted.driver)}, and {driver.label} is that or newer"
        elif not driver:
            yield f"{runtime.label} needs driver {written(FLOORS[wanted.version[0]])} or newer"
