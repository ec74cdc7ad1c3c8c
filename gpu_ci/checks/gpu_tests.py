"""Check the options of GPU tests against the machines of their runner.

A folder keeps caches only where the machine keeps files between jobs. A bucket needs an identity of its cloud: machines
that the stack or cirun starts have one, pods on a cluster and machines of another cloud do not.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gpu_ci.back_ends.registry import BACK_ENDS
from gpu_ci.back_ends.stack import Stack
from gpu_ci.derived.gpu_tests import runner_of, testable
from gpu_ci.derived.outputs import gpu_test_image
from gpu_ci.knowledge.regions import Cloud
from gpu_ci.knowledge.verdict import Verdict, error
from gpu_ci.stack_file.sections.gpu_tests import GpuTestsSettings

CHECK: Final = "gpu-tests"
BUCKETS: Final = {"s3": (Cloud.AWS, "AWS"), "gs": (Cloud.GCP, "Google Cloud")}
"""The scheme of a bucket to its cloud, and to its name."""


def check(stack: Stack) -> Iterator[Verdict]:
    """Yield an error for each option that the runner of the tests cannot have."""
    settings = stack.settings
    for name, entry in settings.gpu_tests.items():
        path, runner = f"gpu-tests.{name}", runner_of(entry, settings)
        if runner is None:
            continue
        asked = BACK_ENDS[settings.runners[runner].back_end].runs_on(runner, settings.runners[runner])
        if entry.container is not None and asked.job_container is False:
            reason = f"{runner} has no Docker, so its jobs cannot state a container"
            yield error(CHECK, f"{path}.container", reason, f"{asked.container_fix}, or remove container")
        own = stack.offers[runner].own
        standing = own.standing if own is not None else None
        # The stack does not know what machines keep that it does not create.
        keeps = own is not None and (standing.keeps_files if standing is not None else not own.created)
        if entry.cache.startswith("/") and not keeps:
            reason = f"the machines of {runner} keep no files between jobs"
            fix = f"state {standing.files_key}: persistent" if standing is not None and standing.files_key else ""
            yield error(CHECK, f"{path}.cache", reason, f"write cache: actions{f', or {fix}' if fix else ''}")
        cloud, title = BUCKETS.get(entry.cache.partition(":")[0], (None, ""))
        if cloud is not None and (own is None or own.cloud != cloud):
            reason = f"the machines of {runner} have no identity of {title} that could read {entry.cache}"
            yield error(CHECK, f"{path}.cache", reason, "write cache: actions, or use another runner")
        on_gcp = own is not None and own.cloud == Cloud.GCP and entry.container is None
        if on_gcp and gpu_test_image(settings) is not None:
            yield from _in_test_image(path, entry)
        proved = [name for name in testable(settings) if stack.offers[name].own is not None]
        if entry.smoke_schedule is not None and not proved:
            reason = "no runner has machines of its own, so no gpu-smoke.yml is written"
            yield error(CHECK, f"{path}.smoke-schedule", reason, "remove it; `make smoke` tests the GPUs of a cluster")


def _in_test_image(path: str, entry: GpuTestsSettings) -> Iterator[Verdict]:
    """Yield an error for each option that tests in the image of `test-image` cannot have."""
    image = "the tests run in the image of test-image, which has"
    fix = "or state container with an image that has it"
    if entry.ccache:
        yield error(CHECK, f"{path}.ccache", f"{image} no ccache", f"remove ccache, {fix}")
    if entry.tool == "micromamba":
        yield error(CHECK, f"{path}.tool", f"{image} no micromamba", f"write uv or pip, {fix}")
    if entry.python is not None or "python" in entry.matrix:
        key = "matrix.python" if entry.python is None else "python"
        yield error(CHECK, f"{path}.{key}", f"{image} its own Python", f"remove it, {fix.replace(' that has it', '')}")
