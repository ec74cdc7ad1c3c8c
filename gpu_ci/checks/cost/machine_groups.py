"""The machine groups and the job loads of a stack: the input of the checks on money, spot, waiting time and quotas."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gpu_ci.back_ends.offer import Offer, OwnMachines
from gpu_ci.back_ends.stack import Stack
from gpu_ci.knowledge.cost.interruptions import GCP_BAND, aws_rate
from gpu_ci.knowledge.cost.jobs import REPLACEMENT_MINUTES, JobLoad, mean_minutes
from gpu_ci.knowledge.machines import Catalogue
from gpu_ci.knowledge.machines.groups import Disk, MachineGroup, Placement
from gpu_ci.knowledge.regions import Cloud, region_of
from gpu_ci.stack_file.rules.machine_images import images
from gpu_ci.stack_file.sections.machines import DiskSettings, NodePool, PoolSettings
from gpu_ci.stack_file.sections.runners import RunnerSettings
from gpu_ci.stack_file.sections.settings import Settings
from gpu_ci.stack_file.values.general import gibibytes

SURGE_PER_ZONE: Final = 2
"""Nodes in each zone that EKS starts above the size of a node group while it updates it with the default strategy (EKS
user guide, "Understand each phase of node updates", 2026). Pools use the strategy MINIMAL, which starts none."""


def machine_groups(stack: Stack) -> Iterator[MachineGroup]:
    """Yield the node groups of the cluster, and the machines that the stack creates for single runners."""
    settings = stack.settings
    system = settings.system_nodes
    if settings.aws is not None and system is not None:
        yield MachineGroup(
            path="system-nodes",
            cloud=Cloud.AWS,
            types=system.instance_types,
            catalogue=settings.machines,
            placements=(Placement(region=settings.aws.region, spot=False),),
            min=system.min,
            max=system.max,
            max_key="system-nodes.max",
            least_max=system.min,
            surge=SURGE_PER_ZONE * len(system.zones),
            disk=_root_volume(system.disk),
        )
    yield from pool_groups(stack).values()
    for offer in stack.offers.values():
        if offer.own is not None and offer.own.created:
            yield _own_machines(offer, offer.own, settings.machines)


def pool_groups(stack: Stack) -> dict[str, MachineGroup]:
    """Return the pools of the cluster, by name."""
    aws = stack.settings.aws
    if aws is None:
        return {}
    return {name: _pool(name, pool, stack, aws.region) for name, pool in stack.settings.pools.items()}


def _pool(name: str, pool: NodePool, stack: Stack, region: str) -> MachineGroup:
    autoscaler = stack.settings.autoscaler
    sharing = pool.sharing if isinstance(pool, PoolSettings) else None
    jobs = stack.settings.machines.ec2(pool.instance_types[0]).devices * (sharing.replicas if sharing else 1)
    idle = pool.scale_down_after_minutes or (autoscaler.scale_down_after_minutes if autoscaler else 0)
    gpus_of_a_job = [
        stack.settings.runners[runner].needs.devices
        for runner, offer in stack.offers.items()
        if offer.shared is not None and offer.shared.pools[0] == name
    ]
    return MachineGroup(
        path=f"{pool.SECTION}.{name}",
        cloud=Cloud.AWS,
        types=pool.instance_types,
        catalogue=stack.settings.machines,
        placements=(Placement(region=region, spot=pool.capacity == "spot"),),
        min=pool.min,
        max=pool.max,
        max_key=f"{pool.SECTION}.{name}.max",
        least_max=max(1, pool.min),
        disk=_root_volume(pool.disk),
        jobs_per_machine=max(1, jobs // max((1, *gpus_of_a_job))),
        idle_minutes=idle,
        # The next node runs a pod without a job, and stays idle for as long as any other afterwards.
        minutes_after_loss=REPLACEMENT_MINUTES + idle,
        interruptions_per_hour=aws_rate(pool.instance_types, region)
        if pool.interruptions_per_hour is None
        else pool.interruptions_per_hour,
    )


def _root_volume(stated: DiskSettings) -> Disk:
    return Disk(gib=gibibytes(stated.size), iops=stated.iops, mibps=stated.throughput)


def _own_machines(offer: Offer, own: OwnMachines, catalogue: Catalogue) -> MachineGroup:
    rate = aws_rate(own.types, own.placements[0].region) if own.cloud is Cloud.AWS else GCP_BAND.per_hour
    return MachineGroup(
        path=offer.path,
        cloud=own.cloud,
        types=own.types,
        catalogue=catalogue,
        placements=own.placements,
        max=own.at_once,
        max_key=own.at_once_key,
        disk=Disk(gib=own.disk_gib, kind=own.disk_kind),
        attached_gpu=own.attached_gpu,
        attached_gpus=own.attached_gpus,
        interruptions_per_hour=rate,
        running=own.standing.time if own.standing is not None else None,
    )


def build_groups(settings: Settings) -> dict[str, MachineGroup]:
    """Return the machines that build and verify the host image, by their purpose.

    A declared builder runs in the first zone and on one market, and no verifier follows it.
    """
    image = settings.host_image
    if image is None or (image.mode, image.phase) == ("declared", "image"):
        return {}
    declared = image.mode == "declared"
    zones = image.zones[:1] if declared else image.zones
    markets = (True, False) if image.builder.spot and not declared else (image.builder.spot,)
    placements = tuple(
        Placement(region=region, spot=spot)
        for region in dict.fromkeys(region_of(zone) for zone in zones)
        for spot in markets
    )
    disk = Disk(gib=gibibytes(image.builder.disk), kind="pd-balanced")

    def machine(name: str, gpu: str | None = None, gpus: int = 0) -> MachineGroup:
        return MachineGroup(
            path="host-image", cloud=Cloud.GCP, types=(name,), catalogue=settings.machines, placements=placements,
            max=1, disk=disk, attached_gpu=gpu, attached_gpus=gpus,
        )  # fmt: skip

    builder, verifier = machine(image.builder.machine_type), image.verifier
    if declared:
        return {"build": builder}
    attaches = settings.machines.gce(verifier.machine_type).gpu is None
    return {
        "build": builder,
        "verify": machine(verifier.machine_type, verifier.gpu, verifier.gpus)
        if attaches
        else machine(verifier.machine_type),
    }


def factory_groups(settings: Settings) -> dict[str, MachineGroup]:
    """Return the machines that build and test images on AWS, by the section of the image."""
    if settings.aws is None:
        return {}
    region = settings.aws.region
    return {
        path: MachineGroup(
            path=path,
            cloud=Cloud.AWS,
            types=image.instance_types,
            catalogue=settings.machines,
            # Image Builder has no option for spot. The test machine starts after the other one has ended.
            placements=(Placement(region=region, zones=(image.zone,), spot=False),),
            max=1,
            disk=Disk(gib=gibibytes(image.disk)),
        )
        for path, image in images(settings).items()
    }


def job_loads(stack: Stack) -> list[JobLoad]:
    """Return the jobs of each runner."""
    runners = stack.settings.runners
    return [job_load(runners[name], offer, stack.settings) for name, offer in stack.offers.items()]


def job_load(runner: RunnerSettings, offer: Offer, settings: Settings) -> JobLoad:
    """Return the jobs of one runner."""
    work, shared = runner.workload, offer.shared
    return JobLoad(
        path=offer.path,
        group=settings.pool_path(shared.pools[0]) if shared is not None else offer.path,
        jobs_per_month=work.jobs_per_month if work else 0,
        mean_minutes=mean_minutes(work.minutes, work.p95_minutes, runner.timeout_minutes) if work else 0.0,
        idle=shared.idle_on_gpu if shared is not None else 0,
        idle_key=shared.idle_key if shared is not None else "",
        gpu=bool(runner.needs.gpu),
        has_target=runner.queue_target_minutes is not None,
    )
