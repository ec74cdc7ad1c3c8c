"""Scripts that check the GPU of a runner, and the labels of the runners for actionlint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from gpu_ci.back_ends.registry import BACK_ENDS
from gpu_ci.knowledge.machines import GPU_MODELS
from gpu_ci.knowledge.software.cuda import FLOORS, toolkit
from gpu_ci.knowledge.software.drivers import written
from gpu_ci.repository.documents import dump_yaml
from gpu_ci.repository.render import render
from gpu_ci.stack_file.sections.settings import Settings
from ops.kit.folder import MARK

VERIFY_FILE: Final = ".github/gpu-tests/verify_gpu.sh"
ORT_FILE: Final = ".github/gpu-tests/check_ort_cuda.py"
LABELS_FILE: Final = ".github/actionlint.yaml"

_KNOWN: Final = frozenset({"self-hosted", "linux", "x64"})
"""Labels that actionlint 1.7.12 knows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """The GPU that a runner promises."""

    name: str
    """The runner, as the stack file names it."""
    least: int
    """The smallest number of GPUs; shares of one GPU are seen as one."""
    most: int
    model: str
    """The word in the name of the GPU; empty where the model is not known."""
    cuda: str
    driver: str
    """The oldest driver for that CUDA version."""


def scripts(settings: Settings) -> dict[str, str]:
    """Return the files that every repository gets, by path; none without runners."""
    files: dict[str, str] = {}
    promises = _promises(settings)
    if promises:
        files[VERIFY_FILE] = render("verify_gpu.sh.j2", runners=promises, file=VERIFY_FILE)
    if any(runner.needs.onnxruntime for runner in settings.runners.values()):
        files[ORT_FILE] = render("check_ort_cuda.py.j2", file=ORT_FILE)
    asked = [BACK_ENDS[one.back_end].runs_on(name, one) for name, one in settings.runners.items()]
    labels = {label for one in asked for label in (one.label, *one.more)} - _KNOWN
    if labels:
        header = [f"{MARK}. The labels of the runners of the stack, for actionlint."]
        files[LABELS_FILE] = dump_yaml({"self-hosted-runner": {"labels": sorted(labels)}}, header)
    return files


def _promises(settings: Settings) -> list[Promise]:
    found = []
    for name, runner in settings.runners.items():
        needs = runner.needs
        if not needs.gpu:
            continue
        shared = BACK_ENDS[runner.back_end].offer(name, runner, settings).shared
        shares = shared is not None and any(settings.gpu_pools[pool].sharing for pool in shared.pools)
        model = GPU_MODELS.get(needs.gpu)
        found.append(
            Promise(
                name=name,
                least=1 if shares else needs.gpus,
                most=needs.gpus,
                model=model.family if model is not None else "",
                cuda=needs.cuda,
                driver=written(FLOORS[toolkit(needs.cuda).version[0]]),
            )
        )
    return found
