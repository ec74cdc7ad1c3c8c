"""What must hold between sections: a tuple of small rules, each naming every fault it finds."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import IPv4Network
from typing import TYPE_CHECKING

from config import pins, references
from config.aws import SERVICE_CIDR
from config.aws_rules import AMAZON_RULES
from config.cirun_rules import CIRUN_RULES
from config.faults import Fault
from config.gcp_rules import GOOGLE_RULES
from config.runner_rules import RUNNER_RULES
from config.runners import BACK_ENDS, SCALE_SET_NAME_LIMIT
from config.stated import inner, listed_at
from config.zone_rules import ZONE_RULES
from gpu.machines.zones import AMAZON_ZONES
from gpu.nearest import did_you_mean
from policy.exposure import SHORTEST, exposure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from config.stated import Stated

DOCKER_BRIDGE = IPv4Network("172.17.0.0/16")
"""Docker's own bridge: a VPC there cannot be reached from a container."""
RESERVED_DOMAINS = ("gpu-ci", "nvidia.com", "kubernetes.io", "k8s.io", "eks.amazonaws.com", "k8s.amazonaws.com")
"""What stands before the slash in labels that the program, EKS and Kubernetes itself set."""


def minimum_is_at_most_maximum(stated: Stated) -> Iterator[Fault]:
    """Wherever a `min` and a `max` stand together."""
    yield from _unordered("", stated.raw)


def _unordered(path: str, value: object) -> Iterator[Fault]:
    if not isinstance(value, Mapping):
        return
    least, most = value.get("min"), value.get("max")
    if isinstance(least, int) and isinstance(most, int) and least > most:
        yield Fault(f"{path}.min", f"{least} is over max {most}", f"write at most {most}, or raise max")
    for key, below in value.items():
        yield from _unordered(f"{path}.{key}" if path else str(key), below)


def a_runner_has_one_back_end(stated: Stated) -> Iterator[Fault]:
    """Two back ends would answer to one name; none would answer at all."""
    for name, runner in stated.part("runners").items():
        back_ends = [key for key in BACK_ENDS if isinstance(runner, Mapping) and key in runner]
        if not back_ends:
            yield Fault(f"runners.{name}", "no back end serves it", f"state one of {', '.join(BACK_ENDS)}")
        elif len(back_ends) > 1:
            others = ", ".join(back_ends[1:])
            yield Fault(
                f"runners.{name}",
                f"{' and '.join(back_ends)} are both stated, and a runner has one back end",
                f"keep {back_ends[0]}, and give {others} a runner with another name",
            )


def zones_are_in_the_region(stated: Stated) -> Iterator[Fault]:
    """A subnet can stand only in a zone of the provider's region."""
    region = stated.of("aws").get("region")
    if region not in AMAZON_ZONES:
        return
    for zone in stated.part("network", "zones"):
        # What is no zone at all is a fault of its own.
        if zone[-2:-1].isdigit() and zone[-1:].isalpha() and zone[:-1] != region:
            yield Fault(f"network.zones.{zone}", f"is not a zone of {region}", f"write {region}{zone[-1]}")


def nodes_stand_in_zones_of_the_network(stated: Stated) -> Iterator[Fault]:
    """Nodes launch where there is a subnet, and the control plane is reached through some."""
    zones = stated.part("network", "zones")
    if not zones:
        return
    groups = {f"gpu-pools.{name}": pool for name, pool in stated.entries("gpu-pools")}
    for path, group in {"cluster": stated.of("cluster"), "system-nodes": stated.of("system-nodes"), **groups}.items():
        for index, zone in listed_at(group, "zones"):
            if zone not in zones:
                yield Fault(f"{path}.zones[{index}]", f"{zone} has no subnet", did_you_mean(zone, zones))


def slots_differ(stated: Stated) -> Iterator[Fault]:
    """Two zones at one slot would have the same addresses."""
    slots = {zone: slot for zone, slot in stated.part("network", "zones").items() if isinstance(slot, int)}
    taken: dict[int, str] = {}
    for zone, slot in slots.items():
        if slot in taken:
            free = [str(candidate) for candidate in range(8) if candidate not in slots.values()]
            fix = f"take a free one, as {free[0]}" if free else "leave a zone out: there are eight slots"
            yield Fault(f"network.zones.{zone}", f"slot {slot} is {taken[slot]}'s", fix)
        taken.setdefault(slot, zone)


def ranges_do_not_overlap(stated: Stated) -> Iterator[Fault]:
    """Overlapping ranges cannot be told apart by any route."""
    own = _range(stated.part("network").get("cidr"))
    if own is None:
        return
    if not 16 <= own.prefixlen <= 20:
        yield Fault("network.cidr", f"a /{own.prefixlen} is the wrong size", "take a /16 to /20")
    others = {f"network.reserved.{name}": value for name, value in inner(stated.of("network"), "reserved").items()}
    others["cluster.service-cidr"] = stated.of("cluster").get("service-cidr", SERVICE_CIDR)
    for path, value in others.items():
        other = _range(value)
        if other is not None and own.overlaps(other):
            yield Fault(path, f"{other} overlaps network.cidr {own}", "move one of them out of the other")
    if own.overlaps(DOCKER_BRIDGE):
        yield Fault("network.cidr", f"{own} overlaps Docker's own {DOCKER_BRIDGE}", "take another range")


def _range(value: object) -> IPv4Network | None:
    """A range as it was meant: bits behind its prefix are a fault of its own, and hide no overlap."""
    try:
        return IPv4Network(str(value), strict=False)
    except ValueError:
        return None


def a_protected_endpoint_is_not_open_to_all(stated: Stated) -> Iterator[Fault]:
    """A cluster worth protecting does not offer its API to the whole internet, in one range or in several."""
    if stated.part("stack").get("protect") is not True:
        return
    public = dict(listed_at(inner(stated.of("cluster"), "endpoint"), "public"))
    opened = exposure(public.values())
    for index, allowed in public.items():
        if allowed in opened.wide:
            yield Fault(
                f"cluster.endpoint.public[{index}]",
                f"{allowed} lets everybody reach the API of a protected stack",
                f"name the ranges that may, or none: nothing wider than /{SHORTEST}",
            )
    if opened.together:
        yield Fault(
            "cluster.endpoint.public",
            "its ranges are half of the internet or more, and let everybody reach the API of a protected stack",
            "name the ranges that may, or none at all",
        )


def a_protected_repository_keeps_its_images(stated: Stated) -> Iterator[Fault]:
    """Protection and deletion by force contradict each other."""
    if stated.of("stack").get("protect") is not True:
        return
    for name, repository in stated.entries("ecr"):
        if repository.get("force-delete"):
            yield Fault(f"ecr.{name}.force-delete", "contradicts stack.protect", "write false, or unprotect the stack")


def the_kubernetes_version_is_pinned(stated: Stated) -> Iterator[Fault]:
    """A version is run only with node images, add-ons and an autoscaler known to fit it."""
    version = stated.of("cluster").get("version")
    if version is not None and version not in pins.EKS_AMI_RELEASES:
        right = did_you_mean(version, pins.EKS_AMI_RELEASES)
        yield Fault("cluster.version", f"{version} has no pinned node image and add-ons", right)


def scale_set_names_fit_the_chart(stated: Stated) -> Iterator[Fault]:
    """The chart does not render a longer name."""
    for name, runner in stated.entries("runners"):
        if "arc" in runner and len(name) > SCALE_SET_NAME_LIMIT:
            yield Fault(
                f"runners.{name}",
                f"the name has {len(name)} characters",
                f"a scale set's name has at most {SCALE_SET_NAME_LIMIT}",
            )


def labels_are_no_other_runners_name(stated: Stated) -> Iterator[Fault]:
    """A runner's name is a label too, and GitHub gives a job to any runner that has the label it asks for."""
    for name, runner in stated.entries("runners"):
        labels = inner(runner, "arc").get("labels")
        for index, label in enumerate(labels if isinstance(labels, list) else []):
            if label != name and label in stated.names("runners"):
                yield Fault(
                    f"runners.{name}.arc.labels[{index}]",
                    f"{label} is another runner, whose jobs would come here as well",
                    "take a label that no runner is called",
                )


def labels_and_taints_leave_ours_alone(stated: Stated) -> Iterator[Fault]:
    """What every GPU node carries is derived; a second owner would contradict it."""
    for name, pool in stated.entries("gpu-pools"):
        for kind in ("labels", "taints"):
            for key in inner(pool, kind):
                domain = f".{key.rpartition('/')[0]}"
                if key == "role" or any(domain.endswith(f".{reserved}") for reserved in RESERVED_DOMAINS):
                    yield Fault(f"gpu-pools.{name}.{kind}.{key}", "is set by the program", "take a key of your own")


RULES: tuple[Callable[[Stated], Iterator[Fault]], ...] = (
    references.sections_have_what_they_need,
    references.runners_name_what_exists,
    references.images_name_what_exists,
    references.secrets_are_set,
    references.empty_pools_have_an_autoscaler,
    references.instance_types_are_known,
    references.gpus_are_known_and_are_there,
    minimum_is_at_most_maximum,
    a_runner_has_one_back_end,
    zones_are_in_the_region,
    nodes_stand_in_zones_of_the_network,
    slots_differ,
    ranges_do_not_overlap,
    a_protected_endpoint_is_not_open_to_all,
    a_protected_repository_keeps_its_images,
    the_kubernetes_version_is_pinned,
    scale_set_names_fit_the_chart,
    labels_are_no_other_runners_name,
    labels_and_taints_leave_ours_alone,
    *RUNNER_RULES,
    *ZONE_RULES,
    *GOOGLE_RULES,
    *AMAZON_RULES,
    *CIRUN_RULES,
)


def broken(stated: Stated) -> list[Fault]:
    """Every fault that any rule finds."""
    return [fault for rule in RULES for fault in rule(stated)]
