"""Whether a pool's nodes have disk for the image that a runner's jobs start in.

Owns that comparison. The scheduler knows nothing of images, and neither does `checks.fit`; they lie on the same disk as
what a pod asks for. Unpacked an image takes at least what is pulled. How much more is not known, so only what cannot be
is refused: a node below its last tenth of disk evicts the pod, pulls again for the next one, and so on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpu.kubernetes.allocatable import node_room, root_disk_for
from gpu.kubernetes.quantities import EPHEMERAL_STORAGE, describe
from gpu.verdict import Level, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gpu.kubernetes.node_group import NodeGroupFacts
    from gpu.kubernetes.pods import Pod
    from gpu.machines import InstanceType

CHECK = "fit"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageUse:
    """A runner that starts in the image, on a pool that it may go to."""

    runner: str
    """As in `runners.gpu-t4`."""
    pod: Pod
    group: NodeGroupFacts

    @property
    def asked(self) -> int:
        """Bytes of disk that the job asks for beside it."""
        return self.pod.requests[EPHEMERAL_STORAGE]

    def left(self, machine: InstanceType) -> int:
        """Bytes of disk for the image on a node of that type."""
        group = self.group
        room = node_room(machine, disk_gib=group.disk_gib, nvme_storage=group.nvme_storage, managed=not group.own_image)
        return room.allocatable[EPHEMERAL_STORAGE] - self.asked


def image_fits(path: str, size: int, uses: Sequence[ImageUse]) -> list[Verdict]:
    """Judge an image of `size` bytes as it is pulled, once for all that start in it; nothing where it fits."""
    rooms = [(use.left(machine), use, machine) for use in uses for machine in use.group.machines]
    # A job that asks for more disk than there is, without any image, is told so by `checks.fit`.
    short = [(left, use, machine) for left, use, machine in rooms if 0 <= left < size]
    if not short:
        return []
    left, use, machine = min(short, key=lambda one: one[0])
    beside = f" beside the {describe(EPHEMERAL_STORAGE, use.asked)} that {use.runner} asks for" if use.asked else ""
    pulled = describe(EPHEMERAL_STORAGE, size).removesuffix(" of disk")
    ways = ["make the image smaller"]
    stored = {one.group.path for _, one, on in short if one.group.nvme_storage and on.nvme_gb}
    ways += [f"leave {group}.fast-image-pull out" for group in sorted(stored)]
    for group in dict.fromkeys(one.group.path for _, one, _ in short if one.group.path not in stored):
        asked = max(one.asked for _, one, _ in short if one.group.path == group)
        ways.append(f"give {group} a larger disk: {root_disk_for(size + asked)}Gi")
    return [
        Verdict(
            check=CHECK,
            level=Level.ERROR,
            subject=path,
            reason=f"{pulled} are pulled, unpacked they are no less, and a {machine.name} of {use.group.path} has "
            f"{describe(EPHEMERAL_STORAGE, left)} for them{beside}",
            fix=", or ".join(ways),
        )
    ]
