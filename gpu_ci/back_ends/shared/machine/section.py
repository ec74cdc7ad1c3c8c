"""The section of a machine with a runner of its own, on EC2 or Compute Engine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Literal

from pydantic import BeforeValidator, Field

from gpu_ci.knowledge.regions import region_of
from gpu_ci.knowledge.software.runner_releases import NEWEST
from gpu_ci.stack_file.sections.machine_images import PackageName
from gpu_ci.stack_file.sections.section import Section
from gpu_ci.stack_file.values.gcp import DriverBranch
from gpu_ci.stack_file.values.general import Matching, Size, in_quotes
from gpu_ci.stack_file.values.github import RunnerGroup
from gpu_ci.stack_file.values.mail import Email

LABELS: Final = ("self-hosted", "linux", "x64", "gpu")
"""The labels of every machine, in addition to the name of its runner."""
STOCK: Final = "stock"
OWN: Final = "own"

MachineZone = Annotated[
    str,
    Matching(
        r"[a-z]+(-[a-z]+)+-?\d+-?[a-z]",
        "a zone",
        "write it as us-west-2a (EC2) or us-central1-a (Compute Engine)",
    ),
]
AnyMachineType = Annotated[
    str,
    Matching(
        r"[a-z][a-z0-9-]*\.[a-z0-9-]+|[a-z][a-z0-9]*(-[a-z0-9]+)+",
        "a machine type",
        "write it as g4dn.xlarge (EC2) or g2-standard-4 (Compute Engine)",
    ),
]
MachineImage = Annotated[
    str,
    Matching(
        r"stock|own|ami-([0-9a-f]{8}|[0-9a-f]{17})|projects/[a-z][a-z0-9-]{4,28}[a-z0-9]/global/images/[a-z]([-a-z0-9]{0,61}[a-z0-9])?",
        "an image of a machine",
        "write stock, own, ami-… (EC2) or projects/PROJECT/global/images/NAME (Compute Engine)",
    ),
]
RunnerRelease = Annotated[
    str,
    BeforeValidator(in_quotes),
    Matching(r"2\.\d{1,4}\.\d{1,3}", "a release of GitHub's runner", f'write it without v, in quotes: "{NEWEST}"'),
]
Checksum = Annotated[str, Matching(r"[0-9a-f]{64}", "a SHA-256 checksum", "write 64 hexadecimal digits in quotes")]


class AlertSettings(Section):
    """Alarms, by e-mail: the runner is offline, the GPU is idle, or the machine runs at an unusual hour."""

    email: Email
    """The address. AWS sends it a message with a link that must be confirmed once."""
    idle_minutes: Annotated[int, Field(ge=10, le=1440)] = 60
    """Minutes that a running machine may leave its GPU unused."""


class MachineSection(Section):
    """One machine on EC2 or Compute Engine with a runner of its own, in a closed network."""

    cloud: Literal["aws", "gcp"]
    zone: MachineZone
    machine_type: AnyMachineType
    """An instance type of EC2, or a machine type of Compute Engine. An N1 machine gets the GPUs of `needs`."""
    image: MachineImage
    """`stock` installs driver and toolkit on Ubuntu at the first boot; `own` is the image that `ec2-image` or
    `host-image` builds; any other image must have them."""
    os: Literal["ubuntu-24.04", "ubuntu-22.04"] = "ubuntu-24.04"
    """The operating system of `image: stock`."""
    driver: DriverBranch | None = None
    """For `image: stock`: the driver branch, in quotes, as in "580"."""
    packages: Annotated[tuple[PackageName, ...], Field(max_length=30)] = ()
    """For `image: stock`: more packages of Ubuntu that jobs need. A job itself cannot install any."""
    disk: Size = "100Gi"
    """The root disk. Another size replaces the machine, except a larger one on EC2 if the image is not `stock`."""
    spot: bool = False
    """Use spot capacity. The cloud stops the machine when it needs the capacity, and the running job is lost."""
    docker: bool = False
    """Let jobs use Docker. Docker gives a job the rights of root, which can read the key of the GitHub App."""
    forks: bool = False
    """Let jobs of pull requests from forks use the machine. Without it, the machine refuses them."""
    runner_version: RunnerRelease = NEWEST
    """The release of GitHub's runner that is installed first, in quotes. It updates itself."""
    runner_sha256: Checksum | None = None
    """The checksum of its archive for Linux on x64. Needed for a release that gpu-ci does not know."""
    runner_group: RunnerGroup = "default"
    """The runner group at GitHub. A repository has only the group `default`."""
    egress_ports: Annotated[tuple[Annotated[int, Field(ge=1, le=65535)], ...], Field(min_length=1, max_length=20)] = (
        443,
    )
    """TCP ports on which the machine reaches the internet. `image: stock` also needs 80, for Ubuntu's archive."""
    idle_stop_minutes: Annotated[int, Field(ge=0, le=1440)] = 30
    """Minutes without a job after which the machine stops. 0 keeps it running."""
    max_hours: Annotated[int, Field(ge=1, le=168)] = 12
    """Hours after a start at which the machine is stopped in any case, even during a job."""
    alerts: AlertSettings | None = None

    def amis(self) -> Mapping[str, tuple[str, str]]:
        """Return the image, if it is an AMI."""
        stated = self.cloud == "aws" and self.image.startswith("ami-")
        return {"image": (region_of(self.zone), self.image)} if stated else {}
