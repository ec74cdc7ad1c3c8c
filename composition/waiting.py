"""From the stack file to what a job meets: how long it waits for its runner, and what a taken-away machine costs it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from checks.spot_plan import SpotFacts
from composition.estate import image_gib
from composition.fleets import gpu_fleet, interruptions
from gpu.cost.jobs import Length, Terms
from gpu.cost.month import disk_month, machine_price, node_month
from gpu.cost.prices import HOURS_A_MONTH
from gpu.machines import ec2_type
from gpu.machines.queue_steps import BackEnd, QueueFacts
from gpu.nearest import UnknownName

if TYPE_CHECKING:
    from collections.abc import Iterator
    from decimal import Decimal

    from config.runners import ArcBackEnd, RunnerSettings
    from config.settings import Settings


def queue(settings: Settings) -> Iterator[QueueFacts]:
    """Each runner's way from dispatch to the first step."""
    for name, runner in settings.runners.items():
        if runner.arc is not None:
            yield _on_eks(name, runner, runner.arc, settings)
        else:
            yield QueueFacts(
                path=f"runners.{name}",
                back_end=BackEnd.CIRUN,
                target_minutes=runner.queue_target_minutes,
                image_gib=None,
                max_runners=_at_once(runner),
                jobs_per_month=runner.workload.jobs_per_month if runner.workload else None,
                minutes=_held(runner),
            )


def _at_once(runner: RunnerSettings) -> int:
    served = runner.cirun_aws or runner.cirun_gcp
    return served.at_once if served is not None else 1


def _on_eks(name: str, runner: RunnerSettings, arc: ArcBackEnd, settings: Settings) -> QueueFacts:
    pool = settings.gpu_pools[arc.pool]
    machines = [ec2_type(stated) for stated in pool.instance_types]
    return QueueFacts(
        path=f"runners.{name}",
        pool=f"gpu-pools.{arc.pool}",
        target_minutes=runner.queue_target_minutes,
        image_gib=image_gib(settings.images[arc.image]),
        min_runners=arc.min_on_gpu,
        max_runners=arc.max,
        min_nodes=pool.min,
        fast_image_pull=pool.fast_image_pull,
        vcpus=min(machine.vcpus for machine in machines),
        memory_mib=min(machine.memory_mib for machine in machines),
        # Parallel pulling brings the instance store with it: see the nodes' user data.
        nvme=all(machine.nvme_gb > 0 for machine in machines),
        disk_mibps=pool.disk.throughput,
        node_month=_kept(arc, settings),
        jobs_per_month=runner.workload.jobs_per_month if runner.workload else None,
        minutes=_held(runner),
    )


def _kept(arc: ArcBackEnd, settings: Settings) -> Decimal | None:
    """What a node that is kept costs a month; nothing where no price is known."""
    if settings.aws is None:
        return None
    try:
        return node_month(gpu_fleet(arc.pool, settings.gpu_pools[arc.pool], settings, settings.aws))
    except UnknownName:
        return None


def _length(runner: RunnerSettings) -> Length | None:
    """How long its jobs take, as far as that is stated."""
    work = runner.workload
    if work is None:
        return None
    return Length(minutes=work.minutes, p95=work.p95_minutes, limit=runner.timeout_minutes)


def _held(runner: RunnerSettings) -> float:
    """How long a job holds its runner on average."""
    length = _length(runner)
    return round(length.mean, 1) if length else 0.0


def spot(settings: Settings) -> Iterator[SpotFacts]:
    """Each runner whose work is stated, and what an hour of its machine costs on spot and on demand."""
    account = settings.aws
    if account is None:
        return
    for name, runner in settings.runners.items():
        arc, length = runner.arc, _length(runner)
        if arc is None or length is None:
            continue
        pool = settings.gpu_pools[arc.pool]
        fleet = gpu_fleet(arc.pool, pool, settings, account)
        try:
            dear = machine_price(replace(fleet, spot=False), pool.instance_types[0])
            cheap = machine_price(replace(fleet, spot=True), pool.instance_types[0])
            disk_hour = disk_month(fleet) / HOURS_A_MONTH
        except UnknownName:
            continue  # Said once already, by the reckoning of money.
        yield SpotFacts(
            path=f"runners.{name}",
            terms=Terms(
                length=length,
                rate=interruptions(pool, account),
                spot_hour=cheap.usd + disk_hour,
                on_demand_hour=dear.usd + disk_hour,
            ),
            spot=pool.capacity == "spot",
            fallback=arc.fallback is not None,
            bound=cheap.bound,
        )
