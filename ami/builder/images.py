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

from ami.builder.gcloud import CallFailed, Exists, Gcloud, NotThere
from ami.builder.job import say

if TYPE_CHECKING:
    from collections.abc import Mapping

VERIFIED: Final = "gpu-image-verified"
USED_BY: Final = "gpu-image-used-by-"
"""The start of a label. The name of a stack that uses the image follows."""
OWNER_LIMIT: Final = 63 - len(USED_BY)
"""Labels on Google Cloud have at most 63 characters."""
_MAKE_SECONDS: Final = 1800


@dataclass(frozen=True, slots=True, kw_only=True)
class Images:
    """The images of one family, for one stack."""

    gcloud: Gcloud
    family: str
    """The family of verified images."""
    owner: str
    """The stack: `PROJECT-STACK`."""
    poll_seconds: float
    """Seconds between two checks of an image that is being created."""

    def find(self, name: str) -> dict[str, Any] | None:
        """Return the image, or None if it does not exist."""
        try:
            found: dict[str, Any] = self.gcloud.json("compute", "images", "describe", name)
        except NotThere:
            return None
        return found

    def create(self, name: str, *, disk: str, zone: str, labels: Mapping[str, str], location: str) -> None:
        """Create the candidate from the disk of a stopped machine. An incomplete image is deleted.

        Raises:
            Exists: another stack or an earlier try of the call created it.

        """
        ours = {"gpu-image-family": self.family, f"{USED_BY}{self.owner}": "yes"}
        stated = ",".join(f"{key}={value}" for key, value in {**ours, **labels}.items())
        try:
            self.gcloud.run(
                "compute", "images", "create", name,
                f"--source-disk={disk}", f"--source-disk-zone={zone}", f"--labels={stated}",
                "--guest-os-features=GVNIC,UEFI_COMPATIBLE,VIRTIO_SCSI_MULTIQUEUE",
                *([f"--storage-location={location}"] if location else []),
                seconds=_MAKE_SECONDS,
            )  # fmt: skip
        except Exists:
            raise
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
            time.sleep(self.poll_seconds)
        if found is None or found["status"] != "READY":
            state = found["status"] if found else "missing"
            self.release(name)
            raise CallFailed(call, f"{name} is {state} instead of READY")
        users = _users(found)
        if not users:
            text = f"{name} exists without the label of a stack: delete it, or state another family"
            raise CallFailed(call, text)
        if self.owner not in users:
            say(f"{name} already exists, made for {', '.join(sorted(users))}")
            self.gcloud.run("compute", "images", "update", name, f"--update-labels={USED_BY}{self.owner}=yes")
        return found

    def release(self, name: str) -> bool:
        """Remove this stack's label; delete an image that no other stack uses. Return whether it is deleted."""
        found = self.find(name)
        if found is None:
            return True
        users = _users(found)
        if self.owner not in users:
            say(f"{name} stays: {self.owner} does not use it")
            return False
        if others := sorted(users - {self.owner}):
            self.gcloud.run("compute", "images", "update", name, f"--remove-labels={USED_BY}{self.owner}")
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
        if found.get("family") != self.family or not is_verified(found):
            labels = f"--update-labels={VERIFIED}=yes"
            self.gcloud.run("compute", "images", "update", name, f"--family={self.family}", labels)

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
            if not _is_deprecated(image) and _users(image) == {self.owner}:
                replacement = f"--replacement={name}"
                self.gcloud.run("compute", "images", "deprecate", image["name"], "--state=DEPRECATED", replacement)

    def head(self) -> str:
        """Return the name of the image that the family returns; empty if it returns none."""
        try:
            found = self.gcloud.json("compute", "images", "describe-from-family", self.family)
        except NotThere:
            return ""
        return str(found["name"])

    def _ours(self) -> list[dict[str, Any]]:
        mine = f"labels.gpu-image-family={self.family} AND labels.{USED_BY}{self.owner}=yes"
        listing = ("compute", "images", "list", "--no-standard-images", "--show-deprecated", f"--filter={mine}")
        return list(self.gcloud.json(*listing) or ())


def is_verified(image: Mapping[str, Any]) -> bool:
    """Return whether the image was verified on a machine with a GPU."""
    return bool(image.get("labels", {}).get(VERIFIED) == "yes")


def _users(image: Mapping[str, Any]) -> set[str]:
    return {label.removeprefix(USED_BY) for label in image.get("labels", {}) if label.startswith(USED_BY)}


def _is_deprecated(image: Mapping[str, Any]) -> bool:
    return bool(image.get("deprecated", {}).get("state", "ACTIVE") != "ACTIVE")
