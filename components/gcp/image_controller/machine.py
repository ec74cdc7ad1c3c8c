"""The life of one machine: made where there is capacity, watched until it reports, and never left behind.

Owns machines and what they report. Every machine has an end of its own at Google (`--max-run-duration` and DELETE),
set when it is made: nothing that happens here, not even a SIGKILL, lets one run for longer.
"""

from __future__ import annotations

import re
import signal
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from components.gcp.image_controller.gcloud import CallFailed, Exists, Gcloud, NoCapacity, NotThere

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

_REPORT = re.compile(r"gpu-host-report: (.+)")
SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""What may come from a person or from Pulumi, and is answered by taking everything down."""
_PATIENCE: Final = 5
"""How many calls in a row may fail before a machine is given up: the API has hiccups, and a build is half an hour."""
_SERIAL_LINES: Final = 60


class Preempted(Exception):
    """Google took the machine away."""


class Failed(Exception):
    """What ran on the machine failed, and said so."""


class Overdue(Exception):
    """The machine had no report in all the time that it was given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A machine to run one script, and what to wait for."""

    name: str
    """The machine's name."""
    hash: str
    """What a good report ends with."""
    image: tuple[str, ...]
    """gcloud's arguments for the image to boot."""
    shape: tuple[str, ...]
    """gcloud's arguments for machine type, disk and GPU."""
    script: str
    """What it runs at every boot."""
    minutes: int
    """The longest that it may live."""
    zones: tuple[str, ...]
    """Where to try, in turn."""
    provisioning: tuple[str, ...]
    """SPOT, STANDARD: what to try, in turn, in each zone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Machines:
    """The machines of one image and owner."""

    gcloud: Gcloud
    """Where they are."""
    labels: tuple[str, ...]
    """`KEY=VALUE`: by these, and by nothing else, a machine is known as one of ours."""
    network: tuple[str, ...]
    """gcloud's arguments for where they stand."""
    attempts: int
    """How many may be pre-empted, and one more."""
    poll_seconds: float
    """Between two looks."""

    def run(self, job: Job) -> str:
        """Run `job` until it reports success, and leave its machine running; the zone it stands in.

        Raises:
            NoCapacity: no zone has such a machine.
            Preempted: as often as may be.
            Failed: what ran on it failed.
            Overdue: it never reported.

        """
        places = [(kind, zone) for kind in job.provisioning for zone in job.zones]
        preempted = 0
        while True:
            kind, zone = self._made(job, places)
            try:
                self._reported(job, zone)
            except Preempted:
                preempted += 1
                self.sweep()
                if preempted == self.attempts:
                    raise
                say(f"{job.name} was pre-empted in {zone}; trying again")
                # Where one was just taken away is the last place to look for another.
                places = [place for place in places if place != (kind, zone)] + [(kind, zone)]
            else:
                return zone

    def sweep(self) -> None:
        """Delete every machine of ours, with its disks.

        Raises:
            CallFailed: one is left; the message says which, and when it ends by itself.

        """
        left: list[str] = []
        with _undisturbed():
            for name, zone in self._ours():
                say(f"deleting {name} in {zone}")
                try:
                    self.gcloud.run("compute", "instances", "delete", name, "--zone", zone, "--delete-disks", "all")
                except NotThere:
                    continue
                except CallFailed as error:
                    left.append(f"{name} in {zone} ({error.text})")
        if left:
            raise CallFailed("compute instances delete", f"left: {', '.join(left)}; each ends at its own run limit")

    def stop(self, name: str, zone: str) -> None:
        """Stop a machine, so that its disk can become an image."""
        try:
            self.gcloud.run("compute", "instances", "stop", name, "--zone", zone)
        except NotThere:
            raise Preempted(name) from None

    def _ours(self) -> Iterator[tuple[str, str]]:
        mine = " AND ".join(f"labels.{label}" for label in self.labels)
        for machine in self.gcloud.json("compute", "instances", "list", f"--filter={mine}") or ():
            yield machine["name"], machine["zone"].rsplit("/", 1)[-1]

    def _made(self, job: Job, places: Sequence[tuple[str, str]]) -> tuple[str, str]:
        refusals: list[str] = []
        with tempfile.TemporaryDirectory(prefix="gpu-image-") as folder:
            script = Path(folder) / "startup-script"
            script.write_text(job.script, encoding="utf-8")
            for kind, zone in places:
                say(f"making {job.name} in {zone} ({kind})")
                try:
                    self.gcloud.run(
                        "compute", "instances", "create", job.name, *self._arguments(job, kind, zone, script)
                    )
                except NoCapacity as error:
                    refusals.append(f"{zone} ({kind}): {error.text}")
                    say(f"no capacity in {zone} ({kind})")
                    self.sweep()
                except Exists:
                    text = f"{job.name} is another owner's in {zone}; run again when that build is over"
                    raise CallFailed("compute instances create", text) from None
                else:
                    return kind, zone
        raise NoCapacity("compute instances create", "no capacity in any zone:\n" + "\n".join(refusals))

    def _arguments(self, job: Job, kind: str, zone: str, script: Path) -> list[str]:
        return [
            f"--zone={zone}",
            *job.image,
            *job.shape,
            f"--provisioning-model={kind}",
            f"--max-run-duration={job.minutes}m",
            "--instance-termination-action=DELETE",
            # Guest attributes need no identity, so that nothing on the machine has a token.
            "--no-service-account",
            "--no-scopes",
            *self.network,
            f"--labels={','.join(self.labels)}",
            "--metadata=enable-guest-attributes=TRUE,block-project-ssh-keys=TRUE,serial-port-enable=FALSE",
            f"--metadata-from-file=startup-script={script}",
            "--shielded-secure-boot",
            "--shielded-vtpm",
            "--shielded-integrity-monitoring",
        ]

    def _reported(self, job: Job, zone: str) -> None:
        """Wait for a good report."""
        begun = time.monotonic()
        limit = job.minutes * 60
        troubles = 0
        while time.monotonic() - begun < limit:
            try:
                status = self.gcloud.json("compute", "instances", "describe", job.name, "--zone", zone)["status"]
                report = self._report(job.name, zone)
                troubles = 0
            except NotThere:
                raise Preempted(job.name) from None
            except CallFailed:
                troubles += 1
                if troubles == _PATIENCE:
                    raise
                status, report = "RUNNING", ""
            if report == f"ok:{job.hash}":
                return
            # Before what it may have said of its own end: a network that goes down first is nobody's failure.
            if status in {"STOPPING", "STOPPED", "TERMINATED", "SUSPENDING", "SUSPENDED"}:
                raise Preempted(job.name)
            if report.startswith("fail:"):
                say(self._serial(job.name, zone))
                raise Failed(f"{job.name}: {report}")
            time.sleep(self.poll_seconds)
        say(self._serial(job.name, zone))
        raise Overdue(f"{job.name} in {zone} did not report in {job.minutes} minutes")

    def _report(self, name: str, zone: str) -> str:
        """The last report: from the guest attribute, and from the serial port where an organisation forbids those."""
        place = (name, "--zone", zone)
        query = "--query-path=gpu-host/status"
        try:
            found = self.gcloud.json("compute", "instances", "get-guest-attributes", *place, query) or ()
        except NotThere:
            return ""  # Nothing is written yet.
        except CallFailed:
            lines = _REPORT.findall(self.gcloud.run("compute", "instances", "get-serial-port-output", *place))
            return lines[-1].strip() if lines else ""
        return "".join(str(each["value"]) for each in found if each["key"] == "status").strip()

    def _serial(self, name: str, zone: str) -> str:
        try:
            text = self.gcloud.run("compute", "instances", "get-serial-port-output", name, "--zone", zone)
        except CallFailed as error:
            return f"the serial port cannot be read: {error.text}"
        return "\n".join(text.splitlines()[-_SERIAL_LINES:])


@contextmanager
def _undisturbed() -> Generator[None]:
    """Let a signal wait until what is being taken down is down."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def say(text: str) -> None:
    """Tell the person who waits. Standard output is for the result alone."""
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)  # noqa: T201 - a command's own words
