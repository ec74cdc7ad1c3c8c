"""The types of `.cirun.yml` and `.cirun.global.yml`, which have the same format.

The keys are those of cirun's reference (AktechLabs/cirun-docs, `docs/reference/yaml.md`, 18 May 2026).
`kit.cirun_checks` checks a valid file for settings that do not work. `kit.cirun_runners` builds the file of a stack.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Final, Literal

from pydantic import AfterValidator, Discriminator, Field, Tag

from config.values import Invalid
from kit.cirun_extra import AwsExtra, AzureExtra, Extra, GcpExtra, Idle, OwnExtra, Text, VastExtra
from kit.closed import MANY, ONE, Closed, dump_yaml, load_yaml, validated

if TYPE_CHECKING:
    from collections.abc import Sequence

FILE: Final = ".cirun.yml"
GLOBAL_FILE: Final = ".cirun.global.yml"
"""The file in the repository `.cirun` of an organisation: runners for all its repositories."""
LABEL_PREFIX: Final = "cirun-"
ADDED_BY_CIRUN: Final = frozenset({"self-hosted", "linux", "x64", "cirun", "cirun.io", "cpu", "aws", "gcp", "azure"})
"""Labels that cirun adds to every runner."""

REMOVED: Final = {
    "workflow": "remove it: cirun has not read it since July 2022; `python -m ops cirun-migrate` rewrites the file",
    "count": "remove it: cirun starts one runner a job since 2022; `python -m ops cirun-migrate` rewrites the file",
    "run_only_when_trigger_by": "remove it: cirun does not read it any more; grant access in .access.yml",
    "zone": "cirun has no such key: on Google Cloud `region` is the zone",
    "project": "cirun has no such key: write extra_config: {project_id: …}",
    "service_account": "cirun has no such key: write extra_config: {serviceAccounts: [{email: …}]}",
    "network": "cirun has no such key: write extra_config: {networkInterfaces: [{network: …}]}",
    "spot": "cirun has no such key: write preemptible",
    "env": "cirun has no such key: values for the job belong in the workflow's env",
    "setup": "cirun does not run setup steps: put them into the image, or into the first steps of the workflow",
    "idle_timeout": "remove it: a machine ends with its job; limit the job with timeout-minutes in the workflow",
}
"""Keys that public files contain and cirun does not read, with the fix."""


def _shape(value: object) -> str:
    return MANY if isinstance(value, list | tuple) else ONE


def _zone(value: str) -> str:
    if re.fullmatch(r"[a-z]+-[a-z]+\d+", value):
        raise Invalid(f'"{value}" is a region, but cirun needs a zone here', f"add the letter of a zone: {value}-b")
    if not re.fullmatch(r"[a-z]+-[a-z]+\d+-[a-z]", value):
        raise Invalid(f'"{value}" is not a Google Cloud zone', "write it as us-central1-b")
    return value


def _region(value: str) -> str:
    if re.fullmatch(r"[a-z]{2}(-[a-z]+)+-\d[a-z]", value):
        raise Invalid(f'"{value}" is a zone, but cirun needs a region here', f"write {value[:-1]}")
    if not re.fullmatch(r"[a-z]{2}(-[a-z]+)+-\d", value):
        raise Invalid(f'"{value}" is not an AWS region', "write it as eu-west-1")
    return value


Zone = Annotated[str, AfterValidator(_zone)]
Region = Annotated[str, AfterValidator(_region)]
Texts = Annotated[
    Annotated[Text, Tag(ONE)] | Annotated[tuple[Text, ...], Field(min_length=1), Tag(MANY)], Discriminator(_shape)
]
Zones = Annotated[
    Annotated[Zone, Tag(ONE)] | Annotated[tuple[Zone, ...], Field(min_length=1), Tag(MANY)], Discriminator(_shape)
]
Regions = Annotated[
    Annotated[Region, Tag(ONE)] | Annotated[tuple[Region, ...], Field(min_length=1), Tag(MANY)], Discriminator(_shape)
]
Flags = Annotated[
    Annotated[bool, Tag(ONE)] | Annotated[tuple[bool, ...], Field(min_length=1), Tag(MANY)], Discriminator(_shape)
]


class Runner(Closed):
    """One runner. A job that requests one or more of its labels gets its own machine."""

    name: Text
    instance_type: Texts | None = None
    preemptible: Flags | None = None
    """Whether to use spot. A list is tried in order: `[true, false]` falls back to on-demand."""
    labels: Annotated[tuple[Text, ...], Field(min_length=1)]
    idle: Idle | None = None


class AwsRunner(Runner):
    """EC2."""

    cloud: Literal["aws"]
    gpu: Text | None = None
    """The GPU for which cirun installs a driver; not for an image with a driver."""
    machine_image: Texts | None = None
    """An AMI. It exists in one region only, so several regions need several images."""
    region: Regions | None = None
    """The default is eu-west-1."""
    extra_config: AwsExtra | None = None


class GcpRunner(Runner):
    """Compute Engine."""

    cloud: Literal["gcp"]
    gpu: Text | None = None
    """The accelerator to attach, for example nvidia-tesla-t4."""
    machine_image: Texts | None = None
    """`NAME`, `PROJECT:NAME` or `projects/PROJECT/global/images/NAME`."""
    region: Zones | None = None
    """A zone, although the key is `region`."""
    extra_config: GcpExtra | None = None


class AzureImage(Closed):
    """An image of the Azure Marketplace, or a private image by its id."""

    publisher: Text | None = None
    offer: Text | None = None
    sku: Text | None = None
    version: Text | None = None
    id: Text | None = None


def _image_shape(value: object) -> str:
    return _shape(value) if isinstance(value, str | list | tuple) else "<map>"


class AzureRunner(Runner):
    """Azure."""

    cloud: Literal["azure"]
    gpu: Text | None = None
    machine_image: (
        Annotated[
            Annotated[Text, Tag(ONE)]
            | Annotated[tuple[Text, ...], Field(min_length=1), Tag(MANY)]
            | Annotated[AzureImage, Tag("<map>")],
            Discriminator(_image_shape),
        ]
        | None
    ) = None
    region: Texts | None = None
    extra_config: AzureExtra | None = None


class VastRunner(Runner):
    """Vast.ai: the instance type is COUNTxMODEL, and the region a country or absent."""

    cloud: Literal["vast_ai"]
    gpu: Text | None = None
    machine_image: Texts | None = None
    region: Texts | None = None
    extra_config: VastExtra | None = None


class OwnRunner(Runner):
    """Machines on premises; a runner gets a slice such as 8vcpu-8gb-75gb."""

    cloud: Literal["on_prem"]
    gpu: Text | None = None
    machine_image: Texts | None = None
    region: Texts | None = None
    extra_config: OwnExtra | None = None


class OtherRunner(Runner):
    """Clouds without special keys. DigitalOcean has two names."""

    cloud: Literal["do", "digitalocean", "openstack", "oracle"]
    gpu: Text | None = None
    machine_image: Texts | None = None
    region: Texts | None = None
    extra_config: Extra | None = None


AnyRunner = AwsRunner | GcpRunner | AzureRunner | VastRunner | OwnRunner | OtherRunner


class CirunFile(Closed):
    """The whole file."""

    runners: Annotated[tuple[Annotated[AnyRunner, Field(discriminator="cloud")], ...], Field(min_length=1)]


_ORDER = (
    "name", "cloud", "gpu", "instance_type", "machine_image", "region", "preemptible", "labels", "extra_config", "idle",
)  # fmt: skip


def read(text: str, source: str = FILE) -> CirunFile:
    """Parse the file.

    Raises:
        FileError: it is not YAML, or has keys or values that cirun does not read; names every fault.

    """
    return validated(CirunFile, load_yaml(text, source), source, REMOVED)


def render(file: CirunFile, header: Sequence[str] = ()) -> str:
    """Return the text of the file, with the keys in the order of cirun's reference."""
    runners = [runner.model_dump(mode="json", exclude_none=True) for runner in file.runners]
    return dump_yaml({"runners": [{key: one[key] for key in _ORDER if key in one} for one in runners]}, header)
