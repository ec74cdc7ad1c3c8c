"""Settings of the software on a machine, and the golden copies of its user data.

`python -m tests.machine.boots` writes the copies.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Final, Literal

from gpu_ci.back_ends.shared.machine.user_data import BootArgs, user_data
from gpu_ci.knowledge.software.runner_releases import CHECKSUMS, NEWEST

Cloud = Literal["aws", "gcp"]
Registration = Literal["ephemeral", "persistent"]

CLOUDS: Final[tuple[Cloud, ...]] = ("aws", "gcp")
REGISTRATIONS: Final[tuple[Registration, ...]] = ("ephemeral", "persistent")


def boot_args(
    cloud: Cloud = "aws",
    registration: Registration = "ephemeral",
    *,
    driver: str | None = "580",
    packages: tuple[str, ...] = (),
    docker: bool = False,
    forks: bool = False,
    spot: bool = False,
    github_url: str = "https://github.com/acme",
    runner_group: str = "default",
    idle_stop_minutes: int = 30,
    labels: tuple[str, ...] = ("self-hosted", "linux", "x64", "gpu"),
) -> BootArgs:
    """Return the settings of one machine."""
    return BootArgs(
        cloud=cloud,
        github_url=github_url,
        app_id=123456,
        installation_id=7654321,
        key="/gpu-ci-staging/github-app-private-key" if cloud == "aws" else "gpu-ci-staging-github-app-private-key",
        runner_name="gpu-ci-staging-gpu",
        labels=labels,
        runner_group=runner_group,
        runner_version=NEWEST,
        runner_sha256=CHECKSUMS[NEWEST],
        registration=registration,
        driver=driver,
        packages=packages,
        cuda="12.9",
        docker=docker,
        forks=forks,
        gpus=1,
        spot=spot,
        idle_stop_minutes=idle_stop_minutes,
        max_hours=12,
    )


def every_boot() -> Iterator[BootArgs]:
    """Yield one machine for each combination of parts."""
    for cloud, registration, driver, docker, spot in product(
        CLOUDS, REGISTRATIONS, ("580", None), (False, True), (False, True)
    ):
        yield boot_args(cloud, registration, driver=driver, docker=docker, spot=spot)


GOLDEN: Final = Path(__file__).parent / "golden"


def golden() -> dict[str, str]:
    """Return the user data of typical machines by file name, without the compressed program."""
    boots = {f"{cloud}-{one}": boot_args(cloud, one, spot=True) for cloud, one in product(CLOUDS, REGISTRATIONS)}
    return {
        f"{name}.yaml": re.sub(r"(software\n  content: ).*", r"\1SOFTWARE", user_data(args))
        for name, args in boots.items()
    }


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    for name, text in golden().items():
        (GOLDEN / name).write_text(text, encoding="utf-8")
