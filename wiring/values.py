"""Arguments of the ECR repositories and of root volumes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.aws.node_group import Disk
from components.aws.registry import RegistryArgs, RepositoryArgs
from config.values import gibibytes

if TYPE_CHECKING:
    from config.identity import Identity
    from config.machines import DiskSettings
    from config.settings import Settings


def registry(settings: Settings, identity: Identity) -> RegistryArgs:
    """Return the arguments of the ECR repositories."""
    return RegistryArgs(
        prefix=identity.prefix,
        protect=settings.stack.protect,
        repositories={
            name: RepositoryArgs(
                keep=repository.keep,
                untagged_days=repository.untagged_days,
                pull_request_days=repository.pull_request_days,
                mutable_tags=repository.mutable_tags,
                force_delete=repository.force_delete,
            )
            for name, repository in settings.ecr.items()
        },
    )


def disk(stated: DiskSettings) -> Disk:
    """Return the arguments of a node's root volume."""
    return Disk(gib=gibibytes(stated.size), iops=stated.iops, throughput=stated.throughput)
