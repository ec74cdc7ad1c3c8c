"""The EKS cluster: the control plane, its add-ons and nodes, and what runs in it for every runner."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import pulumi
from pulumi import Output, ResourceOptions

from gpu_ci.back_ends.protocol import ProgramContext
from gpu_ci.derived import kubernetes, outputs
from gpu_ci.knowledge import pins
from gpu_ci.program.control_plane import control_plane
from gpu_ci.program.declared import Declared
from gpu_ci.stack_file.sections.aws import AwsSettings, ClusterSettings
from gpu_ci.stack_file.sections.machines import OWN, STOCK, NodePool, SystemNodesSettings
from gpu_ci.stack_file.values.general import gibibytes

if TYPE_CHECKING:
    from components.aws.nodes.gpu_pool import GpuPool
    from gpu_ci.program.network import Subnets


def eks_cluster(
    *,
    context: ProgramContext,
    account: AwsSettings,
    stated: ClusterSettings,
    nodes: SystemNodesSettings | None,
    subnets: Subnets,
    own_images: Mapping[str, Output[str]],
) -> tuple[ProgramContext, Declared]:
    """Declare the control plane, its add-ons and nodes, and the provider for what runs in the cluster.

    Of an existing cluster only the pools are declared, and what runs in it for the runners.
    """
    from components.aws.cluster.add_ons import ClusterAddOns
    from components.aws.nodes.cpu_pool import CpuPool, CpuPoolArgs
    from components.aws.nodes.gpu_pool import GpuPool, GpuPoolArgs, OwnImage
    from components.aws.nodes.node_group import Disk, NodeGroupArgs
    from components.aws.nodes.nodes import SystemNodes
    from components.kubernetes.connection import Connection, ConnectionArgs

    settings, identity = context.stack.settings, context.stack.identity
    plane = control_plane(context=context, account=account, stated=stated, subnets=subnets)
    facts = plane.facts

    def node_group(group: SystemNodesSettings | NodePool, *, title: str) -> NodeGroupArgs:
        return NodeGroupArgs(
            cluster_name=facts.name,
            role_arn=plane.role_arn,
            subnet_ids=[subnets.nodes[zone] for zone in group.zones],
            ami_release=pins.EKS_AMI_RELEASES[stated.version],
            version=stated.version,
            instance_types=group.instance_types,
            min=group.min,
            max=group.max,
            disk=Disk(gib=gibibytes(group.disk.size), iops=group.disk.iops, throughput=group.disk.throughput),
            title=title,
            tags=identity.tags,
            user_tags=identity.extra,
            after=plane.joinable,
        )

    declared: Declared = {}
    node_groups: list[pulumi.Resource] = []
    if nodes is not None:
        system = SystemNodes("system-nodes", node_group(nodes, title=f"{identity.prefix}-system"), context.aws)
        declared["system-nodes"] = system
        node_groups.append(system.node_group)

    def own_image(image: str) -> OwnImage | None:
        if image == STOCK:
            return None
        return OwnImage(
            ami=own_images[account.region] if image == OWN else image,
            cluster_name=facts.name,
            endpoint=facts.endpoint,
            certificate_authority=facts.certificate_authority,
            service_range=str(stated.service_cidr),
        )

    pools = {
        name: GpuPool(
            f"pool-{name}",
            GpuPoolArgs(
                nodes=node_group(pool, title=f"{identity.prefix}-{name}"),
                node=kubernetes.gpu_node(name, pool, settings.machines),
                capacity=pool.capacity,
                fast_image_pull=pool.fast_image_pull,
                image=own_image(pool.image),
            ),
            context.aws,
        )
        for name, pool in settings.gpu_pools.items()
    }

    cpu_pools = {
        name: CpuPool(
            f"cpu-pool-{name}",
            CpuPoolArgs(
                nodes=node_group(pool, title=f"{identity.prefix}-{name}"),
                node=kubernetes.cpu_node(name, pool, settings.machines),
                capacity=pool.capacity,
            ),
            context.aws,
        )
        for name, pool in settings.cpu_pools.items()
    }

    after = [*plane.access, *node_groups, *(pool.node_group for pool in pools.values())]
    after += [pool.node_group for pool in cpu_pools.values()]
    if plane.add_ons is not None:
        # Its add-ons need a node without taints.
        after += ClusterAddOns("cluster-add-ons", replace(plane.add_ons, after=node_groups), context.aws).all

    connection = Connection(
        "kubernetes",
        ConnectionArgs(
            name=facts.name,
            arn=facts.arn,
            endpoint=facts.endpoint,
            certificate_authority=facts.certificate_authority,
            region=account.region,
            after=after,
        ),
        context.aws,
    )

    pulumi.export(
        "cluster",
        {
            "name": facts.name,
            "arn": facts.arn,
            "endpoint": facts.endpoint,
            **({"issuer": plane.component.issuer} if plane.component is not None else {}),
            "node_role_arn": plane.role_arn,
            "vpc_id": subnets.vpc_id,
        },
    )
    pulumi.export("kubeconfig", connection.kubeconfig)
    pulumi.export("configure_kubectl", outputs.configure_kubectl(context.stack.cluster_name, account.region))
    pulumi.export("verify", outputs.verify(settings))
    inside = ResourceOptions.merge(context.aws, ResourceOptions(providers=[connection.provider]))
    context = replace(context, cluster=inside, kubeconfig=connection.kubeconfig)
    if plane.component is not None:
        declared["cluster"] = plane.component
    return context, {
        **declared,
        **{f"gpu-pools.{name}": pool for name, pool in pools.items()},
        **{f"cpu-pools.{name}": pool for name, pool in cpu_pools.items()},
        **_pool_alarms(context, pools),
        **_services(context=context, account=account, version=stated.version, cluster_name=facts.name),
    }


def _pool_alarms(context: ProgramContext, pools: Mapping[str, GpuPool]) -> Declared:
    """Declare the alarms of CloudWatch about the machines of the GPU pools."""
    from components.aws.nodes.pool_alarms import PoolAlarms, PoolAlarmsArgs

    monitoring = context.stack.settings.monitoring
    if monitoring is None or (stated := monitoring.cloudwatch) is None:
        return {}
    args = PoolAlarmsArgs(
        title=context.stack.identity.prefix,
        email=stated.email,
        groups={name: pool.auto_scaling_group for name, pool in pools.items()},
        idle_minutes=dict.fromkeys(kubernetes.job_pools(context.stack), stated.idle_minutes),
    )
    return {"monitoring.cloudwatch": PoolAlarms("pool-alarms", args, context.aws)}


def _services(*, context: ProgramContext, account: AwsSettings, version: str, cluster_name: Output[str]) -> Declared:
    """Declare what runs in the cluster for every runner: storage, device plugin, autoscaler, metrics, smoke tests."""
    from components.kubernetes.autoscaler import Autoscaler, AutoscalerArgs
    from components.kubernetes.gpus.device_plugin import DevicePlugin, DevicePluginArgs
    from components.kubernetes.gpus.gpu_metrics import GpuMetrics, GpuMetricsArgs
    from components.kubernetes.gpus.smoke_test import SmokeTest, SmokeTestArgs
    from components.kubernetes.storage import Storage, StorageArgs

    settings, declared = context.stack.settings, Declared()

    if settings.storage is not None:
        declared["storage"] = Storage(
            "storage", StorageArgs(default_class=settings.storage.default_class), context.cluster
        )

    if settings.device_plugin is not None:
        declared["device-plugin"] = DevicePlugin(
            "device-plugin",
            DevicePluginArgs(version=pins.DEVICE_PLUGIN_CHART, values=kubernetes.device_plugin(settings)),
            context.cluster,
        )

    if settings.autoscaler is not None:
        declared["autoscaler"] = Autoscaler(
            "autoscaler",
            AutoscalerArgs(
                cluster_name=cluster_name,
                known_cluster_name=context.stack.cluster_name,
                version=pins.CLUSTER_AUTOSCALER_CHART,
                values=kubernetes.autoscaler(settings, settings.autoscaler, region=account.region, version=version),
            ),
            context.cluster,
        )

    if settings.monitoring is not None and (dcgm := settings.monitoring.dcgm) is not None:
        declared["monitoring"] = GpuMetrics(
            "gpu-metrics",
            GpuMetricsArgs(
                version=pins.DCGM_EXPORTER_CHART,
                values=kubernetes.gpu_metrics(settings, dcgm),
                alerts=dcgm.alerts,
                dashboard=dcgm.dashboard,
                to_zero=kubernetes.job_pools(context.stack) == frozenset(settings.gpu_pools),
                namespace_labels=dcgm.namespace_labels,
            ),
            context.cluster,
        )

    if (smoke := settings.smoke_test) is not None:
        declared["smoke-test"] = SmokeTest(
            "smoke-test",
            SmokeTestArgs(
                image=context.image(settings.images[smoke.image]),
                jobs=kubernetes.smoke_jobs(settings) if smoke.on_up else (),
                after=list(declared.values()),
            ),
            context.cluster,
        )

    return declared
