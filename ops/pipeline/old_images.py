"""Write the text of an issue about old base images that stack files and `gpu_ci/knowledge/pins.py` name.

`ops/pipeline/one-issue.sh` keeps the issue. The releases are dates, so no cloud is asked. A newer base builds a new
image at the next deployment. Container images are rebuilt each month by the workflow of `make kit`.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Final

from gpu_ci.knowledge import pins
from gpu_ci.stack_file.reading.load import StackFileError
from gpu_ci.stack_file.sections.settings import Settings
from ops.cli.options import ROOT
from ops.outcome import Exit
from ops.pipeline.pulumi_run import say
from ops.plan import typed
from ops.plan.stack_file import read

OLD: Final = timedelta(days=90)
"""The age from which a base is reported. Canonical withdraws images after some months."""
_DATE: Final = re.compile(r"20\d{6}")
_UBUNTU: Final = {"ubuntu-24.04": "noble-24.04", "ubuntu-22.04": "jammy-22.04"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """A stated base of machine images."""

    place: str
    """The file and the key."""
    value: str
    made: date
    newest: str
    """The command that prints the newest release."""


def bases(settings: Settings, file: str) -> Iterator[Base]:
    """Yield the bases of a stack whose names contain a date."""
    if (image := settings.host_image) is not None:
        family = image.source_image.partition("-v20")[0]
        command = f"gcloud compute images describe-from-family {family} --project {image.source_project}"
        yield from _dated(f"{file}: host-image.source-image", image.source_image, f"{command} --format 'value(name)'")
    if (ubuntu := settings.ec2_image) is not None:
        name = f"ubuntu/images/hvm-ssd*/ubuntu-{_UBUNTU[ubuntu.os]}-amd64-server-*"
        command = f"aws ec2 describe-images --owners 099720109477 --filters 'Name=name,Values={name}'"
        newest = f"{command} --query 'sort_by(Images,&CreationDate)[-1].Name' --output text"
        yield from _dated(f"{file}: ec2-image.serial", ubuntu.serial, newest)
    if settings.cluster is not None and (version := settings.cluster.version) in pins.EKS_AMI_RELEASES:
        path = f"/aws/service/eks/optimized-ami/{version}/amazon-linux-2023/x86_64/nvidia/recommended/release_version"
        command = f"aws ssm get-parameter --name {path} --query Parameter.Value --output text"
        yield from _dated(
            f'gpu_ci/knowledge/pins.py: EKS_AMI_RELEASES["{version}"]', pins.EKS_AMI_RELEASES[version], command
        )


def _dated(place: str, value: str, newest: str) -> Iterator[Base]:
    """Yield a base if its name contains a date; an image of one's own need not have one."""
    if found := _DATE.search(value):
        yield Base(place=place, value=value, made=date.fromisoformat(found[0]), newest=newest)


def body(old: Iterable[Base], today: date) -> str:
    """Return the text of the issue."""
    rows = [
        line
        for one in old
        for line in (
            f"- `{one.place}`: `{one.value}`, {(today - one.made).days} days old. The newest one:",
            "",
            f"  ```bash\n  {one.newest}\n  ```",
            "",
        )
    ]
    return "\n".join(
        [
            f"These machine images are built from a base that is more than {OLD.days} days old:",
            "",
            *rows,
            "State the newer one in a pull request. The deployment then builds the image and tests it on a GPU.",
            "",
        ]
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the bases, and write the text of the issue if some are old; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--text", type=Path, default=Path("out/old-images.md"), help="the file for the text")
    text: Path = parser.parse_args(arguments).text
    today, found = datetime.now(UTC).date(), set[Base]()
    try:
        for path in sorted(ROOT.glob("Pulumi.*.yaml")):
            found.update(bases(typed.settings(read(path)), path.name))
    except StackFileError as error:
        say(f"::error::{error}")
        return Exit.WRONG
    for one in sorted(found, key=lambda one: one.place):
        say(f"{one.place}: {one.value}, {(today - one.made).days} days old")
    old = sorted((one for one in found if today - one.made > OLD), key=lambda one: one.place)
    text.unlink(missing_ok=True)
    if old:
        text.parent.mkdir(parents=True, exist_ok=True)
        text.write_text(body(old, today), encoding="utf-8")
    say(f"{len(old)} of {len(found)} are old.")
    return Exit.GOOD


if __name__ == "__main__":
    sys.exit(main())
