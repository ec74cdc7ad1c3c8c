"""The consequences of a change for running jobs and stored data, and the safer way.

`MEANINGS` has the types whose deletion or replacement ends jobs or loses data, and `_UPDATES` the inputs whose change
does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ops.fakes.kubernetes.arc import RELEASE

_RUNNER_CHART: Final = "gha-runner-scale-set"


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """The consequence of one change."""

    loses: str
    """What ends or is lost."""
    safer: str
    """The way that avoids it."""

    def to_data(self) -> dict[str, str]:
        """Return it as plain data."""
        return {"loses": self.loses, "safer": self.safer}


_NEW_POOL: Final = (
    "add a pool under another name, move the runners to it, and remove the old one in a later update when no job runs"
)
_GROUP: Final = Meaning(loses="every node of the group ends, and the jobs on them fail", safer=_NEW_POOL)
_IMAGES: Final = Meaning(
    loses="every container image in the repository is deleted; pods that need one cannot start",
    safer="add a repository under another name, push the images to it, and remove the old one when nothing uses it",
)
_MACHINE: Final = Meaning(
    loses="the machine ends with its disk, and a job on it fails",
    safer="stop the runner first, or add a runner under another name and remove this one when no job runs",
)
_MACHINE_IMAGE: Final = Meaning(
    loses="machines can no longer start from this image",
    safer="keep it until no node group, runner or other project uses it",
)
_NETWORK: Final = Meaning(
    loses="everything in the network is replaced with it, or the update stops halfway because something else uses it",
    safer="keep the ranges and names of a network in use; create another stack and move the runners to it",
)
MEANINGS: Final[Mapping[str, Meaning]] = {
    "aws:eks/cluster:Cluster": Meaning(
        loses="the cluster ends with every runner and job; the engine cannot finish this replacement",
        safer="create a second stack with the new cluster, move the runners to it, and destroy this one",
    ),
    "aws:eks/nodeGroup:NodeGroup": _GROUP,
    "aws:ec2/vpc:Vpc": _NETWORK,
    "aws:ec2/subnet:Subnet": _NETWORK,
    "gcp:compute/network:Network": _NETWORK,
    "gcp:compute/subnetwork:Subnetwork": _NETWORK,
    "aws:ec2/natGateway:NatGateway": Meaning(
        loses="connections of nodes to the internet break, also those of running jobs, and the public address changes",
        safer="change it while no job runs",
    ),
    "aws:ec2/eip:Eip": Meaning(
        loses="the public address changes; services that allow only the old one refuse the nodes",
        safer="keep the zone in the stack file, or allow the new address first",
    ),
    "aws:ecr/repository:Repository": _IMAGES,
    "gcp:artifactregistry/repository:Repository": _IMAGES,
    "aws:ec2/instance:Instance": _MACHINE,
    "gcp:compute/instance:Instance": _MACHINE,
    "gcp:compute/image:Image": _MACHINE_IMAGE,
    "aws:imagebuilder/image:Image": _MACHINE_IMAGE,
    "gcp:storage/bucket:Bucket": Meaning(
        loses="every object in the bucket is deleted, or the update fails because it is not empty",
        safer="copy the objects to a bucket under another name first",
    ),
    "aws:kms/key:Key": Meaning(
        loses="what it encrypts can no longer be read after the waiting time",
        safer="keep the key; cancel its deletion within the waiting time",
    ),
    "kubernetes:core/v1:Namespace": Meaning(
        loses="everything in the namespace ends with it, also running jobs",
        safer="remove its runners in an update of their own first",
    ),
    "kubernetes:core/v1:Secret": Meaning(
        loses="runners cannot sign in to GitHub until it exists again",
        safer="follow the page about the rotation of the App's key",
    ),
}
"""By type, the consequence of a deletion or a replacement."""

_SCALE_SET: Final = Meaning(
    loses="the runner goes: the update waits for its running jobs, and queued jobs wait for another one of that name",
    safer="remove a runner when no job runs; to rename one, add the new name, change the workflows, remove the old",
)
_ROLLED: Final = Meaning(
    loses="EKS replaces every node of the group; jobs that do not end in time fail",
    safer="update while no job runs; nodes at zero are not affected",
)
_TAINTED: Final = Meaning(
    loses="a taint with the effect NoExecute ends the jobs on nodes of the group that do not tolerate it",
    safer="change taints while no job runs, or add a pool under another name",
)
_REROUTED: Final = Meaning(
    loses="open connections of nodes to the internet break, also those of running jobs",
    safer="change it while no job runs",
)
_STOPPED: Final = Meaning(
    loses="the machine stops for the change, and a job on it fails",
    safer="update while no job runs; on AWS the provider starts the machine afterwards",
)
_UPDATES: Final[Mapping[str, tuple[tuple[tuple[str, ...], Meaning], ...]]] = {
    "aws:eks/nodeGroup:NodeGroup": (
        (("launchTemplate.version", "version", "releaseVersion"), _ROLLED),
        (("taints",), _TAINTED),
    ),
    "aws:ec2/route:Route": ((("natGatewayId", "gatewayId"), _REROUTED),),
    "aws:ec2/instance:Instance": (
        (("instanceType", "ebsOptimized", "userData", "userDataBase64", "cpuOptions"), _STOPPED),
    ),
    "gcp:compute/instance:Instance": (
        (
            (
                *("machineType", "minCpuPlatform", "serviceAccount", "networkInterfaces", "shieldedInstanceConfig"),
                *("advancedMachineFeatures", "enableDisplay", "scheduling", "guestAccelerators"),
            ),
            _STOPPED,
        ),
    ),
}
"""By type, the beginnings of inputs whose change affects jobs although the engine calls it an update. Both providers
stop a machine for these inputs (terraform-provider-aws, `internal/service/ec2/ec2_instance.go`;
terraform-provider-google, `resource_compute_instance.go`, 2026)."""


_GRANTS: Final = (
    *("aws:iam/", "aws:eks/access", "aws:ec2/securityGroup:", "aws:eks/podIdentityAssociation:"),
    *("aws:s3/bucketPolicy:", "aws:s3/bucketPublicAccessBlock:", "gcp:compute/firewall:", "gcp:iam/"),
    *("gcp:projects/iAMCustomRole:", "kubernetes:rbac.authorization.k8s.io/", "kubernetes:networking.k8s.io/"),
)
"""The beginnings of types that grant access."""


def grants(type_: str) -> bool:
    """Return whether a resource grants access: a reviewer reads all inputs of a new or deleted one."""
    return type_.startswith(_GRANTS) or type_.lower().endswith("iammember")


_OPENED: Final = {
    "aws:eks/cluster:Cluster": ("vpcConfig.publicAccessCidrs", "vpcConfig.endpointPublicAccess", "accessConfig"),
}
"""By type, the beginnings of the inputs that open it to others."""


def opens(type_: str, paths: Iterable[str]) -> bool:
    """Return whether a change of these inputs opens a resource to others, or closes it."""
    return any(path.startswith(_OPENED.get(type_, ())) for path in paths)


def meaning(effect: str, type_: str, inputs: Mapping[str, Any], paths: Iterable[str]) -> Meaning | None:
    """Return the consequence of one change; None where no job or data is affected.

    Args:
        effect: `create`, `update`, `replace`, `delete` or `move`.
        type_: the type token.
        inputs: the inputs before the change.
        paths: the changed input paths.

    """
    if effect in ("replace", "delete"):
        if type_ == RELEASE:
            return _SCALE_SET if str(inputs.get("chart", "")).rstrip("/").endswith(_RUNNER_CHART) else None
        return MEANINGS.get(type_)
    if effect == "update":
        changed = list(paths)
        known = _UPDATES.get(type_, ())
        return next((found for starts, found in known if any(path.startswith(starts) for path in changed)), None)
    return None
