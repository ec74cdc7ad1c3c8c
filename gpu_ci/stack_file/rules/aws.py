"""Rules of AWS: its regions, zones, networks, instance types and tags."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from ipaddress import IPv4Network
from typing import Final

from components.aws.network.addressing import zone_ranges
from gpu_ci.knowledge.machines.aws import unsuitable
from gpu_ci.knowledge.machines.zones import AWS_ZONES
from gpu_ci.knowledge.nearest import did_you_mean, nearest
from gpu_ci.knowledge.regions import region_of
from gpu_ci.stack_file.faults import Fault
from gpu_ci.stack_file.rules.stated import Rule, Stated
from gpu_ci.stack_file.sections.instance_types import or_state
from gpu_ci.stack_file.sections.settings import Settings

PRIVATE: Final = tuple(IPv4Network(text) for text in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"))
"""RFC 1918. EKS takes its service range from there, a /12 to a /24 (EKS API, KubernetesNetworkConfigRequest)."""
UNROUTED: Final = (
    *PRIVATE,
    *(IPv4Network(text) for text in ("0.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16")),
    *(IPv4Network(text) for text in ("198.18.0.0/15", "224.0.0.0/4", "240.0.0.0/4")),
)
"""Ranges that are never the source of a packet from the internet (RFC 6890, without the ranges of examples)."""
RESERVED_ADDRESSES: Final = 5
"""Addresses of each subnet that AWS keeps for itself."""
DOCKER_BRIDGE: Final = IPv4Network("172.17.0.0/16")
"""Docker's bridge network. A container cannot reach a VPC with the same range."""
OTHER_PARTITIONS: Final = ("cn-", "us-gov-", "us-iso", "eu-isoe-", "eusc-")
"""Prefixes of regions in other partitions. The ARNs of policies and trust begin with `arn:aws:`."""
SYSTEM_TYPE: Final = "use a type without a GPU, as in m7i.large or t3.large"


def aws_regions_and_zones_are_known(settings: Settings) -> Iterator[Fault]:
    """Check the region, and that the zones of the network are in it."""
    if settings.aws is None:
        return
    region = settings.aws.region
    if region.startswith(OTHER_PARTITIONS):
        yield Fault(
            "aws.region", f"{region} is not in the partition aws, and no other is supported", "use a commercial region"
        )
    else:
        yield from unknown_region("aws.region", region, AWS_ZONES)
    zones = AWS_ZONES.get(region, ())
    network = settings.network
    for zone in network.subnet_zones if network is not None and zones else ():
        path = f"network.{'zones' if network is None or network.existing is None else 'existing.subnets'}.{zone}"
        if region_of(zone) != region:
            yield Fault(path, f"is not a zone of {region}", f"write {region}{zone[-1]}")
        elif zone not in zones:
            yield unknown_zone(path, zone, zones)


def unknown_region(path: str, region: str, known: Mapping[str, object]) -> Iterator[Fault]:
    """Report a region that the table of a cloud does not contain."""
    if region not in known:
        yield Fault(path, f'"{region}" is not a known region', did_you_mean(region, known))


def unknown_zone(path: str, zone: str, zones: Sequence[str]) -> Fault:
    """Return the fault of a zone that its region does not have."""
    return Fault(path, f"{region_of(zone)} has no zone {zone}", f"write one of {', '.join(zones)}")


def nodes_are_in_zones_of_the_network(settings: Settings) -> Iterator[Fault]:
    """Look for a subnet in each zone of the control plane and of the nodes."""
    if settings.network is None:
        return
    groups = {path: pool.zones for path, pool in settings.pools_by_path.items()}
    if settings.cluster is not None:
        groups["cluster"] = settings.cluster.zones
    if settings.system_nodes is not None:
        groups["system-nodes"] = settings.system_nodes.zones
    known = settings.network.subnet_zones
    for path, zones in groups.items():
        for index, zone in enumerate(zones):
            if zone not in known:
                yield Fault(f"{path}.zones[{index}]", f"{zone} has no subnet", did_you_mean(zone, known))


def the_network_is_own_or_existing(settings: Settings) -> Iterator[Fault]:
    """Require what a VPC of the stack needs, and reject it for one that exists."""
    network = settings.network
    if network is None:
        return
    own = {"zones": network.zones, "nat": network.nat, "nat-zone": network.nat_zone, "flow-logs": network.flow_logs}
    if network.existing is None:
        for key in ("zones", "nat"):
            if not own[key]:
                yield Fault(f"network.{key}", "missing", f"state {key}, or existing for a VPC that exists")
        return
    for key, value in own.items():
        if value:
            yield Fault(f"network.{key}", "has no effect on an existing VPC", "remove it, or remove existing")
    users: dict[str, str] = {}
    for zone, subnet in network.existing.subnets.items():
        if (first := users.setdefault(subnet, zone)) != zone:
            problem = f"{subnet} is the subnet of {first}, too, and a subnet is in one zone"
            yield Fault(f"network.existing.subnets.{zone}", problem, f"write the id of a subnet in {zone}")


def slots_differ(settings: Settings) -> Iterator[Fault]:
    """Reject a slot of two zones: both would have the same addresses."""
    slots = settings.network.zones if settings.network is not None else {}
    taken: dict[int, str] = {}
    for zone, slot in slots.items():
        if slot in taken:
            free = [str(candidate) for candidate in range(8) if candidate not in slots.values()]
            fix = f"use a free slot, for example {free[0]}" if free else "remove a zone: there are eight slots"
            yield Fault(f"network.zones.{zone}", f"{taken[slot]} already uses slot {slot}", fix)
        taken.setdefault(slot, zone)


def the_gateway_has_a_zone(settings: Settings) -> Iterator[Fault]:
    """Require a zone of the only NAT gateway that does not depend on the other zones."""
    network = settings.network
    if network is None or not network.zones:
        return
    path, zone = "network.nat-zone", network.nat_zone
    if zone is not None and network.nat == "per-zone":
        yield Fault(path, "has no effect with nat: per-zone", "remove it")
    elif zone is not None and zone not in network.zones:
        yield Fault(path, f"{zone} has no subnet", did_you_mean(zone, network.zones))
    elif not network.gateway_zones:
        lowest = min(network.zones, key=lambda one: network.zones[one])
        fix = f"write {lowest}, the zone with the lowest slot; a gateway that exists is there"
        yield Fault(path, "is required, because no zone has slot 0", fix)


def ranges_do_not_overlap(settings: Settings) -> Iterator[Fault]:
    """Compare the range of the VPC with the others: no route can tell overlapping ranges apart."""
    if settings.network is None:
        return
    own = settings.network.cidr
    if settings.network.existing is None and not 16 <= own.prefixlen <= 20:
        yield Fault("network.cidr", f"a /{own.prefixlen} is not supported", "use a /16 to /20")
    others = {f"network.reserved.{name}": value for name, value in settings.network.reserved.items()}
    if settings.cluster is not None:
        others["cluster.service-cidr"] = settings.cluster.service_cidr
    for path, other in others.items():
        if own.overlaps(other):
            yield Fault(path, f"{other} overlaps network.cidr {own}", "use ranges that do not overlap")
    if own.overlaps(DOCKER_BRIDGE):
        yield Fault("network.cidr", f"{own} overlaps Docker's bridge network {DOCKER_BRIDGE}", "use another range")


def networks_have_room_for_nodes(settings: Settings) -> Iterator[Fault]:
    """Compare the largest number of nodes with the addresses of their subnets: a node has at least one address."""
    if (
        settings.network is None
        or settings.network.existing is not None
        or not 16 <= settings.network.cidr.prefixlen <= 20
    ):
        return
    cidr = settings.network.cidr
    each = zone_ranges(cidr, {"": 0})[""].private.num_addresses - RESERVED_ADDRESSES
    groups = {path: (pool.max, pool.zones) for path, pool in settings.pools_by_path.items()}
    if settings.system_nodes is not None:
        groups["system-nodes"] = settings.system_nodes.max, settings.system_nodes.zones
    for path, (most, zones) in groups.items():
        if most > (room := each * len(zones)):
            problem = f"{most} nodes need more than the {room} addresses of their subnets in network.cidr {cidr}"
            yield Fault(f"{path}.max", problem, f"write at most {room}")


def services_have_a_range_that_eks_accepts(settings: Settings) -> Iterator[Fault]:
    """Check the service range, which cannot be changed later."""
    if settings.cluster is None:
        return
    path, cidr = "cluster.service-cidr", settings.cluster.service_cidr
    if not any(cidr.subnet_of(private) for private in PRIVATE):
        yield Fault(
            path, f"{cidr} is not in a range that EKS accepts", f"use one inside {', '.join(map(str, PRIVATE))}"
        )
    elif not 12 <= cidr.prefixlen <= 24:
        yield Fault(path, f"a /{cidr.prefixlen} is not supported", "use a /12 to /24")


def the_endpoint_lists_public_ranges(settings: Settings) -> Iterator[Fault]:
    """Reject private ranges: the public endpoint never sees them, and the VPC always reaches the API."""
    for index, cidr in enumerate(settings.cluster.endpoint.public if settings.cluster is not None else ()):
        if any(cidr.subnet_of(unrouted) for unrouted in UNROUTED):
            path = f"cluster.endpoint.public[{index}]"
            yield Fault(path, f"{cidr} is not a public range", "list public addresses, or remove it")


def roles_of_the_cluster_differ(settings: Settings) -> Iterator[Fault]:
    """Reject a role or a name that is listed twice: EKS has one access entry for each role, under one name."""
    cluster = settings.cluster
    if cluster is None:
        return
    named: dict[str, str] = {}
    for group, roles in (("administrators", cluster.administrators), ("viewers", cluster.viewers)):
        for name, arn in roles.items():
            path = f"cluster.{group}.{name}"
            if arn in named:
                yield Fault(path, f"has the same role as {named[arn]}", "remove one of them")
            elif group == "viewers" and name in cluster.administrators:
                yield Fault(path, "is also the name of an administrator", "use another name")
            named.setdefault(arn, name)


def types_are_known(
    group: str, types: Sequence[str], settings: Settings, stated: Stated, *, gpu: bool
) -> Iterator[Fault]:
    """Report unknown types, and types without a GPU, or with one (`gpu=False`)."""
    known = settings.machines.ec2_types
    fitting = {machine.name: machine.family for machine in known.values() if (machine.gpu is not None) == gpu}
    families = f"use one of the families {', '.join(sorted(set(fitting.values())))}" if gpu else SYSTEM_TYPE
    for index, name in enumerate(types):
        path, machine = f"{group}.instance-types[{index}]", known.get(name)
        if machine is None and (reason := unsuitable(name)):
            yield Fault(path, f"{name} {reason}", families)
        elif machine is None:
            if name in stated.entries["instance-types"]:
                continue  # Its facts are faulty, and another rule reports them.
            close = nearest(name, fitting)
            fix = f'did you mean "{close}"?' if close else families
            yield Fault(path, f"{name} is not a known EC2 instance type", or_state(fix, name, "aws", gpu=gpu))
        elif (machine.gpu is not None) != gpu:
            users = group.partition(".")[0].replace("system-nodes", "system nodes")
            problem = f"{name} has no GPU" if gpu else f"{name} has a GPU, which {users} do not use"
            yield Fault(path, problem, families)


RULES: Final[tuple[Rule, ...]] = (
    aws_regions_and_zones_are_known,
    the_network_is_own_or_existing,
    nodes_are_in_zones_of_the_network,
    slots_differ,
    the_gateway_has_a_zone,
    ranges_do_not_overlap,
    services_have_a_range_that_eks_accepts,
    the_endpoint_lists_public_ranges,
    roles_of_the_cluster_differ,
    networks_have_room_for_nodes,
)
