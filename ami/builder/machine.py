"""The life of one machine: made where there is capacity, watched until it reports, and never left behind.

Owns machines. Every machine has an end of its own at Google (`--max-run-duration` and DELETE), set when it is made:
nothing that happens here, not even a SIGKILL, lets one run for longer.
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
"""What may come from a person or from Pulumi, and is answered by taking everything down."""
LAST_SECONDS: Final = 120
"""By so much a machine is given up before Google deletes it: afterwards there are no last words to read, and a machine
that hung could not be told from one that was pre-empted."""
_PATIENCE: Final = 5
"""How many calls in a row may fail before a machine is given up: the API has hiccups, and a build is half an hour."""
_ENDED: Final = ("STOPPING", "STOPPED", "TERMINATED", "SUSPENDING", "SUSPENDED")


@dataclass(frozen=True, slots=True, kw_only=True)
class Machines:
    """The machines of one family and owner."""

    gcloud: Gcloud
    """Where they are."""
    labels: tuple[str, ...]
    """`KEY=VALUE`: by these, and by nothing else, a machine is known as one of ours, of whichever image."""
    network: tuple[str, ...]
    """gcloud's arguments for where they stand."""
    attempts: int
    """How many may be pre-empted, and one more."""
    poll_seconds: float
    """Between two looks."""

    def run(self, job: Job) -> str:
        """Run `job` until it reports success; the zone its machine stands in.

        Raises:
            NoCapacity: no zone has such a machine.
            Preempted: as often as may be.
            Failed: what ran on it failed.
            Hindered: what ran on it lacked something from elsewhere.
            Overdue: it never reported.

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
            for machine in self._ours():
                name, zone = machine["name"], _zone(machine)
                say(f"deleting {name} in {zone}")
                try:
                    self.gcloud.run("compute", "instances", "delete", name, "--zone", zone, "--delete-disks", "all")
                except NotThere:
                    continue
                except CallFailed as error:
                    # Google counts the time that a machine runs: one that was stopped it never deletes.
                    end = "the next run tries again" if machine["status"] in _ENDED else "it ends at its own run limit"
                    left.append(f"{name} in {zone} ({error.text}); {end}")
        if left:
            raise CallFailed("compute instances delete", "left: " + "\n".join(left))

    def _stop(self, name: str, zone: str) -> None:
        """Stop a machine, so that its disk can become an image."""
        try:
            self.gcloud.run("compute", "instances", "stop", name, "--zone", zone)
        except NotThere:
            # Taken away between its report and this call, and its disk with it.
            raise Preempted(name) from None

    def _ours(self) -> Iterator[Mapping[str, str]]:
        mine = " AND ".join(f"labels.{label}" for label in self.labels)
        yield from self.gcloud.json("compute", "instances", "list", f"--filter={mine}") or ()

    def _made(self, job: Job, places: Sequence[tuple[str, str]]) -> tuple[str, str, float]:
        """Make the machine; how and where, and when that was begun, which is before Google begins to count."""
        refusals: list[str] = []
        with tempfile.TemporaryDirectory(prefix="gpu-image-") as folder:
            script = Path(folder) / "startup-script"
            script.write_text(job.script, encoding="utf-8")
            for kind, zone in places:
                say(f"making {job.name} in {zone} ({kind})")
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
                    # Ours is what an earlier try of the same call has made: everything older was swept.
                    if (job.name, zone) not in {(machine["name"], _zone(machine)) for machine in self._ours()}:
                        text = f"{job.name} is another owner's in {zone}; run again when that build is over"
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

    def _wait(self, job: Job, zone: str, end: float) -> None:
        """Wait for a good report."""
        troubles = 0
        while time.monotonic() < end:
            try:
                status = self.gcloud.json("compute", "instances", "describe", job.name, "--zone", zone)["status"]
                report = reported(self.gcloud, job.name, zone)
                troubles = 0
            except NotThere:
                raise _gone(job, zone, end) from None
            except CallFailed:
                troubles += 1
                if troubles == _PATIENCE:
                    raise
                status, report = "RUNNING", ""
            if report == f"ok:{job.hash}":
                return
            # Before what it may have said of its own end: a network that goes down first is nobody's failure.
            if status in _ENDED:
                raise _gone(job, zone, end)
            if report.startswith("fail:"):
                say(last_words(self.gcloud, job.name, zone))
                raise (Hindered if report.split(":")[1] in ELSEWHERE else Failed)(f"{job.name}: {report}")
            time.sleep(self.poll_seconds)
        say(last_words(self.gcloud, job.name, zone))
        raise _overdue(job, zone)


def _gone(job: Job, zone: str, end: float) -> Exception:
    """Why a machine is no more: one that is gone after its time was ended by its own limit."""
    return _overdue(job, zone) if time.monotonic() >= end else Preempted(job.name)


def _overdue(job: Job, zone: str) -> Overdue:
    return Overdue(f"{job.name} in {zone} did not report in its {job.minutes} minutes")


def _zone(machine: Mapping[str, str]) -> str:
    return machine["zone"].rsplit("/", 1)[-1]


@contextmanager
def _undisturbed() -> Generator[None]:
    """Let a signal wait until what is being taken down is down."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
