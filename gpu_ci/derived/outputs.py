"""Outputs of a stack: commands that reach it and verify it, and the lines that workflows state."""

from __future__ import annotations

from collections.abc import Mapping

from components.gpu_names import GPU
from components.kubernetes.namespaces import RUNNERS, SYSTEMS
from gpu_ci.back_ends.registry import BACK_ENDS
from gpu_ci.stack_file.sections.settings import Settings


def configure_kubectl(cluster: str, region: str) -> str:
    """Return the command that configures `kubectl` for the cluster."""
    return f"aws eks update-kubeconfig --name {cluster} --region {region}"


def ecr_login(account: str, region: str) -> str:
    """Return the command that logs `docker` in to ECR for twelve hours."""
    host = f"{account}.dkr.ecr.{region}.amazonaws.com"
    return f"aws ecr get-login-password --region {region} | docker login --username AWS --password-stdin {host}"


def runs_on(settings: Settings) -> dict[str, str]:
    """Return the line that a workflow states for each runner."""
    return {name: BACK_ENDS[runner.back_end].runs_on(name, runner).line for name, runner in settings.runners.items()}


def verify(settings: Settings) -> Mapping[str, str]:
    """Return commands that inspect a running cluster, by subject."""
    plugin, resource = "kubectl --namespace kube-system", GPU.replace(".", r"\.")
    pods = "--selector app.kubernetes.io/name=nvidia-device-plugin"
    commands = {
        "gpu-nodes": f"kubectl get nodes --selector {GPU}=true"
        " --label-columns gpu-ci/pool,node.kubernetes.io/instance-type",
        "gpu-capacity": f"kubectl get nodes --selector {GPU}=true --output custom-columns='NODE:.metadata.name,"
        f"GPUS:.status.capacity.{resource},ALLOCATABLE:.status.allocatable.{resource}'",
        "device-plugin": f"{plugin} get daemonset {pods}",
        # On shared pools the first container is the one that reloads the configuration.
        "device-plugin-log": f"{plugin} logs {pods} --all-containers --prefix --tail 50",
        "gpu-persistence": _on_gpu_nodes("nvidia-smi --query-gpu=name,persistence_mode --format=csv"),
        "gpu-use": _on_gpu_nodes("nvidia-smi dmon -c 5"),
    }
    if settings.autoscaler is not None:
        commands["autoscaler"] = f"{plugin} get configmap cluster-autoscaler-status --output yaml"
        commands["autoscaler-log"] = (
            f"{plugin} logs deployment/cluster-autoscaler --container aws-cluster-autoscaler --tail 100"
        )
    if settings.arc is not None:
        commands["scale-sets"] = f"kubectl --namespace {RUNNERS} get autoscalingrunnersets,ephemeralrunners"
        commands["listeners"] = (
            f"kubectl --namespace {SYSTEMS} get pods --selector app.kubernetes.io/component=runner-scale-set-listener"
        )
        runner_log = f"kubectl --namespace {RUNNERS} logs --selector gpu-ci/runner --container runner"
        commands["runner-log"] = f"{runner_log} --tail 100"
        # No line with these words is a good result, so it is not an error.
        commands["runner-gpu-log"] = (
            f"{runner_log} --tail=-1 | sed -n -E '/[Cc][Uu][Dd][Aa]|[Nn][Vv][Ii][Dd][Ii][Aa]/p'"
        )
    if settings.monitoring is not None and settings.monitoring.metrics_server:
        commands["usage"] = "kubectl top nodes"
    return commands


def _on_gpu_nodes(command: str) -> str:
    """Return a command that runs `command` in the device plugin's pod of each GPU node.

    Without a GPU node there is no such pod, and `kubectl exec` would fail. The MPS daemon has the same labels.
    """
    plugin = "kubectl --namespace kube-system"
    pods = f"{plugin} get pods --selector app.kubernetes.io/name=nvidia-device-plugin --output name"
    each = f"{plugin} exec POD --container nvidia-device-plugin-ctr -- {command}"
    return (
        f"pods=$({pods}) && if [ -z \"$pods\" ]; then echo 'No GPU node runs now.'; else "
        f"printf '%s\\n' \"$pods\" | sed /mps-control-daemon/d | xargs -I POD {each}; fi"
    )


def artifact_registry_login(region: str) -> str:
    """Return the command that logs `docker` in to the repositories of a region."""
    return f"gcloud auth configure-docker {region}-docker.pkg.dev"


def gpu_test_image(settings: Settings) -> str | None:
    """Return the reference of the GPU tests' container; none where the stack has none."""
    image, gcp = settings.test_image, settings.gcp
    if image is None or gcp is None:
        return None
    region = settings.artifact_registry[image.repository].region or gcp.region
    return f"{region}-docker.pkg.dev/{gcp.project}/{image.repository}/{image.name}:{image.tag}"


def storage_locations(settings: Settings, image: str | None) -> dict[str, str]:
    """Return where on Google Cloud the large objects are that cost money by the month.

    Args:
        settings: the stack file.
        image: the name of the host image; None where the stack builds none.

    """
    found: dict[str, str | None] = {"test-image": gpu_test_image(settings)}
    stated = settings.host_image
    if settings.gcp is not None and stated is not None and image is not None:
        found["host-image"] = f"projects/{settings.gcp.project}/global/images/{image}"
        found["host-image-region"] = settings.gcp.region
        if stated.export is not None:
            found["host-image-archive"] = f"gs://{stated.export.bucket}/images/{image}.tar.gz"
    return {what: where for what, where in sorted(found.items()) if where is not None}
