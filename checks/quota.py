"""What a stack asks of a cloud's quotas at its largest, against what its account was granted.

Owns the reckoning and the verdicts; which quota an EC2 type counts against is in `gpu.quotas.aws`, which quotas a GCE
machine counts against in `gpu.quotas.gcp`. Nothing is asked of a cloud: what was granted is stated by whoever asked
for it. A quota that is too small does not fail `pulumi up` of an empty pool; it fails the first job.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gpu.nearest import UnknownName, nearest
from gpu.quotas.aws import TITLES, aws_claims
from gpu.quotas.claim import EVERYWHERE, Claim, Demand, Quota
from gpu.quotas.gcp import ALL_REGIONS, NAMES, Unattached, gcp_claims
from gpu.regions import Cloud
from gpu.verdict import Level, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

__all__ = ["CHECK", "EKS_UPDATE_HEADROOM", "Claim", "Cloud", "Demand", "Quota", "QuotaNeed", "judge", "needs"]

CHECK = "quota"
EKS_UPDATE_HEADROOM = 2
"""Nodes that a managed node group may have above its maximum while it is updated or rebalanced (EKS user guide)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaNeed:
    """How much of one quota a stack could use at once."""

    quota: Quota
    needed: int
    stated: int | None
    """What the stack file says was granted; none where it says nothing."""
    key: str
    """Under which name of `quotas` that is said, or would be."""
    claims: tuple[Claim, ...] = field(repr=False)
    """Who claims how much of it, one claim a path."""

    @property
    def granted(self) -> int:
        """What can be relied on: what is stated, or what every new account has."""
        return self.quota.default if self.stated is None else self.stated

    @property
    def enough(self) -> bool:
        """Whether everything could run at once."""
        return self.granted >= self.needed

    @property
    def request(self) -> str:
        """The command that asks for as much as is needed."""
        return self.quota.request(self.needed)

    @property
    def subject(self) -> str:
        """The path of the largest claim."""
        return self._largest_first[0].path

    @property
    def lowered(self) -> str:
        """The number that could be lowered, so that what was granted is enough; empty where no single one is."""
        for claim in self._largest_first:
            left = claim.lowered(self.needed - self.granted)
            if left is not None:
                return f"lower {claim.demand.limit} to {left}"
        return ""

    @property
    def _largest_first(self) -> list[Claim]:
        return sorted(self.claims, key=lambda claim: (claim.amount, claim.path), reverse=True)


def needs(demands: Iterable[Demand], *, stated: Mapping[str, int] | None = None) -> tuple[QuotaNeed, ...]:
    """How much of each quota the demands could use together, in the order of cloud, region and quota.

    Demands of one path are counted once. `stated` says what was granted, by `REGION/QUOTA` or, for all regions alike,
    by `QUOTA`. An EC2 type, a machine type or a GPU that is not in the tables raises `UnknownName`.
    """
    granted = stated or {}
    largest: dict[Quota, dict[str, Claim]] = {}
    for demand in demands:
        for claim in aws_claims(demand) if demand.cloud is Cloud.AWS else gcp_claims(demand):
            claims = largest.setdefault(claim.quota, {})
            if claim.path not in claims or claims[claim.path].amount < claim.amount:
                claims[claim.path] = claim
    return tuple(
        _need(quota, tuple(largest[quota].values()), granted)
        for quota in sorted(largest, key=lambda one: (one.cloud, one.region, one.name))
        if any(claim.amount for claim in largest[quota].values())
    )


def _need(quota: Quota, claims: tuple[Claim, ...], granted: Mapping[str, int]) -> QuotaNeed:
    of_region = quota.name if quota.region == EVERYWHERE else f"{quota.region}/{quota.name}"
    key = quota.name if quota.name in granted and of_region not in granted else of_region
    return QuotaNeed(
        quota=quota,
        needed=sum(claim.amount for claim in claims),
        stated=granted.get(key),
        key=key,
        claims=claims,
    )


def judge(demands: Iterable[Demand], *, stated: Mapping[str, int] | None = None) -> tuple[Verdict, ...]:
    """One verdict a quota: an error where what is stated is too little, a warning where nobody has said.

    A demand that cannot be reckoned is an error of its own, and the others are judged all the same.
    """
    every = list(demands)
    faults: list[Verdict] = []
    sound: list[Demand] = []
    for demand in every:
        try:
            needs((demand,))
        except (UnknownName, Unattached) as fault:
            faults.append(_unknown(demand, fault))
        else:
            sound.append(demand)
    return (
        *dict.fromkeys(faults),
        *_misnamed(stated or {}, every),
        *(_verdict(need) for need in needs(sound, stated=stated)),
    )


def _misnamed(stated: Mapping[str, int], demands: Iterable[Demand]) -> Iterator[Verdict]:
    """What is stated under a name that no machine counts against, or for a region without one, would be believed."""
    regions: dict[Cloud, list[str]] = {}
    for demand in demands:
        regions.setdefault(demand.cloud, []).append(demand.region)
    known = {*TITLES, *NAMES}
    for key in stated:
        place, slash, name = key.rpartition("/")
        if name not in known:
            close = nearest(name, known)
            right = f"{place}{slash}{close}" if close else ""
            yield _in_vain(key, f"nothing here counts against a quota called {name}", right)
        elif slash and name == ALL_REGIONS:
            yield _in_vain(key, f"{name} is one quota for all regions", name)
        elif slash:
            where = regions.get(Cloud.AWS if name in TITLES else Cloud.GCP, [])
            if place not in where:
                close = nearest(place, where)
                yield _in_vain(key, f"nothing here runs in {place}", f"{close}/{name}" if close else "")


def _in_vain(key: str, reason: str, right: str) -> Verdict:
    return Verdict(
        check=CHECK,
        level=Level.WARNING,
        subject=f"quotas.{key}",
        reason=reason,
        fix=f"did you mean {right}?" if right else "leave it out",
    )


def _unknown(demand: Demand, fault: UnknownName | Unattached) -> Verdict:
    close = getattr(fault, "nearest", None)
    return Verdict(
        check=CHECK,
        level=Level.ERROR,
        subject=demand.path,
        reason=str(fault),
        fix=f"write {close}" if close else "take a machine that is in the tables",
        chain=("what is not in the tables cannot be reckoned against a quota, and is not guessed",),
    )


def _verdict(need: QuotaNeed) -> Verdict:
    quota = need.quota
    chain = (
        *(claim.why for claim in need.claims),
        f"together {need.needed} of {quota.name} ({quota.title}) in {quota.place}",
    )
    wanted = f"{need.needed} {quota.unit} in {quota.place}, quota {quota.name} ({quota.title})"
    ask = f"state {need.needed} as quotas.{need.key}: {need.request}"
    if need.stated is not None and not need.enough:
        return Verdict(
            check=CHECK,
            level=Level.ERROR,
            subject=need.subject,
            reason=f"the stack can ask for {wanted}, and {need.stated} are stated",
            fix=f"{need.lowered}, or ask for more and {ask}" if need.lowered else f"ask for more and {ask}",
            chain=(*chain, f"{need.stated} are stated, so the last machines are refused at the first full load"),
        )
    if not need.enough:
        return Verdict(
            check=CHECK,
            level=Level.WARNING,
            subject=need.subject,
            reason=f"the stack can ask for {wanted}, and a new account has {quota.default}",
            fix=f"ask for it, and when it is granted {ask}",
            chain=(*chain, f"a new account has {quota.default}, and nothing is stated"),
        )
    source = "are stated" if need.stated is not None else "are what every account has"
    return Verdict(
        check=CHECK,
        level=Level.OK,
        subject=need.subject,
        reason=f"the stack can ask for {wanted}, and {need.granted} {source}",
        chain=chain,
    )
