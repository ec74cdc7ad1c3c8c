"""The back end `arc`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from components.kubernetes.arc.scale_set_values import LISTENER, job_pod, removal_minutes, runner_pod
from gpu_ci.back_ends.arc.section import ArcSection
from gpu_ci.back_ends.arc.values import pools_of, scale_set
from gpu_ci.back_ends.offer import HostSoftware, Machine, Offer, SharedNodes
from gpu_ci.back_ends.protocol import BackEnd, ProgramContext, Repository, RunsOn
from gpu_ci.knowledge import pins
from gpu_ci.knowledge.kubernetes.pods import pod_from_template
from gpu_ci.knowledge.machines.start_up import fast_pull_obstacle, shared_node_steps
from gpu_ci.stack_file.sections.machines import OWN, STOCK, PoolSettings
from gpu_ci.stack_file.sections.runners import RunnerSettings
from gpu_ci.stack_file.sections.settings import Settings
from gpu_ci.stack_file.values.general import gibibytes

if TYPE_CHECKING:
    import pulumi


class Arc:
    """The Actions Runner Controller on EKS: one scale set for each runner, on node groups."""

    title = "the Actions Runner Controller on EKS"

    def offer(self, name: str, runner: RunnerSettings, settings: Settings) -> Offer:
        """Return what one runner is offered."""
        stated, path = runner.section(ArcSection), f"runners.{name}"
        pools = [settings.pools[pool] for pool in pools_of(stated)]
        values = scale_set(name, runner, stated, settings)
        own_pod = stated.container_mode != "none"
        shared = SharedNodes(
            pools=pools_of(stated),
            pod=pod_from_template(job_pod(values) if own_pod else runner_pod(values, "")),
            waiting_pod=pod_from_template(runner_pod(values, "")) if own_pod else None,
            listener=pod_from_template({"spec": {"containers": [LISTENER]}}),
            idle=stated.min,
            most=stated.max,
            most_key=f"{path}.arc.max",
            idle_key=f"{path}.arc.min",
            pool_key=f"{path}.arc.pool",
            fallback_key=f"{path}.arc.fallback",
            image=stated.image,
            group=settings.arc.runner_group if settings.arc is not None else "default",
        )
        version = settings.cluster.version if settings.cluster else next(iter(pins.EKS_AMI_RELEASES))
        # The image of `eks-image` has the driver of the image of EKS; that of an AMI is not known.
        known = all(pool.image in {STOCK, OWN} for pool in pools if isinstance(pool, PoolSettings))
        first = pools[0]
        types = tuple(settings.machines.ec2(one) for one in first.instance_types)
        fast_pull = isinstance(first, PoolSettings) and first.fast_image_pull
        ami = "AL2023_x86_64_NVIDIA" if runner.needs.gpu else "AL2023_x86_64_STANDARD"
        return Offer(
            path=path,
            section=f"{path}.arc",
            machines=tuple(
                dict.fromkeys(
                    Machine(type=settings.machines.ec2(one), disk_gib=gibibytes(pool.disk.size))
                    for pool in pools
                    for one in pool.instance_types
                )
            ),
            host=HostSoftware(image=f"{ami}:{pins.EKS_AMI_RELEASES[version]}" if known else None),
            steps=shared_node_steps(
                image_gib=settings.images[stated.image].pulled_gib,
                idle_on_gpu=shared.idle_on_gpu,
                min_nodes=first.min,
                fast_pull=fast_pull and not fast_pull_obstacle(types, first.disk.throughput),
                gpu=bool(runner.needs.gpu),
            ),
            shared=shared,
        )

    def runs_on(self, name: str, runner: RunnerSettings) -> RunsOn:
        """Return how a workflow asks for one runner."""
        stated = runner.section(ArcSection)
        takes_container = stated.container_mode != "none"
        return RunsOn(
            line=f"runs-on: {name}",
            label=name,
            more=frozenset(stated.labels),
            labels_key=f"runners.{name}.arc.labels",
            job_container=takes_container,
            container_fix="" if takes_container else f"state container-mode: kubernetes-novolume in runners.{name}.arc",
        )

    def files(self, repository: Repository) -> Mapping[str, str]:  # noqa: ARG002 - the protocol's
        """Return no files: a workflow only needs the name of the scale set."""
        return {}

    def declare(self, context: ProgramContext) -> Mapping[str, pulumi.Resource]:
        """Declare the controller, the job hooks, and one scale set for each runner."""
        settings, key = context.stack.settings, context.secrets.github_app_private_key
        network, cluster = settings.network, settings.cluster
        if settings.arc is None or settings.github is None or key is None or network is None or cluster is None:
            return {}
        # Imported here: a stack without a cluster does not load the Kubernetes SDK.
        import pulumi  # noqa: PLC0415
        import pulumi_command as command  # noqa: PLC0415
        from pulumi import ResourceOptions  # noqa: PLC0415

        from components.kubernetes.arc import arc_controller  # noqa: PLC0415
        from components.kubernetes.arc.job_namespace import JobNamespace, JobNamespaceArgs  # noqa: PLC0415
        from components.kubernetes.arc.network_policies import NetworkPolicies, NetworkPoliciesArgs  # noqa: PLC0415
        from components.kubernetes.arc.scale_set import JobHooks, JobHooksArgs, ScaleSet, ScaleSetArgs  # noqa: PLC0415
        from components.kubernetes.disruption_budget import DisruptionBudget, DisruptionBudgetArgs  # noqa: PLC0415
        from components.kubernetes.namespaces import SYSTEMS  # noqa: PLC0415

        inside = ResourceOptions.merge(context.cluster, ResourceOptions(providers=[command.Provider("arc-commands")]))
        controller = arc_controller.ArcController(
            "arc",
            arc_controller.ArcControllerArgs(
                version=pins.ARC_CHARTS,
                log_level=settings.arc.log_level,
                kubeconfig=context.kubeconfig,
                github_url=settings.github.url,
                app_id=settings.github.app_id,
                installation_id=settings.github.installation_id,
                private_key=key,
            ),
            inside,
        )
        DisruptionBudget(
            "job-protection", DisruptionBudgetArgs(namespace=controller.runners_namespace), context.cluster
        )
        hooks = JobHooks("job-hooks", JobHooksArgs(namespace=controller.runners_namespace), context.cluster)
        separate = any(one.container_mode != "none" for _, _, one in settings.served(ArcSection))
        jobs = None
        if separate:
            jobs = JobNamespace(
                "job-pods", JobNamespaceArgs(runners_namespace=controller.runners_namespace), context.cluster
            )
            DisruptionBudget("job-pod-protection", DisruptionBudgetArgs(namespace=jobs.namespace), context.cluster)
        policies = NetworkPolicies(
            "network-policies",
            NetworkPoliciesArgs(
                runners_namespace=controller.runners_namespace,
                systems_namespace=controller.systems_namespace,
                jobs_namespace=jobs.namespace if jobs else None,
                nodes=network.cidr,
                services=cluster.service_cidr,
                ports=settings.arc.ports,
            ),
            context.cluster,
        )
        declared: dict[str, pulumi.Resource] = {"arc": controller}
        waits: list[str] = []
        for name, runner in settings.runners.items():
            stated = runner.stated.get("arc")
            if not isinstance(stated, ArcSection):
                continue
            values = scale_set(name, runner, stated, settings)
            waits.append(f"{name} within {removal_minutes(values)} minutes")
            declared[f"runners.{name}"] = ScaleSet(
                f"runner-{name}",
                ScaleSetArgs(
                    values=values,
                    version=pins.ARC_CHARTS,
                    namespace=controller.scale_sets_namespace,
                    image=context.image(settings.images[stated.image]),
                    secret_name=controller.secret_name,
                    kubeconfig=context.kubeconfig,
                    controller=controller.installed,
                    controller_namespace=SYSTEMS,
                    controller_account=arc_controller.SERVICE_ACCOUNT,
                    after=[controller.ready, hooks.config_map, *policies.all, *(jobs.all if jobs else ())],
                ),
                inside,
            )
        if waits and pulumi.runtime.is_dry_run():
            # A preview of a removal shows no reason for the time that it takes.
            pulumi.log.info(f"A runner is removed or replaced after its running jobs: {', '.join(waits)}", controller)
        return declared


BACK_END: Final[BackEnd] = Arc()
