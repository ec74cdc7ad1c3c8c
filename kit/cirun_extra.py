"""The types of `extra_config`, for each cloud, and of `idle` in `.cirun.yml`, with the limits of EBS.

The keys are those of cirun's reference (AktechLabs/cirun-docs,
`docs/reference` and `docs/caching`, 18 May 2026); each has the spelling of its cloud.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Literal

from pydantic import Field, model_validator

from config.values import Invalid
from kit.closed import Closed

Text = Annotated[str, Field(min_length=1)]
Gigabytes = Annotated[int, Field(ge=1, le=65536)]

GCP_SCOPE: Final = "https://www.googleapis.com/auth/cloud-platform"
"""The scope of a machine, so that only IAM limits its access."""
GP3_INCLUDED_IOPS: Final = 3000
"""The IOPS of a gp3 volume by default; they also limit its throughput."""


class Extra(Closed):
    """Keys for every cloud."""

    provision_via: Literal["pull_from_api"] | None = None
    """The start script of the image fetches the script of cirun, so that it can run commands before it."""
    env_vars: Mapping[str, str] | None = None
    """Plain values for the runner; no secrets, because the file is in the repository."""
    run_as: Literal["interactive"] | None = None
    """Windows: in a desktop session."""
    runner_user: Text | None = None
    """Windows: the account."""
    runner_path: Text | None = None
    """Windows: the folder of the runner."""


class BlockDevice(Closed):
    """An EBS volume. Without a device name, cirun adds it as /dev/sdc, in addition to the root volume."""

    device_name: Text | None = Field(None, alias="DeviceName")
    volume_size: Gigabytes | None = Field(None, alias="VolumeSize")
    volume_type: Literal["gp2", "gp3", "io1", "io2"] | None = Field(None, alias="VolumeType")
    iops: Annotated[int, Field(ge=100)] | None = Field(None, alias="Iops")
    throughput: Annotated[int, Field(ge=125)] | None = Field(None, alias="Throughput")
    """MiB/s."""
    initialization_rate: Annotated[int, Field(ge=100, le=300)] | None = Field(None, alias="VolumeInitializationRate")
    """MiB/s at which the blocks of a snapshot are fetched."""

    @model_validator(mode="after")
    def _within_ebs(self) -> BlockDevice:
        """Refuse what EBS refuses when a job already waits for the volume (AWS, "EBS volume types")."""
        if self.throughput is not None and self.volume_type != "gp3":
            raise Invalid(f"{self.volume_type or 'gp2'} does not support Throughput", "state VolumeType: gp3")
        if self.iops is not None and self.volume_type in {None, "gp2"}:
            raise Invalid("gp2 does not support Iops", "state VolumeType: gp3")
        included = self.iops or GP3_INCLUDED_IOPS
        if self.throughput is not None and self.throughput * 4 > included:
            raise Invalid(
                f"{self.throughput} MiB/s needs {self.throughput * 4} IOPS, but the volume has {included}",
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


class AwsExtra(Extra):
    """EC2."""

    block_devices: tuple[BlockDevice, ...] | None = Field(None, alias="BlockDeviceMappings")
    cache: bool | None = None
    """An S3 bucket behind `actions/cache`; asks for more permissions than the stack grants."""


class GcpDisk(Closed):
    """A persistent disk that is created with the instance."""

    size: Gigabytes | None = Field(None, alias="diskSizeGb")
    type: Text | None = Field(None, alias="diskType")


class GcpExistingDisk(Closed):
    """An existing persistent disk."""

    device_name: Text | None = Field(None, alias="deviceName")
    size: Gigabytes | None = Field(None, alias="diskSizeGb")
    source: Text
    type: Literal["PERSISTENT"] | None = None
    mode: Literal["READ_WRITE", "READ_ONLY"] | None = None
    interface: Literal["SCSI", "NVME"] | None = None


class GcpAccess(Closed):
    """A public address."""

    type: Literal["ONE_TO_ONE_NAT"] = "ONE_TO_ONE_NAT"
    name: Text | None = None
    network_tier: Literal["PREMIUM", "STANDARD"] | None = Field(None, alias="networkTier")


class GcpInterface(Closed):
    """The network interface of the instance."""

    network: Text | None = None
    subnetwork: Text | None = None
    nic_type: Literal["GVNIC", "VIRTIO_NET"] | None = Field(None, alias="nicType")
    """Third-generation machines only support GVNIC, and the image must declare it."""
    stack_type: Literal["IPV4_ONLY", "IPV4_IPV6"] | None = Field(None, alias="stackType")
    access: tuple[GcpAccess, ...] | None = Field(None, alias="accessConfigs")


class GcpServiceAccount(Closed):
    """The account that the instance runs as."""

    email: Text
    scopes: tuple[Text, ...] = (GCP_SCOPE,)


class GcpExtra(Extra):
    """Compute Engine."""

    project_id: Text | None = None
    """The project of the instance; by default that of cirun's service account."""
    base_disk: GcpDisk | None = Field(None, alias="baseDisk")
    additional_disk: GcpDisk | None = Field(None, alias="additionalDisk")
    existing_disk: GcpExistingDisk | None = Field(None, alias="existingDisk")
    interfaces: tuple[GcpInterface, ...] | None = Field(None, alias="networkInterfaces")
    service_accounts: tuple[GcpServiceAccount, ...] | None = Field(None, alias="serviceAccounts")


class AzureDisk(Closed):
    """The root disk."""

    size: Gigabytes | None = Field(None, alias="diskSizeGB")
    """Azure writes GB, Google Cloud Gb."""


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
    """Machines on premises."""

    executor: Text | None = None
    privileged: bool | None = None
    docker_socket_mount: bool | None = None
    gpu: Text | None = None


class IdleHours(Closed):
    """Idle runners at certain hours."""

    day: Annotated[str, Field(pattern=r"^(mon|tue|wed|thu|fri|sat|sun)(-(mon|tue|wed|thu|fri|sat|sun))?$")]
    time: Annotated[str, Field(pattern=r"^\d{1,2}-\d{1,2}$")]
    timezone: Text
    replicas: Annotated[int, Field(ge=0)]


class IdleAfterUse(Closed):
    """Idle runners for some time after one was used."""

    trigger: Literal["runner_allocated"] = "runner_allocated"
    replicas: Annotated[int, Field(ge=1)]
    duration: Annotated[int, Field(ge=1)]
    """Minutes."""


class Idle(Closed):
    """Idle runners. A job must request the exact label, without a `--` suffix."""

    schedule: tuple[IdleHours, ...] | None = None
    usage_based: IdleAfterUse | None = None
    replicas: Annotated[int, Field(ge=0)] | None = None

    @model_validator(mode="after")
    def _one_way(self) -> Idle:
        stated = [way for way in ("schedule", "usage_based", "replicas") if getattr(self, way) is not None]
        if len(stated) != 1:
            named = ", ".join(stated) or "none"
            raise Invalid(f"stated: {named}", "state exactly one of schedule, usage_based, replicas")
        return self
