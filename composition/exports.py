"""What a stack tells of itself: how to reach it, what a workflow says, and how to see that it works."""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.kubernetes.alerts import SYSTEMS
from components.kubernetes.arc_controller import RUNNERS
from config.cirun import cirun_label

if TYPE_CHECKING:
    from collections.abc import Mapping

    from config.identity import Identity
    from config.settings import Settings


def configure_kubectl(cluster: str, region: str) -> str:
    """The command that lets `kubectl` at the cluster."""
    return f"aws eks update-kubeconfig --name {cluster} --region {region}"


def registry_login(account: str, region: str) -> str:
    """The command that lets `docker` at the registry, for twelve hours."""
    host = f"{account}.dkr.ecr.{region}.amazonaws.com"
    return f"aws ecr get-login-password --region {region} | docker login --username AWS --password-stdin {host}"


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
        "gpu-persistence": f"{plugin} exec daemonset/nvidia-device-plugin -- nvidia-smi"
        " --query-gpu=name,persistence_mode --format=csv",
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


def runner_network(identity: Identity) -> str:
    """What the network of cirun's machines on Google Cloud is called: the stack makes it, and cirun's file names it."""
    return f"{identity.prefix}-runners"


def artifact_registry_login(region: str) -> str:
    """The command that lets `docker` at a region's repositories."""
    return f"gcloud auth configure-docker {region}-docker.pkg.dev"


def cirun_google(email: str) -> dict[str, str]:
    """What cirun needs on Google Cloud and nobody can declare."""
    return _cirun(f"gcloud iam service-accounts keys create cirun.json --iam-account {email}", "Google Cloud")


def cirun_amazon(user: str, settings: Settings) -> dict[str, str]:
    """What cirun needs on AWS and nobody can declare; and how the images are looked up again, region by region."""
    found = _cirun(f"aws iam create-access-key --user-name {user}", "AWS")
    return found | {f"image-{place}": command for place, command in newest_images(settings).items()}


def newest_images(settings: Settings) -> dict[str, str]:
    """Runner and region to the command that tells today's AMI, where the runner states the parameter that knows it."""
    return {
        f"{name}-{region}": f"aws ssm get-parameter --region {region} --name {runner.cirun_aws.image_parameter}"
        " --query Parameter.Value --output text"
        for name, runner in settings.runners.items()
        if runner.cirun_aws is not None and runner.cirun_aws.image_parameter is not None
        for region in runner.cirun_aws.regions
    }


def _cirun(key: str, cloud: str) -> dict[str, str]:
    """By hand, so that no state ever holds the key; cirun offers no other way in."""
    return {
        "repository": "connect the repository at https://cirun.io, where its GitHub App is installed",
        "key": key,
        "paste": f"give the key to cirun under Cloud, {cloud}; then delete the file, and note a day to make another",
        "files": "make kit OUT=../REPOSITORY",
    }


def gpu_test_image(settings: Settings) -> str | None:
    """The container of the GPU tests by its tag, as its repository will name it."""
    image, google = settings.test_image, settings.gcp
    if image is None or google is None:
        return None
    region = settings.artifact_registry[image.repository].region or google.region
    return f"{region}-docker.pkg.dev/{google.project}/{image.repository}/gpu-tests:{image.tag}"


def storage_locations(settings: Settings, host: str | None) -> dict[str, str]:
    """Where on Google Cloud everything lies that is large and is paid for by the month. `host` is the image's name."""
    found: dict[str, str | None] = {"test-image": gpu_test_image(settings)}
    if settings.gcp is not None and settings.host_image is not None and host is not None:
        found["host-image"] = f"projects/{settings.gcp.project}/global/images/{host}"
        found["host-image-region"] = settings.gcp.region
        if settings.host_image.export is not None:
            found["host-image-archive"] = f"gs://{settings.host_image.export.bucket}/images/{host}.tar.gz"
    return {what: where for what, where in sorted(found.items()) if where is not None}
