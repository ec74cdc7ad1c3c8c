"""From the stack file to what is asked of quotas: machines at their most, answered in `checks.quota`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from checks.quota import EKS_UPDATE_HEADROOM, Demand
from gpu.machines import gce_type
from gpu.regions import Cloud

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from config.gcp import HostImageSettings
    from config.runners import CirunGoogleBackEnd, RunnerSettings
    from config.settings import Settings


def demands(settings: Settings) -> list[Demand]:
    """What the stack runs at its largest."""
    return [*_on_amazon(settings), *_on_google(settings)]


def attached(machines: tuple[str, ...], gpu: str, gpus: int) -> dict[str, Any]:
    """The GPU to attach, for machines that bring none."""
    if all(gce_type(machine).gpu is not None for machine in machines):
        return {}
    return {"gpu": gpu, "gpus": gpus}


def _on_amazon(settings: Settings) -> Iterator[Demand]:
    if settings.aws is None:
        return
    region = settings.aws.region
    system = settings.system_nodes
    if system is not None:
        yield Demand(
            path="system-nodes",
            cloud=Cloud.AWS,
            region=region,
            machines=system.instance_types,
            spot=False,
            max_count=system.max,
            limit="system-nodes.max",
            least=system.min,
            headroom=EKS_UPDATE_HEADROOM,
        )
    for name, pool in settings.gpu_pools.items():
        yield Demand(
            path=f"gpu-pools.{name}",
            cloud=Cloud.AWS,
            region=region,
            machines=pool.instance_types,
            spot=pool.capacity == "spot",
            max_count=pool.max,
            limit=f"gpu-pools.{name}.max",
            least=max(1, pool.min),
            headroom=EKS_UPDATE_HEADROOM,
        )
    for name, runner in settings.runners.items():
        served = runner.cirun_aws
        if served is not None:
            # Whichever is tried last may be the one that has them all.
            for place in served.regions:
                for spot in dict.fromkeys(served.spot):
                    yield Demand(
                        path=f"runners.{name}",
                        cloud=Cloud.AWS,
                        region=place,
                        machines=served.instance_types,
                        spot=spot,
                        max_count=served.at_once,
                        limit=f"runners.{name}.cirun-aws.at-once",
                    )


def _on_google(settings: Settings) -> Iterator[Demand]:
    if settings.gcp is None:
        return
    project = settings.gcp.project
    for name, runner in settings.runners.items():
        if runner.cirun_gcp is not None:
            yield from _of_cirun(name, runner, runner.cirun_gcp, project)
    image = settings.host_image
    if image is not None and (image.mode, image.phase) != ("declared", "image"):
        yield from _of_a_build(image, project)


def _of_cirun(name: str, runner: RunnerSettings, served: CirunGoogleBackEnd, project: str) -> Iterator[Demand]:
    for region in _regions(served.zones):
        for spot in dict.fromkeys(served.spot):
            yield Demand(
                path=f"runners.{name}",
                cloud=Cloud.GCP,
                region=region,
                machines=served.machine_types,
                spot=spot,
                max_count=served.at_once,
                limit=f"runners.{name}.cirun-gcp.at-once",
                project=project,
                **attached(served.machine_types, runner.needs.gpu, runner.needs.gpus),
            )


def _of_a_build(image: HostImageSettings, project: str) -> Iterator[Demand]:
    """The builder, and after it the machine that the image is tried on, wherever and however they are to be had.

    A declared builder stands in the first zone and on one market, and nothing is tried.
    """
    declared = image.mode == "declared"
    build, trial = image.builder, image.verifier
    markets = (True, False) if build.spot and not declared else (build.spot,)
    for region in _regions(image.zones[:1] if declared else image.zones):
        for spot in markets:
            common: dict[str, Any] = {"path": "host-image", "cloud": Cloud.GCP, "region": region, "spot": spot,
                                      "max_count": 1, "project": project}  # fmt: skip
            yield Demand(machines=(build.machine_type,), plain=True, **common)
            if not declared:
                machines = (trial.machine_type,)
                yield Demand(machines=machines, **common, **attached(machines, trial.gpu, trial.gpus))


def _regions(zones: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(zone.rpartition("-")[0] for zone in zones))
