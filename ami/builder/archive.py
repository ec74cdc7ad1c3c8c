"""The export of an image to an archive in Cloud Storage, with gcloud."""

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
    """The destination of exports, and the accounts, zone and network of their machines."""

    gcloud: Gcloud
    folder: str
    """`gs://BUCKET/FOLDER`."""
    build_account: str
    """The account that Cloud Build runs as."""
    machine_account: str
    """The account of the exporting machine. No other machine uses it."""
    zone: str
    """The zone of the exporting machine."""
    subnet: str
    """Its subnetwork. Without one it would need the default network."""

    def keep(self, name: str) -> None:
        """Export the image, unless its archive exists."""
        archive = f"{self.folder}/{name}.tar.gz"
        try:
            self.gcloud.run("storage", "objects", "describe", archive)
        except NotThere:
            say(f"exporting {name} to {archive}")
            self.sweep()
            # With --quiet gcloud would grant missing roles on the whole project, outside of any state.
            self.gcloud.run(
                "compute", "images", "export", f"--image={name}", f"--destination-uri={archive}",
                f"--zone={self.zone}", f"--network={self.subnet}", f"--subnet={self.subnet}",
                f"--cloudbuild-service-account={self.build_account}",
                f"--compute-service-account={self.machine_account}",
                f"--log-location={self.folder}/logs", "--timeout=2h",
                seconds=EXPORT_SECONDS, tries=1, quiet=False,
            )  # fmt: skip

    def sweep(self) -> None:
        """Delete the machines of an interrupted export. Their service account identifies them."""
        theirs = f"--filter=serviceAccounts.email={self.machine_account}"
        for machine in self.gcloud.json("compute", "instances", "list", theirs) or ():
            zone = machine["zone"].rsplit("/", 1)[-1]
            say(f"deleting {machine['name']} in {zone}")
            self.gcloud.run("compute", "instances", "delete", machine["name"], "--zone", zone, "--delete-disks", "all")
