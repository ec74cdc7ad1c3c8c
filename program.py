"""The composition root: read the stack file, check it, and declare one component after the other.

It makes no decision: decisions are in the stack file, and derived values come from `wiring` and from the components'
pure neighbours. The SDKs of the clouds are imported where they are needed, because loading the one of AWS is most of
the time of a plan.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pulumi
from pulumi import Output, ResourceOptions

import checks
import refusal
from back_ends.protocol import Site
from back_ends.registry import BACK_ENDS, stack_of
from config import pins
from config.identity import Identity
from config.load import load
from config.machines import OWN, STOCK
from config.values import gibibytes
from gpu.quotas.gcp import METRICS
from gpu.regions import region_of
from wiring import aws_images, host_image, kubernetes, outputs, tools

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from components.aws.network import Network
    from components.gcp.controlled_image import ControlledImage
    from components.gcp.declared_image import DeclaredImage
    from components.gcp.docker_repository import DockerRepository
    from config.aws import AwsSettings, ClusterSettings
    from config.gcp import GcpSettings, GpuTestImageSettings, HostImageSettings
    from config.machines import PoolSettings, SystemNodesSettings
    from gpu.verdict import Verdict

Declared = dict[str, pulumi.Resource]
"""Resources by the path in the stack file that asked for them. Warnings are logged on them."""


def run(on_path: Callable[[str], str | None] | None = None, *, refuse: bool = True) -> list[Verdict]:
    """Read the stack file, refuse what cannot work, declare the rest, and export how to use it.

    Args:
        on_path: returns where a program is on this machine. A plan omits it, because its result must not depend on
            the machine.
        refuse: False declares also what cannot work, for a list of its other problems.

    Returns:
        All verdicts on the stack.

    Raises:
        config.load.StackFileError: the stack file is invalid.
        refusal.Refused: a check found an error.
        wiring.tools.ToolMissing: the update needs a program that is not on PATH.

    """
    settings, secrets = load()
    stack = stack_of(
        settings, Identity(project=pulumi.get_project(), stack=pulumi.get_stack(), extra=settings.stack.tags)
    )
    findings = checks.verdicts(stack)
    if refuse:
        refusal.refuse(findings)
    if on_path is not None:
        tools.check(settings, on_path)

    site, declared = Site(stack=stack, secrets=secrets, repositories={}), Declared()
    if settings.aws is not None:
        site, on_aws = aws(site=site, account=settings.aws)
        declared |= on_aws
    if settings.gcp is not None:
        site, on_gcp = gcp(site=site, account=settings.gcp)
        declared |= on_gcp
    for back_end in BACK_ENDS.values():
        declared |= back_end.declare(site)

    pulumi.export("runs_on", outputs.runs_on(settings))
    refusal.warn(findings, declared)
    return findings


def aws(*, site: Site, account: AwsSettings) -> tuple[Site, Declared]:
    """Declare the provider and the image repositories; and the network and the cluster where they are stated."""
    import pulumi_aws

    from components.aws.flow_logs import FlowLogs, FlowLogsArgs
    from components.aws.network import Network, NetworkArgs
    from components.aws.registry import Registry, RegistryArgs, RepositoryArgs

    settings, identity = site.stack.settings, site.stack.identity
    declared: Declared = {}

    provider = pulumi_aws.Provider(
        "aws",
        region=account.region,
        # Refuse the credentials of another account before anything is created.
        allowed_account_ids=[account.account],
        default_tags={"tags": identity.tags},
    )
    site = replace(site, aws=ResourceOptions(providers=[provider]))

    if settings.ecr:
        registry = Registry(
            "registry",
            RegistryArgs(
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
            ),
            site.aws,
        )
        declared["ecr"] = registry
        site = replace(site, repositories=registry.urls)
        pulumi.export("repositories", dict(registry.urls))
        pulumi.export("registry_login", outputs.ecr_login(account.account, account.region))

    images, built = _machine_images(site=site, account=account)
    declared |= built
    site = replace(site, images=images.get("ec2-image", {}))

    if settings.network is None:
        return site, declared
    network = Network(
        "network",
        NetworkArgs(
            name=identity.prefix,
            region=account.region,
            cidr=settings.network.cidr,
            zones=settings.network.zones,
            gateway_zones=settings.network.gateway_zones,
        ),
        site.aws,
    )
    declared["network"] = network
    if settings.network.flow_logs is not None:
        declared["network.flow-logs"] = FlowLogs(
            "flow-logs",
            FlowLogsArgs(
                vpc_id=network.vpc_id,
                title=identity.prefix,
                account=account.account,
                region=account.region,
                retention_days=settings.network.flow_logs.retention_days,
                protect=settings.stack.protect,
            ),
            site.aws,
        )

    if settings.cluster is None or settings.system_nodes is None:
        return site, declared
    site, inside = _cluster(
        site=site, account=account, stated=settings.cluster, nodes=settings.system_nodes, network=network,
        own_images=images.get("eks-image", {}),
    )  # fmt: skip
    return site, {**declared, **inside}


def _machine_images(*, site: Site, account: AwsSettings) -> tuple[dict[str, Mapping[str, Output[str]]], Declared]:
    """Declare the machine images and their networks; return the AMIs by section and region."""
    import pulumi_command as command

    from components.aws.image_factory import ImageFactory, ImageFactoryArgs
    from components.aws.pinned_images import PinnedImages, PinnedImagesArgs
    from components.aws.runner_network import RunnerNetwork, RunnerNetworkArgs

    settings, identity = site.stack.settings, site.stack.identity
    images: dict[str, Mapping[str, Output[str]]] = {}
    declared: Declared = {}
    contents = aws_images.contents(settings, account.region)
    commands = ResourceOptions(providers=[command.Provider("image-commands")]) if contents else None
    for path, (stated, content) in contents.items():
        title = f"{identity.prefix}-{path}"
        network = RunnerNetwork(
            f"{path}-network", RunnerNetworkArgs(title=title, zones={account.region: [stated.zone]}), site.aws
        )
        factory = ImageFactory(
            path,
            ImageFactoryArgs(
                title=title,
                region=account.region,
                content=content,
                instance_types=stated.instance_types,
                subnet_id=network.subnet_ids[stated.zone],
                group_id=network.group_ids[account.region],
                keep=stated.keep,
                tags=identity.tags,
            ),
            ResourceOptions.merge(site.aws, commands),
        )
        images[path], declared[path] = factory.amis, factory
        pulumi.export(path.replace("-", "_"), {"base": content.parent, "content": content.hash, "amis": factory.amis})
    if pinned := aws_images.pinned(settings):
        PinnedImages("pinned-images", PinnedImagesArgs(amis=pinned), site.aws)
    return images, declared


def _cluster(
    *,
    site: Site,
    account: AwsSettings,
    stated: ClusterSettings,
    nodes: SystemNodesSettings,
    network: Network,
    own_images: Mapping[str, Output[str]],
) -> tuple[Site, Declared]:
    """Declare the control plane, its add-ons and nodes, and the provider for what runs in the cluster."""
    from components.aws.add_ons import AddOnsArgs, ClusterAddOns, NodeAddOns
    from components.aws.cluster import Cluster, ClusterArgs
    from components.aws.gpu_pool import GpuPool, GpuPoolArgs, OwnImage
    from components.aws.node_group import Disk, NodeGroupArgs
    from components.aws.nodes import NodeRole, NodeRoleArgs, SystemNodes
    from components.kubernetes.connection import Connection, ConnectionArgs

    settings, identity = site.stack.settings, site.stack.identity

    cluster = Cluster(
        "cluster",
        ClusterArgs(
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
        ),
        site.aws,
    )

    add_ons = AddOnsArgs(cluster_name=cluster.facts.name, version=stated.version, add_ons=kubernetes.add_ons(settings))
    node_add_ons = NodeAddOns("node-add-ons", add_ons, site.aws)
    role = NodeRole("node-role", NodeRoleArgs(), site.aws)
    # A node joins only with the network add-on and the policies of its role.
    joinable = [*node_add_ons.all, *role.policies]

    def node_group(group: SystemNodesSettings | PoolSettings, *, title: str) -> NodeGroupArgs:
        return NodeGroupArgs(
            cluster_name=cluster.facts.name,
            role_arn=role.arn,
            subnet_ids=[network.node_subnet_ids[zone] for zone in group.zones],
            ami_release=pins.EKS_AMI_RELEASES[stated.version],
            version=stated.version,
            instance_types=group.instance_types,
            min=group.min,
            max=group.max,
            disk=Disk(gib=gibibytes(group.disk.size), iops=group.disk.iops, throughput=group.disk.throughput),
            title=title,
            tags=identity.tags,
            user_tags=identity.extra,
            after=joinable,
        )

    system = SystemNodes(
        "system-nodes",
        node_group(nodes, title=f"{identity.prefix}-system"),
        site.aws,
    )

    def own_image(image: str) -> OwnImage | None:
        if image == STOCK:
            return None
        return OwnImage(
            ami=own_images[account.region] if image == OWN else image,
            cluster_name=cluster.facts.name,
            endpoint=cluster.facts.endpoint,
            certificate_authority=cluster.facts.certificate_authority,
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
            site.aws,
        )
        for name, pool in settings.gpu_pools.items()
    }

    cluster_add_ons = ClusterAddOns("cluster-add-ons", replace(add_ons, after=[system.node_group]), site.aws)
    node_groups = [system.node_group, *(pool.node_group for pool in pools.values())]

    connection = Connection(
        "kubernetes",
        ConnectionArgs(
            name=cluster.facts.name,
            arn=cluster.facts.arn,
            endpoint=cluster.facts.endpoint,
            certificate_authority=cluster.facts.certificate_authority,
            region=account.region,
            after=[*cluster.access, *node_groups, *cluster_add_ons.all],
        ),
        site.aws,
    )

    pulumi.export(
        "cluster",
        {
            "name": cluster.facts.name,
            "arn": cluster.facts.arn,
            "endpoint": cluster.facts.endpoint,
            "issuer": cluster.issuer,
            "node_role_arn": role.arn,
            "vpc_id": network.vpc_id,
        },
    )
    pulumi.export("kubeconfig", connection.kubeconfig)
    pulumi.export("configure_kubectl", outputs.configure_kubectl(identity.prefix, account.region))
    pulumi.export("verify", outputs.verify(settings))
    inside = ResourceOptions.merge(site.aws, ResourceOptions(providers=[connection.provider]))
    site = replace(site, cluster=inside, kubeconfig=connection.kubeconfig)
    return site, {
        "cluster": cluster,
        "system-nodes": system,
        **{f"gpu-pools.{name}": pool for name, pool in pools.items()},
        **_services(site=site, account=account, version=stated.version, cluster_name=cluster.facts.name),
    }


def _services(*, site: Site, account: AwsSettings, version: str, cluster_name: Output[str]) -> Declared:
    """Declare what runs in the cluster for every runner: storage, device plugin, autoscaler, metrics."""
    from components.kubernetes.autoscaler import Autoscaler, AutoscalerArgs
    from components.kubernetes.device_plugin import DevicePlugin, DevicePluginArgs
    from components.kubernetes.gpu_metrics import GpuMetrics, GpuMetricsArgs
    from components.kubernetes.storage import Storage, StorageArgs

    settings, declared = site.stack.settings, Declared()

    if settings.storage is not None:
        declared["storage"] = Storage(
            "storage", StorageArgs(default_class=settings.storage.default_class), site.cluster
        )

    if settings.device_plugin is not None:
        declared["device-plugin"] = DevicePlugin(
            "device-plugin",
            DevicePluginArgs(version=pins.DEVICE_PLUGIN_CHART, values=kubernetes.device_plugin(settings)),
            site.cluster,
        )

    if settings.autoscaler is not None:
        declared["autoscaler"] = Autoscaler(
            "autoscaler",
            AutoscalerArgs(
                cluster_name=cluster_name,
                known_cluster_name=site.stack.identity.prefix,
                version=pins.CLUSTER_AUTOSCALER_CHART,
                values=kubernetes.autoscaler(settings, settings.autoscaler, region=account.region, version=version),
            ),
            site.cluster,
        )

    if settings.monitoring is not None and settings.monitoring.dcgm is not None:
        declared["monitoring"] = GpuMetrics(
            "gpu-metrics",
            GpuMetricsArgs(
                version=pins.DCGM_EXPORTER_CHART,
                values=kubernetes.gpu_metrics(settings, settings.monitoring.dcgm),
                alerts=settings.monitoring.dcgm.alerts,
            ),
            site.cluster,
        )

    return declared


def gcp(*, site: Site, account: GcpSettings, installer: Path = host_image.INSTALLER) -> tuple[Site, Declared]:
    """Declare everything on Google Cloud that no single back end owns.

    Args:
        site: what is declared already.
        account: the section `gcp`.
        installer: the folder of the host image's installer.

    """
    import pulumi_command as command
    import pulumi_gcp

    from components.gcp.apis import Apis, ApisArgs
    from components.gcp.docker_repository import DockerRepository, DockerRepositoryArgs
    from components.gcp.federation import Federation, FederationArgs
    from components.gcp.runner_account import RunnerAccount, RunnerAccountArgs

    settings, identity = site.stack.settings, site.stack.identity

    provider = pulumi_gcp.Provider(
        "gcp",
        project=account.project,
        region=account.region,
        default_labels=identity.labels,
        # Charge calls to the runners' project, whichever credentials make them.
        user_project_override=True,
        billing_project=account.project,
    )
    providers = ResourceOptions(providers=[provider, command.Provider("command")])

    apis = Apis("apis", ApisArgs(project=account.project, apis=host_image.apis(site.stack)), providers)
    # The engine sees no edge from a resource to the API that creates it.
    site = replace(site, gcp=ResourceOptions.merge(providers, ResourceOptions(depends_on=[apis])))
    declared: Declared = {"gcp": apis}

    runner = RunnerAccount(
        "runner-account", RunnerAccountArgs(project=account.project, account=f"{identity.prefix}-runner"), site.gcp
    )
    declared["gcp.runner-account"] = runner
    site = replace(site, runner_account=runner.account_id)
    pulumi.export("runner_service_account", runner.email)

    pushing: dict[str, Output[str]] = {}
    if settings.github_federation is not None:
        federation = Federation(
            "federation",
            FederationArgs(
                project=account.project,
                pool=identity.prefix,
                owner_id=settings.github_federation.owner_id,
                repositories=settings.github_federation.repositories,
                branches=settings.github_federation.branches,
            ),
            site.gcp,
        )
        pushing = {f"github-{name}": member for name, member in federation.trusted.items()}
        site = replace(site, identity_pool=federation.pool_name)
        declared["github-federation"] = federation
        pulumi.export("workload_identity_provider", federation.provider_name)

    for name, repository in settings.artifact_registry.items():
        region = repository.region or account.region
        images = DockerRepository(
            f"repository-{name}",
            DockerRepositoryArgs(
                project=account.project,
                region=region,
                repository=name,
                immutable_tags=repository.immutable_tags,
                keep=repository.keep,
                drop_after_days=repository.drop_after_days,
                dry_run=repository.cleanup == "dry-run",
                readers={"runners": runner.member, **repository.readers},
                writers={**pushing, **repository.writers},
                force_delete=repository.force_delete,
                protect=settings.stack.protect,
            ),
            site.gcp,
        )
        declared[f"artifact-registry.{name}"] = images
        pulumi.export(f"repository_{name}", images.url)
        pulumi.export(f"repository_{name}_login", outputs.artifact_registry_login(region))
        if settings.test_image is not None and settings.test_image.repository == name:
            declared["test-image"] = _test_image(stated=settings.test_image, images=images, opts=providers)

    image = None
    if settings.host_image is not None:
        image = host_image.name(settings.host_image, account.region, installer)
        built = _host_image(site=site, stated=settings.host_image, account=account, installer=installer)
        declared["host-image"] = built
        site = replace(site, host_image=built.name)
    pulumi.export("storage_locations", outputs.storage_locations(settings, image))
    return site, declared


def _test_image(*, stated: GpuTestImageSettings, images: DockerRepository, opts: ResourceOptions) -> pulumi.Resource:
    """Build the container of the GPU tests, or leave that to a workflow of the repository."""
    pulumi.export("test_image", Output.concat(images.url, "/gpu-tests:", stated.tag))
    if stated.built_by == "workflow":
        return images
    import pulumi_docker_build as docker_build

    from components.gcp.gpu_test_image import GpuTestImage, GpuTestImageArgs

    builder = ResourceOptions(providers=[docker_build.Provider("docker-build")], depends_on=[images])
    return GpuTestImage(
        "test-image",
        GpuTestImageArgs(repository_url=images.url, tag=stated.tag, cuda_image=stated.cuda_image),
        ResourceOptions.merge(opts, builder),
    )


def _host_image(
    *, site: Site, stated: HostImageSettings, account: GcpSettings, installer: Path
) -> ControlledImage | DeclaredImage:
    """Declare the network of the image's builders, its archive, and the image in the stated mode."""
    from components.gcp.build_network import BuildNetwork, BuildNetworkArgs
    from components.gcp.controlled_image import ArchiveArgs, ControlledImage, ControlledImageArgs
    from components.gcp.declared_image import DeclaredImage, DeclaredImageArgs
    from components.gcp.host_image import HostImageArgs
    from components.gcp.image_archive import ImageArchive, ImageArchiveArgs

    prefix, machines = site.stack.identity.prefix, site.stack.settings.machines

    network = BuildNetwork(
        "build-network",
        BuildNetworkArgs(
            project=account.project,
            title=f"{prefix}-build",
            regions={region_of(zone) for zone in stated.zones},
            nat=not account.public_addresses,
        ),
        site.gcp,
    )

    host = HostImageArgs(
        project=account.project,
        family=stated.family,
        content=host_image.content(stated, account.region, installer),
        zones=stated.zones,
        machine_type=stated.builder.machine_type,
        gvnic=machines.gce(stated.builder.machine_type).gvnic,
        private=not account.public_addresses,
        spot=stated.builder.spot,
        build_minutes=stated.builder.max_minutes,
        subnetwork=network.subnetwork,
        share_with=stated.share_with,
    )
    pulumi.export("host_image", host_image.facts(host.image, stated, account.project))
    if stated.mode == "declared":
        return DeclaredImage(
            "host-image",
            DeclaredImageArgs(host=host, phase=stated.phase, keep_on_destroy=stated.keep_on_destroy),
            site.gcp,
        )

    archive = None
    if stated.export is not None:
        bucket = ImageArchive(
            "host-image-archive",
            ImageArchiveArgs(
                project=account.project,
                region=account.region,
                bucket=stated.export.bucket,
                keep_days=stated.export.keep_days,
                keep_on_destroy=stated.keep_on_destroy,
                prefix=prefix,
            ),
            site.gcp,
        )
        archive = ArchiveArgs(
            bucket=bucket.bucket, build_account=bucket.build_account, machine_account=bucket.machine_account
        )

    return ControlledImage(
        "host-image",
        ControlledImageArgs(
            host=host,
            owner=prefix,
            attempts=stated.builder.attempts,
            verify_machine_type=stated.verifier.machine_type,
            verify_gvnic=machines.gce(stated.verifier.machine_type).gvnic,
            verify_accelerator=host_image.accelerator(stated.verifier, machines),
            verify_gpus=stated.verifier.gpus,
            verify_quota=METRICS[stated.verifier.gpu],
            verify_minutes=stated.verifier.max_minutes,
            verify_options=host_image.verify_options(stated),
            keep=stated.keep - 1,
            keep_on_destroy=stated.keep_on_destroy,
            archive=archive,
            folder=host_image.folder(installer),
        ),
        site.gcp,
    )
