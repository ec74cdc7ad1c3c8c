"""What AWS would refuse in the middle of an update, of what a stack file says of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from ipaddress import IPv4Network
from typing import TYPE_CHECKING, Final

from config.faults import Fault
from config.stated import inner, listed_at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from config.stated import Stated

PRIVATE: Final = tuple(IPv4Network(text) for text in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"))
"""RFC 1918, in which EKS wants the range of services, a /12 to a /24 (EKS API, KubernetesNetworkConfigRequest)."""
UNROUTED: Final = (*PRIVATE, *(IPv4Network(text) for text in ("100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16")))
ELSEWHERE: Final = ("cn-", "us-gov-", "us-iso", "eu-isoe-", "eusc-")
"""What regions of other partitions begin with."""
OWN_TAGS: Final = ("Project", "Environment", "ManagedBy", "Name")
"""What the program itself puts on everything; two keys that differ in their case are one for IAM."""
MOST_TAGS: Final = 40
"""Of the fifty that AWS takes on one thing: room for our own, and for those that the autoscaler reads on a pool."""
TAG_VALUE: Final = r"[\w .:/=+@-]*"
LABEL_PREFIX: Final = "k8s.io/cluster-autoscaler/node-template/label/"
TAG_KEY_LIMIT: Final = 128


def the_region_is_of_the_public_cloud(stated: Stated) -> Iterator[Fault]:
    """Policies and trust are written for it: ARNs of China and of the US government begin otherwise."""
    region = stated.part("aws").get("region")
    if isinstance(region, str) and region.startswith(ELSEWHERE):
        wrong = f"{region} is in a partition of its own, whose ARNs do not begin with arn:aws:"
        yield Fault("aws.region", wrong, "name a region of the public cloud; no other is served")


def services_have_a_range_that_eks_takes(stated: Stated) -> Iterator[Fault]:
    """The range can never be changed, and the cluster is refused after minutes."""
    path, stated_range = "cluster.service-cidr", stated.of("cluster").get("service-cidr")
    if stated_range is None:
        return
    cidr = IPv4Network(stated_range)
    if not any(cidr.subnet_of(private) for private in PRIVATE):
        yield Fault(path, f"{cidr} is in no range that EKS takes", f"take one inside {', '.join(map(str, PRIVATE))}")
    elif not 12 <= cidr.prefixlen <= 24:
        yield Fault(path, f"{cidr} is not a /12 to a /24", "take one of 256 addresses at least: a /24")


def the_endpoint_is_reached_from_public_addresses(stated: Stated) -> Iterator[Fault]:
    """A private range never arrives at a public endpoint, which is always reachable from inside the VPC."""
    for index, cidr in listed_at(inner(stated.of("cluster"), "endpoint"), "public"):
        if any(IPv4Network(cidr).subnet_of(unrouted) for unrouted in UNROUTED):
            path = f"cluster.endpoint.public[{index}]"
            yield Fault(path, f"{cidr} is no range of the internet", "name the public addresses, or leave it out")


def an_administrator_is_named_once(stated: Stated) -> Iterator[Fault]:
    """EKS has one entry a role."""
    named: dict[str, str] = {}
    for name, arn in inner(stated.of("cluster"), "administrators").items():
        if arn is None:
            continue
        if arn in named:
            yield Fault(f"cluster.administrators.{name}", f"is the same as {named[arn]}", "leave one of them out")
        named.setdefault(arn, name)


def nothing_is_listed_twice(stated: Stated) -> Iterator[Fault]:
    """Zones, types, ranges: a list here is a set, or an order of things to try."""
    yield from _repeated("", stated.raw)


def _repeated(path: str, value: object) -> Iterator[Fault]:
    if isinstance(value, Mapping):
        for key, below in value.items():
            yield from _repeated(f"{path}.{key}" if path else str(key), below)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            if isinstance(item, str | int) and item in value[:index]:
                shown = str(item).lower() if isinstance(item, bool) else item
                yield Fault(f"{path}[{index}]", f"{shown} stands there already", "name it once")


def tags_are_ones_that_aws_takes(stated: Stated) -> Iterator[Fault]:
    """AWS tells of a tag only where it makes the first thing that bears it."""
    tags = inner(stated.of("stack"), "tags")
    if len(tags) > MOST_TAGS:
        yield Fault("stack.tags", f"are {len(tags)}, and there is room for {MOST_TAGS}", "leave some out")
    own = {name.lower(): name for name in OWN_TAGS}
    for key, value in tags.items():
        if key.lower() in own:
            yield Fault(f"stack.tags.{key}", f"would take the place of {own[key.lower()]}", "give it another key")
        if value is not None and re.fullmatch(TAG_VALUE, value) is None:
            yield Fault(
                f"stack.tags.{key}", f'"{value}" is no tag\'s value', "use letters, digits, spaces and _.:/=+@-"
            )


def a_label_fits_into_its_tag(stated: Stated) -> Iterator[Fault]:
    """The autoscaler reads a pool's labels from tags, whose keys are longer by what stands before them."""
    longest = TAG_KEY_LIMIT - len(LABEL_PREFIX)
    for name, pool in stated.entries("gpu-pools"):
        for field in ("labels", "taints"):
            for key in inner(pool, field):
                if len(key) > longest:
                    wrong = f"has {len(key)} characters, and its tag takes {longest}"
                    yield Fault(f"gpu-pools.{name}.{field}.{key}", wrong, "take a shorter key")


AMAZON_RULES: tuple[Callable[[Stated], Iterator[Fault]], ...] = (
    the_region_is_of_the_public_cloud,
    services_have_a_range_that_eks_takes,
    the_endpoint_is_reached_from_public_addresses,
    an_administrator_is_named_once,
    nothing_is_listed_twice,
    tags_are_ones_that_aws_takes,
    a_label_fits_into_its_tag,
)
