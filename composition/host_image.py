"""From the stack file to the content of the GCE host image, and to what is told of it. Nothing is made here."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from ami.builder.content_hash import ImageContent, image_name
from ami.builder.startup_script import INSTALL_FILES
from components.gcp.host_image import FOLDER, GUEST_FEATURES
from config.values import gibibytes
from gpu.machines import gce_type, gpu_model
from gpu.software.cuda import toolkit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from config.gcp import HostImageSettings, VerifierSettings

INSTALLER: Final = Path(__file__).resolve().parent.parent / FOLDER
"""The project's own installer."""


def content(settings: HostImageSettings, location: str, installer: Path = INSTALLER) -> ImageContent:
    """Everything that decides what is in the image: the installer's bytes, and what is chosen of it."""
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
    """The image's name."""
    return image_name(settings.family, content(settings, location, installer))


def folder(installer: Path) -> str:
    """The installer as the controller is told of it: a path of one machine would be a difference on every other."""
    return FOLDER if installer == INSTALLER else str(installer)


def accelerator(verifier: VerifierSettings) -> str:
    """The GPU to attach to the verifying machine; empty where it brings its own."""
    return "" if gce_type(verifier.machine_type).gpu is not None else gpu_model(verifier.gpu).google or ""


def verify_options(settings: HostImageSettings) -> dict[str, str]:
    """What must be true of a machine booted from the image."""
    return {
        "CUDA_IMAGE": f"nvidia/cuda:{toolkit(settings.cuda).newest}-base-ubuntu24.04",
        "GPUS": str(settings.verifier.gpus),
        "GPU_NAME": gpu_model(settings.verifier.gpu).product,
    }


def regions(zones: Sequence[str]) -> set[str]:
    """The regions that builders may stand in."""
    return {zone.rpartition("-")[0] for zone in zones}


def facts(image: str, settings: HostImageSettings, project: str) -> dict[str, str]:
    """The image, how to ask for it, and how others come to it."""
    images = "gcloud compute images"
    found = {
        "name": image,
        "family": settings.family,
        "self_link": f"projects/{project}/global/images/{image}",
        "list": f"{images} list --project {project} --no-standard-images --show-deprecated"
        f" --filter family={settings.family}",
        "describe": f"{images} describe {image} --project {project}",
        # In another project, by whom `share-with` names: nothing is copied, and nothing grows old there.
        "use-elsewhere": f"gcloud compute instances create NAME --project OTHER --zone {settings.zones[0]}"
        f" --image {image} --image-project {project}",
    }
    if settings.export is not None:
        found["import-elsewhere"] = (
            f"{images} create {image} --project OTHER --source-uri gs://{settings.export.bucket}/images/{image}.tar.gz"
            f" --guest-os-features {','.join(GUEST_FEATURES)}"
        )
    return found
