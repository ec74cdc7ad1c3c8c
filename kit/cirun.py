"""`.cirun.yml` as types: what cirun reads, and nothing else; to text and back without loss.

Owns the shape of the file and of `.cirun.global.yml`, which has the same one. Whether a sound file is also a good
one is judged by `kit.cirun_checks`; where it comes from is said by `kit.cirun_runners`. The keys are those of
cirun's reference (AktechLabs/cirun-docs, `docs/reference/yaml.md`, 18 May 2026).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Final, Literal

from pydantic import AfterValidator, Discriminator, Field, Tag

from config.values import Invalid
from kit.cirun_extra import AmazonExtra, AzureExtra, Extra, GoogleExtra, Idle, OwnExtra, Text, VastExtra
from kit.closed import MANY, ONE, Closed, dump_yaml, load_yaml, validated

if TYPE_CHECKING:
    from collections.abc import Sequence

FILE: Final = ".cirun.yml"
GLOBAL_FILE: Final = ".cirun.global.yml"
"""In an organisation's repository `.cirun`: runners for all of its repositories."""
LABEL_PREFIX: Final = "cirun-"
ADDED_BY_CIRUN: Final = frozenset({"self-hosted", "linux", "x64", "cirun", "cirun.io", "cpu", "aws", "gcp", "azure"})
"""Labels that every runner of cirun's has anyway."""

REMOVED: Final = {
    "workflow": "remove it: cirun has not read it since July 2022; `python -m ops cirun-migrate` rewrites the file",
    "count": "remove it: cirun starts one runner a job since 2022; `python -m ops cirun-migrate` rewrites the file",
    "run_only_when_trigger_by": "remove it: cirun does not read it any more; say who may in .access.yml",
    "zone": "cirun has none: on Google Cloud `region` takes the zone",
    "project": "cirun has none: write extra_config: {project_id: …}",
    "service_account": "cirun has none: write extra_config: {serviceAccounts: [{email: …}]}",
    "network": "cirun has none: write extra_config: {networkInterfaces: [{network: …}]}",
    "spot": "cirun has none: write preemptible",
    "env": "cirun has none: values for the job belong in the workflow's env",
    "setup": "cirun runs no steps of yours: put them into the image, or into the workflow's first steps",
    "idle_timeout": "remove it: a machine ends with its job; bound the job by timeout-minutes in the workflow",
}
"""Keys that are seen in public files and that cirun does not read, with what is to be done about them."""


def _shape(value: object) -> str:
    return MANY if isinstance(value, list | tuple) else ONE


def _zone(value: str) -> str:
    if re.fullmatch(r"[a-z]+-[a-z]+\d+", value):
        raise Invalid(f'"{value}" is a region, and cirun takes a zone here', f"write it with a letter: {value}-b")
    if not re.fullmatch(r"[a-z]+-[a-z]+\d+-[a-z]", value):
        raise Invalid(f'"{value}" is not a Google Cloud zone', "write it as us-central1-b")
    return value


def _region(value: str) -> str:
    if re.fullmatch(r"[a-z]{2}(-[a-z]+)+-\d[a-z]", value):
        raise Invalid(f'"{value}" is a zone, and cirun takes a region here', f"write {value[:-1]}")
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
    """One kind of runner. A job that asks for its labels, or for some of them, gets a machine of its own."""

    name: Text
    instance_type: Texts | None = None
    preemptible: Flags | None = None
    """Spot. A list is tried in turn: `[true, false]` falls back to on-demand."""
    labels: Annotated[tuple[Text, ...], Field(min_length=1)]
    idle: Idle | None = None


class AmazonRunner(Runner):
    """EC2."""

    cloud: Literal["aws"]
    gpu: Text | None = None
    """Has cirun install a driver; not for an image that has one."""
    machine_image: Texts | None = None
    """An AMI, which exists in one region only: images and regions go together."""
    region: Regions | None = None
    """Without it cirun takes eu-west-1."""
    extra_config: AmazonExtra | None = None


class GoogleRunner(Runner):
    """Compute Engine."""

    cloud: Literal["gcp"]
    gpu: Text | None = None
    """The accelerator to attach, as in nvidia-tesla-t4."""
    machine_image: Texts | None = None
    """`NAME`, `PROJECT:NAME` or `projects/PROJECT/global/images/NAME`."""
    region: Zones | None = None
    """A zone, for all that the key is called region."""
    extra_config: GoogleExtra | None = None


class AzureImage(Closed):
    """An image of the Azure Marketplace, or one of one's own by its id."""

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
    """Vast.ai, where the instance type is COUNTxMODEL and the region a country, if anything."""

    cloud: Literal["vast_ai"]
    gpu: Text | None = None
    machine_image: Texts | None = None
    region: Texts | None = None
    extra_config: VastExtra | None = None


class OwnRunner(Runner):
    """Machines of one's own, of which a slice such as 8vcpu-8gb-75gb is given."""

    cloud: Literal["on_prem"]
    gpu: Text | None = None
    machine_image: Texts | None = None
    region: Texts | None = None
    extra_config: OwnExtra | None = None


class OtherRunner(Runner):
    """The clouds for which cirun documents nothing special. DigitalOcean goes by both of its names."""

    cloud: Literal["do", "digitalocean", "openstack", "oracle"]
    gpu: Text | None = None
    machine_image: Texts | None = None
    region: Texts | None = None
    extra_config: Extra | None = None


AnyRunner = AmazonRunner | GoogleRunner | AzureRunner | VastRunner | OwnRunner | OtherRunner


class CirunFile(Closed):
    """The whole file."""

    runners: Annotated[tuple[Annotated[AnyRunner, Field(discriminator="cloud")], ...], Field(min_length=1)]


_ORDER = (
    "name", "cloud", "gpu", "instance_type", "machine_image", "region", "preemptible", "labels", "extra_config", "idle",
)  # fmt: skip


def read(text: str, source: str = FILE) -> CirunFile:
    """The file in `text`.

    Raises:
        FileError: it is not YAML, or says something that cirun does not read; every fault is named.

    """
    return validated(CirunFile, load_yaml(text, source), source, REMOVED)


def render(file: CirunFile, header: Sequence[str] = ()) -> str:
    """The file's text: the same file always gives the same, in the order in which cirun's reference explains it."""
    runners = [runner.model_dump(mode="json", exclude_none=True) for runner in file.runners]
    return dump_yaml({"runners": [{key: one[key] for key in _ORDER if key in one} for one in runners]}, header)
