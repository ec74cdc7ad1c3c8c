"""What is known of a stack before anything is built: every check of `gpu/`, asked about what the stack file states."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pulumi

from composition import asks, estate, facts, waiting
from config.values import gibibytes, mebibytes
from gpu import money, queue_time, quota, spot_plan
from gpu.compatibility import solve
from gpu.counts import counts
from gpu.fit import fits
from gpu.floor import floor
from gpu.instance_types import attach, ec2_type, gce_type, gpu_model
from gpu.machine_fit import machine_fits
from gpu.scale_from_zero import scale_from_zero
from gpu.verdict import Level, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from config.identity import Identity
    from config.settings import Settings
    from gpu.instance_types import InstanceType, MachineType


class Refused(pulumi.RunError):
    """What a stack file asks for cannot work. Pulumi shows it as a message, without a traceback."""

    def __init__(self, verdicts: Sequence[Verdict]) -> None:
        self.verdicts = tuple(verdicts)
        errors = [verdict for verdict in verdicts if verdict.level is Level.ERROR]
        count = "1 error" if len(errors) == 1 else f"{len(errors)} errors"
        super().__init__("\n".join([f"{count}, so nothing is built:", *(f"  {error}" for error in errors)]))


def verdicts(settings: Settings, identity: Identity) -> list[Verdict]:
    """Every judgement on the stack, good ones too, in the order of the stack file."""
    return [
        *_pools(settings, identity.prefix),
        *(verdict for ask in asks.compatibility(settings) for verdict in solve(ask)),
        *_machines(settings),
        *money.judge(estate.estate(settings), estate.limits(settings)),
        *(verdict for known in waiting.spot(settings) for verdict in spot_plan.judge(known)),
        *(verdict for known in waiting.queue(settings) for verdict in queue_time.judge(known)),
        *quota.judge(asks.demands(settings), stated=settings.quotas),
    ]


def refuse(found: Sequence[Verdict]) -> None:
    """Stop before the first resource where anything cannot work.

    Raises:
        Refused: at least one verdict is an error.

    """
    if any(verdict.level is Level.ERROR for verdict in found):
        raise Refused(found)


def warn(found: Sequence[Verdict], made: Mapping[str, pulumi.Resource]) -> None:
    """Log each warning on what it concerns: the longest path made that the offender begins with."""
    for verdict in found:
        if verdict.level is Level.WARNING:
            owners = [path for path in made if verdict.offender == path or verdict.offender.startswith(f"{path}.")]
            pulumi.log.warn(str(verdict), made[max(owners, key=len)] if owners else None)


def _pools(settings: Settings, cluster: str) -> Iterator[Verdict]:
    plugin, autoscaler = facts.device_plugin(settings), facts.autoscaler(settings)
    beside = facts.daemonsets(settings)
    everywhere = beside if plugin is None else (*beside, plugin)
    for name, pool in settings.gpu_pools.items():
        group = facts.node_group(name, pool, settings, cluster)
        served = [
            (runner, facts.runner_facts(key, runner, runner.arc, settings))
            for key, runner in settings.runners.items()
            if runner.arc is not None and name in {runner.arc.pool, runner.arc.fallback}
        ]
        # A pool that is fallen back on is not the one that a runner's number is meant for.
        first = [known for runner, known in served if runner.arc is not None and runner.arc.pool == name]
        yield from counts(group, first, daemonsets=everywhere)
        for runner, known in served:
            yield from fits(known.path, known.pod, group, daemonsets=everywhere)
            yield from scale_from_zero(
                known.path, known.pod, group, plugin=plugin, autoscaler=autoscaler, daemonsets=beside
            )
            for machine in group.machines:
                yield from floor(known.path, machine, cuda=runner.needs.cuda, disk_gib=group.disk_gib)


def _machines(settings: Settings) -> Iterator[Verdict]:
    """Runners that have a machine to themselves, on every type that they may be given."""
    for name, runner in settings.runners.items():
        path, needs = f"runners.{name}", runner.needs
        machines: list[InstanceType | MachineType] = []
        disk = "0Gi"
        if runner.cirun_aws is not None:
            machines, disk = [ec2_type(stated) for stated in runner.cirun_aws.instance_types], runner.cirun_aws.disk
        if runner.cirun_gcp is not None:
            model = gpu_model(needs.gpu)
            machines = [attach(gce_type(stated), model, needs.gpus) for stated in runner.cirun_gcp.machine_types]
            disk = runner.cirun_gcp.disk
        if machines:
            yield from machine_fits(path, machines, cpu=needs.cpu, memory_mib=mebibytes(needs.memory), gpus=needs.gpus)
            for machine in machines:
                yield from floor(path, machine, cuda=needs.cuda, disk_gib=gibibytes(disk))
