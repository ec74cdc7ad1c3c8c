"""Prove a live cluster: run a test on each GPU pool, from zero nodes, and report the time of every step."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.markup import escape

from gpu_ci.back_ends import stack as stacks
from gpu_ci.derived.kubernetes import smoke_jobs
from gpu_ci.knowledge.nearest import did_you_mean
from gpu_ci.stack_file.identity import PROJECT, Identity
from gpu_ci.stack_file.sections.settings import Settings
from ops.cli import terminal
from ops.cli.options import File, Json, Stack, chosen
from ops.doctor.world.source import Unanswered
from ops.outcome import Exit, Stop
from ops.plan import typed
from ops.smoke.cluster import Clock, Kubernetes
from ops.smoke.run import Missing, Result, Smoke
from ops.smoke.timeline import Step

if TYPE_CHECKING:
    from rich.console import Console


Pool = Annotated[list[str] | None, typer.Option("--pool", help="Test only this pool. Can be repeated.")]
_WIDTH: Final = max(len(step) for step in Step)


def main(stack: Stack = None, file: File = None, pool: Pool = None, json: Json = None) -> None:
    """Test the GPUs of each pool on the live cluster, and print the time of every step from zero nodes.

    Starts a node in each pool without one. The exit code is 1 if a test fails.
    """
    stack_file = chosen(stack, file)
    settings = typed.settings(stack_file)
    identity = Identity(project=PROJECT, stack=stack_file.name, extra=settings.stack.tags)
    if settings.smoke_test is None or settings.aws is None:
        raise Stop(Exit.WRONG, f"{stack_file.path.name} has no smoke-test; state smoke-test: {{image: NAME}}")
    for name in pool or ():
        if name not in settings.gpu_pools:
            raise Stop(Exit.WRONG, f'"{name}" is not in gpu-pools; {did_you_mean(name, settings.gpu_pools)}')
    jobs = [job for job in smoke_jobs(settings) if not pool or job.pool in pool]
    console = terminal.out(quiet=str(json) == "-")
    name = stacks.Stack(settings=settings, identity=identity, offers={}).cluster_name
    with terminal.progress(f"Connecting to {name}") as progress:
        try:
            cluster, clock = connected(name, settings.aws.region)
            smoke = Smoke(
                cluster=cluster,
                clock=clock,
                image=_image(settings, identity.prefix),
                run=secrets.token_hex(3),
                say=progress.stage,
            )
            results = smoke.results(jobs)
        except Missing:
            fix = "run `pulumi up` with the section smoke-test first"
            raise Stop(Exit.FINDING, f"the cluster has no namespace gpu-smoke; {fix}") from None
        except Unanswered as fault:
            raise Stop(Exit.OUTSIDE, "; ".join(filter(None, (fault.reason, fault.fix)))) from None
    if json is not None:
        terminal.write_json([result.to_data() for result in results], json)
    for result in results:
        _show(console, result)
    if not all(result.passed for result in results):
        raise Stop(Exit.FINDING)


def connected(name: str, region: str) -> tuple[Kubernetes, Clock]:
    """Connect to the cluster of a stack."""
    try:
        # Imported here: the clients are only in the environment of `make smoke` and `make doctor`.
        from ops.doctor.world.live.aws import LiveAws  # noqa: PLC0415
        from ops.doctor.world.live.cluster import of_eks  # noqa: PLC0415
        from ops.smoke.live import RealTime, Reconnecting, WritableCluster  # noqa: PLC0415
    except ImportError as missing:
        reason = f"the Python package {missing.name} is not installed"
        raise Unanswered(reason, "run `make smoke`, which installs requirements/doctor.txt") from None
    clock = RealTime()
    cluster = Reconnecting(lambda: of_eks(LiveAws(region), name=name, region=region, kind=WritableCluster), clock.now)
    return cluster, clock


def _image(settings: Settings, prefix: str) -> str:
    """Return the reference of the image, as the stack declares it."""
    if settings.smoke_test is None or settings.aws is None:
        return ""
    image = settings.images[settings.smoke_test.image]
    if image.repository is None:
        return f"{image.reference}{image.pin}"
    host = f"{settings.aws.account}.dkr.ecr.{settings.aws.region}.amazonaws.com"
    return f"{host}/{prefix}/{image.repository}{image.pin}"


def _show(console: Console, result: Result) -> None:
    """Print the steps of one test with their times."""
    word, style = ("passed", "ok") if result.passed else ("failed", "error")
    console.print(f"[{style}]{word}[/]  [path]{escape(result.pool)}[/]")
    before = 0
    for step in Step:
        if step in result.times:
            seconds = result.seconds(step)
            console.print(f"  {step:<{_WIDTH}}  {seconds:>5} s  (+{max(0, seconds - before)} s)", markup=False)
            before = max(before, seconds)
    for line in result.output:
        console.print(f"  {line}", markup=False, soft_wrap=True)
    for node in result.lost:
        console.print(f"  the node {node} disappeared during the test", markup=False, soft_wrap=True)
    if result.reason is not None:
        console.print(f"  {result.reason.problem}", markup=False, soft_wrap=True)
        console.print(f"  → {result.reason.fix}", markup=False, soft_wrap=True)
        console.print(f"  see: {result.reason.runbook}", markup=False, soft_wrap=True)
