"""What `.cirun.yml` says below `extra_config`, cloud by cloud, and below `idle`.

Owns the shape, and the ratios that EBS itself refuses. The keys are those of cirun's reference (AktechLabs/cirun-docs,
`docs/reference` and `docs/caching`, 18 May 2026); each keeps the spelling of the cloud that it is passed on to.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Literal

from pydantic import Field, model_validator

from config.values import Invalid
from kit.closed import Closed

Text = Annotated[str, Field(min_length=1)]
Gigabytes = Annotated[int, Field(ge=1, le=65536)]

GOOGLE_SCOPE: Final = "https://www.googleapis.com/auth/cloud-platform"
"""The scope to give a machine: what it may do is then said by IAM alone."""
GP3_INCLUDED_IOPS: Final = 3000
"""What a gp3 volume has without asking; it is also what the throughput is measured against then."""


class Extra(Closed):
    """What every cloud understands."""

    provision_via: Literal["pull_from_api"] | None = None
    """The image's own start script fetches cirun's, so that something can run before the runner is ready."""
    env_vars: Mapping[str, str] | None = None
    """Plain values for the runner. Not for secrets: they stand in the repository."""
    run_as: Literal["interactive"] | None = None
    """Windows: in a desktop session."""
    runner_user: Text | None = None
    """Windows: the account."""
    runner_path: Text | None = None
    """Windows: where the runner is put."""


class BlockDevice(Closed):
    """An EBS volume. Without a device name cirun adds it as /dev/sdc, beside the root volume."""

    device_name: Text | None = Field(None, alias="DeviceName")
    volume_size: Gigabytes | None = Field(None, alias="VolumeSize")
    volume_type: Literal["gp2", "gp3", "io1", "io2"] | None = Field(None, alias="VolumeType")
    iops: Annotated[int, Field(ge=100)] | None = Field(None, alias="Iops")
    throughput: Annotated[int, Field(ge=125)] | None = Field(None, alias="Throughput")
    """MiB/s."""
    initialization_rate: Annotated[int, Field(ge=100, le=300)] | None = Field(None, alias="VolumeInitializationRate")
    """MiB/s at which a snapshot's blocks are fetched."""

    @model_validator(mode="after")
    def _within_ebs(self) -> BlockDevice:
        """What EBS refuses when the volume is made, that is, when a job already waits (AWS, "EBS volume types")."""
        if self.throughput is not None and self.volume_type != "gp3":
            raise Invalid(f"{self.volume_type or 'gp2'} takes no Throughput", "state VolumeType: gp3")
        if self.iops is not None and self.volume_type in {None, "gp2"}:
            raise Invalid("gp2 takes no Iops", "state VolumeType: gp3")
        included = self.iops or GP3_INCLUDED_IOPS
        if self.throughput is not None and self.throughput * 4 > included:
            raise Invalid(
                f"{self.throughput} MiB/s needs {self.throughput * 4} IOPS, and the volume has {included}",
                f"state Iops: {self.throughput * 4}, or Throughput: {included // 4}",
            )
        ratio = {"gp3": 500, "io1": 50, "io2": 1000}.get(self.volume_type or "gp2")
        if ratio and self.iops and self.volume_size and self.iops > max(ratio * self.volume_size, self._floor()):
            raise Invalid(
                f"{self.volume_size} GiB of {self.volume_type} give at most {ratio * self.volume_size} IOPS",
                f"state VolumeSize: {-(-self.iops // ratio)}, or fewer Iops",
            )
        return self

    def _floor(self) -> int:
        return GP3_INCLUDED_IOPS if self.volume_type == "gp3" else 0


class AmazonExtra(Extra):
    """EC2."""

    block_devices: tuple[BlockDevice, ...] | None = Field(None, alias="BlockDeviceMappings")
    cache: bool | None = None
    """An S3 bucket behind `actions/cache`; asks for more permissions than the stack grants."""


class GoogleDisk(Closed):
    """A persistent disk made with the instance."""

    size: Gigabytes | None = Field(None, alias="diskSizeGb")
    type: Text | None = Field(None, alias="diskType")


class GoogleExistingDisk(Closed):
    """A persistent disk that is there already."""

    device_name: Text | None = Field(None, alias="deviceName")
    size: Gigabytes | None = Field(None, alias="diskSizeGb")
    source: Text
    type: Literal["PERSISTENT"] | None = None
    mode: Literal["READ_WRITE", "READ_ONLY"] | None = None
    interface: Literal["SCSI", "NVME"] | None = None


class GoogleAccess(Closed):
    """A public address."""

    type: Literal["ONE_TO_ONE_NAT"] = "ONE_TO_ONE_NAT"
    name: Text | None = None
    network_tier: Literal["PREMIUM", "STANDARD"] | None = Field(None, alias="networkTier")


class GoogleInterface(Closed):
    """Where the instance stands in the network."""

    network: Text | None = None
    subnetwork: Text | None = None
    nic_type: Literal["GVNIC", "VIRTIO_NET"] | None = Field(None, alias="nicType")
    """Third-generation machines take GVNIC only, and the image must declare that it can."""
    stack_type: Literal["IPV4_ONLY", "IPV4_IPV6"] | None = Field(None, alias="stackType")
    access: tuple[GoogleAccess, ...] | None = Field(None, alias="accessConfigs")


class GoogleServiceAccount(Closed):
    """Who the instance is at Google."""

    email: Text
    scopes: tuple[Text, ...] = (GOOGLE_SCOPE,)


class GoogleExtra(Extra):
    """Compute Engine."""

    project_id: Text | None = None
    """Where it runs, if not in the project of cirun's own service account."""
    base_disk: GoogleDisk | None = Field(None, alias="baseDisk")
    additional_disk: GoogleDisk | None = Field(None, alias="additionalDisk")
    existing_disk: GoogleExistingDisk | None = Field(None, alias="existingDisk")
    interfaces: tuple[GoogleInterface, ...] | None = Field(None, alias="networkInterfaces")
    service_accounts: tuple[GoogleServiceAccount, ...] | None = Field(None, alias="serviceAccounts")


class AzureDisk(Closed):
    """The root disk."""

    size: Gigabytes | None = Field(None, alias="diskSizeGB")
    """Azure's own spelling: GB, where Google has Gb."""


class AzureStorage(Closed):
    """The disks."""

    os_disk: AzureDisk | None = Field(None, alias="osDisk")


class AzureExtra(Extra):
    """Azure."""

    storage: AzureStorage | None = Field(None, alias="storageProfile")
    enable_public_ip: bool | None = None


class VastExtra(Extra):
    """Vast.ai."""

    disk_space: Gigabytes | None = None
    min_ram: Annotated[int, Field(ge=1)] | None = None
    vm: bool | None = None


class OwnExtra(Extra):
    """Machines of one's own."""

    executor: Text | None = None
    privileged: bool | None = None
    docker_socket_mount: bool | None = None
    gpu: Text | None = None


class IdleHours(Closed):
    """Runners kept waiting at certain hours."""

    day: Annotated[str, Field(pattern=r"^(mon|tue|wed|thu|fri|sat|sun)(-(mon|tue|wed|thu|fri|sat|sun))?$")]
    time: Annotated[str, Field(pattern=r"^\d{1,2}-\d{1,2}$")]
    timezone: Text
    replicas: Annotated[int, Field(ge=0)]


class IdleAfterUse(Closed):
    """Runners kept waiting for a while after one was used."""

    trigger: Literal["runner_allocated"] = "runner_allocated"
    replicas: Annotated[int, Field(ge=1)]
    duration: Annotated[int, Field(ge=1)]
    """Minutes."""


class Idle(Closed):
    """Runners that wait for jobs. They match by the exact label: no `--` suffix in `runs-on`."""

    schedule: tuple[IdleHours, ...] | None = None
    usage_based: IdleAfterUse | None = None
    replicas: Annotated[int, Field(ge=0)] | None = None

    @model_validator(mode="after")
    def _one_way(self) -> Idle:
        stated = [way for way in ("schedule", "usage_based", "replicas") if getattr(self, way) is not None]
        if len(stated) != 1:
            named = ", ".join(stated) or "none"
            raise Invalid(f"{named} of the three ways is stated", "state one of schedule, usage_based, replicas")
        return self
