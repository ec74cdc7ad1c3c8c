"""From the stack file to the machines that cost money: node groups, cirun's, and those that make an image."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from composition.demands import attached
from config.values import gibibytes
from gpu.cost.estate import Build, Disk, Fleet, Way
from gpu.cost.interruptions import GOOGLE, rate_per_hour
from gpu.machines import ec2_type
from gpu.regions import Cloud

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from config.aws import AmazonSettings
    from config.machines import DiskSettings, PoolSettings
    from config.runners import RunnerSettings
    from config.settings import Settings

VERIFY_MINUTES = 30
"""After which the machine that an image is tried on is gone: what the image's controller is told by default."""


def fleets(settings: Settings) -> Iterator[Fleet]:
    """Everything that jobs run on, and the nodes that the cluster itself needs."""
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
            limit="system-nodes.max",
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
        limit=f"gpu-pools.{name}.max",
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
        first, *others = _ways(amazon.regions, amazon.spot)
        yield Fleet(
            path=f"runners.{name}",
            region=first.region,
            machines=amazon.instance_types,
            spot=first.spot,
            others=tuple(others),
            max_size=amazon.at_once,
            limit=f"runners.{name}.cirun-aws.at-once",
            disk=Disk(gib=gibibytes(amazon.disk)),
            interruptions=rate_per_hour(amazon.instance_types, first.region) if first.spot else 0.0,
        )
    if google is not None:
        first, *others = _ways((zone.rpartition("-")[0] for zone in google.zones), google.spot)
        yield Fleet(
            path=f"runners.{name}",
            cloud=Cloud.GCP,
            region=first.region,
            machines=google.machine_types,
            spot=first.spot,
            others=tuple(others),
            max_size=google.at_once,
            limit=f"runners.{name}.cirun-gcp.at-once",
            disk=Disk(gib=gibibytes(google.disk), kind="pd-balanced"),
            interruptions=GOOGLE.per_hour if first.spot else 0.0,
            **attached(google.machine_types, runner.needs.gpu, runner.needs.gpus),
        )


def _ways(regions: Iterable[str], markets: tuple[bool, ...]) -> list[Way]:
    """Where and how a machine is tried to be had, in turn."""
    return [Way(region=region, spot=spot) for region in dict.fromkeys(regions) for spot in dict.fromkeys(markets)]


def builds(settings: Settings) -> Iterator[Build]:
    """The machine that installs, and the one that the image is tried on, where there is one."""
    image = settings.host_image
    if image is None or (image.mode, image.phase) == ("declared", "image"):
        return
    declared = image.mode == "declared"
    places = (zone.rpartition("-")[0] for zone in (image.zones[:1] if declared else image.zones))
    first, *others = _ways(places, (True, False) if image.builder.spot and not declared else (image.builder.spot,))
    builder = Fleet(
        path="host-image",
        cloud=Cloud.GCP,
        region=first.region,
        machines=(image.builder.machine_type,),
        spot=first.spot,
        others=tuple(others),
        max_size=1,
        disk=Disk(gib=gibibytes(image.builder.disk), kind="pd-balanced"),
    )
    attempts = 1 if declared else image.builder.attempts
    yield Build(
        path="host-image", what="to build", machine=builder, minutes=image.builder.max_minutes, attempts=attempts
    )
    if not declared:
        trial = image.verifier
        machines = (trial.machine_type,)
        verifier = replace(builder, machines=machines, **attached(machines, trial.gpu, trial.gpus))
        yield Build(path="host-image", what="to try", machine=verifier, minutes=VERIFY_MINUTES, attempts=attempts)
