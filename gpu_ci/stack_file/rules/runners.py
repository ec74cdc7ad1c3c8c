"""Rules of runners that hold for every back end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from gpu_ci.knowledge.machines import GPU_MODELS, InstanceType
from gpu_ci.knowledge.nearest import did_you_mean
from gpu_ci.stack_file.faults import Fault, listed
from gpu_ci.stack_file.rules.stated import Rule
from gpu_ci.stack_file.sections.section import kebab
from gpu_ci.stack_file.sections.settings import Settings


def a_runner_has_one_back_end(settings: Settings) -> Iterator[Fault]:
    """Count the back ends that a runner states."""
    for name, runner in settings.runners.items():
        path, stated = f"runners.{name}", [kebab(back_end) for back_end in runner.stated]
        if not stated:
            yield Fault(
                path, "no back end serves it", f"state one of {', '.join(kebab(one) for one in runner.back_ends())}"
            )
        elif len(stated) > 1:
            yield Fault(
                path,
                f"states {listed(stated)}, but a runner has one back end",
                f"keep {stated[0]}, and move {listed(stated[1:])} to another runner",
            )


def gpus_are_known(settings: Settings) -> Iterator[Fault]:
    """Accept only GPU models of which the checks know the hardware."""
    for name, runner in settings.runners.items():
        model = runner.needs.gpu
        if model and model not in GPU_MODELS:
            problem = f'"{model}" is not a known GPU model'
            yield Fault(f"runners.{name}.needs.gpu", problem, did_you_mean(model, GPU_MODELS))


def a_gpu_has_its_software(settings: Settings) -> Iterator[Fault]:
    """Require the CUDA version with a GPU, and reject what has no meaning without one."""
    for name, runner in settings.runners.items():
        path, needs = f"runners.{name}.needs", runner.needs
        if needs.gpu:
            if not needs.cuda:
                yield Fault(f"{path}.cuda", "missing, but gpu needs it", 'state it in quotes, as in cuda: "12.9"')
            continue
        for key in sorted(needs.model_fields_set & {"gpus", "cuda", "torch", "onnxruntime"}):
            yield Fault(f"{path}.{key}", "has no effect without gpu", "state gpu, as in gpu: t4, or remove it")
        for back_end, section in runner.stated.items():
            if not section.NEEDS_WITHOUT_GPU:
                serving = listed([kebab(one) for one, kind in runner.back_ends().items() if kind.NEEDS_WITHOUT_GPU])
                problem = f"missing, but {kebab(back_end)} only serves jobs with a GPU"
                yield Fault(f"{path}.gpu", problem, f"state it, as in gpu: t4, or state {serving} instead")


def other_gpus(runner: str, model: str, machines: Sequence[str], known: Mapping[str, InstanceType]) -> Iterator[Fault]:
    """Report EC2 types with another GPU than the runner's, a line for each GPU; an unknown GPU is not compared."""
    others: dict[str, list[str]] = {}
    for name in dict.fromkeys(machines):
        gpu = known[name].gpu if name in known else None
        if gpu is not None and model in GPU_MODELS and gpu.slug != model:
            others.setdefault(gpu.slug, []).append(name)
    for slug, names in others.items():
        verb, them = ("has", names[0]) if len(names) == 1 else ("have", "them")
        problem = f"{listed(names)} {verb} the GPU {slug}, not {model}"
        yield Fault(f"runners.{runner}.needs.gpu", problem, f"write {slug}, or remove {them}")


def jobs_end_before_their_timeout(settings: Settings) -> Iterator[Fault]:
    """Compare the stated durations with the timeout and with each other."""
    for name, runner in settings.runners.items():
        if runner.workload is None:
            continue
        path, most = f"runners.{name}.workload", runner.timeout_minutes
        minutes, longest = runner.workload.minutes, runner.workload.p95_minutes
        if minutes > most or (longest is not None and longest > most):
            key, takes = ("minutes", minutes) if minutes > most else ("p95-minutes", longest)
            problem = f"{takes} is more than timeout-minutes {most}"
            yield Fault(f"{path}.{key}", problem, f"write at most {most}, or raise timeout-minutes")
        if longest is not None and longest < minutes:
            problem = f"{longest} is less than minutes {minutes}, the duration of a typical job"
            yield Fault(f"{path}.p95-minutes", problem, f"write at least {minutes}, or lower minutes")


RULES: Final[tuple[Rule, ...]] = (
    a_runner_has_one_back_end,
    gpus_are_known,
    a_gpu_has_its_software,
    jobs_end_before_their_timeout,
)
