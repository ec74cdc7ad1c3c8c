"""The container image of the GPU tests, built with Docker on the machine of the update."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pulumi
import pulumi_docker_build as docker_build
from pulumi import Input, Output, ResourceOptions

CONTEXT = "docker/gpu-tests"
"""Relative to the project: an absolute path would cause a diff on every other machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuTestImageArgs:
    """The image and its repository."""

    repository_url: Input[str]
    """`REGION-docker.pkg.dev/PROJECT/REPOSITORY`. Docker must be logged in there."""
    tag: str
    """The tag that is pushed."""
    base_image: str
    """The reference of the image that it is built from: nvidia/cuda, or a copy of it."""
    name: str = "gpu-tests"
    """The name of the image in the repository."""
    arguments: Mapping[str, str] = field(default_factory=dict[str, str])
    """More arguments of the build."""


class GpuTestImage(pulumi.ComponentResource):
    """The image of the GPU tests."""

    reference: Output[str]
    """The reference with the digest of the pushed image."""

    def __init__(self, name: str, args: GpuTestImageArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:gcp:GpuTestImage", name, None, opts)
        image = docker_build.Image(
            name,
            context={"location": CONTEXT},
            build_args={"CUDA_IMAGE": args.base_image, **args.arguments},
            platforms=[docker_build.Platform.LINUX_AMD64],
            tags=[Output.concat(args.repository_url, f"/{args.name}:", args.tag)],
            push=True,
            # By default every preview would build several gigabytes.
            build_on_preview=False,
            opts=ResourceOptions(parent=self),
        )
        self.reference = image.ref
        self.register_outputs({"reference": self.reference})
