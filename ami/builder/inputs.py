"""The environment variables `GPU_IMAGE_*` of the builder, as `components.gcp.images.controlled_image` sets them.

The stack file validates most values. A variable that is missing or empty is an error, because a filter with an empty
value could match the images of another stack.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ami.builder.content_hash import ImageContent, checked_family, image_name
from ami.builder.startup_script import INSTALL_FILES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

PREFIX: Final = "GPU_IMAGE_"
USED_BY: Final = "gpu-image-used-by-"
"""The start of a label. The name of a stack that uses the image follows."""
_OWNER = re.compile(rf"[a-z0-9][a-z0-9_-]{{0,{62 - len(USED_BY)}}}")


class NotStarted(Exception):
    """A variable is invalid or the project cannot be read; nothing was started."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The typed values of the variables. A deletion has only those of `IDENTITY`."""

    project: str
    family: str
    owner: str
    keep_on_destroy: bool
    subnet: str
    export: str = ""
    """`gs://BUCKET/FOLDER`; empty exports nothing."""
    export_build: str = ""
    """The account that Cloud Build runs as."""
    export_machine: str = ""
    """The account of the exporting machine. No other machine uses it."""
    poll_seconds: float = 15
    name: str = ""
    zones: tuple[str, ...] = ()
    """The zones to try, in order."""
    folder: Path = Path()
    base: str = ""
    """The base image, `PROJECT/NAME`."""
    options: Mapping[str, str]
    verify_options: Mapping[str, str]
    disk_gib: int = 0
    location: str = ""
    private: bool = False
    """Whether the machines have no public address."""
    machine_type: str = ""
    gvnic: bool = False
    """Whether the machine type needs a Google Virtual NIC."""
    build_minutes: int = 0
    verify_machine_type: str = ""
    verify_gvnic: bool = False
    verify_accelerator: str = ""
    """The GPU to attach to the verifier; empty if the machine type includes one."""
    verify_gpus: int = 0
    verify_quota: str = ""
    """The quota of the verifier's GPUs in a region, `NVIDIA_T4_GPUS`."""
    verify_minutes: int = 0
    provisioning: tuple[str, ...] = ()
    """The provisioning models to try in each zone, in order: SPOT, STANDARD."""
    attempts: int = 0
    """The number of machines to try; all but the last may be preempted."""
    keep: int = 0
    """The number of older images to keep."""

    def content(self) -> ImageContent:
        """Return the content of the image.

        Raises:
            OSError: a file of the installer is missing.
            ValueError: the folder has changed since the name was declared.

        """
        content = ImageContent(
            files=self.files(INSTALL_FILES),
            options=self.options,
            base_image=self.base,
            disk_gib=self.disk_gib,
            location=self.location,
        )
        name = image_name(self.family, content)
        if name != self.name:
            message = (
                f"{PREFIX}NAME: {self.name} was declared, but the content of {self.folder} gives {name}; "
                "the folder has changed: run the update again"
            )
            raise ValueError(message)
        return content

    def files(self, names: tuple[str, ...]) -> dict[str, str]:
        """Return files of the folder, by name."""
        return {name: (self.folder / name).read_text(encoding="utf-8") for name in names}


def _stated(text: str) -> str:
    if not text:
        message = "state a value"
        raise ValueError(message)
    return text


def _owner(text: str) -> str:
    """Return the name of a stack that fits in the key of a label."""
    if not _OWNER.fullmatch(text):
        message = f'"{text}" cannot be part of a label: use lower-case letters, digits and hyphens, and a shorter name'
        raise ValueError(message)
    return text


def _flag(text: str) -> bool:
    return bool(int(text))


def _words(text: str) -> tuple[str, ...]:
    return tuple(_stated(text).split())


IDENTITY: Final[dict[str, Callable[[str], Any]]] = {
    "PROJECT": _stated,
    "FAMILY": checked_family,
    "OWNER": _owner,
    "KEEP_ON_DESTROY": _flag,
    "SUBNET": _stated,
    "EXPORT": str,
    "EXPORT_BUILD": str,
    "EXPORT_MACHINE": str,
}
"""The variables that identify what to delete. They include the network and the accounts, which are deleted later."""
VARIABLES: Final[dict[str, Callable[[str], Any]]] = {
    **IDENTITY,
    "POLL_SECONDS": float,
    "NAME": _stated,
    "ZONES": _words,
    "FOLDER": Path,
    "BASE": _stated,
    "OPTIONS": json.loads,
    "VERIFY_OPTIONS": json.loads,
    "DISK_GIB": int,
    "LOCATION": str,
    "PRIVATE": _flag,
    "MACHINE_TYPE": _stated,
    "GVNIC": _flag,
    "BUILD_MINUTES": int,
    "VERIFY_MACHINE_TYPE": _stated,
    "VERIFY_GVNIC": _flag,
    "VERIFY_ACCELERATOR": str,
    "VERIFY_GPUS": int,
    "VERIFY_QUOTA": _stated,
    "VERIFY_MINUTES": int,
    "PROVISIONING": _words,
    "ATTEMPTS": int,
    "KEEP": int,
}
"""All variables, and the conversions of their values."""
_OPTIONAL: Final = {"EXPORT", "EXPORT_BUILD", "EXPORT_MACHINE", "POLL_SECONDS"}


def inputs(environment: Mapping[str, str], *, ending: bool = False) -> Inputs:
    """Return the typed values of the variables.

    With `ending` only the variables in `IDENTITY` are read. A deletion has the variables of an earlier update, and the
    folder may have changed since.

    Raises:
        NotStarted: some variables are invalid; the message lists all of them.

    """
    values: dict[str, Any] = {"options": {}, "verify_options": {}}
    faults: list[str] = []
    for name in IDENTITY if ending else VARIABLES:
        text = environment.get(f"{PREFIX}{name}")
        if text is None and name in _OPTIONAL:
            continue
        try:
            values[name.lower()] = VARIABLES[name](text or "")
        except ValueError as error:
            faults.append(f"{PREFIX}{name}: {error}")
    if faults:
        raise NotStarted("\n".join(sorted(faults)))
    return Inputs(**values)
