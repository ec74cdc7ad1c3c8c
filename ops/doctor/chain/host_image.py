"""Check that the machine image of the stack file exists and is ready."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gpu_ci.derived import host_image
from ops.doctor.finding import broken, doubtful, works
from ops.doctor.questions.machines import COMPUTE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_ci.knowledge.verdict import Verdict
    from gpu_ci.stack_file.sections.settings import Settings
    from ops.doctor.world.world import World

CHECK: Final = "host-image"
NEEDS: Final = ("google-project",)


def applies(settings: Settings) -> bool:
    """Return whether the stack builds the image."""
    return settings.host_image is not None


def check(world: World) -> Iterator[Verdict]:
    """Yield the state of the image, and of its family."""
    settings = world.settings
    if settings.host_image is None or settings.gcp is None:
        return
    name = host_image.name(settings.host_image, settings.gcp.region)
    place = f"{COMPUTE}/projects/{settings.gcp.project}/global/images"
    image = world.google.ask(f"{place}/{name}")
    if image is None:
        latest = world.google.ask(f"{place}/family/{settings.host_image.family}")
        others = f"; the newest of its family is {latest['name']}" if latest is not None else ""
        yield broken(
            CHECK,
            "host-image",
            seen=f"the project has no image {name}{others}",
            means="the content of the stack file was never built, or its build failed; machines cannot boot from it",
            fix="run `pulumi up`, which builds and tests it; the log of the builder has the reason of a failure",
        )
        return
    state = image.get("deprecated", {}).get("state")
    if image["status"] != "READY":
        yield broken(
            CHECK,
            "host-image",
            seen=f"the image {name} is {image['status']}",
            means="machines cannot boot from it",
            fix="wait while it is PENDING; delete it if it is FAILED, and run `pulumi up`",
        )
    elif state in {"OBSOLETE", "DELETED", "DEPRECATED"}:
        make = doubtful if state == "DEPRECATED" else broken
        yield make(
            CHECK,
            "host-image",
            seen=f"the image {name} is marked as {state}",
            means="Compute Engine refuses obsolete images for new machines, and a family skips deprecated ones",
            fix=f"gcloud compute images deprecate {name} --project {settings.gcp.project} --state ACTIVE",
        )
    else:
        yield works(CHECK, "host-image", f"the image {name} is ready")
