"""Jobs on the fake scale sets, and a key that GitHub rejects."""

from __future__ import annotations

from ops.fakes.cloud.objects import Objects
from ops.fakes.kubernetes.arc import SECRET, SET, find, settle


def start_job(cloud: Objects, name: str, minutes: int) -> None:
    """Let a job run on a scale set that ends after some minutes."""
    found = find(cloud, name)
    if found is None:
        raise LookupError(f"the scale set {name} does not exist")
    found.outputs = {**found.outputs, "job_minutes": minutes}


def finish_jobs(cloud: Objects) -> None:
    """Let all running jobs end."""
    for found in cloud.of(SET):
        listener = not found.outputs["idle"] or found.outputs["listener"]
        found.outputs = {**found.outputs, "job_minutes": 0, "listener": listener}
    settle(cloud)


def withdraw_key(cloud: Objects) -> None:
    """Let GitHub reject the keys in the cluster."""
    for secret in cloud.of(SECRET):
        secret.outputs = {**secret.outputs, "withdrawn": True}
