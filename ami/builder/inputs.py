"""The environment variables `GPU_IMAGE_*` of the builder. Each is checked, and all errors are reported at once.

An unknown variable is an error, because a misspelt one would leave the default in effect.
"""

from __future__ import annotations

import difflib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ami.builder.content_hash import ImageContent, checked_family, image_name
from ami.builder.images import OWNER_LIMIT
from ami.builder.startup_script import INSTALL_FILES, VERIFY_FILES

if TYPE_CHECKING:
    from collections.abc import Mapping

PREFIX: Final = "GPU_IMAGE_"
_ZONES = r"[a-z]+-[a-z]+\d+-[a-z]( [a-z]+-[a-z]+\d+-[a-z])*"
_MINUTES = r"[1-9]\d{1,3}"
_ACCOUNT = r"([a-z0-9-]+@[a-z0-9.-]+)?"

VARIABLES: Final[dict[str, tuple[str | None, str, str]]] = {
    # name: default (None: required), pattern, description
    "PROJECT": (None, r"[a-z][a-z0-9-]{4,28}[a-z0-9]", "a project id"),
    "ZONES": (None, _ZONES, "zones separated by spaces, for example us-central1-b us-central1-a"),
    "FAMILY": (None, r".+", "an image family"),
    "NAME": (None, r"[a-z][-a-z0-9]*", "the name of the image, as it was declared"),
    "OWNER": (None, rf"[a-z0-9][a-z0-9_-]{{0,{OWNER_LIMIT - 1}}}", "the stack as part of a label: PROJECT-STACK"),
    "FOLDER": (None, r".+", "the folder of the installer"),
    "BASE": (None, r"[a-z][a-z0-9-]*/[a-z][-a-z0-9]*", "PROJECT/NAME of the base image"),
    "OPTIONS": ("{}", r"\{.*\}", "a JSON object of the installer's options"),
    "VERIFY_OPTIONS": ("{}", r"\{.*\}", "a JSON object of the verifier's options"),
    "DISK_GIB": ("50", r"[1-9]\d{1,4}", "GiB"),
    "LOCATION": ("", r"[a-z0-9-]*", "a region or a multi-region"),
    "MACHINE_TYPE": ("e2-standard-8", r"[a-z][a-z0-9]*(-[a-z0-9]+)+", "a machine type; building needs no GPU"),
    "BUILD_MINUTES": ("90", _MINUTES, "minutes, at least ten"),
    "VERIFY_MACHINE_TYPE": ("n1-standard-4", r"[a-z][a-z0-9]*(-[a-z0-9]+)+", "a machine type that can have the GPU"),
    "VERIFY_ACCELERATOR": ("nvidia-tesla-t4", r"[a-z0-9-]*", "a GPU to attach; empty where the machine type has one"),
    "VERIFY_GPUS": ("1", r"[1-8]", "the number of GPUs to attach"),
    "VERIFY_MINUTES": ("30", _MINUTES, "minutes, at least ten"),
    "PROVISIONING": (
        "SPOT",
        r"(SPOT|STANDARD)( (SPOT|STANDARD))?",
        "the provisioning models to try in order: SPOT, STANDARD or both",
    ),
    "ATTEMPTS": ("3", r"[1-9]|10", "the number of machines to try; all but the last may be preempted"),
    "SUBNET": ("", r"[a-zA-Z0-9./_-]*", "a subnetwork; the default network where empty"),
    "KEEP": ("3", r"\d{1,2}", "the number of older images to keep"),
    "KEEP_ON_DESTROY": ("0", r"[01]", "0 or 1"),
    "EXPORT": ("", r"(gs://[a-z0-9][a-z0-9._-]+(/\S+)?)?", "gs://BUCKET/FOLDER"),
    "EXPORT_BUILD": ("", _ACCOUNT, "the account of the export's build"),
    "EXPORT_MACHINE": ("", _ACCOUNT, "the account of the export's machine"),
    "POLL_SECONDS": ("15", r"\d+(\.\d+)?", "seconds"),
}

_NAMES_IT: Final = ("PROJECT", "FAMILY", "OWNER", "KEEP_ON_DESTROY", "EXPORT", "EXPORT_MACHINE", "POLL_SECONDS")
_ANYTHING: Final = {
    f"{PREFIX}{name}": value
    for name, value in (("ZONES", "us-central1-a"), ("NAME", "any"), ("FOLDER", "-"), ("BASE", "p/i"))
}
"""Values of required variables that a deletion does not use."""


class InputsWrong(Exception):
    """The invalid variables."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The typed values of the variables."""

    project: str
    zones: tuple[str, ...]
    family: str
    name: str
    owner: str
    content: ImageContent
    verify_files: Mapping[str, str]
    verify_options: Mapping[str, str]
    machine_type: str
    build_minutes: int
    verify_machine_type: str
    verify_accelerator: str
    verify_gpus: int
    verify_minutes: int
    provisioning: tuple[str, ...]
    attempts: int
    subnet: str
    keep: int
    keep_on_destroy: bool
    export: str
    export_build: str
    export_machine: str
    poll_seconds: float


def inputs(environment: Mapping[str, str], *, ending: bool = False) -> Inputs:
    """Return the typed values of the variables.

    With `ending` only the variables that identify the images are read. A deletion has the variables of an earlier
    update, and the folder may have changed since.

    Raises:
        InputsWrong: some variables are invalid; the message lists all of them.

    """
    if ending:
        named = [f"{PREFIX}{name}" for name in _NAMES_IT]
        environment = {name: environment[name] for name in named if name in environment} | _ANYTHING
    stated = {name.removeprefix(PREFIX): value for name, value in environment.items() if name.startswith(PREFIX)}
    faults = [f"{PREFIX}{name}: unknown; {_nearest(name)}" for name in stated if name not in VARIABLES]
    values: dict[str, str] = {}
    for name, (default, pattern, words) in VARIABLES.items():
        value = stated.get(name, default)
        if value is None:
            faults.append(f"{PREFIX}{name}: missing; state {words}")
        elif not re.fullmatch(pattern, value):
            faults.append(f'{PREFIX}{name}: "{value}" is not valid; state {words}')
        values[name] = value or ""
    if faults:
        raise InputsWrong("\n".join(sorted(faults)))
    return _joined(values, ending=ending)


def _joined(values: Mapping[str, str], *, ending: bool) -> Inputs:
    folder = Path(values["FOLDER"])
    try:
        checked_family(values["FAMILY"])
        content = ImageContent(
            files={} if ending else _read(folder, INSTALL_FILES),
            options=_options(values["OPTIONS"]),
            base_image=values["BASE"],
            disk_gib=int(values["DISK_GIB"]),
            location=values["LOCATION"],
        )
        verify_files = {} if ending else _read(folder, VERIFY_FILES)
        verify_options = _options(values["VERIFY_OPTIONS"])
        name = image_name(values["FAMILY"], content)
    except (OSError, ValueError) as error:
        raise InputsWrong(str(error)) from None
    if name != values["NAME"] and not ending:
        raise InputsWrong(
            f"{PREFIX}NAME: {values['NAME']} was declared, but the content of {folder} gives {name}; "
            "the folder has changed: run the update again"
        )
    return Inputs(
        project=values["PROJECT"],
        zones=tuple(values["ZONES"].split()),
        family=values["FAMILY"],
        name=values["NAME"],
        owner=values["OWNER"],
        content=content,
        verify_files=verify_files,
        verify_options=verify_options,
        machine_type=values["MACHINE_TYPE"],
        build_minutes=int(values["BUILD_MINUTES"]),
        verify_machine_type=values["VERIFY_MACHINE_TYPE"],
        verify_accelerator=values["VERIFY_ACCELERATOR"],
        verify_gpus=int(values["VERIFY_GPUS"]),
        verify_minutes=int(values["VERIFY_MINUTES"]),
        provisioning=tuple(values["PROVISIONING"].split()),
        attempts=int(values["ATTEMPTS"]),
        subnet=values["SUBNET"],
        keep=int(values["KEEP"]),
        keep_on_destroy=values["KEEP_ON_DESTROY"] == "1",
        export=values["EXPORT"].rstrip("/"),
        export_build=values["EXPORT_BUILD"],
        export_machine=values["EXPORT_MACHINE"],
        poll_seconds=float(values["POLL_SECONDS"]),
    )


def _read(folder: Path, names: tuple[str, ...]) -> dict[str, str]:
    return {name: (folder / name).read_text(encoding="utf-8") for name in names}


def _options(text: str) -> dict[str, str]:
    options = json.loads(text)
    if not all(isinstance(value, str) for value in options.values()):
        message = "options are strings: quote every value"
        raise ValueError(message)
    return dict(options)


def _nearest(name: str) -> str:
    close = difflib.get_close_matches(name, VARIABLES, n=1)
    return f"did you mean {PREFIX}{close[0]}?" if close else f"known variables are {', '.join(VARIABLES)}"
