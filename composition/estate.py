"""From the stack file to what costs money and what jobs it is for: plain descriptions, reckoned in `gpu/`."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from config.values import gibibytes, mebibytes
from gpu.estate import CONTROL_PLANE_LOGS_GB, ControlPlane, Disk, Estate, Fleet, Keys, Load, Network, Registry
from gpu.instance_types import ec2_type, gce_type
from gpu.interruptions import GOOGLE, rate_per_hour
from gpu.money import Limit
from gpu.month import Case
from gpu.queue_steps import USUAL_IMAGE_GIB
from gpu.quota_claim import Cloud

if TYPE_CHECKING:
    from collections.abc import Iterator

    from config.amazon import AmazonSettings
    from config.machines import DiskSettings, PoolSettings
    from config.runners import RunnerSettings
    from config.services import ImageSettings
    from config.settings import Settings


def limits(settings: Settings) -> list[Limit]:
    """What a month may cost, where the stack file says."""
    budget = settings.budget
    stated = ((Case.EXPECTED, budget.expected), (Case.WORST, budget.worst)) if budget else ()
    return [Limit(path=f"budget.{case.value}", usd=Decimal(usd), case=case) for case, usd in stated if usd is not None]


def estate(settings: Settings) -> Estate:
    """Everything of the stack that costs money."""
    control_planes: list[ControlPlane] = []
    networks: list[Network] = []
    keys: list[Keys] = []
    registries: list[Registry] = []
    if settings.aws is not None:
        region = settings.aws.region
        if settings.cluster is not None:
            control_planes.append(
                ControlPlane(
                    path="cluster",
                    region=region,
                    logs_gb=CONTROL_PLANE_LOGS_GB if settings.cluster.logs else Decimal(0),
                    retention_days=settings.cluster.log_retention_days,
                )
            )
            keys.append(Keys(path="cluster", region=region))
        if settings.network is not None:
            gateways = len(settings.network.zones) if settings.network.nat == "per-zone" else 1
            networks.append(
                Network(path="network", region=region, gateways=gateways, traffic_gb=_pulled_from_outside(settings))
            )
        for name, repository in settings.ecr.items():
            sizes = [image_gib(image) for image in settings.images.values() if image.repository == name]
            held = Decimal(str(max(sizes, default=USUAL_IMAGE_GIB))) * repository.keep
            registries.append(Registry(path=f"ecr.{name}", region=region, gb=held))
    if settings.gcp is not None:
        for name, kept in settings.artifact_registry.items():
            place = kept.region or settings.gcp.region
            held = Decimal(str(USUAL_IMAGE_GIB)) * kept.keep
            registries.append(Registry(path=f"artifact-registry.{name}", cloud=Cloud.GCP, region=place, gb=held))
    return Estate(
        control_planes=tuple(control_planes),
        networks=tuple(networks),
        fleets=tuple(_fleets(settings)),
        loads=tuple(_loads(settings)),
        registries=tuple(registries),
        keys=tuple(keys),
    )


def image_gib(image: ImageSettings) -> float:
    """What a node has to pull."""
    return mebibytes(image.compressed) / 1024 if image.compressed else USUAL_IMAGE_GIB


def _pulled_from_outside(settings: Settings) -> Decimal:
    """What comes through the NAT: images of other registries, once a job, since a node seldom outlives one."""
    total = Decimal(0)
    for runner in settings.runners.values():
        if runner.arc is not None and runner.workload is not None:
            image = settings.images[runner.arc.image]
            if image.reference is not None:
                total += Decimal(str(image_gib(image))) * runner.workload.jobs_per_month
    return total


def _fleets(settings: Settings) -> Iterator[Fleet]:
    if settings.aws is not None:
        yield from _node_groups(settings, settings.aws)
    for name, runner in settings.runners.items():
        yield from _machines_of_cirun(name, runner)


def _node_groups(settings: Settings, account: AmazonSettings) -> Iterator[Fleet]:
    system = settings.system_nodes
    if system is not None:
        yield Fleet(
            path="system-nodes",
            region=account.region,
            machines=system.instance_types,
            min_size=system.min,
            max_size=system.max,
            disk=disk(system.disk),
        )
    for name, pool in settings.gpu_pools.items():
        yield gpu_fleet(name, pool, settings, account)


def gpu_fleet(name: str, pool: PoolSettings, settings: Settings, account: AmazonSettings) -> Fleet:
    """A pool's nodes."""
    idle = pool.scale_down_after_minutes
    if idle is None:
        idle = settings.autoscaler.scale_down_after_minutes if settings.autoscaler else 0
    shares = ec2_type(pool.instance_types[0]).devices * (pool.sharing.replicas if pool.sharing else 1)
    asked = [
        runner.needs.gpus for runner in settings.runners.values() if runner.arc is not None and runner.arc.pool == name
    ]
    return Fleet(
        path=f"gpu-pools.{name}",
        region=account.region,
        machines=pool.instance_types,
        spot=pool.capacity == "spot",
        min_size=pool.min,
        max_size=pool.max,
        disk=disk(pool.disk),
        jobs_per_node=max(1, shares // max(asked, default=1)),
        tail_minutes=float(idle),
        interruptions=interruptions(pool, account) if pool.capacity == "spot" else 0.0,
    )


def interruptions(pool: PoolSettings, account: AmazonSettings) -> float:
    """How often in an hour a spot machine of the pool is taken away: as stated, else as published."""
    if pool.interruptions_per_hour is not None:
        return pool.interruptions_per_hour
    return rate_per_hour(pool.instance_types, account.region)


def disk(stated: DiskSettings) -> Disk:
    """A node's root volume."""
    return Disk(gib=gibibytes(stated.size), iops=stated.iops, mibps=stated.throughput)


def _machines_of_cirun(name: str, runner: RunnerSettings) -> Iterator[Fleet]:
    """A machine for each job, of the kind that is tried first."""
    amazon, google = runner.cirun_aws, runner.cirun_gcp
    if amazon is not None:
        yield Fleet(
            path=f"runners.{name}",
            region=amazon.regions[0],
            machines=amazon.instance_types,
            spot=amazon.spot[0],
            max_size=amazon.at_once,
            disk=Disk(gib=gibibytes(amazon.disk)),
            interruptions=rate_per_hour(amazon.instance_types, amazon.regions[0]) if amazon.spot[0] else 0.0,
        )
    if google is not None:
        brings = all(gce_type(machine).gpu is not None for machine in google.machine_types)
        yield Fleet(
            path=f"runners.{name}",
            cloud=Cloud.GCP,
            region=google.zones[0].rpartition("-")[0],
            machines=google.machine_types,
            spot=google.spot[0],
            max_size=google.at_once,
            disk=Disk(gib=gibibytes(google.disk), kind="pd-balanced"),
            gpu=None if brings else runner.needs.gpu,
            gpus=0 if brings else runner.needs.gpus,
            interruptions=GOOGLE.per_hour if google.spot[0] else 0.0,
        )


def _loads(settings: Settings) -> Iterator[Load]:
    for name, runner in settings.runners.items():
        work = runner.workload
        yield Load(
            path=f"runners.{name}",
            fleet=f"gpu-pools.{runner.arc.pool}" if runner.arc is not None else f"runners.{name}",
            jobs_per_month=work.jobs_per_month if work else 0,
            minutes=work.minutes if work else 0,
            limit_minutes=runner.timeout_minutes,
            min_runners=runner.arc.min if runner.arc is not None else 0,
            awaited=runner.queue_target_minutes is not None,
        )
