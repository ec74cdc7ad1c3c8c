"""The checks of the doctor: one module each, listed once in the order of the chain.

A check is a module with `CHECK`, the name that its verdicts carry, `NEEDS`, the checks without which its result has no
meaning, `applies(settings)` and `check(world)`. `docs/runbook.md` has an entry with the same name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from ops.doctor.chain import account as deployer_permissions
from ops.doctor.chain import (
    allocatable_gpu,
    asg_tags,
    aws_account,
    cirun_file,
    device_plugin,
    device_plugin_log,
    eks_cluster,
    github_app_secret,
    github_token,
    google_capacity,
    google_quota,
    gpu_jobs,
    host_image,
    jarvis_instance,
    job_log,
    kit_files,
    kubernetes_api,
    listeners,
    live_quota,
    machine,
    machine_key,
    node_launches,
    node_marks,
    nodes,
    pending_pods,
    pod_images,
    runner_gpu,
    runner_log,
    runner_online,
    runner_release,
    scale_sets,
)
from ops.doctor.chain import cluster as node_groups
from ops.doctor.chain import controller as arc_controller
from ops.doctor.chain import github as github_app
from ops.doctor.chain import google_cloud as google_project
from ops.doctor.chain import gpu_pools as autoscaler
from ops.doctor.chain import jobs as queued_jobs
from ops.doctor.chain import machines as cirun_key
from ops.doctor.chain import pods as image_digest
from ops.doctor.chain import repositories as repository_settings
from ops.doctor.chain import runners as runner_group

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gpu_ci.knowledge.verdict import Verdict
    from gpu_ci.stack_file.sections.settings import Settings
    from ops.doctor.world.world import World


class Check(Protocol):
    """A module of this package."""

    @property
    def CHECK(self) -> str:  # noqa: N802  # a constant of the module
        """The name of the check, in kebab case."""
        ...

    @property
    def NEEDS(self) -> tuple[str, ...]:  # noqa: N802  # a constant of the module
        """The checks that must work before this one has a meaning."""
        ...

    def applies(self, settings: Settings, /) -> bool:
        """Return whether the stack has the link."""
        ...

    def check(self, world: World) -> Iterable[Verdict]:
        """Yield the verdicts on the link: faults, warnings, and one for each part that works."""
        ...


CHECKS: Final[tuple[Check, ...]] = (
    aws_account,
    deployer_permissions,
    live_quota,
    eks_cluster,
    node_groups,
    asg_tags,
    node_launches,
    kubernetes_api,
    nodes,
    node_marks,
    device_plugin,
    device_plugin_log,
    allocatable_gpu,
    autoscaler,
    google_project,
    google_quota,
    host_image,
    google_capacity,
    machine_key,
    machine,
    jarvis_instance,
    cirun_key,
    github_token,
    github_app,
    arc_controller,
    github_app_secret,
    scale_sets,
    listeners,
    runner_group,
    runner_online,
    runner_release,
    pending_pods,
    image_digest,
    pod_images,
    runner_gpu,
    runner_log,
    repository_settings,
    kit_files,
    cirun_file,
    queued_jobs,
    gpu_jobs,
    job_log,
)
"""Every check, in the order in which a job needs the links."""
