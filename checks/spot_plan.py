"""Which machines a runner's jobs are cheapest on, and what carries that out.

Owns the choice between spot, on-demand and both, per finished job (the formulas are `gpu.cost.jobs`). Cheap is not all:
among the ways that cost at most 5 % more than the cheapest, the one on which a job is finished soonest is taken, so
that nobody waits an hour for the last cent. Carried out is it by two pools, by the autoscaler's priorities
(`gpu.kubernetes.priority_expander`), and by a label that depends on which attempt of the workflow it is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from gpu.cost.jobs import Outcome, Strategy, Terms, outcome
from gpu.cost.prices import dollars
from gpu.kubernetes.priority_expander import Group
from gpu.verdict import Level, Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

CHECK = "spot-plan"

CLOSE = Decimal("1.05")
"""How much dearer than the cheapest a way may be to be taken for its speed."""
LOSS_BUDGET = 0.10
"""The chance of losing a job of the greatest allowed length, above which spot is warned of."""
MOST_ATTEMPTS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A choice, with what was weighed."""

    strategy: Strategy
    attempts: int
    """How often spot is tried before on-demand; without meaning for the pure strategies."""
    outcomes: Mapping[Strategy, Outcome]
    """The best of each strategy."""

    @property
    def chosen(self) -> Outcome:
        """What to expect of the chosen way."""
        return self.outcomes[self.strategy]

    @property
    def reason(self) -> str:
        """The figures that decided, in one sentence."""
        others = ", ".join(
            f"{_to_finish(each)} on {strategy}"
            for strategy, each in self.outcomes.items()
            if strategy is not self.strategy
        )
        return f"a finished job costs {price(self.chosen)} and takes {self.chosen.minutes:.0f} minutes; {others}"

    def groups(self, base: str) -> tuple[Group, ...]:
        """The pools to make, spot first."""
        return tuple(
            Group(name=f"{base}-{name}", spot=spot)
            for name, spot, unused in (
                ("spot", True, Strategy.ON_DEMAND),
                ("on-demand", False, Strategy.SPOT),
            )
            if self.strategy is not unused
        )

    def runs_on(self, runner: str, steady: str) -> str:
        """What a workflow says after `runs-on:`: re-run often enough, a job asks for the runner that stays."""
        if self.strategy is Strategy.SPOT_THEN_ON_DEMAND:
            return f"${{{{ github.run_attempt <= {self.attempts} && '{runner}' || '{steady}' }}}}"
        return runner if self.strategy is Strategy.SPOT else steady


@lru_cache(maxsize=2048)
def choose(terms: Terms) -> Plan:
    """The way to take for jobs on these terms."""
    ways = {
        (Strategy.SPOT, 0): outcome(terms, Strategy.SPOT),
        (Strategy.ON_DEMAND, 0): outcome(terms, Strategy.ON_DEMAND),
        **{
            (Strategy.SPOT_THEN_ON_DEMAND, attempts): outcome(terms, Strategy.SPOT_THEN_ON_DEMAND, attempts)
            for attempts in range(1, MOST_ATTEMPTS + 1)
        },
    }
    limit = CLOSE * min(each.cost for each in ways.values())
    close = [way for way, each in ways.items() if each.cost <= limit]
    strategy, attempts = min(close, key=lambda way: (ways[way].minutes, ways[way].cost, way))
    mixed = attempts or min(
        range(1, MOST_ATTEMPTS + 1), key=lambda number: ways[Strategy.SPOT_THEN_ON_DEMAND, number].cost
    )
    return Plan(
        strategy=strategy,
        attempts=mixed,
        outcomes=MappingProxyType(
            {each: ways[each, mixed if each is Strategy.SPOT_THEN_ON_DEMAND else 0] for each in Strategy}
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SpotFacts:
    """A runner, and the machines that it has."""

    path: str
    """Where the stack file states it, as in `runners.gpu-t4`."""
    terms: Terms
    spot: bool
    """Whether its machines can be taken away."""
    fallback: bool = False
    """Whether there are on-demand machines behind the spot ones."""
    bound: bool = False
    """Whether no spot price is known, so that the on-demand price stands in for it."""


def judge(facts: SpotFacts) -> list[Verdict]:
    """Say whether the machines that a runner has are the ones its jobs are cheapest on."""
    plan = choose(facts.terms)
    stated = Strategy.ON_DEMAND if not facts.spot else Strategy.SPOT_THEN_ON_DEMAND if facts.fallback else Strategy.SPOT
    now = plan.outcomes[stated]
    chain = (
        f"a spot machine is taken {facts.terms.rate:.3g} times an hour",
        f"a job runs {facts.terms.length.mean:.0f} minutes on average",
        *(f"{each.strategy}: {_weighed(each)}" for each in plan.outcomes.values()),
    )
    found = list(_losses(facts, chain))
    if facts.spot and not facts.bound and now.cost > CLOSE * plan.chosen.cost:
        return [
            *found,
            _verdict(
                Level.WARNING,
                facts.path,
                f"on {stated} a finished job costs {price(now)}, on {plan.strategy} {price(plan.chosen)}",
                _served_by(facts, plan.strategy),
                chain,
            ),
        ]
    if found:
        return found
    known = " (no spot price is known, so its bound is reckoned with)" if facts.bound else ""
    return [_verdict(Level.OK, facts.path, f"{stated}: {_summary(now, plan)}{known}", chain=chain)]


def _losses(facts: SpotFacts, chain: tuple[str, ...]) -> list[Verdict]:
    longest = facts.terms.length.limit or max(facts.terms.length.points())
    rate = facts.terms.rate
    lost = -math.expm1(-rate * longest / 60)
    if not facts.spot or lost <= LOSS_BUDGET:
        return []
    bearable = math.floor(-math.log1p(-LOSS_BUDGET) / rate * 60)
    lower = f", or lower {facts.path}.timeout-minutes to {bearable}" if bearable >= 1 else ""
    return [
        _verdict(
            Level.WARNING,
            facts.path,
            f"a spot job of {longest:.0f} minutes is lost {lost:.0%} of the time, and starts again from nothing",
            f"{_served_by(facts, Strategy.ON_DEMAND)}{lower}",
            chain,
        )
    ]


def _served_by(facts: SpotFacts, strategy: Strategy) -> str:
    """What carries a strategy out."""
    alone = f" and leave {facts.path}.arc.fallback out" if facts.fallback else ""
    return {
        Strategy.ON_DEMAND: f"name an on-demand pool in {facts.path}.arc.pool{alone}",
        Strategy.SPOT_THEN_ON_DEMAND: f"name an on-demand pool in {facts.path}.arc.fallback",
        Strategy.SPOT: f"leave {facts.path}.arc.fallback out",
    }[strategy]


def _summary(now: Outcome, plan: Plan) -> str:
    alone = f"a finished job costs {price(now)}"
    if now.strategy is plan.strategy:
        return alone
    return f"{alone}; {plan.strategy} would be {price(plan.chosen)}"


def price(of: Outcome) -> str:
    """What a finished job costs, in words."""
    return dollars(of.cost) if of.cost.is_finite() else "without end"


def _to_finish(of: Outcome) -> str:
    return f"{price(of)} in {of.minutes:.0f} minutes" if of.cost.is_finite() else "never finished"


def _weighed(of: Outcome) -> str:
    if not of.cost.is_finite():
        return "a job is never finished"
    return f"{of.attempts:.2f} attempts on spot, {of.fallback:.0%} end on demand, {price(of)}, {of.minutes:.0f} minutes"


def _verdict(level: Level, subject: str, reason: str, fix: str = "", chain: tuple[str, ...] = ()) -> Verdict:
    return Verdict(check=CHECK, level=level, subject=subject, reason=reason, fix=fix, chain=chain)
