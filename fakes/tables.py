"""The tables of all clouds in one: what is known of a type."""

from __future__ import annotations

from typing import Final

from fakes import gcp as google
from fakes import kubernetes
from fakes import local as here
from fakes.aws import cluster as amazon_cluster
from fakes.aws import identity as amazon_identity
from fakes.aws import images as amazon_images
from fakes.aws import network as amazon_network
from fakes.aws import services as amazon_services
from fakes.kinds import Kind, RefusedError

_KINDS: Final[dict[str, Kind]] = {
    kind.type: kind
    for chapter in (
        amazon_network,
        amazon_cluster,
        amazon_identity,
        amazon_images,
        amazon_services,
        google,
        kubernetes,
        here,
    )
    for kind in chapter.KINDS
}
PROVIDERS_REPLACED_BY: Final = {
    "aws": frozenset({"region"}),
    "gcp": frozenset({"project"}),
    "kubernetes": frozenset({"clusterIdentifier"}),
}
"""By package, the settings of a provider whose change replaces everything made through it."""


def kind_of(type_: str) -> Kind:
    """What is known of a type.

    Raises:
        RefusedError: no table knows it; guessing would be a rehearsal of nothing.

    """
    if type_ in _KINDS:
        return _KINDS[type_]
    if type_.startswith("kubernetes:"):
        return kubernetes.kind_of(type_)
    raise RefusedError(
        f"the stand-in clouds know no {type_}: say in a table under fakes/ what replaces it, what it points at "
        "and what refuses it"
    )


def known() -> frozenset[str]:
    """Every type with a row of its own."""
    return frozenset(_KINDS)
