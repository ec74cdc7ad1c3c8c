"""The content of the Compute Engine host image, its name, and the outputs about it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from ami.builder.content_hash import ImageContent, image_name
from ami.builder.images import GUEST_FEATURES
from ami.builder.startup_script import INSTALL_FILES
from components.gcp.images.host_image import FOLDER
from gpu_ci.back_ends.stack import Stack
from gpu_ci.knowledge.machines import Catalogue, gpu_model
from gpu_ci.knowledge.regions import Cloud
from gpu_ci.knowledge.software.cuda import toolkit
from gpu_ci.stack_file.sections.gcp import HostImageSettings, VerifierSettings
from gpu_ci.stack_file.values.general import gibibytes

INSTALLER: Final = Path(__file__).resolve().parents[2] / FOLDER
"""The folder of the project's installer."""


def content(settings: HostImageSettings, location: str, installer: Path = INSTALLER) -> ImageContent:
    """Return everything that decides the image's content: the installer's bytes and its options."""
    return ImageContent(
        files={name: (installer / name).read_text(encoding="utf-8") for name in INSTALL_FILES},
        options={
            "NVIDIA_BRANCH": settings.driver,
            "DOCKER_USER": settings.docker_user,
            "LOCAL_SSD": str(int(settings.local_ssd)),
        },
        base_image=f"{settings.source_project}/{settings.source_image}",
        disk_gib=gibibytes(settings.builder.disk),
        location=location,
    )


def name(settings: HostImageSettings, location: str, installer: Path = INSTALLER) -> str:
    """Return the image's name, which is derived from its content."""
    return image_name(settings.family, content(settings, location, installer))


def folder(installer: Path) -> str:
    """Return the installer's folder as the builder gets it: relative, because another machine has another path."""
    return FOLDER if installer == INSTALLER else str(installer)


def accelerator(verifier: VerifierSettings, machines: Catalogue) -> str:
    """Return the GPU to attach to the verifier; empty where the machine type has its own."""
    return "" if machines.gce(verifier.machine_type).gpu is not None else gpu_model(verifier.gpu).gcp or ""


def verify_options(settings: HostImageSettings) -> dict[str, str]:
    """Return the options of the verification: what a machine that boots from the image must have."""
    return {
        "CUDA_IMAGE": f"nvidia/cuda:{toolkit(settings.cuda).newest}-base-ubuntu24.04",
        "GPUS": str(settings.verifier.gpus),
        "GPU_FAMILY": gpu_model(settings.verifier.gpu).family,
    }


def apis(stack: Stack) -> list[str]:
    """Return the APIs of Google Cloud that the stated sections and the runners need."""
    settings = stack.settings
    needed = ["iam", "compute"]
    if any(offer.own and offer.own.standing and offer.own.cloud is Cloud.GCP for offer in stack.offers.values()):
        # The App's key, the alarms, and the shell of people.
        needed += ["secretmanager", "monitoring", "iap"]
    if settings.artifact_registry:
        needed.append("artifactregistry")
    if settings.github_federation is not None:
        needed += ["iamcredentials", "sts"]
    if settings.host_image is not None and settings.host_image.export is not None:
        # The export by gcloud fails where logging is disabled.
        needed += ["cloudbuild", "logging", "storage"]
    return needed


def facts(image: str, settings: HostImageSettings, project: str) -> dict[str, str]:
    """Return the image, commands that describe it, and commands that use it in another project."""
    images = "gcloud compute images"
    found = {
        "name": image,
        "family": settings.family,
        "self_link": f"projects/{project}/global/images/{image}",
        "list": f"{images} list --project {project} --no-standard-images --show-deprecated"
        f" --filter family={settings.family}",
        "describe": f"{images} describe {image} --project {project}",
        # For members that `share-with` names. Nothing is copied, so nothing gets outdated.
        "use-elsewhere": f"gcloud compute instances create NAME --project OTHER --zone {settings.zones[0]}"
        f" --image {image} --image-project {project}",
    }
    if settings.export is not None:
        found["import-elsewhere"] = (
            f"{images} create {image} --project OTHER --source-uri gs://{settings.export.bucket}/images/{image}.tar.gz"
            f" --guest-os-features {','.join(GUEST_FEATURES)}"
        )
    return found
