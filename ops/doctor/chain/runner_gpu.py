"""Check that the pods of jobs have the GPUs of their runner in their limits, and run on a node of its pools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from components.gpu_names import GPU
from components.kubernetes.namespaces import RUNNERS
from gpu_ci.knowledge.kubernetes.quantities import GPU
from ops.doctor.chain.sections import arc as applies
from ops.doctor.finding import broken, works
from ops.doctor.questions import kubernetes
from ops.doctor.questions.scale_sets import job_pods, names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_ci.knowledge.verdict import Verdict
    from ops.doctor.world.world import World

__all__ = ["CHECK", "NEEDS", "applies", "check"]

CHECK: Final = "runner-gpu"
NEEDS: Final = ("kubernetes-api",)

_LABEL: Final = "gpu-ci/runner"
"""The label with the name of the runner, on the pod of the runner and on that of its job."""


def check(world: World) -> Iterator[Verdict]:
    """Yield pods without their GPUs, and pods on a node of another pool."""
    known, found = names(world.stack), 0
    pools = {kubernetes.name(node): kubernetes.pool_of(node) for node in kubernetes.nodes(world)}
    faults: list[Verdict] = []
    for pod in job_pods(world):
        name = kubernetes.labels(pod).get(_LABEL, "")
        if name in known and pod["status"].get("phase") == "Running":
            found += 1
            faults += _faults(world, name, pod, pools)
    yield from faults
    if not faults:
        yield works(CHECK, "runners", f"{found} pods of runners and jobs run with the GPUs of their runner")


def _faults(world: World, runner: str, pod: dict[str, Any], pools: dict[str, str]) -> Iterator[Verdict]:
    shared, namespace = world.stack.offers[runner].shared, pod["metadata"]["namespace"]
    # With a pod for each job, the pod of the runner has no GPU and is on a system node.
    if shared is None or (shared.waiting_pod is not None and namespace == RUNNERS):
        return
    subject = f"pod {namespace}/{kubernetes.name(pod)}"
    wanted = world.settings.runners[runner].needs.devices
    limits = [one.get("resources", {}).get("limits", {}) for one in pod["spec"].get("containers", [])]
    has = sum(int(limit.get(GPU, 0)) for limit in limits)
    if has != wanted:
        yield broken(
            CHECK,
            subject,
            seen=f"its containers have {has} of {wanted} {GPU} in their limits",
            means="a container gets only the GPUs in its limits: nvidia-smi is not found, and PyTorch has no CUDA",
            fix="run `pulumi up --refresh`; the template of the scale set or of the job's pod was changed",
        )
    node = pod["spec"].get("nodeName", "")
    if node in pools and pools[node] not in shared.pools:
        yield broken(
            CHECK,
            subject,
            seen=f"it runs on {node}, which is a node of {pools[node] or 'no pool'}",
            means=f"runners.{runner} selects {' and '.join(shared.pools)}, so the selection of its pod was changed",
            fix="run `pulumi up --refresh`; compare the check node-marks",
        )
