"""Check that the last GPU job that passed saw a GPU, and did not run on the CPU instead.

Its log has the name, the driver and the memory of each GPU, as the generated workflows and the hooks of runners print
them. ONNX Runtime falls back to the CPU without a failure, and tests that skip without CUDA pass.
"""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from ops.doctor.finding import doubtful, works
from ops.doctor.log.messages import found_in
from ops.doctor.questions.gpu_jobs import log_of, recent
from ops.doctor.questions.repositories import repositories

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_ci.knowledge.verdict import Verdict
    from gpu_ci.stack_file.sections.settings import Settings
    from ops.doctor.world.world import World

CHECK: Final = "gpu-jobs"
NEEDS: Final = ("github-token",)
RECENT: Final = timedelta(days=14)
_GPU: Final = re.compile(r"(?:Z |: |^)([\w -]+?), (\d{3}\.\d+(?:\.\d+)?), (\d+) MiB\s*$", re.MULTILINE)
"""A line that the query prints."""
_QUERY: Final = "nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader"
_CUDA: Final = "the session runs on CUDA"
"""The last line of `check_ort_cuda.py`. The list of available providers does not show that one works."""


def applies(settings: Settings) -> bool:
    """Return whether the stack runs jobs."""
    return bool(settings.runners)


def check(world: World) -> Iterator[Verdict]:
    """Yield the GPU of the last job that passed, or a warning if it shows none."""
    for repository in repositories(world):
        job = next(recent(world, repository, "success", RECENT), None)
        if job is None:
            yield doubtful(
                CHECK,
                repository,
                seen=f"no GPU job passed in the last {RECENT.days} days",
                means="nothing shows that the runners work; jobs may be skipped by a variable or a label",
                fix="start the GPU tests by hand, and read repository-settings in this output",
            )
            continue
        yield _verdict(f"{repository}: {job['name']} ({job['html_url']})", log_of(world, repository, job))


def _verdict(name: str, log: str) -> Verdict:
    gpus = _GPU.findall(log)
    on_cpu = [one for one in found_in(log) if one.message.name.startswith("ort-")]
    if on_cpu:
        return doubtful(
            CHECK,
            name,
            seen=f'the job passed, and its log has in line {on_cpu[0].number}: "{on_cpu[0].line}"',
            means=on_cpu[0].message.meaning,
            fix=f"{on_cpu[0].message.fix} (docs/runbook.md#{on_cpu[0].message.name})",
        )
    if not gpus:
        return doubtful(
            CHECK,
            name,
            seen="the job passed, and its log shows no GPU",
            means="tests that skip without CUDA pass on the CPU, too",
            fix=f"add the step `{_QUERY}` to the job",
        )
    model, driver, memory = gpus[0]
    cuda = "; ONNX Runtime runs on CUDA" if _CUDA in log else ""
    return works(CHECK, name, f"the last job that passed saw {len(gpus)} {model}, driver {driver}, {memory} MiB{cuda}")
