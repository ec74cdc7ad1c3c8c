"""The image and its family: made as a candidate, promoted once it is proved, older ones kept or let go.

Owns images. A candidate has no family, so that nobody can boot it by one. Promotion sets the family on that same
image (`gcloud compute images update --family`, which patches it in place): a copy into the family would be other
bytes under another name than those that were proved, and a label is nothing that `--image-family` looks at. A family
gives its newest image that is not deprecated, so that the older ones are deprecated in the same breath; they stay
usable by name, and going back to an older content promotes it again.

The same content has the same name in every stack, so that an image can be used by several: each has a label of its own
on it, takes only that away again, and the last one deletes the image.
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
"""Followed by a stack, it is the label of that stack on an image that it uses."""
OWNER_LIMIT: Final = 63 - len(USED_BY)
"""Google's labels have at most 63 characters."""
_MAKE_SECONDS: Final = 1800


@dataclass(frozen=True, slots=True, kw_only=True)
class Images:
    """The images of one family, as one stack sees them."""

    gcloud: Gcloud
    """Where they are."""
    family: str
    """The family that a proved image is promoted to."""
    owner: str
    """The stack."""
    poll_seconds: float
    """Between two looks at one that is being made."""

    def find(self, name: str) -> dict[str, Any] | None:
        """The image, if it is there."""
        try:
            found: dict[str, Any] = self.gcloud.json("compute", "images", "describe", name)
        except NotThere:
            return None
        return found

    def create(self, name: str, *, disk: str, zone: str, labels: Mapping[str, str], location: str) -> None:
        """Make the candidate from a stopped machine's disk; what fails half-way is taken away again.

        Raises:
            Exists: it is there: somebody else's, or what an earlier try of the same call has made.

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
            self.let_go(name)
            raise

    def join(self, name: str) -> dict[str, Any]:
        """The image once it is ready, with the label of this stack on it.

        Raises:
            CallFailed: it did not get ready, or no stack made it.

        """
        call = "compute images describe"
        end = time.monotonic() + _MAKE_SECONDS
        while (found := self.find(name)) is not None and found["status"] == "PENDING" and time.monotonic() < end:
            time.sleep(self.poll_seconds)
        if found is None or found["status"] != "READY":
            state = found["status"] if found else "gone"
            self.let_go(name)
            raise CallFailed(call, f"{name} is {state}, and must be READY")
        users = _users(found)
        if not users:
            text = f"{name} is there, and no stack's label is on it: delete it, or state another family"
            raise CallFailed(call, text)
        if self.owner not in users:
            say(f"{name} is there already, made for {', '.join(sorted(users))}")
            self.gcloud.run("compute", "images", "update", name, f"--update-labels={USED_BY}{self.owner}=yes")
        return found

    def let_go(self, name: str) -> bool:
        """Take this stack's label off the image, and delete it where no other stack's is left; whether it is gone."""
        found = self.find(name)
        if found is None:
            return True
        users = _users(found)
        if self.owner not in users:
            say(f"{name} stays: it is not {self.owner}'s")
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

    def let_go_all(self) -> None:
        """Let go of every image of the family that this stack uses, kept ones and candidates too."""
        for image in self._ours():
            self.let_go(image["name"])

    def promote(self, name: str) -> None:
        """Put the proved image into its family."""
        found = self.find(name) or {}
        if _is_deprecated(found):
            self.gcloud.run("compute", "images", "deprecate", name, "--state=ACTIVE")
        if found.get("family") != self.family or not is_verified(found):
            labels = f"--update-labels={VERIFIED}=yes"
            self.gcloud.run("compute", "images", "update", name, f"--family={self.family}", labels)

    def retire(self, name: str, keep: int) -> None:
        """Deprecate the others that this stack alone uses, newest first, and let those beyond `keep` go."""
        others = [image for image in self._ours() if image["name"] != name]
        others.sort(key=lambda image: image["creationTimestamp"], reverse=True)
        proved = [image for image in others if is_verified(image)]
        # What was never proved is a candidate that something newer has overtaken.
        for image in [*proved[keep:], *(image for image in others if not is_verified(image))]:
            self.let_go(image["name"])
        for image in proved[:keep]:
            # One that another stack uses may be what it boots now.
            if not _is_deprecated(image) and _users(image) == {self.owner}:
                replacement = f"--replacement={name}"
                self.gcloud.run("compute", "images", "deprecate", image["name"], "--state=DEPRECATED", replacement)

    def head(self) -> str:
        """The image that Google gives to who asks for the family; empty where it gives none."""
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
    """Whether it was proved on a machine with a GPU."""
    return bool(image.get("labels", {}).get(VERIFIED) == "yes")


def _users(image: Mapping[str, Any]) -> set[str]:
    return {label.removeprefix(USED_BY) for label in image.get("labels", {}) if label.startswith(USED_BY)}


def _is_deprecated(image: Mapping[str, Any]) -> bool:
    return bool(image.get("deprecated", {}).get("state", "ACTIVE") != "ACTIVE")
