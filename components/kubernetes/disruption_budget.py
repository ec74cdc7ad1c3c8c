"""The protection of running jobs from evictions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import pulumi
import pulumi_kubernetes as k8s
from pulumi import Input, ResourceOptions

MORE_THAN_RUN: Final = 1_000_000
"""A number of pods that never run. Kubernetes cannot compute `maxUnavailable` or a percentage for runner pods, because
their owner has no scale subresource."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DisruptionBudgetArgs:
    """The pods that are protected."""

    namespace: Input[str]
    """The namespace of the runners, which contains only runners and jobs."""


class DisruptionBudget(pulumi.ComponentResource):
    """A budget that refuses every eviction of a runner or a job.

    Without it, EKS evicts the pods of a node that it replaces, and a job is killed after the grace period of its pod.
    Interruptions of spot instances and deleted pods are no evictions.
    """

    def __init__(self, name: str, args: DisruptionBudgetArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:kubernetes:DisruptionBudget", name, None, opts)
        k8s.policy.v1.PodDisruptionBudget(
            name,
            metadata={"name": "jobs", "namespace": args.namespace},
            spec={
                "min_available": MORE_THAN_RUN,
                # Every pod of the namespace.
                "selector": {},
                # A pod that is not ready, such as one that cannot start, may be evicted.
                "unhealthy_pod_eviction_policy": "AlwaysAllow",
            },
            opts=ResourceOptions(parent=self, delete_before_replace=True),
        )
        self.register_outputs({})
