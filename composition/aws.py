"""The AWS half: registry, network, control plane, nodes and pools, and the way into the cluster."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pulumi
import pulumi_aws as aws
from pulumi import Output, ResourceOptions

from back_ends.cirun_aws.permissions import policy as amazon_policy
from components.aws.add_ons import AddOnsArgs, ClusterAddOns, NodeAddOns
from components.aws.cirun_access import CirunAmazonAccess
from components.aws.cluster import Cluster, ClusterArgs
from components.aws.gpu_pool import GpuPool, GpuPoolArgs
from components.aws.network import Network, NetworkArgs
from components.aws.nodes import NodeRole, SystemNodes, SystemNodesArgs
from components.aws.registry import Registry
from components.kubernetes.connection import Connection, ConnectionArgs
from composition import exports, wiring
from composition.inside import runners, services
from config import pins

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from config.aws import AmazonSettings, ClusterSettings, NetworkSettings
    from config.identity import Identity
    from config.load import Secrets
    from config.machines import PoolSettings, SystemNodesSettings
    from config.settings import Settings


def amazon(
    settings: Settings, account: AmazonSettings, secrets: Secrets, identity: Identity
) -> dict[str, pulumi.Resource]:
    """Everything on AWS; what was made, by the path in the stack file that asked for it."""
    provider = aws.Provider(
        "aws",
        region=account.region,
        # Another account's credentials are refused before they make anything.
        allowed_account_ids=[account.account],
        default_tags={"tags": identity.tags},
    )
    here = ResourceOptions(providers=[provider])
    made: dict[str, pulumi.Resource] = {}
    urls: Mapping[str, Output[str]] = {}
    if settings.ecr:
        registry = Registry("registry", wiring.registry(settings, identity), here)
        made["ecr"], urls = registry, registry.urls
        pulumi.export("repositories", dict(urls))
        pulumi.export("registry_login", exports.registry_login(account.account, account.region))
    if settings.cirun is not None and settings.cirun.aws:
        access = _cirun(settings, account, identity, here)
        served = {f"runners.{name}" for name, runner in settings.runners.items() if runner.cirun_aws is not None}
        made |= dict.fromkeys(("cirun", *sorted(served)), access)
    if settings.network is None:
        return made
    network = Network("network", _network(settings.network, account, identity), here)
    made["network"] = network
    if settings.cluster is None or settings.system_nodes is None:
        return made
    version = settings.cluster.version
    cluster = Cluster("cluster", _cluster(settings, settings.cluster, account, network, identity), here)
    add_ons = AddOnsArgs(cluster_name=cluster.facts.name, version=version, add_ons=wiring.add_ons(settings))
    node_add_ons = NodeAddOns("node-add-ons", add_ons, here)
    role = NodeRole("node-role", here)
    joinable = [*node_add_ons.all, *role.policies]
    system = SystemNodes(
        "system-nodes",
        _system_nodes(settings.system_nodes, version, cluster, network, role, identity, joinable),
        here,
    )
    pools = {
        name: GpuPool(f"pool-{name}", _gpu_pool(name, pool, version, cluster, network, role, identity, joinable), here)
        for name, pool in settings.gpu_pools.items()
    }
    cluster_add_ons = ClusterAddOns("cluster-add-ons", replace(add_ons, after=[system.node_group]), here)
    nodes = [system.node_group, *(pool.node_group for pool in pools.values())]
    ready = [*cluster.access, *nodes, *cluster_add_ons.all]
    connection = Connection("kubernetes", _connection(cluster, account, ready), here)
    inside = ResourceOptions(providers=[provider, connection.provider])
    made |= {"cluster": cluster, "system-nodes": system}
    made |= {f"gpu-pools.{name}": pool for name, pool in pools.items()}
    made |= services(settings, cluster.facts.name, account.region, version, identity, inside)
    made |= runners(settings, secrets, urls, inside)
    facts = {"name": cluster.facts.name, "arn": cluster.facts.arn, "endpoint": cluster.facts.endpoint}
    pulumi.export("cluster", {**facts, "issuer": cluster.issuer, "node_role_arn": role.arn, "vpc_id": network.vpc_id})
    pulumi.export("kubeconfig", connection.kubeconfig)
    pulumi.export("configure_kubectl", exports.configure_kubectl(identity.prefix, account.region))
    pulumi.export("verify", exports.verify(settings))
    return made


def _cirun(settings: Settings, account: AmazonSettings, identity: Identity, opts: ResourceOptions) -> CirunAmazonAccess:
    served = [runner.cirun_aws for runner in settings.runners.values() if runner.cirun_aws is not None]
    policy = amazon_policy(
        account=account.account,
        regions=sorted({region for one in served for region in one.regions}),
        instance_types=sorted({stated for one in served for stated in one.instance_types}),
        spot=any(True in one.spot for one in served),
    )
    access = CirunAmazonAccess(
        "cirun-aws", user=f"{identity.prefix}-cirun", policy=json.dumps(policy, sort_keys=True), opts=opts
    )
    pulumi.export("cirun_aws", access.user_name.apply(lambda user: exports.cirun_amazon(user, settings)))
    return access


def _network(stated: NetworkSettings, account: AmazonSettings, identity: Identity) -> NetworkArgs:
    return NetworkArgs(
        name=identity.prefix, region=account.region, cidr=stated.cidr, zones=stated.zones, nat=stated.nat
    )


def _cluster(
    settings: Settings, stated: ClusterSettings, account: AmazonSettings, network: Network, identity: Identity
) -> ClusterArgs:
    return ClusterArgs(
        cluster_name=identity.prefix,
        account=account.account,
        region=account.region,
        version=stated.version,
        subnet_ids=[network.private_subnet_ids[zone] for zone in stated.zones],
        public_ranges=stated.endpoint.public,
        service_range=stated.service_cidr,
        administrators=stated.administrators,
        log_types=stated.logs,
        log_retention_days=stated.log_retention_days,
        extended_support=stated.support == "extended",
        protect=settings.stack.protect,
    )


def _system_nodes(
    stated: SystemNodesSettings,
    version: str,
    cluster: Cluster,
    network: Network,
    role: NodeRole,
    identity: Identity,
    joinable: Sequence[pulumi.Resource],
) -> SystemNodesArgs:
    return SystemNodesArgs(
        cluster_name=cluster.facts.name,
        role_arn=role.arn,
        subnet_ids=[network.private_subnet_ids[zone] for zone in stated.zones],
        ami_release=pins.EKS_AMI_RELEASES[version],
        version=version,
        instance_types=stated.instance_types,
        min=stated.min,
        max=stated.max,
        disk=wiring.disk(stated.disk),
        title=f"{identity.prefix}-system",
        tags=identity.tags,
        after=joinable,
    )


def _gpu_pool(
    name: str,
    stated: PoolSettings,
    version: str,
    cluster: Cluster,
    network: Network,
    role: NodeRole,
    identity: Identity,
    joinable: Sequence[pulumi.Resource],
) -> GpuPoolArgs:
    return GpuPoolArgs(
        cluster_name=cluster.facts.name,
        role_arn=role.arn,
        subnet_ids=[network.private_subnet_ids[zone] for zone in stated.zones],
        ami_release=pins.EKS_AMI_RELEASES[version],
        version=version,
        instance_types=stated.instance_types,
        capacity=stated.capacity,
        min=stated.min,
        max=stated.max,
        disk=wiring.disk(stated.disk),
        node=wiring.gpu_node(name, stated),
        fast_image_pull=stated.fast_image_pull,
        title=f"{identity.prefix}-{name}",
        tags=identity.tags,
        after=joinable,
    )


def _connection(cluster: Cluster, account: AmazonSettings, after: Sequence[pulumi.Resource]) -> ConnectionArgs:
    return ConnectionArgs(
        name=cluster.facts.name,
        arn=cluster.facts.arn,
        endpoint=cluster.facts.endpoint,
        certificate_authority=cluster.facts.certificate_authority,
        region=account.region,
        after=after,
    )
