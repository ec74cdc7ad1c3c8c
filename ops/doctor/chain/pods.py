"""The pods of runners and jobs: their nodes, images, GPUs and logs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any, Final

from components.gpu_names import GPU
from components.kubernetes.namespaces import RUNNERS
from gpu_ci.derived.outputs import gpu_test_image
from gpu_ci.stack_file.sections.images import ImageSettings
from ops.doctor.chain import sections
from ops.doctor.check import Chapter
from ops.doctor.finding import Finding, broken, doubtful, works
from ops.doctor.log.messages import found_in
from ops.doctor.log.reasons import REASONS, reason_of
from ops.doctor.questions import kubernetes
from ops.doctor.questions.scale_sets import job_pods, names
from ops.doctor.world.source import Unanswered
from ops.doctor.world.world import World

CHAPTER: Final = Chapter()

_STARTING: Final = timedelta(minutes=10)
"""The longest usual wait for a new node."""
_SCALING: Final = "TriggeredScaleUp"
_REFUSED: Final = "NotTriggerScaleUp"


@CHAPTER.check(needs=("kubernetes-api",), applies=sections.arc)
def pending_pods(world: World) -> Iterator[Finding]:
    """Explain why pods of runners and jobs wait for a node."""
    waiting = [pod for pod in job_pods(world) if pod.get("status", {}).get("phase") == "Pending" and not _placed(pod)]
    if not waiting:
        yield works("runners", "no pod of a runner or a job waits for a node")
    for pod in waiting:
        yield _pending(world, pod)


def _placed(pod: dict[str, Any]) -> bool:
    return bool(pod.get("spec", {}).get("nodeName"))


def _pending(world: World, pod: dict[str, Any]) -> Finding:
    meta, waits = pod["metadata"], kubernetes.age(world, pod)
    happened = kubernetes.events(world, meta["namespace"], meta["name"])
    scheduler = str(kubernetes.condition(pod, "PodScheduled").get("message", "the scheduler gave no reason"))
    autoscaler = next((str(one["message"]) for one in reversed(happened) if one.get("reason") == _REFUSED), "")
    started = any(one.get("reason") == _SCALING for one in happened)
    seen = f"it waits for {int(waits.total_seconds() // 60)} minutes: {autoscaler or scheduler}"
    subject = f"pod {meta['namespace']}/{meta['name']}"
    if started and waits < _STARTING:
        means = "the autoscaler starts a node for it, which takes 3 to 6 minutes"
        return doubtful(subject, seen=seen, means=means, fix="wait, and run the doctor again")
    found = {one: reason_of("pending-pods", one) for one in kubernetes.reasons(autoscaler or scheduler)}
    # A GPU that is in use explains more than the CPU that its job uses.
    known = sorted(filter(None, found.values()), key=REASONS["pending-pods"].index)
    unknown = [one for one, reason in found.items() if reason is None]
    means = "; ".join([*dict.fromkeys(one.meaning for one in known), *(f"unknown reason: {one}" for one in unknown)])
    fix = "; ".join(dict.fromkeys(one.fix for one in known)) or "read the check autoscaler"
    if started:
        means = "the autoscaler asked for a node, and none joined in time"
        fix = "read the checks node-launches and nodes"
    return (doubtful if waits < timedelta(minutes=1) else broken)(subject, seen=seen, means=means, fix=fix)


ARTIFACTS: Final = "https://artifactregistry.googleapis.com/v1"
_HUB: Final = "registry-1.docker.io"
_ECR: Final = re.compile(r"\d{12}\.dkr\.ecr\.([a-z0-9-]+)\.amazonaws\.com/(.+)")
_GOOGLE: Final = re.compile(r"([a-z0-9-]+)-docker\.pkg\.dev/([^/]+)/([^/]+)/(.+)")


@CHAPTER.check(applies=lambda settings: bool(settings.images) or settings.test_image is not None)
def image_digest(world: World) -> Iterator[Finding]:
    """Check that each container image exists in its registry, and that the registry accepts the sign-in."""
    for name, image in world.settings.images.items():
        yield _image(world, f"images.{name}", _reference(image), image.digest or image.tag or "")
    container = gpu_test_image(world.settings)
    if container is not None:
        reference, _, tag = container.rpartition(":")
        yield _image(world, "test-image", reference, tag)


def _reference(image: ImageSettings) -> str:
    """Return the registry and the repository; only the repository for one of this stack in ECR."""
    return image.reference if image.reference is not None else str(image.repository)


def _image(world: World, path: str, reference: str, version: str) -> Finding:
    pinned = f"{reference}{'@' if version.startswith('sha256:') else ':'}{version}"
    try:
        found = _in_registry(world, path, reference, version)
    except Unanswered as fault:
        return doubtful(
            path,
            seen=f"the registry does not show {pinned}: {fault.reason}",
            means="these credentials cannot read it; the machines have credentials of their own",
            fix=fault.fix or "sign in to the registry, and run the doctor again",
        )
    if found is None:
        return broken(
            path,
            seen=f"the registry has no {pinned}",
            means="pods stay in ImagePullBackOff: the image was not pushed, or a clean-up deleted it",
            fix=f"push the image, or state a version that exists in {path}",
        )
    return works(path, f"{pinned} exists")


def _in_registry(world: World, path: str, reference: str, version: str) -> Any:
    on_ecr, on_google = _ECR.fullmatch(reference), _GOOGLE.fullmatch(reference)
    is_digest = version.startswith("sha256:")
    if on_ecr is not None or _is_own(world, path):
        wanted = {"imageDigest": version} if is_digest else {"imageTag": version}
        more = {"region": on_ecr[1]} if on_ecr is not None else {}
        repository = on_ecr[2] if on_ecr is not None else reference
        return world.aws.ask("ecr.describe_images", repositoryName=repository, imageIds=[wanted], **more)
    if on_google is not None:
        location, project, repository, image = on_google.groups()
        place = f"{ARTIFACTS}/projects/{project}/locations/{location}/repositories/{repository}"
        encoded = image.replace("/", "%2F")
        if is_digest:
            return world.google.ask(f"{place}/dockerImages/{encoded}@{version}")
        return world.google.ask(f"{place}/packages/{encoded}/tags/{version}")
    host, _, repository = reference.removeprefix("docker.io/").partition("/")
    if "." not in host and ":" not in host:
        host, repository = _HUB, f"{host}/{repository}" if repository else f"library/{host}"
    return world.registry.ask("manifest", host=host, repository=repository, reference=version)


def _is_own(world: World, path: str) -> bool:
    """Return whether an image is in a repository of this stack in ECR."""
    image = world.settings.images.get(path.removeprefix("images."))
    return image is not None and image.repository is not None


_WAITS: Final = (
    "ErrImagePull",
    "ImagePullBackOff",
    "InvalidImageName",
    "ErrImageNeverPull",
    "CreateContainerConfigError",
)


@CHAPTER.check(needs=("kubernetes-api",), applies=sections.arc)
def pod_images(world: World) -> Iterator[Finding]:
    """Explain why the image of a runner or a job is not pulled."""
    waiting = [pod for pod in job_pods(world) if kubernetes.waiting(pod).get("reason") in _WAITS]
    if not waiting:
        yield works("runners", "no pod of a runner or a job waits for its image")
    for pod in waiting:
        yield _not_pulled(world, pod)


def _not_pulled(world: World, pod: dict[str, Any]) -> Finding:
    meta, state = pod["metadata"], kubernetes.waiting(pod)
    failed = [one for one in kubernetes.events(world, meta["namespace"], meta["name"]) if one.get("reason") == "Failed"]
    pulls = [str(one.get("message", "")) for one in failed if "pull" in str(one.get("message", "")).lower()]
    message = " ".join((pulls[-1] if pulls else str(state.get("message", "no message"))).split())
    reason = reason_of("pod-images", message)
    means = reason.meaning if reason else "the node cannot pull the image"
    describe = f"kubectl --namespace {meta['namespace']} describe pod {meta['name']}"
    fix = reason.fix if reason else f"read `{describe}`"
    subject = f"pod {meta['namespace']}/{meta['name']}"
    return broken(subject, seen=f"{state['reason']}: {message[:400]}", means=means, fix=fix)


_LABEL: Final = "gpu-ci/runner"
"""The label with the name of the runner, on the pod of the runner and on that of its job."""


@CHAPTER.check(needs=("kubernetes-api",), applies=sections.arc)
def runner_gpu(world: World) -> Iterator[Finding]:
    """Check that the pods of jobs have the GPUs of their runner in their limits, and run on a node of its pools."""
    known, found = names(world.stack), 0
    pools = {kubernetes.name(node): kubernetes.pool_of(node) for node in kubernetes.nodes(world)}
    faults: list[Finding] = []
    for pod in job_pods(world):
        name = kubernetes.labels(pod).get(_LABEL, "")
        if name in known and pod["status"].get("phase") == "Running":
            found += 1
            faults += _gpu_faults(world, name, pod, pools)
    yield from faults
    if not faults:
        yield works("runners", f"{found} pods of runners and jobs run with the GPUs of their runner")


def _gpu_faults(world: World, runner: str, pod: dict[str, Any], pools: dict[str, str]) -> Iterator[Finding]:
    shared, namespace = world.stack.offers[runner].shared, pod["metadata"]["namespace"]
    # With a pod for each job, the pod of the runner has no GPU and is on a system node.
    if shared is None or (shared.waiting_pod is not None and namespace == RUNNERS):
        return
    subject = f"pod {namespace}/{kubernetes.name(pod)}"
    wanted = world.settings.runners[runner].needs.devices
    limits = [one.get("resources", {}).get("limits", {}) for one in pod["spec"].get("containers", [])]
    has = sum(int(limit.get(GPU, 0)) for limit in limits)
    if has != wanted:
        yield broken(
            subject,
            seen=f"its containers have {has} of {wanted} {GPU} in their limits",
            means="a container gets only the GPUs in its limits: nvidia-smi is not found, and PyTorch has no CUDA",
            fix="run `pulumi up --refresh`; the template of the scale set or of the job's pod was changed",
        )
    node = pod["spec"].get("nodeName", "")
    if node in pools and pools[node] not in shared.pools:
        yield broken(
            subject,
            seen=f"it runs on {node}, which is a node of {pools[node] or 'no pool'}",
            means=f"runners.{runner} selects {' and '.join(shared.pools)}, so the selection of its pod was changed",
            fix="run `pulumi up --refresh`; compare the check node-marks",
        )


@CHAPTER.check(needs=("kubernetes-api",), applies=sections.arc)
def runner_log(world: World) -> Iterator[Finding]:
    """Explain known messages in the logs of runner and job pods: the hooks, the driver, CUDA, and refused runners."""
    pods, good = job_pods(world), 0
    for pod in pods:
        faults = [*_killed(pod), *_logged(world, pod)]
        good += not faults
        yield from faults
    if good == len(pods):
        yield works("runners", f"the logs of {good} pods of runners and jobs have no known error")


def _killed(pod: dict[str, Any]) -> Iterator[Finding]:
    for one in kubernetes.containers(pod):
        for state in (one.get("state", {}), one.get("lastState", {})):
            if state.get("terminated", {}).get("reason") == "OOMKilled":
                yield broken(
                    _subject(pod),
                    seen=f"the container {one['name']} ended with OOMKilled",
                    means="the job used more memory than its limit; /dev/shm counts as memory",
                    fix="raise needs.memory of the runner, or run fewer tests in parallel",
                )


def _logged(world: World, pod: dict[str, Any]) -> Iterator[Finding]:
    for one in kubernetes.containers(pod):
        if one.get("state", {}).get("waiting"):
            continue
        for found in found_in(kubernetes.log(world, pod, one["name"])):
            yield broken(
                _subject(pod),
                seen=found.line,
                means=found.message.meaning,
                fix=f"{found.message.fix} (docs/runbook.md#{found.message.name})",
            )


def _subject(pod: dict[str, Any]) -> str:
    node = pod.get("spec", {}).get("nodeName")
    return f"pod {pod['metadata']['namespace']}/{kubernetes.name(pod)}{f' on {node}' if node else ''}"
