"""The checks of the doctor, in the order in which a job needs the links: one module for each chapter of the chain."""

from __future__ import annotations

from typing import Final

from ops.doctor.chain import (
    account,
    cluster,
    controller,
    github,
    google_cloud,
    gpu_pools,
    jobs,
    machines,
    nodes,
    pods,
    repositories,
    runners,
)
from ops.doctor.check import Check

CHECKS: Final[tuple[Check, ...]] = (
    *account.CHAPTER.checks,
    *cluster.CHAPTER.checks,
    *nodes.CHAPTER.checks,
    *gpu_pools.CHAPTER.checks,
    *google_cloud.CHAPTER.checks,
    *machines.CHAPTER.checks,
    *github.CHAPTER.checks,
    *controller.CHAPTER.checks,
    *runners.CHAPTER.checks,
    *pods.CHAPTER.checks,
    *repositories.CHAPTER.checks,
    *jobs.CHAPTER.checks,
)
