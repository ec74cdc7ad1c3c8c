"""The machines that exist between jobs, as their clouds show them now."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from gpu_ci.back_ends.offer import OwnMachines, Standing
from gpu_ci.back_ends.shared.machine.aws.permissions import STATUS_TAG
from gpu_ci.back_ends.shared.machine.runner import machine_title
from gpu_ci.back_ends.shared.machine.section import MachineSection
from gpu_ci.knowledge.regions import Cloud
from gpu_ci.stack_file.sections.settings import Settings
from ops.doctor.world.world import World

COMPUTE: Final = "https://compute.googleapis.com/compute/v1"
_STATES: Final = {
    "pending": "starting", "running": "running", "stopping": "stopping", "shutting-down": "deleted",
    "stopped": "stopped", "terminated": "deleted",
    "PROVISIONING": "starting", "STAGING": "starting", "RUNNING": "running", "STOPPING": "stopping",
    "SUSPENDING": "stopping", "SUSPENDED": "stopped", "REPAIRING": "starting", "TERMINATED": "stopped",
}  # fmt: skip
"""The states of EC2 and of Compute Engine, whose `TERMINATED` is a stopped machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """A machine of the stack file."""

    runner: str
    title: str
    """Its name in the cloud, and the start of the names of its runners at GitHub."""
    cloud: Cloud
    region: str
    zone: str
    standing: Standing


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """A machine as its cloud shows it."""

    id: str
    state: str
    """`starting`, `running`, `stopping`, `stopped` or `deleted`."""
    status: str
    """The status that it published itself, for example `online`; empty without one."""
    reason: str
    """The cloud's reason of the last change of the state; empty without one."""
    start: str
    """The command that starts it."""


def has_machines(settings: Settings) -> bool:
    """Return whether a runner has a machine on AWS or Google Cloud that exists between jobs."""
    sections = [section for runner in settings.runners.values() for section in runner.stated.values()]
    return any(isinstance(part, MachineSection) for one in sections for part in (one, getattr(one, "machine", None)))


def expected(world: World) -> Iterator[Expected]:
    """Yield every machine of the stack file on AWS or Google Cloud."""
    for name, offer in world.stack.offers.items():
        own = offer.own
        if own is not None and own.standing is not None and own.cloud is not Cloud.JARVIS:
            yield _expected(world, name, own, own.standing)


def _expected(world: World, name: str, own: OwnMachines, standing: Standing) -> Expected:
    place = own.placements[0]
    return Expected(
        runner=name,
        title=machine_title(world.stack.identity, name),
        cloud=own.cloud,
        region=place.region,
        zone=place.zones[0],
        standing=standing,
    )


def found(world: World, one: Expected) -> Machine | None:
    """Return a machine; None if the cloud has none of this name."""
    return _on_aws(world, one) if one.cloud is Cloud.AWS else _on_gcp(world, one)


def _on_aws(world: World, one: Expected) -> Machine | None:
    identity = world.stack.identity
    filters = [
        {"Name": "tag:Name", "Values": [one.title]},
        {"Name": "tag:Environment", "Values": [identity.tags["Environment"]]},
    ]
    answer = world.aws.ask("ec2.describe_instances", Filters=filters, region=one.region)
    instances = [instance for group in answer["Reservations"] for instance in group["Instances"]]
    # A deleted instance stays in the list for an hour, also after its successor exists.
    instances.sort(key=lambda each: _STATES.get(each["State"]["Name"]) == "deleted")
    if not instances:
        return None
    first = instances[0]
    tags = {tag["Key"]: tag["Value"] for tag in first.get("Tags", [])}
    return Machine(
        id=first["InstanceId"],
        state=_STATES.get(str(first["State"]["Name"]), str(first["State"]["Name"])),
        status=tags.get(STATUS_TAG, ""),
        reason=(first.get("StateReason") or {}).get("Message", ""),
        start=f"aws ec2 start-instances --region {one.region} --instance-ids {first['InstanceId']}",
    )


def _on_gcp(world: World, one: Expected) -> Machine | None:
    project = world.settings.gcp.project if world.settings.gcp is not None else ""
    place = f"{COMPUTE}/projects/{project}/zones/{one.zone}/instances/{one.title}"
    instance = world.google.ask(place)
    if instance is None:
        return None
    answer = world.google.ask(f"{place}/getGuestAttributes", queryPath="gpu-ci/runner")
    items = (answer or {}).get("queryValue", {}).get("items", [])
    return Machine(
        id=str(instance["id"]),
        state=_STATES.get(str(instance["status"]), str(instance["status"])),
        status=items[0]["value"] if items else "",
        reason=instance.get("statusMessage", ""),
        start=f"gcloud compute instances start {one.title} --project {project} --zone {one.zone}",
    )
