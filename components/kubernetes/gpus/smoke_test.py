"""Smoke tests: a Job for each GPU pool that proves its GPUs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pulumi
import pulumi_kubernetes as k8s
from pulumi import Input, ResourceOptions

from components.kubernetes.gpus.smoke_job import LABEL, NAMESPACE, NAMESPACE_LABELS, SmokeJob, job_name, job_spec

SPARE_MINUTES = 5
"""Minutes that Pulumi waits beyond the deadline of a Job, for the report of its failure."""
AGAIN_AFTER_FAILURE = {"pulumi.com/replaceUnready": "true"}
"""A failed Job is replaced by the next update, which repeats the test."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SmokeTestArgs:
    """The tests of a stack."""

    image: Input[str]
    """An image with Python and PyTorch."""
    jobs: Sequence[SmokeJob]
    """The tests that an update runs and waits for; empty if only `make smoke` runs them."""
    after: Sequence[pulumi.Resource]
    """The device plugin and the autoscaler. Without them, the pods wait until the deadline."""


class SmokeTest(pulumi.ComponentResource):
    """The namespace of the tests, and the Jobs that an update waits for."""

    def __init__(self, name: str, args: SmokeTestArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:kubernetes:SmokeTest", name, None, opts)
        namespace = k8s.core.v1.Namespace(
            name,
            metadata={"name": NAMESPACE, "labels": dict(NAMESPACE_LABELS)},
            opts=ResourceOptions(parent=self, delete_before_replace=True),
        )
        for job in args.jobs:
            # The types of the SDK have other names for the keys of maps.
            metadata: Any = {
                "name": job_name(job.pool),
                "namespace": namespace.metadata.apply(lambda found: found.name or NAMESPACE),
                "labels": {LABEL: job.pool},
                "annotations": dict(AGAIN_AFTER_FAILURE),
            }
            spec: Any = job_spec(job, args.image)
            k8s.batch.v1.Job(
                f"{name}-{job.pool}",
                metadata=metadata,
                spec=spec,
                opts=ResourceOptions(
                    parent=self,
                    depends_on=list(args.after),
                    delete_before_replace=True,
                    custom_timeouts=pulumi.CustomTimeouts(create=f"{job.timeout_minutes + SPARE_MINUTES}m"),
                ),
            )
        self.register_outputs({})
