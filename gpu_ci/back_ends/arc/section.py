"""The section `arc` of a runner."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator

from gpu_ci.stack_file.sections.section import Section
from gpu_ci.stack_file.values.general import Count, Invalid, Matching, Name, Positive, SecretName

RunnerLabel = Annotated[
    str,
    Matching(
        r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}",
        "a label of a runner",
        "use at most 100 letters, digits, dots, hyphens and underscores, a letter or digit first",
    ),
]


def _container_mode(value: object) -> object:
    """Refuse Docker in a pod with its reason."""
    if value == "dind":
        raise Invalid(
            '"dind" is not supported: Docker in a pod needs a privileged pod, and its containers get no GPU',
            "write kubernetes-novolume and state container: in the workflow",
        )
    return value


class ArcSection(Section):
    """Served by a scale set of the Actions Runner Controller on an EKS pool."""

    NEEDS: ClassVar = ("arc", "gpu-pools", "images")
    NEEDS_WITHOUT_GPU: ClassVar = ("arc", "cpu-pools", "images")

    pool: Name
    """The pool whose nodes run it: one of `gpu-pools`, or of `cpu-pools` for jobs without a GPU."""
    fallback: Name | None = None
    """Another pool that is tried when the first one gets no node, for example on-demand after spot."""
    min: Count = 0
    """Idle runners. Without `container-mode` each of them keeps a node of the pool running."""
    max: Positive
    """The largest number of runners at the same time."""
    image: Name
    """The image, by its key in `images`."""
    container_mode: Annotated[Literal["none", "kubernetes-novolume"], BeforeValidator(_container_mode)] = "none"
    """`none` runs the job's steps in the runner's own container. `kubernetes-novolume` runs the workflow's `container:`
    as a separate pod, which then gets the GPU."""
    labels: tuple[RunnerLabel, ...] = ()
    """Labels that a job may ask for in addition to the name. GitHub accepts them only when the scale set is created."""
    image_pull_secret: SecretName | None = None
    """The Kubernetes Secret in the namespace `arc-jobs` with which the pods of jobs pull the images of `container:`."""
