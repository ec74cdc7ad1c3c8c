"""Runners as entries of `.cirun.yml`, with every combination of machine, place and market in the order of preference.

The back ends fill a `GpuRunner` from the stack file.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, Final, TypeVar

from config.faults import Fault
from gpu.regions import Cloud
from gpu.verdict import Level
from kit.cirun import FILE, GCP_SCOPE, render
from kit.cirun_checks import judge
from kit.documents import FileError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

HEADER: Final = (
    "Written by gpu-ci from the runners of its stack file; a change made here is lost with the next one.",
    "GCP: `region` holds a zone. Lists are tried in step, from the first entry to the last.",
)

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuRunner:
    """One runner that cirun starts for a job."""

    name: str
    """The name in cirun's dashboard and in `.access.yml`."""
    cloud: Cloud
    labels: tuple[str, ...]
    """Labels for `runs-on`; each begins with `cirun-`."""
    instance_types: tuple[str, ...]
    """Interchangeable types, the preferred one first."""
    places: tuple[str, ...]
    """Zones on GCP, regions on AWS, the preferred one first."""
    images: Mapping[str, str]
    """Place to image. An AMI exists in one region; on GCP every zone has the same image."""
    spot: tuple[bool, ...] = (True,)
    """Markets in the order of preference: `(True, False)` falls back to on-demand."""
    gpu: str | None = None
    """GCP: the accelerator to attach, for example nvidia-tesla-t4. None for machine types with a GPU of their own."""
    disk_gib: int = 100
    """The size of the root disk: gp3 on AWS, pd-balanced on GCP."""
    project: str | None = None
    """GCP: the project that the machine runs in."""
    service_account: str | None = None
    """GCP: the account that the machine runs as; with it, the machine pulls images without a key."""
    network: str | None = None
    """GCP: the path of the network; None for the default network."""


def cirun_yml(runners: Sequence[GpuRunner]) -> str:
    """Return the text of `.cirun.yml` or `.cirun.global.yml` for `runners`.

    Raises:
        FileError: the file would not work; names every fault.

    """
    unplaced = [
        Fault(f"{runner.name}.images", f"no image for {place}", "state one for every place")
        for runner in runners
        for place in runner.places
        if place not in runner.images
    ]
    if unplaced:
        raise FileError(FILE, unplaced)
    entries = [_entry(runner) for runner in runners]
    refused = [verdict for verdict in judge(entries, ours=True) if verdict.level is Level.ERROR]
    if refused:
        raise FileError(FILE, [Fault(verdict.subject, verdict.reason, verdict.fix) for verdict in refused])
    return render({"runners": entries}, HEADER)


def _entry(runner: GpuRunner) -> dict[str, Any]:
    # The cheapest first: every place on spot before the first on-demand machine.
    tries = list(product(runner.spot, runner.instance_types, runner.places))
    entry: dict[str, Any] = {
        "name": runner.name,
        "cloud": str(runner.cloud),
        "gpu": runner.gpu,
        "instance_type": _alike([kind for _, kind, _ in tries]),
        "machine_image": _alike([runner.images[place] for _, _, place in tries]),
        "region": _alike([place for _, _, place in tries]),
        "preemptible": _alike([spot for spot, _, _ in tries]),
        "labels": list(runner.labels),
        "extra_config": _aws(runner) if runner.cloud is Cloud.AWS else _gcp(runner),
    }
    return _stated(entry)


def _alike(values: Sequence[Value]) -> Value | list[Value]:
    """Return one value where all are equal: cirun repeats a value that is not a list."""
    return values[0] if len(set(values)) == 1 else list(values)


def _aws(runner: GpuRunner) -> dict[str, Any]:
    # Without a device name, cirun adds a second disk.
    return {
        "BlockDeviceMappings": [
            {"DeviceName": "/dev/sda1", "VolumeSize": runner.disk_gib, "VolumeType": "gp3"},
        ]
    }


def _gcp(runner: GpuRunner) -> dict[str, Any]:
    # A stated interface has no public address unless accessConfigs is stated, too.
    interface = {"network": runner.network, "accessConfigs": [{"type": "ONE_TO_ONE_NAT"}]}
    account = {"email": runner.service_account, "scopes": [GCP_SCOPE]}
    return _stated(
        {
            "project_id": runner.project,
            "baseDisk": {"diskSizeGb": runner.disk_gib, "diskType": "pd-balanced"},
            "networkInterfaces": [interface] if runner.network else None,
            "serviceAccounts": [account] if runner.service_account else None,
        }
    )


def _stated(data: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in data.items() if value is not None}
