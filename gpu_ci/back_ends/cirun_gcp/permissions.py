"""Permissions of cirun's service account on Google Cloud: what starting and deleting a runner needs, and nothing else.

cirun publishes no list of permissions. Its reference requires Compute Engine Admin
(AktechLabs/cirun-docs, `docs/cloud`, 18 May 2026). The permissions here are those that the API checks for these calls
(Google's list of IAM permissions, 2026). If cirun makes another call, its dashboard shows the denied one.
"""

from __future__ import annotations

from typing import Final

ROLE_TITLE: Final = "cirun runners"

_LAUNCH: Final = (
    "compute.disks.create",
    "compute.disks.setLabels",
    "compute.disks.use",
    "compute.images.get",
    "compute.images.getFromFamily",
    "compute.images.useReadOnly",
    "compute.instances.create",
    "compute.instances.setLabels",
    "compute.instances.setMetadata",
    "compute.instances.setServiceAccount",
    "compute.instances.setTags",
    "compute.networks.use",
    "compute.networks.useExternalIp",
    "compute.subnetworks.use",
    "compute.subnetworks.useExternalIp",
)
_DELETE: Final = ("compute.disks.delete", "compute.instances.delete", "compute.instances.stop")
_READ: Final = (
    "compute.acceleratorTypes.get",
    "compute.acceleratorTypes.list",
    "compute.disks.get",
    "compute.diskTypes.get",
    "compute.globalOperations.get",
    "compute.images.list",
    "compute.instances.get",
    "compute.instances.getSerialPortOutput",
    "compute.instances.list",
    "compute.machineTypes.get",
    "compute.machineTypes.list",
    "compute.networks.get",
    "compute.projects.get",
    "compute.regions.get",
    "compute.regions.list",
    "compute.subnetworks.get",
    "compute.zoneOperations.get",
    "compute.zones.get",
    "compute.zones.list",
)


def permissions() -> tuple[str, ...]:
    """Return the permissions of the custom role of cirun's service account, in the project of the runners.

    They do not include `setIamPolicy`, and images cannot be created or deleted. In addition to the role the account
    needs `roles/iam.serviceAccountUser` on the runners' own service account only.
    """
    return tuple(sorted({*_LAUNCH, *_DELETE, *_READ}))
