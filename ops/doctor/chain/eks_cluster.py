"""Check that the cluster exists in EKS, is active, and has the version and the ranges of the stack file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ops.doctor.chain.sections import cluster as applies
from ops.doctor.finding import broken, doubtful, works

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_ci.knowledge.verdict import Verdict
    from gpu_ci.stack_file.sections.aws import ClusterSettings
    from ops.doctor.world.world import World

__all__ = ["CHECK", "NEEDS", "applies", "check"]

CHECK: Final = "eks-cluster"
NEEDS: Final = ("aws-account",)


def check(world: World) -> Iterator[Verdict]:
    """Yield faults of the control plane, and differences from the stack file."""
    stated, name = world.settings.cluster, world.stack.cluster_name
    if stated is None:
        return
    answer = world.aws.ask("eks.describe_cluster", name=name)
    if answer is None:
        yield broken(
            CHECK,
            name,
            seen=f"EKS has no cluster {name} in this account and region",
            means="the stack was never deployed, was destroyed, or is in another region",
            fix=f"run `pulumi up --stack {world.stack.identity.stack}`",
        )
        return
    cluster = answer["cluster"]
    found = [*_faults(cluster), *_differences(cluster, stated)]
    yield from found
    if not found:
        yield works(CHECK, name, f"{name} is active with Kubernetes {cluster['version']}")


def _faults(cluster: dict[str, Any]) -> Iterator[Verdict]:
    name, status = cluster["name"], cluster["status"]
    if status == "UPDATING":
        yield doubtful(
            CHECK,
            name,
            seen="the status of the cluster is UPDATING",
            means="an update runs; it ends within an hour, and the API may be slow",
            fix="wait until the update ends, and run the doctor again",
        )
    elif status != "ACTIVE":
        yield broken(
            CHECK,
            name,
            seen=f"the status of the cluster is {status}",
            means="EKS serves the API only for a cluster that is ACTIVE or UPDATING",
            fix="wait if it is CREATING; otherwise read the reason in the EKS console",
        )
    for issue in cluster.get("health", {}).get("issues", []):
        yield broken(
            CHECK,
            name,
            seen=f"EKS reports {issue['code']}: {issue['message']}",
            means="EKS cannot maintain the cluster until the resource that it names is restored",
            fix=f"restore {', '.join(issue.get('resourceIds', [])) or 'the resource'}; `pulumi up --refresh` shows it",
        )


def _differences(cluster: dict[str, Any], stated: ClusterSettings) -> Iterator[Verdict]:
    if cluster["version"] != stated.version:
        yield doubtful(
            CHECK,
            "cluster.version",
            seen=f"the cluster has Kubernetes {cluster['version']}, and the stack file states {stated.version}",
            means="nodes, add-ons and the autoscaler are pinned to the version of the stack file",
            fix="run `pulumi up`, or state the version that the cluster has",
        )
    if stated.existing is not None:
        return  # Another tool manages its endpoint.
    ranges = cluster["resourcesVpcConfig"]
    actual = set(ranges.get("publicAccessCidrs", [])) if ranges.get("endpointPublicAccess") else set()
    wanted = {str(one) for one in stated.endpoint.public}
    if stated.existing is None and actual != wanted:
        yield doubtful(
            CHECK,
            "cluster.endpoint.public",
            seen=f"the public endpoint accepts {_listed(actual)}, and the stack file states {_listed(wanted)}",
            means="other addresses outside the network get no answer from the API of Kubernetes",
            fix="run `pulumi up`, or state the ranges that the cluster has",
        )


def _listed(ranges: set[str]) -> str:
    return ", ".join(sorted(ranges)) or "no address"
