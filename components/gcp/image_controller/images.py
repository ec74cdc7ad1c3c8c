"""The image and its family: made as a candidate, promoted once it is proved, older ones kept or let go.

Owns images. A candidate has no family, so that nobody can boot it by one. Promotion sets the family on that same
image (`gcloud compute images update --family`, which patches it in place): a copy into the family would be other
bytes under another name than those that were proved, and a label is nothing that `--image-family` looks at. A family
gives its newest image that is not deprecated, so that the older ones are deprecated in the same breath; they stay
usable by name, and going back to an older content promotes it again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from components.gcp.image_controller.gcloud import CallFailed, Gcloud, NotThere
from components.gcp.image_controller.machine import say

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

VERIFIED: Final = "gpu-image-verified"
_EXPORT_SECONDS: Final = 3 * 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class Images:
    """The images of one family and owner."""

    gcloud: Gcloud
    """Where they are."""
    family: str
    """The family that a proved image is promoted to."""
    labels: Mapping[str, str]
    """What every image of ours has."""

    def find(self, name: str) -> dict[str, Any] | None:
        """The image, if it is there."""
        try:
            found: dict[str, Any] = self.gcloud.json("compute", "images", "describe", name)
        except NotThere:
            return None
        return found

    def create(self, name: str, *, disk: str, zone: str, labels: Mapping[str, str], location: str) -> None:
        """Make the candidate from a stopped machine's disk; what fails half-way is taken away again."""
        stated = ",".join(f"{key}={value}" for key, value in {**self.labels, **labels}.items())
        try:
            self.gcloud.run(
                "compute", "images", "create", name,
                f"--source-disk={disk}", f"--source-disk-zone={zone}", f"--labels={stated}",
                "--guest-os-features=GVNIC,UEFI_COMPATIBLE,VIRTIO_SCSI_MULTIQUEUE",
                *([f"--storage-location={location}"] if location else []),
                seconds=1800,
            )  # fmt: skip
            self._must_be_ready(name)
        except CallFailed:
            self.delete(name)
            raise

    def _must_be_ready(self, name: str) -> None:
        found = self.find(name)
        if found is None or found["status"] != "READY":
            state = found["status"] if found else "gone"
            raise CallFailed("compute images create", f"{name} is {state}, and must be READY")

    def delete(self, name: str) -> None:
        """Delete the image, if it is there."""
        try:
            self.gcloud.run("compute", "images", "delete", name)
        except NotThere:
            return
        say(f"deleted the image {name}")

    def delete_all(self, name: str) -> None:
        """Delete the image and every other of its family and owner, kept ones and candidates too."""
        for each in dict.fromkeys([name, *(image["name"] for image in self._ours())]):
            self.delete(each)

    def promote(self, name: str) -> None:
        """Make the proved image the one that its family gives."""
        found = self.find(name) or {}
        if _is_deprecated(found):
            self.gcloud.run("compute", "images", "deprecate", name, "--state=ACTIVE")
        if found.get("family") != self.family or not is_verified(found):
            labels = f"--update-labels={VERIFIED}=yes"
            self.gcloud.run("compute", "images", "update", name, f"--family={self.family}", labels)
            say(f"{name} is the image of the family {self.family}")

    def retire(self, name: str, keep: int) -> None:
        """Deprecate the others of the family, newest first, and delete those beyond `keep`."""
        others = [image for image in self._ours() if image["name"] != name]
        others.sort(key=lambda image: image["creationTimestamp"], reverse=True)
        proved = [image for image in others if is_verified(image)]
        # What was never proved is a candidate that something newer has overtaken.
        for image in [*proved[keep:], *(image for image in others if not is_verified(image))]:
            self.delete(image["name"])
        for image in proved[:keep]:
            if not _is_deprecated(image):
                replacement = f"--replacement={name}"
                self.gcloud.run("compute", "images", "deprecate", image["name"], "--state=DEPRECATED", replacement)

    def share(self, name: str, members: Sequence[str]) -> None:
        """Let others make machines from it, in their own projects."""
        for member in members:
            role = "--role=roles/compute.imageUser"
            self.gcloud.run("compute", "images", "add-iam-policy-binding", name, f"--member={member}", role)

    def export(self, name: str, folder: str, zone: str) -> None:
        """Keep an archive of it in Cloud Storage, once."""
        archive = f"{folder}/{name}.tar.gz"
        try:
            self.gcloud.run("storage", "objects", "describe", archive)
        except NotThere:
            say(f"exporting {name} to {archive}")
            self.gcloud.run(
                "compute", "images", "export", f"--image={name}", f"--destination-uri={archive}", f"--zone={zone}",
                "--timeout=2h", seconds=_EXPORT_SECONDS,
            )  # fmt: skip

    def _ours(self) -> list[dict[str, Any]]:
        mine = " AND ".join(f"labels.{key}={value}" for key, value in self.labels.items())
        listing = ("compute", "images", "list", "--no-standard-images", "--show-deprecated", f"--filter={mine}")
        return list(self.gcloud.json(*listing) or ())


def is_verified(image: Mapping[str, Any]) -> bool:
    """Whether it was proved on a machine with a GPU."""
    return bool(image.get("labels", {}).get(VERIFIED) == "yes")


def _is_deprecated(image: Mapping[str, Any]) -> bool:
    return bool(image.get("deprecated", {}).get("state", "ACTIVE") != "ACTIVE")
