"""Explain why the image of a runner or a job is not pulled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ops.doctor.chain.sections import arc as applies
from ops.doctor.finding import broken, works
from ops.doctor.questions import kubernetes
from ops.doctor.questions.scale_sets import job_pods

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_ci.knowledge.verdict import Verdict
    from ops.doctor.world.world import World

__all__ = ["CHECK", "NEEDS", "applies", "check"]

CHECK: Final = "pod-images"
NEEDS: Final = ("kubernetes-api",)

_WAITS: Final = (
    "ErrImagePull",
    "ImagePullBackOff",
    "InvalidImageName",
    "ErrImageNeverPull",
    "CreateContainerConfigError",
)
_REASONS: Final = (
    (
        ("no space left on device",),
        "the disk of the node is too small for the image",
        "raise disk.size of the pool; the image needs about three times its compressed size",
    ),
    (
        ("not found", "manifest unknown"),
        "the registry has no image with this tag or digest",
        "push the image, or correct images.NAME in the stack file",
    ),
    (
        ("401", "unauthorized", "no basic auth", "authorization failed", "denied", "403"),
        "the registry refuses the node: the image is private, or the role of the node may not read it",
        "use a repository of gpu-ci:ecr, or state a pull secret",
    ),
    (
        ("toomanyrequests", "429"),
        "the registry limits the number of pulls from the address of the NAT gateway",
        "copy the image to a repository of gpu-ci:ecr",
    ),
    (
        ("i/o timeout", "no such host", "connection refused", "tls handshake"),
        "the node does not reach the registry",
        "check the NAT gateway, DNS and arc.ports",
    ),
    (
        ("no match for platform", "exec format"),
        "the image is for another processor architecture",
        "build it for linux/amd64",
    ),
    (
        ("secret", "configmap"),
        "an object that the pod needs does not exist",
        "run `pulumi up --refresh`",
    ),
)


def check(world: World) -> Iterator[Verdict]:
    """Yield pods whose image is not pulled, with the message of the node."""
    waiting = [pod for pod in job_pods(world) if kubernetes.waiting(pod).get("reason") in _WAITS]
    if not waiting:
        yield works(CHECK, "runners", "no pod of a runner or a job waits for its image")
    for pod in waiting:
        yield _pod(world, pod)


def _pod(world: World, pod: dict[str, Any]) -> Verdict:
    meta, state = pod["metadata"], kubernetes.waiting(pod)
    failed = [one for one in kubernetes.events(world, meta["namespace"], meta["name"]) if one.get("reason") == "Failed"]
    pulls = [str(one.get("message", "")) for one in failed if "pull" in str(one.get("message", "")).lower()]
    message = " ".join((pulls[-1] if pulls else str(state.get("message", "no message"))).split())
    means, fix = next(
        ((means, fix) for texts, means, fix in _REASONS if any(text in message.lower() for text in texts)),
        (
            "the node cannot pull the image",
            f"read `kubectl --namespace {meta['namespace']} describe pod {meta['name']}`",
        ),
    )
    subject = f"pod {meta['namespace']}/{meta['name']}"
    return broken(CHECK, subject, seen=f"{state['reason']}: {message[:400]}", means=means, fix=fix)
