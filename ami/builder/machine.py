"""Machines of the builder: created in a zone with capacity, watched until they report, and always deleted.

Google deletes every machine at a time limit that is set at creation (`--max-run-duration` and DELETE), even if this
program is killed.
"""

from __future__ import annotations

import re
import signal
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ami.builder.gcloud import SIGNALS, CallFailed, Exists, NoCapacity, NotThere, Outside, say

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ami.builder.gcloud import Gcloud
    from ami.builder.inputs import Inputs

LAST_SECONDS: Final = 120
"""Seconds before Google's deletion at which the builder stops waiting. Later the serial port cannot be read, and a
machine that hung looks like one that was preempted."""
ELSEWHERE: Final = ("registry",)
"""The stages whose failure the image does not cause."""
_ENDED: Final = ("STOPPING", "STOPPED", "TERMINATED", "SUSPENDING", "SUSPENDED")
_REPORT = re.compile(r"gpu-host-report: (.+)")
_SERIAL_LINES: Final = 60


class Failed(Exception):
    """The script on the machine reported a failure."""


class Preempted(Outside):
    """Google preempted the machine."""


class Overdue(Outside):
    """The machine did not report within its time limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A machine that runs one script and reports its result."""

    name: str
    """The name of the machine."""
    arguments: tuple[str, ...]
    """Arguments of gcloud for image, machine type, disk and GPU."""
    script: str
    """The script that runs at every boot."""
    minutes: int
    """The time limit of the machine."""
    gvnic: bool = False
    """Whether its machine type needs a Google Virtual NIC."""
    stops: bool = False
    """Whether to stop it after a successful report, to create an image from its disk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Machines:
    """The machines of one family and owner."""

    gcloud: Gcloud
    inputs: Inputs
    hash: str = ""
    """The end of a successful report."""

    def run(self, job: Job) -> str:
        """Run `job` until it reports success; return the zone of its machine.

        Raises:
            Failed: the script failed.
            Overdue: the machine did not report in time.
            Outside: no zone has capacity, the last machine was preempted, or the script could not reach another
                service.

        """
        places = [(kind, zone) for kind in self.inputs.provisioning for zone in self.inputs.zones]
        preempted = 0
        while True:
            kind, zone, begun = self._made(job, places)
            try:
                self._wait(job, zone, begun + job.minutes * 60 - LAST_SECONDS)
                if job.stops:
                    self._stop(job.name, zone)
            except Preempted:
                preempted += 1
                self.sweep()
                if preempted == self.inputs.attempts:
                    raise
                say(f"{job.name} was preempted in {zone}; trying again")
                # Try the place of the preemption last.
                places = [place for place in places if place != (kind, zone)] + [(kind, zone)]
            else:
                return zone

    def sweep(self) -> None:
        """Delete every machine of this stack and family, with its disks. Signals wait until that is done.

        Raises:
            CallFailed: a machine is left; the message says which one, and when Google deletes it.

        """
        before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        try:
            left = [text for machine in self._ours() if (text := self._delete(machine))]
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if left:
            raise CallFailed("compute instances delete", "left: " + "\n".join(left))

    def _delete(self, machine: Mapping[str, str]) -> str:
        """Delete a machine; return an empty text, or which machine is left and when it is deleted."""
        name, zone = machine["name"], zone_of(machine)
        say(f"deleting {name} in {zone}")
        try:
            self.gcloud.run("compute", "instances", "delete", name, "--zone", zone, "--delete-disks", "all")
        except NotThere:
            say(f"{name} is already deleted")
        except CallFailed as error:
            # Google counts running time only, so it never deletes a stopped machine.
            stopped = machine["status"] in _ENDED
            end = "the next run tries again" if stopped else "Google deletes it at its time limit"
            return f"{name} in {zone} ({error.text}); {end}"
        return ""

    def _stop(self, name: str, zone: str) -> None:
        """Stop a machine, so that its disk can become an image."""
        try:
            self.gcloud.run("compute", "instances", "stop", name, "--zone", zone)
        except NotThere:
            # Preempted between its report and this call. Its disk is deleted, too.
            raise _preempted(name, zone) from None

    def _labels(self) -> tuple[str, ...]:
        """Return the labels that identify the machines of this stack and family, for every image."""
        return (f"gpu-image-family={self.inputs.family}", f"gpu-image-owner={self.inputs.owner}")

    def _ours(self) -> list[Mapping[str, str]]:
        mine = " AND ".join(f"labels.{label}" for label in self._labels())
        return list(self.gcloud.json("compute", "instances", "list", f"--filter={mine}") or ())

    def _made(self, job: Job, places: Sequence[tuple[str, str]]) -> tuple[str, str, float]:
        """Create the machine; return its provisioning model, its zone, and the start time of the call."""
        refusals: list[str] = []
        with tempfile.TemporaryDirectory(prefix="gpu-image-") as folder:
            script = Path(folder) / "startup-script"
            script.write_text(job.script, encoding="utf-8")
            for kind, zone in places:
                say(f"creating {job.name} in {zone} ({kind})")
                begun = time.monotonic()
                try:
                    self.gcloud.run(
                        "compute", "instances", "create", job.name, *self._arguments(job, kind, zone, script)
                    )
                except NoCapacity as error:
                    refusals.append(f"{zone} ({kind}): {error.text}")
                    say(f"no capacity in {zone} ({kind})")
                    self.sweep()
                except Exists:
                    # An earlier try of the call created it: every older machine is deleted.
                    if (job.name, zone) not in {(machine["name"], zone_of(machine)) for machine in self._ours()}:
                        text = f"{job.name} in {zone} belongs to another stack; run again after that build"
                        raise CallFailed("compute instances create", text) from None
                    return kind, zone, begun
                else:
                    return kind, zone, begun
        raise NoCapacity("compute instances create", "no capacity in any zone:\n" + "\n".join(refusals))

    def _arguments(self, job: Job, kind: str, zone: str, script: Path) -> list[str]:
        return [
            f"--zone={zone}",
            *job.arguments,
            f"--provisioning-model={kind}",
            f"--max-run-duration={job.minutes}m",
            "--instance-termination-action=DELETE",
            # Guest attributes need no identity, so the machine gets no token.
            "--no-service-account",
            "--no-scopes",
            f"--network-interface={','.join(self._interface(job))}",
            f"--labels={','.join(self._labels())}",
            "--metadata=enable-guest-attributes=TRUE,block-project-ssh-keys=TRUE,serial-port-enable=FALSE",
            f"--metadata-from-file=startup-script={script}",
            "--shielded-secure-boot",
            "--shielded-vtpm",
            "--shielded-integrity-monitoring",
        ]

    def _interface(self, job: Job) -> list[str]:
        """Return the properties of the network interface. By default Google adds a public address."""
        return [
            f"subnet={self.inputs.subnet}",
            *(["nic-type=GVNIC"] if job.gvnic else []),
            *(["no-address"] if self.inputs.private else []),
        ]

    def _wait(self, job: Job, zone: str, end: float) -> None:
        """Wait for a successful report."""
        while time.monotonic() < end:
            try:
                status = self.gcloud.json("compute", "instances", "describe", job.name, "--zone", zone)["status"]
                report = self._report(job.name, zone)
            except NotThere:
                status, report = "TERMINATED", ""
            if report == f"ok:{self.hash}":
                return
            # Before its report is read: a shutdown stops the network first, and the script reports that as a failure.
            if status in _ENDED:
                raise _preempted(job.name, zone) if time.monotonic() < end else _overdue(job, zone)
            if report.startswith("fail:"):
                say(self._last_words(job.name, zone))
                raise (Outside if report.split(":")[1] in ELSEWHERE else Failed)(f"{job.name}: {report}")
            time.sleep(self.inputs.poll_seconds)
        say(self._last_words(job.name, zone))
        raise _overdue(job, zone)

    def _report(self, name: str, zone: str) -> str:
        """Return the last report: the guest attribute, or from the serial port if guest attributes are forbidden."""
        place = (name, "--zone", zone)
        query = "--query-path=gpu-host/status"
        try:
            found = self.gcloud.json("compute", "instances", "get-guest-attributes", *place, query) or ()
        except NotThere:
            return ""  # There is no report yet.
        except CallFailed:
            lines = _REPORT.findall(self.gcloud.run("compute", "instances", "get-serial-port-output", *place))
            return lines[-1].strip() if lines else ""
        return "".join(str(each["value"]) for each in found if each["key"] == "status").strip()

    def _last_words(self, name: str, zone: str) -> str:
        """Return the end of the serial port output, which is readable only while the machine runs."""
        try:
            text = self.gcloud.run("compute", "instances", "get-serial-port-output", name, "--zone", zone)
        except CallFailed as error:
            return f"the serial port cannot be read: {error.text}"
        return "\n".join(text.splitlines()[-_SERIAL_LINES:])


def zone_of(machine: Mapping[str, str]) -> str:
    """Return the zone of a machine, which the API returns as a URL."""
    return machine["zone"].rsplit("/", 1)[-1]


def _preempted(name: str, zone: str) -> Preempted:
    return Preempted(f"{name} was preempted in {zone}")


def _overdue(job: Job, zone: str) -> Overdue:
    return Overdue(f"{job.name} in {zone} did not report in its {job.minutes} minutes")
