"""Images of a family: a candidate is created, promoted after its verification, and deleted when it is old.

A candidate has no family, so no machine boots it by its family. Promotion sets the family of the same image in place
(`gcloud compute images update --family`); a copy would have another name than the verified image, and `--image-family`
ignores labels. A family returns its newest image that is not deprecated, so promotion deprecates the older images. They
stay usable by name, and a return to older content promotes them again.

Equal content has the same name in every stack, so several stacks may use an image. Each stack adds its own label and
removes only that label. The last one deletes the image.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ami.builder.gcloud import CallFailed, Exists, NotThere, say
from ami.builder.inputs import USED_BY
from ami.builder.machine import zone_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ami.builder.gcloud import Gcloud
    from ami.builder.inputs import Inputs

VERIFIED: Final = "gpu-image-verified"
GUEST_FEATURES: Final = ("GVNIC", "UEFI_COMPATIBLE", "VIRTIO_SCSI_MULTIQUEUE")
"""Features that newer machine types require of an image."""
EXPORT_SECONDS: Final = 3 * 3600
_MAKE_SECONDS: Final = 1800


@dataclass(frozen=True, slots=True, kw_only=True)
class Images:
    """The images of one family, for one stack."""

    gcloud: Gcloud
    inputs: Inputs

    def find(self, name: str) -> dict[str, Any] | None:
        """Return the image, or None if it does not exist."""
        try:
            found: dict[str, Any] = self.gcloud.json("compute", "images", "describe", name)
        except NotThere:
            return None
        return found

    def create(self, name: str, *, disk: str, zone: str) -> None:
        """Create the candidate from the disk of a stopped machine. An incomplete image is deleted."""
        labels = {
            "gpu-image-family": self.inputs.family,
            f"{USED_BY}{self.inputs.owner}": "yes",
            "gpu-image-hash": name.rpartition("-")[2],
        }
        say(f"creating the image {name}")
        try:
            self.gcloud.run(
                "compute", "images", "create", name,
                f"--source-disk={disk}", f"--source-disk-zone={zone}",
                f"--labels={','.join(f'{key}={value}' for key, value in labels.items())}",
                f"--guest-os-features={','.join(GUEST_FEATURES)}",
                *([f"--storage-location={self.inputs.location}"] if self.inputs.location else []),
                seconds=_MAKE_SECONDS,
            )  # fmt: skip
        except Exists:
            say(f"{name} exists by now")  # Another stack or an earlier try of the call created it.
        except CallFailed:
            self.release(name)
            raise

    def join(self, name: str) -> dict[str, Any]:
        """Wait until the image is ready, add the label of this stack, and return the image.

        Raises:
            CallFailed: it did not become ready, or it has no stack's label.

        """
        call = "compute images describe"
        end = time.monotonic() + _MAKE_SECONDS
        while (found := self.find(name)) is not None and found["status"] == "PENDING" and time.monotonic() < end:
            time.sleep(self.inputs.poll_seconds)
        if found is None or found["status"] != "READY":
            state = found["status"] if found else "missing"
            self.release(name)
            raise CallFailed(call, f"{name} is {state} instead of READY")
        users = _users(found)
        if not users:
            text = f"{name} exists without the label of a stack: delete it, or state another family"
            raise CallFailed(call, text)
        if self.inputs.owner not in users:
            say(f"{name} already exists, made for {', '.join(sorted(users))}")
            self.gcloud.run("compute", "images", "update", name, f"--update-labels={USED_BY}{self.inputs.owner}=yes")
        return found

    def release(self, name: str) -> bool:
        """Remove this stack's label; delete an image that no other stack uses. Return whether it is deleted."""
        found = self.find(name)
        if found is None:
            return True
        users = _users(found)
        if self.inputs.owner not in users:
            say(f"{name} stays: {self.inputs.owner} does not use it")
            return False
        if others := sorted(users - {self.inputs.owner}):
            self.gcloud.run("compute", "images", "update", name, f"--remove-labels={USED_BY}{self.inputs.owner}")
            say(f"{name} stays: {', '.join(others)} uses it")
            return False
        try:
            self.gcloud.run("compute", "images", "delete", name)
        except NotThere:
            return True
        say(f"deleted the image {name}")
        return True

    def release_all(self) -> None:
        """Release every image of the family that this stack uses, including candidates."""
        for image in self._ours():
            self.release(image["name"])

    def promote(self, name: str) -> None:
        """Add the verified image to its family."""
        found = self.find(name) or {}
        if _is_deprecated(found):
            self.gcloud.run("compute", "images", "deprecate", name, "--state=ACTIVE")
        if found.get("family") != self.inputs.family or not is_verified(found):
            labels = f"--update-labels={VERIFIED}=yes"
            self.gcloud.run("compute", "images", "update", name, f"--family={self.inputs.family}", labels)

    def retire(self, name: str, keep: int) -> None:
        """Keep the newest `keep` other images, deprecate those that only this stack uses, and release the rest."""
        others = [image for image in self._ours() if image["name"] != name]
        others.sort(key=lambda image: image["creationTimestamp"], reverse=True)
        verified = [image for image in others if is_verified(image)]
        # An image that was never verified is an obsolete candidate.
        for image in [*verified[keep:], *(image for image in others if not is_verified(image))]:
            self.release(image["name"])
        for image in verified[:keep]:
            # Another stack may boot this image now.
            if not _is_deprecated(image) and _users(image) == {self.inputs.owner}:
                replacement = f"--replacement={name}"
                self.gcloud.run("compute", "images", "deprecate", image["name"], "--state=DEPRECATED", replacement)

    def report_head(self, name: str) -> None:
        """Report the image that the family returns. This stack does not deprecate images without its label."""
        family = self.inputs.family
        try:
            head = self.gcloud.json("compute", "images", "describe-from-family", family)["name"]
        except NotThere:
            head = "no image"
        if head == name:
            say(f"{name} is the image of the family {family}")
        else:
            say(
                f"the family {family} returns {head}, which this stack does not own: "
                f"boot {name} by its name, or deprecate the other image by hand"
            )

    def export(self, name: str) -> None:
        """Export the image to Cloud Storage, unless its archive exists."""
        folder, subnet = self.inputs.export, self.inputs.subnet
        archive = f"{folder}/{name}.tar.gz"
        try:
            self.gcloud.run("storage", "objects", "describe", archive)
        except NotThere:
            say(f"exporting {name} to {archive}")
            self.sweep_exports()
            # With --quiet gcloud would grant missing roles on the whole project, outside of any state.
            self.gcloud.once(
                "compute", "images", "export", f"--image={name}", f"--destination-uri={archive}",
                # Without a subnetwork the machine would need the default network.
                f"--zone={self.inputs.zones[0]}", f"--network={subnet}", f"--subnet={subnet}",
                f"--cloudbuild-service-account={self.inputs.export_build}",
                f"--compute-service-account={self.inputs.export_machine}",
                f"--log-location={folder}/logs", "--timeout=2h",
                seconds=EXPORT_SECONDS,
            )  # fmt: skip

    def sweep_exports(self) -> None:
        """Delete the machines of an interrupted export. Their service account identifies them."""
        theirs = f"--filter=serviceAccounts.email={self.inputs.export_machine}"
        for machine in self.gcloud.json("compute", "instances", "list", theirs) or ():
            zone = zone_of(machine)
            say(f"deleting {machine['name']} in {zone}")
            self.gcloud.run("compute", "instances", "delete", machine["name"], "--zone", zone, "--delete-disks", "all")

    def _ours(self) -> list[dict[str, Any]]:
        mine = f"labels.gpu-image-family={self.inputs.family} AND labels.{USED_BY}{self.inputs.owner}=yes"
        listing = ("compute", "images", "list", "--no-standard-images", "--show-deprecated", f"--filter={mine}")
        return list(self.gcloud.json(*listing) or ())


def is_verified(image: Mapping[str, Any]) -> bool:
    """Return whether the image was verified on a machine with a GPU."""
    return bool(image.get("labels", {}).get(VERIFIED) == "yes")


def _users(image: Mapping[str, Any]) -> set[str]:
    return {label.removeprefix(USED_BY) for label in image.get("labels", {}) if label.startswith(USED_BY)}


def _is_deprecated(image: Mapping[str, Any]) -> bool:
    return bool(image.get("deprecated", {}).get("state", "ACTIVE") != "ACTIVE")
