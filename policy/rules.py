"""Every rule, and what of a resource they look at. One list, two harnesses: the plan, and Pulumi's policy engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from policy import access, machines, software
from policy.inputs import Inputs, document, part
from policy.taggable import LABELLED, TAGGED

Predicate: TypeAlias = Callable[[str, str, Inputs], Iterable[str]]
"""Type, logical name and inputs of one resource to what is wrong with it; one sentence each."""

RULES: Final[tuple[Predicate, ...]] = (
    access.no_ingress_from_everywhere,
    access.no_public_service,
    access.no_static_credential,
    access.no_unbounded_permission,
    machines.metadata_needs_a_token,
    machines.volumes_are_encrypted,
    machines.secrets_in_the_cluster_are_encrypted,
    machines.images_are_scanned,
    machines.everything_is_tagged,
    machines.what_a_template_launches_is_tagged,
    software.charts_are_pinned,
    software.nothing_is_latest,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One rule that one resource breaks."""

    rule: str
    """The rule's name, in kebab case."""
    type: str
    """The resource's type token."""
    name: str
    """The resource's logical name."""
    wrong: str
    """What is wrong, and what would be right."""

    def __str__(self) -> str:
        return f"{self.rule}: {self.type.rpartition(':')[2]} {self.name}: {self.wrong}"


def rule_name(rule: Predicate) -> str:
    """A rule as people write it: `volumes-are-encrypted`."""
    return rule.__name__.replace("_", "-")


def findings(type_: str, name: str, inputs: Inputs, provider: Inputs | None = None) -> Iterator[Finding]:
    """Every rule that this resource breaks; `provider` is what its provider was configured with."""
    seen = effective(type_, inputs, provider or {})
    for rule in RULES:
        for wrong in rule(type_, name, seen):
            yield Finding(rule=rule_name(rule), type=type_, name=name, wrong=wrong)


def effective(type_: str, inputs: Inputs, provider: Inputs) -> Inputs:
    """The inputs with the tags or labels that the provider adds on its own."""
    if type_ in TAGGED:
        return _with(inputs, "tags", part(document(provider.get("defaultTags")), "tags"))
    if type_ in LABELLED:
        return _with(inputs, "labels", document(provider.get("defaultLabels")))
    return inputs


def _with(inputs: Inputs, key: str, defaults: Any) -> Inputs:
    stated = part(inputs, key)
    added = defaults if isinstance(defaults, Mapping) else {}
    return {**inputs, key: {**added, **(stated if isinstance(stated, Mapping) else {})}}
