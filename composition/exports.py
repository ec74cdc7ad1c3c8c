"""What a stack tells of itself: how to reach it, what a workflow says, and how to see that it works."""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.kubernetes.arc_controller import RUNNERS, SYSTEMS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from config.settings import Settings


def configure_kubectl(cluster: str, region: str) -> str:
    """The command that lets `kubectl` at the cluster."""
    return f"aws eks update-kubeconfig --name {cluster} --region {region}"


def registry_login(account: str, region: str) -> str:
    """The command that lets `docker` at the registry, for twelve hours."""
    host = f"{account}.dkr.ecr.{region}.amazonaws.com"
    return f"aws ecr get-login-password --region {region} | docker login --username AWS --password-stdin {host}"


CIRUN_PREFIX = "cirun-"
"""What every label of cirun's begins with."""


def cirun_label(name: str) -> str:
    """What a workflow asks cirun for."""
    return name if name.startswith(CIRUN_PREFIX) else f"{CIRUN_PREFIX}{name}"


def runs_on(settings: Settings) -> dict[str, str]:
    """Runner to the line that a workflow writes.

    What follows two hyphens is for GitHub alone: it keeps a machine of cirun's for one attempt of one run.
    """
    run = "--${{ github.run_id }}-${{ github.run_attempt }}"
    return {
        name: f"runs-on: {name}" if runner.arc is not None else f'runs-on: "{cirun_label(name)}{run}"'
        for name, runner in settings.runners.items()
    }


def verify(settings: Settings) -> Mapping[str, str]:
    """What to ask a running cluster, each question by what it answers."""
    plugin = "kubectl --namespace kube-system"
    questions = {
        "gpu-nodes": "kubectl get nodes --selector nvidia.com/gpu=true"
        " --label-columns gpu-ci/pool,node.kubernetes.io/instance-type",
        "gpu-capacity": "kubectl get nodes --selector nvidia.com/gpu=true --output "
        r"custom-columns='NODE:.metadata.name,GPUS:.status.allocatable.nvidia\.com/gpu'",
        "device-plugin": f"{plugin} get daemonset --selector app.kubernetes.io/name=nvidia-device-plugin",
        "device-plugin-log": f"{plugin} logs --selector app.kubernetes.io/name=nvidia-device-plugin --tail 50",
        "gpu-use": f"{plugin} exec daemonset/nvidia-device-plugin -- nvidia-smi dmon -c 5",
    }
    if settings.autoscaler is not None:
        questions["autoscaler"] = (
            "kubectl --namespace kube-system get configmap cluster-autoscaler-status --output yaml"
        )
        questions["autoscaler-log"] = "kubectl --namespace kube-system logs deployment/cluster-autoscaler --tail 100"
    if settings.arc is not None:
        questions["scale-sets"] = f"kubectl --namespace {RUNNERS} get autoscalingrunnersets,ephemeralrunners"
        questions["listeners"] = (
            f"kubectl --namespace {SYSTEMS} get pods --selector app.kubernetes.io/component=runner-scale-set-listener"
        )
        questions["runner-log"] = (
            f"kubectl --namespace {RUNNERS} logs --selector gpu-ci/runner --container runner --tail 100"
        )
    if settings.monitoring is not None and settings.monitoring.metrics_server:
        questions["usage"] = "kubectl top nodes"
    return questions


def artifact_registry_login(region: str) -> str:
    """The command that lets `docker` at a region's repositories."""
    return f"gcloud auth configure-docker {region}-docker.pkg.dev"


def cirun_google_key(email: str) -> str:
    """How the key that cirun wants is made, by hand, so that no state holds it."""
    return f"gcloud iam service-accounts keys create cirun.json --iam-account {email}, then paste it at cirun.io"


def cirun_amazon_key(user: str) -> str:
    """How the key that cirun wants is made, by hand, so that no state holds it."""
    return f"aws iam create-access-key --user-name {user}, then paste it at cirun.io"
