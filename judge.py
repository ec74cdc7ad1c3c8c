"""What is known of a stack before anything is built: every check of `gpu/`, asked about what the stack file states."""

from __future__ import annotations

from typing import TYPE_CHECKING

import checks
from back_ends.stack import Stack
from checks.counts import counts
from checks.fit import ImageUse, fits, image_fits
from checks.pool_shape import pool_shapes
from checks.scale_from_zero import scale_from_zero
from checks.system_room import system_room
from composition import facts, system
from config.values import mebibytes
from gpu.kubernetes.quantities import MIB
from gpu.verdict import Level, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from config.identity import Identity
    from config.settings import Settings


def verdicts(settings: Settings, identity: Identity) -> list[Verdict]:
    """Every judgement on the stack, good ones too, each once: what two runners share is judged for both."""
    stack = Stack.of(settings, identity)
    found = [
        *_pools(stack),
        *_system_nodes(settings, identity.prefix),
        *checks.verdicts(stack),
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
