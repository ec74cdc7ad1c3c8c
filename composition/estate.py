"""From the stack file to what costs money and what jobs it is for: plain descriptions, reckoned in `gpu/`."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from checks.money import Limit
from composition.fleets import builds, fleets
from config.values import mebibytes
from gpu.cost.estate import (
    CONTROL_PLANE_LOGS_GB,
    HOST_IMAGE_GB,
    ControlPlane,
    Estate,
    HostImages,
    Keys,
    Load,
    Network,
    Registry,
)
from gpu.cost.month import Case
from gpu.machines.start_up import USUAL_IMAGE_GIB
from gpu.regions import Cloud

if TYPE_CHECKING:
    from collections.abc import Iterator

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
                    # Every version that can be stated had standard support when its images were pinned.
                    may_extend=settings.cluster.support == "extended",
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
        fleets=tuple(fleets(settings)),
        loads=tuple(_loads(settings)),
        registries=tuple(registries),
        host_images=tuple(_host_images(settings)),
        builds=tuple(builds(settings)),
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


def _loads(settings: Settings) -> Iterator[Load]:
    for name, runner in settings.runners.items():
        work = runner.workload
        yield Load(
            path=f"runners.{name}",
            fleet=f"gpu-pools.{runner.arc.pool}" if runner.arc is not None else f"runners.{name}",
            jobs_per_month=work.jobs_per_month if work else 0,
            minutes=work.minutes if work else 0,
            p95_minutes=work.p95_minutes if work else None,
            limit_minutes=runner.timeout_minutes,
            min_runners=runner.arc.min_on_gpu if runner.arc is not None else 0,
            awaited=runner.queue_target_minutes is not None,
        )


def _host_images(settings: Settings) -> Iterator[HostImages]:
    image = settings.host_image
    if image is not None:
        kept = image.keep if image.mode == "controller" else 1
        yield HostImages(path="host-image", gb=HOST_IMAGE_GB * kept)
