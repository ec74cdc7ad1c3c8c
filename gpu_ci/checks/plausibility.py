"""Check values that are allowed, but seldom meant.

Limits: GitHub starts a scheduled workflow every five minutes at most ("Events that trigger workflows", 2026). A label
of Google Cloud has 63 characters.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gpu_ci.back_ends.stack import Stack
from gpu_ci.knowledge.verdict import Verdict, warning
from gpu_ci.policy.exposure import exposure
from gpu_ci.stack_file.identity import LABEL_LIMIT
from gpu_ci.stack_file.sections.settings import Settings
from gpu_ci.stack_file.values.github import cron_numbers

CHECK: Final = "plausibility"
MOVING: Final = frozenset(
    {"current", "dev", "develop", "edge", "lts", "main", "master", "nightly", "rolling", "stable", "testing"}
)
"""Tags that usually follow a branch."""
RUNS_A_DAY: Final = 24


def check(stack: Stack) -> Iterator[Verdict]:
    """Yield a warning for each value that is seldom meant."""
    settings = stack.settings
    yield from _labels(settings)
    yield from _github(settings)
    yield from _unused(stack)
    yield from _cluster(settings)
    yield from _images(settings)
    yield from _schedules(settings)
    budget = settings.budget
    if budget is not None and (budget.expected or 0) > (budget.worst or float("inf")):
        reason = f"{budget.expected} USD is more than budget.worst, so only budget.worst has an effect"
        yield warning(CHECK, "budget.expected", reason, f"write at most {budget.worst}")


def _labels(settings: Settings) -> Iterator[Verdict]:
    for key, value in settings.stack.tags.items() if settings.gcp is not None else ():
        if len(value) > LABEL_LIMIT:
            reason = f"Google Cloud gets the first {LABEL_LIMIT} of its {len(value)} characters"
            yield warning(CHECK, f"stack.tags.{key}", reason, "use a shorter value")


def _github(settings: Settings) -> Iterator[Verdict]:
    if settings.github is None:
        return
    owner, _, repository = settings.github.url.removeprefix("https://").partition("/")[2].partition("/")
    if owner == "enterprises":
        reason = "GitHub documents that an App cannot register runners for an enterprise"
        yield warning(CHECK, "github.url", reason, "write the address of an organisation")
    elif repository and settings.arc is not None and settings.arc.runner_group != "default":
        reason = f"runner groups belong to organisations, and github.url is the repository {owner}/{repository}"
        yield warning(CHECK, "arc.runner-group", reason, f"remove it, or write the address of {owner} as github.url")


def _unused(stack: Stack) -> Iterator[Verdict]:
    settings = stack.settings
    used = {offer.shared.image for offer in stack.offers.values() if offer.shared is not None}
    used |= {settings.smoke_test.image} if settings.smoke_test is not None else set()
    for name in settings.images:
        if name not in used:
            yield warning(CHECK, f"images.{name}", "no runner uses it", "name it in a runner, or remove it")
    own = [offer.own for offer in stack.offers.values() if offer.own is not None and offer.own.created]
    clouds = {str(machines.cloud) for machines in own if machines.standing is None}
    for cloud, enabled in (("aws", settings.cirun.aws), ("gcp", settings.cirun.gcp)) if settings.cirun else ():
        if enabled and cloud not in clouds:
            reason = "cirun gets access to a cloud in which it serves no runner"
            yield warning(CHECK, f"cirun.{cloud}", reason, "state a runner, or remove it")


def _cluster(settings: Settings) -> Iterator[Verdict]:
    cluster = settings.cluster
    if cluster is None or settings.aws is None:
        return
    for group, roles in (("administrators", cluster.administrators), ("viewers", cluster.viewers)):
        for name, arn in roles.items():
            if (account := arn.split(":")[4]) != settings.aws.account:
                reason = f"it is in the account {account}, not in {settings.aws.account}"
                yield warning(CHECK, f"cluster.{group}.{name}", reason, "use a role of the stack's account")
    for name, network in settings.network.reserved.items() if settings.network is not None else ():
        if network.overlaps(cluster.service_cidr):
            reason = f"pods cannot reach the addresses of {network} that are services in {cluster.service_cidr}"
            yield warning(CHECK, f"network.reserved.{name}", reason, "use another cluster.service-cidr")
    public = [str(network) for network in cluster.endpoint.public]
    for wide in exposure(public).wide if not settings.stack.protect else ():
        path = f"cluster.endpoint.public[{public.index(wide)}]"
        yield warning(CHECK, path, f"{wide} exposes the API to the internet", "list only the ranges that need it")


def _images(settings: Settings) -> Iterator[Verdict]:
    for name, repository in settings.ecr.items():
        for index, wildcard in enumerate(repository.mutable_tags):
            if not wildcard.strip("*"):
                reason = "it matches every tag, so no tag of the repository is immutable"
                fix = "name a prefix, as in cache-*"
                yield warning(CHECK, f"ecr.{name}.mutable-tags[{index}]", reason, fix)
    tags = {f"images.{name}.tag": image.tag for name, image in settings.images.items() if image.digest is None}
    if settings.test_image is not None:
        tags["test-image.tag"] = settings.test_image.tag
    for path, tag in tags.items():
        if tag is not None and tag.lower() in MOVING:
            yield warning(CHECK, path, f"{tag} usually names a new image after each change", "name an exact version")


def _schedules(settings: Settings) -> Iterator[Verdict]:
    for name, tests in settings.gpu_tests.items():
        if tests.nightly is None:
            continue
        minutes, hours, *_ = cron_numbers(tests.nightly)
        if (runs := len(minutes) * len(hours)) > RUNS_A_DAY:
            reason = f"the tests start {runs} times a day, and GitHub starts a workflow every five minutes at most"
            yield warning(CHECK, f"gpu-tests.{name}.nightly", reason, 'write one time, as in "17 3 * * *"')
