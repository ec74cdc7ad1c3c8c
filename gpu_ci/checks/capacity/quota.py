"""Check the machines that a stack may use at once against the quotas of its accounts.

No cloud is queried: the stack file states the granted values. A quota that is too small does not stop `pulumi up` of an
empty pool; it stops the first job.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from gpu_ci.back_ends.stack import Stack
from gpu_ci.checks.cost.machine_groups import build_groups, factory_groups, machine_groups
from gpu_ci.knowledge.machines.groups import MachineGroup, Placement
from gpu_ci.knowledge.nearest import nearest, suggestion
from gpu_ci.knowledge.quotas.aws import TITLES, aws_claims, quota_code
from gpu_ci.knowledge.quotas.claim import EVERYWHERE, Claim, Quota
from gpu_ci.knowledge.quotas.gcp import ALL_REGIONS, NAMES, gcp_claims
from gpu_ci.knowledge.regions import Cloud
from gpu_ci.knowledge.verdict import Verdict, error, ok, warning

CHECK: Final = "quota"


def check(stack: Stack) -> Iterator[Verdict]:
    """Yield a warning for each misspelt quota, and one verdict for each quota that the stack uses."""
    groups = _groups(stack)
    yield from _misspelt(stack.settings.quotas, groups)
    yield from _unknown(groups)
    for need in stack_needs(stack):
        yield _verdict(need)


def _groups(stack: Stack) -> tuple[MachineGroup, ...]:
    """Return the machines of a stack, with those that build and test its images."""
    settings = stack.settings
    return (*machine_groups(stack), *build_groups(settings).values(), *factory_groups(settings).values())


def stack_needs(stack: Stack) -> list[QuotaNeed]:
    """Return the amount of each quota that a stack may use at once, as `needs` does."""
    gcp = stack.settings.gcp
    return needs(_groups(stack), stack.settings.quotas, project=gcp.project if gcp is not None else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaNeed:
    """The amount of one quota that a stack may use at once."""

    quota: Quota
    needed: int
    stated: int | None
    """The granted value in the stack file; none where it is not stated."""
    key: str
    """The key in `quotas` that states it, or would state it."""
    claims: tuple[Claim, ...] = field(repr=False)
    """The claims, one for each path, the largest first."""

    @property
    def granted(self) -> int:
        """The stated value, or the one of a new account."""
        return self.quota.default if self.stated is None else self.stated

    @property
    def lowered(self) -> str:
        """The one setting that could be lowered so that the granted value suffices; empty where there is none."""
        for claim in self.claims:
            left = claim.lowered(self.needed - self.granted)
            if left is not None:
                return f"lower {claim.group.max_key} to {left}"
        return ""


def needs(groups: Iterable[MachineGroup], stated: Mapping[str, int], *, project: str = "") -> list[QuotaNeed]:
    """Return the amount of each quota that the groups may use together, sorted by cloud, region and quota.

    `stated` has the granted values by `REGION/QUOTA` or, for all regions, by `QUOTA`. The placements of a group are
    alternatives, and so are groups with the same path: only the largest of their claims on a quota counts.
    """
    largest: dict[Quota, dict[str, Claim]] = {}
    for group in groups:
        for placement in group.placements:
            for claim in _claims(group, placement, project):
                claims = largest.setdefault(claim.quota, {})
                if group.path not in claims or claims[group.path].amount < claim.amount:
                    claims[group.path] = claim
    return [
        _need(quota, list(largest[quota].values()), stated)
        for quota in sorted(largest, key=lambda one: (one.cloud, one.region, one.name))
    ]


def _claims(group: MachineGroup, placement: Placement, project: str) -> tuple[Claim, ...]:
    if group.cloud is Cloud.JARVIS:
        return ()  # It has no quotas: an account is limited by its balance.
    return aws_claims(group, placement) if group.cloud is Cloud.AWS else gcp_claims(group, placement, project)


def _need(quota: Quota, claims: list[Claim], stated: Mapping[str, int]) -> QuotaNeed:
    in_region = quota.name if quota.region == EVERYWHERE else f"{quota.region}/{quota.name}"
    key = quota.name if quota.name in stated and in_region not in stated else in_region
    return QuotaNeed(
        quota=quota,
        needed=sum(claim.amount for claim in claims),
        stated=stated.get(key),
        key=key,
        claims=tuple(sorted(claims, key=lambda claim: (claim.amount, claim.group.path), reverse=True)),
    )


def _misspelt(stated: Mapping[str, int], groups: Iterable[MachineGroup]) -> Iterator[Verdict]:
    """Yield a warning for each key that has no effect: an unknown quota, or a region without machines."""
    regions = {
        cloud: {place.region for group in groups if group.cloud is cloud for place in group.placements}
        for cloud in Cloud
    }
    known = {*TITLES, *NAMES}
    for key in stated:
        place, slash, name = key.rpartition("/")
        in_use = regions[Cloud.AWS if name in TITLES else Cloud.GCP]
        if name not in known:
            close = nearest(name, known)
            yield _no_effect(key, f"no machine counts against a quota named {name}", close and f"{place}{slash}{close}")
        elif slash and name == ALL_REGIONS:
            yield _no_effect(key, f"{name} is one quota for all regions", name)
        elif slash and place not in in_use:
            close = nearest(place, in_use)
            yield _no_effect(key, f"the stack has no machines in {place}", close and f"{close}/{name}")


def _unknown(groups: Iterable[MachineGroup]) -> Iterator[Verdict]:
    """Yield a warning for each group and market whose quota is not known."""
    for group in groups:
        for spot in dict.fromkeys(placement.spot for placement in group.placements):
            names = [
                name
                for name in group.types
                if group.cloud is Cloud.AWS and quota_code(group.catalogue.ec2(name), spot=spot) is None
            ]
            if names:
                market = "Spot" if spot else "on-demand"
                reason = f"the quota of {' and '.join(names)} ({market}) is not known, so it is not checked"
                yield warning(CHECK, group.path, reason, "compare it with Service Quotas in the console of AWS")


def _no_effect(key: str, reason: str, meant: str | None) -> Verdict:
    return warning(CHECK, f"quotas.{key}", reason, suggestion(meant, ()) if meant else "remove it")


def _verdict(need: QuotaNeed) -> Verdict:
    quota, subject = need.quota, need.claims[0].group.path
    named = f"{quota.name} ({quota.title})"
    chain = (*(claim.why for claim in need.claims), f"in total {need.needed} of {named} in {quota.place}")
    reason = f"the stack can use {need.needed} {quota.unit} in {quota.place}, quota {named}"
    state = f"state {need.needed} as quotas.{need.key}: {quota.request(need.needed)}"
    if need.granted >= need.needed:
        source = "a new account has" if need.stated is None else "the stack file states"
        return ok(CHECK, subject, f"{reason}, and {source} {need.granted}", chain)
    if need.stated is None:
        fix = f"request it, and once it is granted {state}"
        return warning(CHECK, subject, f"{reason}, and a new account has {quota.default}", fix, chain)
    fix = f"request more and {state}"
    if need.lowered:
        fix = f"{need.lowered}, or {fix}"
    return error(CHECK, subject, f"{reason}, and the stack file states {need.stated}", fix, chain)
