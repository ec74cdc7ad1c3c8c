"""Machines of the builder: created in a zone with capacity, watched until they report, and always deleted.

Google deletes every machine at a time limit that is set at creation (`--max-run-duration` and DELETE), even if this
program is killed.
"""

from __future__ import annotations

import signal
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ami.builder.gcloud import CallFailed, Exists, Gcloud, NoCapacity, NotThere
from ami.builder.job import ELSEWHERE, Failed, Hindered, Overdue, Preempted, say
from ami.builder.report import last_words, reported

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping, Sequence

    from ami.builder.job import Job

SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals from a person or from Pulumi. The builder deletes its machines when it receives one."""
LAST_SECONDS: Final = 120
"""Seconds before Google's deletion at which the builder stops waiting. Later the serial port cannot be read, and a
machine that hung looks like one that was preempted."""
_PATIENCE: Final = 5
"""The number of consecutive failed calls after which the builder stops waiting for a machine."""
_ENDED: Final = ("STOPPING", "STOPPED", "TERMINATED", "SUSPENDING", "SUSPENDED")


@dataclass(frozen=True, slots=True, kw_only=True)
class Machines:
    """The machines of one family and owner."""

    gcloud: Gcloud
    labels: tuple[str, ...]
    """`KEY=VALUE` labels that identify the machines of this stack and family, for every image."""
    network: tuple[str, ...]
    """Arguments of gcloud for the network."""
    attempts: int
    """The number of machines to try; all but the last may be preempted."""
    poll_seconds: float
    """Seconds between two checks."""

    def run(self, job: Job) -> str:
        """Run `job` until it reports success; return the zone of its machine.

        Raises:
            NoCapacity: no zone has capacity.
            Preempted: the last machine was preempted.
            Failed: the script failed.
            Hindered: the script could not reach another service.
            Overdue: the machine did not report in time.

        """
        places = [(kind, zone) for kind in job.provisioning for zone in job.zones]
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
                if preempted == self.attempts:
                    raise
                say(f"{job.name} was preempted in {zone}; trying again")
                # Try the place of the preemption last.
                places = [place for place in places if place != (kind, zone)] + [(kind, zone)]
            else:
                return zone

    def sweep(self) -> None:
        """Delete every machine of this stack and family, with its disks.

        Raises:
            CallFailed: a machine is left; the message says which one, and when Google deletes it.

        """
        left: list[str] = []
        with _undisturbed():
            for machine in self._ours():
                name, zone = machine["name"], _zone(machine)
                say(f"deleting {name} in {zone}")
                try:
                    self.gcloud.run("compute", "instances", "delete", name, "--zone", zone, "--delete-disks", "all")
                except NotThere:
                    continue
                except CallFailed as error:
                    # Google counts running time only, so it never deletes a stopped machine.
                    end = (
                        "the next run tries again"
                        if machine["status"] in _ENDED
                        else "Google deletes it at its time limit"
                    )
                    left.append(f"{name} in {zone} ({error.text}); {end}")
        if left:
            raise CallFailed("compute instances delete", "left: " + "\n".join(left))

    def _stop(self, name: str, zone: str) -> None:
        """Stop a machine, so that its disk can become an image."""
        try:
            self.gcloud.run("compute", "instances", "stop", name, "--zone", zone)
        except NotThere:
            # Preempted between its report and this call. Its disk is deleted, too.
            raise Preempted(name) from None

    def _ours(self) -> Iterator[Mapping[str, str]]:
        mine = " AND ".join(f"labels.{label}" for label in self.labels)
        yield from self.gcloud.json("compute", "instances", "list", f"--filter={mine}") or ()

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
                    if (job.name, zone) not in {(machine["name"], _zone(machine)) for machine in self._ours()}:
                        text = f"{job.name} in {zone} belongs to another stack; run again after that build"
                        raise CallFailed("compute instances create", text) from None
                    return kind, zone, begun
                else:
                    return kind, zone, begun
        raise NoCapacity("compute instances create", "no capacity in any zone:\n" + "\n".join(refusals))

    def _arguments(self, job: Job, kind: str, zone: str, script: Path) -> list[str]:
        return [
            f"--zone={zone}",
            *job.image,
            *job.shape,
            f"--provisioning-model={kind}",
            f"--max-run-duration={job.minutes}m",
            "--instance-termination-action=DELETE",
            # Guest attributes need no identity, so the machine gets no token.
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

    def _wait(self, job: Job, zone: str, end: float) -> None:
        """Wait for a successful report."""
        troubles = 0
        while time.monotonic() < end:
            try:
                status = self.gcloud.json("compute", "instances", "describe", job.name, "--zone", zone)["status"]
                report = reported(self.gcloud, job.name, zone)
                troubles = 0
            except NotThere:
                raise _ended(job, zone, end) from None
            except CallFailed:
                troubles += 1
                if troubles == _PATIENCE:
                    raise
                status, report = "RUNNING", ""
            if report == f"ok:{job.hash}":
                return
            # Before its report is read: a shutdown stops the network first, and the script reports that as a failure.
            if status in _ENDED:
                raise _ended(job, zone, end)
            if report.startswith("fail:"):
                say(last_words(self.gcloud, job.name, zone))
                raise (Hindered if report.split(":")[1] in ELSEWHERE else Failed)(f"{job.name}: {report}")
            time.sleep(self.poll_seconds)
        say(last_words(self.gcloud, job.name, zone))
        raise _overdue(job, zone)


def _ended(job: Job, zone: str, end: float) -> Exception:
    """Return the reason for the end of a machine: its time limit or a preemption."""
    return _overdue(job, zone) if time.monotonic() >= end else Preempted(job.name)


def _overdue(job: Job, zone: str) -> Overdue:
    return Overdue(f"{job.name} in {zone} did not report in its {job.minutes} minutes")


def _zone(machine: Mapping[str, str]) -> str:
    return machine["zone"].rsplit("/", 1)[-1]


@contextmanager
def _undisturbed() -> Generator[None]:
    """Delay signals until the block is done."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
