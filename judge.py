"""What is known of a stack before anything is built: every check of `gpu/`, asked about what the stack file states."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from back_ends.stack import Stack
from checks import money, queue_time, quota, spot_plan
from checks.counts import counts
from checks.fit import ImageUse, fits, image_fits
from checks.floor import floor
from checks.gpu_zones import gpu_zones
from checks.image_proof import image_proof
from checks.image_region import image_region
from checks.machine_fit import OwnDisk, disk_fits, machine_fits
from checks.pool_shape import own_spot, pool_shapes
from checks.runner_version import RUNNER_IMAGE, runner_version
from checks.scale_from_zero import scale_from_zero
from checks.system_room import system_room
from composition import asks, facts, system
from config.values import gibibytes, mebibytes
from gpu.kubernetes.quantities import MIB
from gpu.machines import attach, ec2_type, gce_type, gpu_model
from gpu.software.compatibility import conflicts, solve
from gpu.verdict import Level, Verdict
from wiring import host_image

if TYPE_CHECKING:
    from collections.abc import Iterator

    from config.identity import Identity
    from config.runners import RunnerSettings
    from config.settings import Settings
    from gpu.machines import InstanceType, MachineType


def verdicts(settings: Settings, identity: Identity) -> list[Verdict]:
    """Every judgement on the stack, good ones too, each once: what two runners share is judged for both."""
    stack = Stack.of(settings, identity)
    found = [
        *_pools(Stack.of(settings, identity)),
        *_system_nodes(settings, identity.prefix),
        *(verdict for ask in asks.compatibility(settings) for verdict in solve(ask)),
        *_machines(settings),
        *_own_spot(settings),
        *_floors(settings),
        *_image_regions(settings),
        *_runner_versions(settings),
        *_gpu_zones(settings),
        *_image_proof(settings),
        *(verdict for module in (money, spot_plan, queue_time, quota) for verdict in module.check(stack)),
    ]
    return list(dict.fromkeys(found))


def _pools(stack: Stack) -> Iterator[Verdict]:
    settings = stack.settings
    plugin, daemonsets = facts.device_plugin(settings), facts.daemonsets(settings)
    everywhere = daemonsets if plugin is None else (*daemonsets, plugin)
    groups = [
        facts.node_group(name, pool, settings, stack.identity.prefix) for name, pool in settings.gpu_pools.items()
    ]
    runners = {offer.path: offer.shared for offer in stack.offers.values() if offer.shared is not None}
    yield from counts(groups, runners, everywhere)
    yield from pool_shapes(groups, runners)
    for name, image in settings.images.items():
        if image.compressed is not None:
            uses = [
                ImageUse(runner=path, pod=runner.pod, group=group)
                for path, runner in runners.items()
                for group in groups
                if runner.image == name and runner.waiting_pod is None and group.name in runner.pools
            ]
            yield from image_fits(f"images.{name}.compressed", mebibytes(image.compressed) * MIB, uses)
    for group in groups:
        for path, runner in runners.items():
            if group.name in runner.pools:
                room = fits(path, runner.pod, group, everywhere)
                yield room
                yield from scale_from_zero(
                    path,
                    runner.pod,
                    group,
                    plugin=plugin,
                    autoscaler=settings.autoscaler is not None,
                    daemonsets=daemonsets,
                    fits=room.level is Level.OK,
                )


def _system_nodes(settings: Settings, cluster: str) -> list[Verdict]:
    """What waits on them waits with every runner: DNS, the controllers, the listeners."""
    if settings.system_nodes is None:
        return []
    return system_room(
        system.node_group(settings.system_nodes, cluster),
        tuple(system.pods(settings)),
        daemonsets=system.daemonsets(settings),
        grows=settings.autoscaler is not None,
    )


def _own_disk(name: str, runner: RunnerSettings, settings: Settings) -> OwnDisk | None:
    """The root disk of a runner that has a machine to itself."""
    served = runner.cirun_aws or runner.cirun_gcp
    if served is None:
        return None
    image = settings.host_image if runner.cirun_gcp else None
    return OwnDisk(
        path=f"runners.{name}",
        stated=f"runners.{name}.{'cirun-gcp' if runner.cirun_gcp else 'cirun-aws'}.disk",
        gib=gibibytes(served.disk),
        image_gib=gibibytes(image.builder.disk) if image else 0,
        wanted_gib=gibibytes(runner.needs.disk) if runner.needs.disk else 0,
    )


def _machines(settings: Settings) -> Iterator[Verdict]:
    """Runners that have a machine to themselves, on every type that they may be given."""
    for name, runner in settings.runners.items():
        needs = runner.needs
        machines = [machine for machine, _ in _given(runner, settings)] if runner.arc is None else []
        if machines:
            memory = mebibytes(needs.memory)
            yield from machine_fits(f"runners.{name}", machines, cpu=needs.cpu, memory_mib=memory, gpus=needs.gpus)
        disk = _own_disk(name, runner, settings)
        if disk is not None:
            yield from disk_fits(disk)


def _own_spot(settings: Settings) -> Iterator[Verdict]:
    """Runners whose machines are tried for on Spot alone."""
    for name, runner in settings.runners.items():
        amazon, google = runner.cirun_aws, runner.cirun_gcp
        if amazon is not None and all(amazon.spot):
            yield from own_spot(f"runners.{name}.cirun-aws.spot", types=len(set(amazon.instance_types)))
        if google is not None and all(google.spot):
            types, zones = len(set(google.machine_types)), len(set(google.zones))
            yield from own_spot(f"runners.{name}.cirun-gcp.spot", types=types, zones=zones)


def _floors(settings: Settings) -> Iterator[Verdict]:
    """The least of use, except where it is CUDA itself that has dropped the GPU: that is told with its way out."""
    dropped = {ask.path for ask in asks.compatibility(settings) if ("gpu", "cuda") in conflicts(ask)}
    for name, runner in settings.runners.items():
        path = f"runners.{name}"
        for machine, disk_gib in _given(runner, settings):
            cuda = None if path in dropped else runner.needs.cuda
            yield from floor(path, machine, cuda=cuda, disk_gib=disk_gib)


def _given(runner: RunnerSettings, settings: Settings) -> list[tuple[InstanceType | MachineType, int]]:
    """Every machine that a runner may be given, with the GiB of its root disk."""
    found: list[tuple[InstanceType | MachineType, int]] = []
    if runner.arc is not None:
        pools = [settings.gpu_pools[pool] for pool in (runner.arc.pool, runner.arc.fallback) if pool is not None]
        found += [(ec2_type(stated), gibibytes(pool.disk.size)) for pool in pools for stated in pool.instance_types]
    if runner.cirun_aws is not None:
        found += [(ec2_type(stated), gibibytes(runner.cirun_aws.disk)) for stated in runner.cirun_aws.instance_types]
    if runner.cirun_gcp is not None:
        model, disk_gib = gpu_model(runner.needs.gpu), gibibytes(runner.cirun_gcp.disk)
        machines = (attach(gce_type(stated), model, runner.needs.gpus) for stated in runner.cirun_gcp.machine_types)
        found += [(machine, disk_gib) for machine in machines]
    return found


def _runner_versions(settings: Settings) -> Iterator[Verdict]:
    """What carries GitHub's runner: stated, or told by the tag of GitHub's own image."""
    for name, image in settings.images.items():
        if image.runner is not None:
            yield runner_version(f"images.{name}.runner", image.runner)
        elif image.reference == RUNNER_IMAGE and image.tag is not None and re.fullmatch(r"\d+\.\d+\.\d+", image.tag):
            yield runner_version(f"images.{name}.tag", image.tag)


def _image_regions(settings: Settings) -> Iterator[Verdict]:
    """Machines on Google Cloud pull the container that tests run in."""
    if settings.gcp is None:
        return
    registries = {
        f"artifact-registry.{name}": repository.region or settings.gcp.region
        for name, repository in settings.artifact_registry.items()
    }
    for name, runner in settings.runners.items():
        if runner.cirun_gcp is not None:
            yield from image_region(f"runners.{name}.cirun-gcp.zones", runner.cirun_gcp.zones, registries)


def _gpu_zones(settings: Settings) -> Iterator[Verdict]:
    """Where machines on Google Cloud are started with a GPU: jobs' own, and the one that an image is tried on."""
    for name, runner in settings.runners.items():
        if runner.cirun_gcp is not None:
            yield from gpu_zones(f"runners.{name}.cirun-gcp.zones", runner.cirun_gcp.zones, runner.needs.gpu)
    image = settings.host_image
    if image is not None and image.mode == "controller":
        yield from gpu_zones("host-image.zones", image.zones, image.verifier.gpu)


def _image_proof(settings: Settings) -> list[Verdict]:
    """What nobody but a person has seen, of an image that is declared."""
    image = settings.host_image
    if settings.gcp is None or image is None or image.proved is None:
        return []
    content = host_image.content(image, settings.gcp.region).hash
    return image_proof("host-image.proved", content=content, proved=image.proved)
