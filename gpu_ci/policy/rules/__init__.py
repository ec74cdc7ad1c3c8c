"""The list of all rules. The plan and the policy engine of Pulumi run it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from gpu_ci.policy.inputs import Inputs, document, part
from gpu_ci.policy.needed import is_needed
from gpu_ci.policy.rules import (
    access,
    credentials,
    data,
    google_machines,
    machines,
    permissions,
    pods,
    software,
    trust,
)
from gpu_ci.policy.taggable import LABELLED, TAGGED

Predicate: TypeAlias = Callable[[str, str, Inputs], Iterable[str]]
"""Type, logical name and inputs of one resource to its problems, one sentence each."""

RULES: Final[tuple[Predicate, ...]] = (
    access.no_ingress_from_everywhere,
    access.no_public_service,
    access.network_policies_have_peers,
    credentials.no_static_credential,
    credentials.no_secret_in_a_variable,
    permissions.no_administrator_policy,
    permissions.no_unbounded_permission,
    permissions.no_broad_role,
    permissions.no_cluster_administrator,
    trust.no_public_caller,
    trust.trust_has_conditions,
    trust.no_public_member,
    trust.federation_has_a_condition,
    machines.metadata_needs_a_token,
    machines.machines_have_no_public_address,
    machines.everything_is_tagged,
    machines.launched_machines_are_tagged,
    google_machines.machines_have_no_legacy_access,
    google_machines.machines_have_their_own_account,
    google_machines.gke_has_no_legacy_access,
    data.volumes_are_encrypted,
    data.data_is_encrypted,
    data.buckets_are_not_public,
    data.images_are_not_public,
    data.images_are_scanned,
    data.logs_end,
    pods.pods_are_confined,
    pods.no_docker_in_docker,
    pods.namespaces_enforce_pod_security,
    pods.pods_end,
    software.charts_are_pinned,
    software.nothing_is_latest,
)


def rule_name(rule: Predicate) -> str:
    """Return the name of a rule, for example `volumes-are-encrypted`."""
    return rule.__name__.replace("_", "-")


NAMES: Final = frozenset(rule_name(rule) for rule in RULES)
"""The name of every rule."""


def short_type(token: str) -> str:
    """Return the short name of a type token: `NodeGroup`, and a provider as `provider aws`."""
    head, _, last = token.rpartition(":")
    return f"provider {last}" if head == "pulumi:providers" else last


def subject(type_: str, name: str) -> str:
    """Return a resource as messages name it: `NodeGroup pool-t4`."""
    return f"{short_type(type_)} {name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A resource that violates a rule."""

    rule: str
    """The name of the rule in kebab case."""
    type: str
    """The type token of the resource."""
    name: str
    """The logical name of the resource."""
    problem: str
    """The problem, and the fix where it is not obvious."""

    @property
    def subject(self) -> str:
        """The resource, as messages name it."""
        return subject(self.type, self.name)

    def __str__(self) -> str:
        return f"{self.rule}: {self.subject}: {self.problem}"


def findings(type_: str, name: str, inputs: Inputs, provider: Inputs | None = None) -> Iterator[Finding]:
    """Yield every rule that a resource violates; `provider` is the configuration of its provider."""
    seen = effective(type_, inputs, provider or {})
    for rule in RULES:
        for problem in problems(rule, type_, name, seen):
            yield Finding(rule=rule_name(rule), type=type_, name=name, problem=problem)


def problems(rule: Predicate, type_: str, name: str, seen: Inputs) -> Iterable[str]:
    """Return the problems that a rule finds; none for a violation that the program needs."""
    return () if is_needed(rule_name(rule), type_, name) else rule(type_, name, seen)


def effective(type_: str, inputs: Inputs, provider: Inputs) -> Inputs:
    """Return the inputs with the default tags or labels of the provider."""
    if type_ in TAGGED:
        return _with(inputs, "tags", part(document(provider.get("defaultTags")), "tags"))
    if type_ in LABELLED:
        return _with(inputs, "labels", document(provider.get("defaultLabels")))
    return inputs


def _with(inputs: Inputs, key: str, defaults: Any) -> Inputs:
    stated = part(inputs, key)
    added = defaults if isinstance(defaults, Mapping) else {}
    return {**inputs, key: {**added, **(stated if isinstance(stated, Mapping) else {})}}
