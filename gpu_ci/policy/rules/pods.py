"""Rules about pods: no pod controls its node. Values of charts count, too."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from gpu_ci.policy.inputs import Inputs, is_true, leaves, maps, part, texts

if TYPE_CHECKING:
    from collections.abc import Iterator

_FLAGS: Final = {
    "hostNetwork": "gives the pod the network of its node",
    "hostPID": "lets the pod see the processes of its node",
    "hostIPC": "lets the pod read the shared memory of its node",
    "privileged": "gives the container full access to its node",
    "allowPrivilegeEscalation": "lets a process get more privileges",
}
_VALUES: Final = {
    "hostPath": "mounts a folder of the node",
    "hostPort": "opens a port of the node",
}
_CAPABILITIES: Final = frozenset(
    {"ALL", "BPF", "DAC_READ_SEARCH", "NET_ADMIN", "NET_RAW", "SYS_ADMIN", "SYS_BOOT", "SYS_MODULE", "SYS_PTRACE"}
)
"""Capabilities that lead to control of the node."""
_SOCKETS: Final = re.compile(r"(docker|containerd|crio|cri-dockerd)\.sock\b")
_DIND: Final = re.compile(r"(^|/)docker:(.*-)?dind|(^|[:/-])dind(:|@|$|-)")
_ENFORCE: Final = "pod-security.kubernetes.io/enforce"
_SCALE_SET: Final = re.compile(r"gha-runner-scale-set$")


def pods_are_confined(type_: str, _name: str, inputs: Inputs) -> Iterator[str]:
    """No pod has privileges on its node: namespaces or folders of the host, privileged mode, or strong capabilities."""
    if not type_.startswith("kubernetes:"):
        return
    for path, inside in maps(inputs, ""):
        for key, problem in _FLAGS.items():
            if is_true(inside.get(key)):
                yield f"{path}{key} {problem}; remove it"
        for key, problem in _VALUES.items():
            if inside.get(key):
                yield f"{path}{key} {problem}; remove it"
        if inside.get("procMount") == "Unmasked" or part(inside, "seccompProfile", "type") == "Unconfined":
            yield f"{path}seccompProfile or procMount switches off a protection of the kernel; use RuntimeDefault"
        for capability in texts(inside, "capabilities", "add"):
            if capability.removeprefix("CAP_") in _CAPABILITIES:
                yield f"{path}capabilities adds {capability}, which leads to control of the node; remove it"


def no_docker_in_docker(type_: str, _name: str, inputs: Inputs) -> Iterator[str]:
    """No job has a Docker daemon: it needs a privileged container, or the socket of the node."""
    if not type_.startswith("kubernetes:"):
        return
    for path, inside in maps(inputs, ""):
        if part(inside, "containerMode", "type") == "dind":
            yield f"{path}containerMode is dind, whose daemon is privileged; use kubernetes-novolume"
        if inside.get("name") == "DOCKER_HOST":
            yield f"{path}name is DOCKER_HOST, which names a Docker daemon; remove it"
        image = inside.get("image")
        if isinstance(image, str) and _DIND.search(image):
            yield f"{path}image is {image}, whose daemon is privileged; remove it"
    for path, value in leaves(inputs):
        if isinstance(value, str) and _SOCKETS.search(value) and not value.startswith("{"):
            yield f"{path} is the socket of the container runtime, which controls the node; remove it"


def namespaces_enforce_pod_security(type_: str, _name: str, inputs: Inputs) -> Iterator[str]:
    """Every namespace refuses privileged pods."""
    if type_ not in {"kubernetes:core/v1:Namespace", "kubernetes:core/v1:NamespacePatch"}:
        return
    level = part(inputs, "metadata", "labels", _ENFORCE)
    if level not in {"baseline", "restricted"}:
        yield f"the label {_ENFORCE} is {level or 'not set'}; set it to baseline or restricted"


def pods_end(type_: str, _name: str, inputs: Inputs) -> Iterator[str]:
    """Every job has a maximum lifetime, and every scale set a maximum size."""
    if type_ in {"kubernetes:batch/v1:Job", "kubernetes:batch/v1:CronJob"}:
        path = ("spec", "jobTemplate", "spec") if type_.endswith("CronJob") else ("spec",)
        if not part(inputs, *path, "activeDeadlineSeconds"):
            yield f"{'.'.join(path)}.activeDeadlineSeconds is not set, so the job may run forever"
    if type_.startswith("kubernetes:helm.sh/") and _SCALE_SET.search(str(part(inputs, "chart"))):
        if part(inputs, "values", "maxRunners") is None:
            yield "values.maxRunners is not set, so the number of runners has no limit"
        waiting = not part(inputs, "values", "minRunners")
        if waiting and not part(inputs, "values", "template", "spec", "activeDeadlineSeconds"):
            yield "values.template.spec.activeDeadlineSeconds is not set, so a runner may run forever"
