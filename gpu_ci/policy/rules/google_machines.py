"""Rules about machines and clusters of Google Cloud: no legacy access, no default identity, and an end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from gpu_ci.policy.exposure import exposure
from gpu_ci.policy.inputs import Inputs, each, is_true, part, texts

if TYPE_CHECKING:
    from collections.abc import Iterator

_MACHINES: Final = (
    "gcp:compute/instance:Instance",
    "gcp:compute/instanceFromTemplate:InstanceFromTemplate",
    "gcp:compute/instanceTemplate:InstanceTemplate",
    "gcp:compute/regionInstanceTemplate:RegionInstanceTemplate",
)
_PROJECT: Final = "gcp:compute/projectMetadata:ProjectMetadata"
_PROJECT_ITEM: Final = "gcp:compute/projectMetadataItem:ProjectMetadataItem"
_CLUSTER: Final = "gcp:container/cluster:Cluster"
_NODE_POOL: Final = "gcp:container/nodePool:NodePool"
_TRUE: Final = frozenset({"1", "true", "y", "yes"})
_OF_NODES: Final = ("nodeConfig", "metadata")
_KEYS: Final = "gives access to the holders of keys that do not expire; use OS Login"
_LEGACY: Final = {
    ("disable-legacy-endpoints", False): "is off, so metadata needs no header; set it to true",
    ("enable-oslogin", False): "is off, so keys in the metadata give access; set it to TRUE",
    ("serial-port-enable", True): "opens a console to the internet; remove it",
    ("ssh-keys", False): _KEYS,
    ("sshKeys", False): _KEYS,
}
"""A key of the metadata and whether it is switched on, to the problem."""
_BROAD_SCOPES: Final = ("cloud-platform", "compute", "compute-rw", "devstorage.full_control", "storage-full", "iam")
_DEFAULT_ACCOUNT: Final = "-compute@developer.gserviceaccount.com"


def machines_have_no_legacy_access(type_: str, _name: str, inputs: Inputs) -> Iterator[str]:
    """No machine has a serial console, SSH keys in its metadata, or the default network."""
    for key, value in _metadata(type_, inputs).items():
        problem = _LEGACY.get((key, str(value).lower() in _TRUE))
        if problem:
            yield f"metadata.{key} {problem}"
    if type_ not in _MACHINES:
        return
    for interface in each(inputs, "networkInterfaces"):
        if str(part(interface, "network")).rpartition("/")[2] == "default":
            yield "networkInterfaces uses the default network, which accepts SSH from everywhere; name another"
    if is_true(part(inputs, "canIpForward")):
        yield "canIpForward is set, so the machine can send packets of others; remove it"
    if not part(inputs, "scheduling", "maxRunDuration"):
        yield "scheduling.maxRunDuration is not set, so the machine may run forever"


def _metadata(type_: str, inputs: Inputs) -> Inputs:
    """Return the metadata of a machine, of the nodes of a cluster, or of a project."""
    if type_ == _PROJECT_ITEM:
        return {str(part(inputs, "key")): part(inputs, "value")}
    path = {**dict.fromkeys((*_MACHINES, _PROJECT), ("metadata",)), **dict.fromkeys((_CLUSTER, _NODE_POOL), _OF_NODES)}
    found = part(inputs, *path[type_]) if type_ in path else None
    return found if isinstance(found, Mapping) else {}


def machines_have_their_own_account(type_: str, _name: str, inputs: Inputs) -> Iterator[str]:
    """No machine runs as the default service account, which is an editor of the project."""
    if type_ in _MACHINES:
        account = part(inputs, "serviceAccount")
        email = str(part(inputs, "serviceAccount", "email") or "")
        if account is not None and (not email or email.endswith(_DEFAULT_ACCOUNT)):
            broad = [scope for scope in texts(inputs, "serviceAccount", "scopes") if _is_broad(scope)]
            more = f" with the scope {broad[0]}" if broad else ""
            yield f"serviceAccount is the default account{more}, an editor of the project; name an account of its own"
    if type_ in {_CLUSTER, _NODE_POOL} and part(inputs, "nodeConfig") is not None:
        email = str(part(inputs, "nodeConfig", "serviceAccount") or "default")
        if email == "default" or email.endswith(_DEFAULT_ACCOUNT):
            yield "nodeConfig.serviceAccount is the default account, an editor of the project; name one of its own"


def _is_broad(scope: str) -> bool:
    return scope.rpartition("/")[2] in _BROAD_SCOPES


def gke_has_no_legacy_access(type_: str, _name: str, inputs: Inputs) -> Iterator[str]:
    """A GKE cluster has no passwords, certificates or legacy rules, and lists who may reach it."""
    if type_ != _CLUSTER:
        return
    if is_true(part(inputs, "enableLegacyAbac")):
        yield "enableLegacyAbac is set, so every pod has broad permissions; remove it"
    if is_true(part(inputs, "masterAuth", "clientCertificateConfig", "issueClientCertificate")):
        yield "masterAuth issues a certificate that does not expire; remove it"
    if part(inputs, "masterAuth", "password"):
        yield "masterAuth has a password; remove it"
    if not is_true(part(inputs, "privateClusterConfig", "enablePrivateNodes")):
        yield "privateClusterConfig.enablePrivateNodes is not set, so every node has a public address"
    blocks = each(inputs, "masterAuthorizedNetworksConfig", "cidrBlocks")
    ranges = [range_ for block in blocks for range_ in texts(block, "cidrBlock")]
    opened = exposure(ranges or ["0.0.0.0/0"])
    if not is_true(part(inputs, "privateClusterConfig", "enablePrivateEndpoint")) and (opened.wide or opened.together):
        yield "masterAuthorizedNetworksConfig grants access to the whole internet; list the ranges that need access"
    if not part(inputs, "workloadIdentityConfig", "workloadPool"):
        yield "workloadIdentityConfig is not set, so pods use the account of their node"
