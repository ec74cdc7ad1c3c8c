"""The image as an archive in Cloud Storage, by the export that gcloud brings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from components.gcp.image_controller.gcloud import NotThere
from components.gcp.image_controller.job import say

if TYPE_CHECKING:
    from components.gcp.image_controller.gcloud import Gcloud

EXPORT_SECONDS: Final = 3 * 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class Archive:
    """Where images are archived."""

    gcloud: Gcloud
    """As whom."""
    folder: str
    """`gs://BUCKET/FOLDER`."""
    zone: str
    """Where the export's own machine stands."""

    def keep(self, name: str) -> None:
        """Keep an archive of the image, once."""
        archive = f"{self.folder}/{name}.tar.gz"
        try:
            self.gcloud.run("storage", "objects", "describe", archive)
        except NotThere:
            say(f"exporting {name} to {archive}")
            self.gcloud.run(
                "compute", "images", "export", f"--image={name}", f"--destination-uri={archive}", f"--zone={self.zone}",
                "--timeout=2h", seconds=EXPORT_SECONDS, tries=1,
            )  # fmt: skip
