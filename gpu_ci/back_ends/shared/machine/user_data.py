"""The user data of a machine: the scripts and units of `boot/` and their settings, as cloud-config. Pure text.

Settings are readable. The program `/usr/local/sbin/gpu-ci`, its units and hooks are compressed, because EC2 accepts at
most 16 KiB. Bzip2 has the same output on every machine that deploys; gzip has not, and a difference would replace the
machine.
"""

from __future__ import annotations

import base64
import bz2
import json
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal
from urllib.parse import urlsplit

from gpu_ci.knowledge.software.cuda import FLOORS, toolkit
from gpu_ci.knowledge.software.drivers import written

LIMIT: Final = 16_384
"""Bytes of user data that EC2 accepts, before base64 (EC2 user guide, "Run commands when you launch an EC2 instance").
Metadata of Compute Engine may be longer."""
FOLDER: Final = Path(__file__).parent / "boot"
PROGRAM: Final = "/usr/local/sbin/gpu-ci"
ARCHIVE: Final = "/var/lib/gpu-ci/software"
"""A JSON object of paths and texts, with bzip2 in base 85, which is shorter than base 64 and has no quote."""
SETTINGS: Final = "/etc/gpu-ci.conf"
HOOKS: Final = "/usr/local/lib/gpu-ci"
"""The folder of the scripts that GitHub's runner calls (GitHub, "Running scripts before or after a job", 2026)."""
FORKS: Final = "refuse-forks.sh"
"""The script that `job-started.sh` calls unless jobs of forks may run."""
_UNPACK: Final = f"""import base64, bz2, json, os
for path, text in json.loads(bz2.decompress(base64.b85decode(open("{ARCHIVE}").read()))).items():
  os.makedirs(os.path.dirname(path), exist_ok=True)
  with open(path, "w") as file:
    os.fchmod(file.fileno(), 0o700 if path == "{PROGRAM}" else 0o644)
    file.write(text)
"""
LEAST_FREE_GIB: Final = 10
"""Free space below which the machine takes no job."""
TOOLKIT_VERSION: Final = "1.20.0-1"
TOOLKIT_KEY: Final = "C95B321B61E88C1809C4F759DDCAE044F796ECB0"
"""The fingerprint of the key that signs NVIDIA's container toolkit (its installation guide, August 2026)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BootArgs:
    """The settings of the software on a machine.

    Region, zone, project and instance come from the metadata server.
    """

    cloud: Literal["aws", "gcp"]
    github_url: str
    """An organisation or a repository."""
    app_id: int
    installation_id: int
    key: str
    """The SSM parameter (AWS) or the short name of the secret (Google Cloud) with the App's private key."""
    runner_name: str
    """The name at GitHub. An ephemeral runner adds the time to it."""
    labels: tuple[str, ...]
    runner_group: str = "default"
    runner_version: str
    runner_sha256: str
    registration: Literal["ephemeral", "persistent"] = "ephemeral"
    driver: str | None
    """The driver branch to install on Canonical's Ubuntu, as in `580`; none where the image has a driver."""
    packages: tuple[str, ...] = ()
    """More packages to install on Canonical's Ubuntu."""
    cuda: str = ""
    """The CUDA version of jobs, which the driver must support; empty for any."""
    docker: bool = False
    forks: bool = False
    """Whether jobs of pull requests from forks may run."""
    gpus: int
    """The number of GPUs that the machine must have."""
    spot: bool = False
    idle_stop_minutes: int
    """0 keeps the machine running."""
    max_hours: int


class TooLongError(ValueError):
    """User data that EC2 does not accept."""


def user_data(args: BootArgs) -> str:
    """Return the user data of a machine.

    Raises:
        TooLongError: it has more bytes than EC2 accepts, because of long names or many labels.

    """
    text = "".join(_document(args))
    size = len(text.encode())
    if size > LIMIT:
        message = f"the user data has {size} bytes and may have {LIMIT}: use fewer labels or shorter names"
        raise TooLongError(message)
    return text


def program(args: BootArgs) -> str:
    """Return the program of the machine, in Bash: only the parts that it needs, without comments."""
    texts = [(FOLDER / f"{name}.sh").read_text(encoding="utf-8") for name in parts(args)]
    return _short("\n".join(texts))


def settings(args: BootArgs) -> str:
    """Return the file that the program reads its settings from."""
    return "".join(f"{name}={shlex.quote(str(value))}\n" for name, value in _settings(args))


def units(args: BootArgs) -> dict[str, str]:
    """Return the systemd units of the machine, by name."""
    names = sorted(path.name for path in (FOLDER / "units").iterdir() if args.spot or "spot" not in path.name)
    texts = {name: (FOLDER / "units" / name).read_text(encoding="utf-8") for name in names}
    return {name: text.replace("@MAX_HOURS@", str(args.max_hours)) for name, text in texts.items()}


def hooks(args: BootArgs) -> dict[str, str]:
    """Return the scripts that the runner calls before and after a job, by path, without comments."""
    names = ("job-started.sh", "job-completed.sh", *(() if args.forks else (FORKS,)))
    texts = {name: (FOLDER / "hooks" / name).read_text(encoding="utf-8") for name in names}
    return {f"{HOOKS}/{name}": _short(text).replace("@GPUS@", str(args.gpus)) for name, text in texts.items()}


def software(args: BootArgs) -> dict[str, str]:
    """Return the files of the machine that contain no secret and few settings, by path."""
    placed = {f"/etc/systemd/system/{name}": text for name, text in units(args).items()}
    return {PROGRAM: program(args), **hooks(args), **placed}


def _short(text: str) -> str:
    """Return a script for Bash without comments and empty lines."""
    lines = [line for line in text.splitlines() if line and not line.lstrip().startswith("#")]
    return "".join(f"{line}\n" for line in ("#!/bin/bash", *lines))


def _document(args: BootArgs) -> Iterator[str]:
    yield "#cloud-config\nwrite_files:\n"
    yield _file(SETTINGS, settings(args))
    yield _file("/etc/apt/apt.conf.d/99gpu-ci", 'APT::Periodic::Enable "0";\n')
    archive = base64.b85encode(bz2.compress(json.dumps(software(args)).encode())).decode()
    yield f"# gpu_ci/back_ends/shared/machine/boot\n- path: {ARCHIVE}\n  content: '{archive}'\n"
    started = ", ".join(name for name, text in units(args).items() if "[Install]" in text)
    yield f"runcmd:\n- {json.dumps(['python3', '-c', _UNPACK])}\n"
    yield f"- [systemctl, daemon-reload]\n- [systemctl, enable, --now, --no-block, {started}]\n"


def _file(path: str, text: str) -> str:
    lines = "".join(f"   {line}".rstrip() + "\n" for line in text.splitlines())
    return f"- path: {path}\n  content: |\n{lines}"


def parts(args: BootArgs) -> tuple[str, ...]:
    """Return the parts of the program, in the order in which Bash reads them."""
    return (
        *("lib", f"cloud-{args.cloud}", "github", "setup"),
        "image" if args.driver is None else "stock",
        *(("stock-docker",) if args.driver is not None and args.docker else ()),
        "docker" if args.docker else "no-docker",
        args.registration,
        *("run", "watch", *(("spot",) if args.spot else ()), "check", "main"),
    )


def _settings(args: BootArgs) -> Iterator[tuple[str, object]]:
    """Yield the variables at the start of the program."""
    api, scope = _github(args.github_url)
    yield from (("API", api), ("SCOPE", scope), ("APP_ID", args.app_id), ("INSTALLATION_ID", args.installation_id))
    yield from (("KEY", args.key), ("NAME", args.runner_name), ("GROUP", args.runner_group))
    if args.registration == "ephemeral":
        yield "LABELS", json.dumps(args.labels, separators=(",", ":"))
    else:
        yield from (("URL", args.github_url), ("LABELS", ",".join(args.labels)))
    yield from (("VERSION", args.runner_version), ("SHA256", args.runner_sha256), ("GPUS", args.gpus))
    yield from (("IDLE_MINUTES", args.idle_stop_minutes), ("LEAST_FREE", LEAST_FREE_GIB), ("CUDA", args.cuda))
    yield "LEAST_DRIVER", written(FLOORS[toolkit(args.cuda).version[0]]) if args.cuda else ""
    if args.driver is not None:
        # The open modules support Turing and newer, which every GPU that passes the checks is.
        yield from (("DRIVER", f"{args.driver}-server-open"), ("KERNEL", args.cloud))
        yield "PACKAGES", " ".join(args.packages)
        if args.docker:
            yield from (("TOOLKIT_VERSION", TOOLKIT_VERSION), ("TOOLKIT_KEY", TOOLKIT_KEY))


def _github(url: str) -> tuple[str, str]:
    """Return the address of GitHub's API and the path of the organisation or the repository."""
    address = urlsplit(url)
    scope = address.path.strip("/")
    if address.netloc == "github.com":
        api = "https://api.github.com"
    elif address.netloc.endswith(".ghe.com"):
        api = f"https://api.{address.netloc}"
    else:
        api = f"https://{address.netloc}/api/v3"
    return api, f"repos/{scope}" if "/" in scope else f"orgs/{scope}"
