"""The image as an archive in Cloud Storage, by the export that gcloud brings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ami.builder.gcloud import NotThere
from ami.builder.job import say

if TYPE_CHECKING:
    from ami.builder.gcloud import Gcloud

EXPORT_SECONDS: Final = 3 * 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class Archive:
    """Where images are archived, and what the export of one takes."""

    gcloud: Gcloud
    """Where they are."""
    folder: str
    """`gs://BUCKET/FOLDER`."""
    build_account: str
    """As whom Cloud Build works."""
    machine_account: str
    """As whom its machine works; no other machine does."""
    zone: str
    """Where that machine stands."""
    subnet: str
    """On which subnetwork: without one it would need the default network."""

    def keep(self, name: str) -> None:
        """Keep an archive of the image, once."""
        archive = f"{self.folder}/{name}.tar.gz"
        try:
            self.gcloud.run("storage", "objects", "describe", archive)
        except NotThere:
            say(f"exporting {name} to {archive}")
            self.sweep()
            # Not quiet: gcloud would then give every role that it misses, project-wide and outside of any state.
            self.gcloud.run(
                "compute", "images", "export", f"--image={name}", f"--destination-uri={archive}",
                f"--zone={self.zone}", f"--network={self.subnet}", f"--subnet={self.subnet}",
                f"--cloudbuild-service-account={self.build_account}",
                f"--compute-service-account={self.machine_account}",
                f"--log-location={self.folder}/logs", "--timeout=2h",
                seconds=EXPORT_SECONDS, tries=1, quiet=False,
            )  # fmt: skip

    def sweep(self) -> None:
        """Delete the machines of an export that was broken off, known by whom they work as."""
        theirs = f"--filter=serviceAccounts.email={self.machine_account}"
        for machine in self.gcloud.json("compute", "instances", "list", theirs) or ():
            zone = machine["zone"].rsplit("/", 1)[-1]
            say(f"deleting {machine['name']} in {zone}")
            self.gcloud.run("compute", "instances", "delete", machine["name"], "--zone", zone, "--delete-disks", "all")
