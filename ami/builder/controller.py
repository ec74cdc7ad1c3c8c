"""From an installer to an image that is proved: what is done in which order, and what is undone when it fails.

Owns the order alone; machines and images have modules of their own. Each step first looks whether it is done, so that
a run that was killed is taken up by the next: the machines it left are swept, an image it made is proved.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ami.builder.archive import Archive
from ami.builder.gcloud import CallFailed, Exists, Gcloud, NoAccess
from ami.builder.images import Images, is_verified
from ami.builder.job import Failed, Job, Overdue, say
from ami.builder.machine import Machines
from ami.builder.startup_script import INSTALL_HOME, VERIFY_HOME, startup_script

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from ami.builder.inputs import Inputs

HASH_OPTION: Final = "GPU_HOST_HASH"


@dataclass(frozen=True, slots=True, kw_only=True)
class Controller:
    """One image, and everything that building it takes."""

    inputs: Inputs
    """What to build."""
    gcloud: Gcloud
    """Where."""
    machines: Machines
    """Its machines."""
    images: Images
    """It and its elders."""
    archive: Archive | None
    """Where a copy of it is kept, if anywhere."""

    def build(self) -> dict[str, str]:
        """Make sure that the image is there, proved and promoted; what is known of it then.

        Raises:
            NoAccess: the project cannot be read.
            CallFailed, Preempted, Hindered, Overdue: something outside failed.
            Failed: the installer or the verifier did.

        """
        self._access()
        name = self.inputs.name
        with self._swept():
            found = self.images.find(name)
            if found is None or (found["status"] == "FAILED" and self.images.let_go(name)):
                self._make()
            # Not what was just made: somebody else may have been quicker.
            if is_verified(self.images.join(name)):
                say(f"{name} is there already")
            else:
                self._prove()
        self.images.promote(name)
        self.images.retire(name, self.inputs.keep)
        self._tell_head()
        if self.archive is not None:
            self.archive.keep(name)
        return {
            "image": name,
            "self_link": f"projects/{self.inputs.project}/global/images/{name}",
            "family": self.inputs.family,
            "hash": self.inputs.content.hash,
        }

    def destroy(self) -> None:
        """Take the machines away, and the images of the family where they are not to be kept."""
        self._access()
        self.machines.sweep()
        if self.archive is not None:
            self.archive.sweep()
        if self.inputs.keep_on_destroy:
            say(f"the images of the family {self.inputs.family} stay, as stated")
        else:
            self.images.let_go_all()

    def _tell_head(self) -> None:
        """Say what the family gives: images without this stack's label are not its to deprecate."""
        name, head = self.inputs.name, self.images.head()
        if head == name:
            say(f"{name} is the image of the family {self.inputs.family}")
        else:
            say(
                f"the family {self.inputs.family} gives {head or 'nothing'}, which is not this stack's to deprecate: "
                f"boot {name} by its name, or deprecate the other by hand"
            )

    def _access(self) -> None:
        try:
            self.gcloud.run("compute", "project-info", "describe", "--format=value(name)")
        except CallFailed as error:
            raise NoAccess("compute project-info describe", error.text) from None

    @contextmanager
    def _swept(self) -> Generator[None]:
        """Nothing of ours runs before, and nothing after, whichever way it ends."""
        self.machines.sweep()
        try:
            yield
        except BaseException:
            try:
                self.machines.sweep()
            except CallFailed as error:
                say(str(error))  # What went wrong first is the error to end with.
            raise
        self.machines.sweep()

    def _make(self) -> None:
        """Install on a machine without a GPU, and make its disk the candidate."""
        job = Job(
            name=f"{self.inputs.name}-build",
            hash=self.inputs.content.hash,
            image=self._base(),
            shape=(
                f"--machine-type={self.inputs.machine_type}",
                f"--boot-disk-size={self.inputs.content.disk_gib}GB",
                "--boot-disk-type=pd-balanced",
            ),
            script=startup_script(
                self.inputs.content.files,
                self._options(self.inputs.content.options),
                home=INSTALL_HOME,
                run="install.sh",
            ),
            minutes=self.inputs.build_minutes,
            zones=self.inputs.zones,
            provisioning=self.inputs.provisioning,
            stops=True,
        )
        zone = self.machines.run(job)
        say(f"making the image {self.inputs.name}")
        labels = {"gpu-image-hash": self.inputs.content.hash}
        try:
            self.images.create(
                self.inputs.name, disk=job.name, zone=zone, labels=labels, location=self.inputs.content.location
            )
        except Exists:
            say(f"{self.inputs.name} is there by now")

    def _prove(self) -> None:
        """Boot the candidate on a machine with a GPU. What fails or hangs there goes; what was not tried stays."""
        accelerator = self.inputs.verify_accelerator
        job = Job(
            name=f"{self.inputs.name}-verify",
            hash=self.inputs.content.hash,
            image=(f"--image={self.inputs.name}", f"--image-project={self.inputs.project}"),
            shape=(
                f"--machine-type={self.inputs.verify_machine_type}",
                *((f"--accelerator=type={accelerator},count={self.inputs.verify_gpus}",) if accelerator else ()),
                # A machine with a GPU cannot be moved.
                "--maintenance-policy=TERMINATE",
                f"--boot-disk-size={self.inputs.content.disk_gib}GB",
                "--boot-disk-type=pd-balanced",
            ),
            script=startup_script(
                self.inputs.verify_files,
                self._options({**self.inputs.content.options, **self.inputs.verify_options}),
                home=VERIFY_HOME,
                run="verify.sh",
            ),
            minutes=self.inputs.verify_minutes,
            zones=self.inputs.zones,
            provisioning=self.inputs.provisioning,
        )
        try:
            self.machines.run(job)
        except (Failed, Overdue):
            self.images.let_go(self.inputs.name)
            raise
        say(f"{self.inputs.name} is proved")

    def _base(self) -> tuple[str, ...]:
        project, name = self.inputs.content.base_image.split("/")
        return (f"--image={name}", f"--image-project={project}")

    def _options(self, options: Mapping[str, str]) -> dict[str, str]:
        return {**options, HASH_OPTION: self.inputs.content.hash}


def controller(inputs: Inputs) -> Controller:
    """The controller of what `inputs` state."""
    gcloud = Gcloud(project=inputs.project, pause_seconds=inputs.poll_seconds)
    return Controller(
        inputs=inputs,
        gcloud=gcloud,
        machines=Machines(
            gcloud=gcloud,
            labels=(f"gpu-image-family={inputs.family}", f"gpu-image-owner={inputs.owner}"),
            network=(f"--subnet={inputs.subnet}",) if inputs.subnet else (),
            attempts=inputs.attempts,
            poll_seconds=inputs.poll_seconds,
        ),
        images=Images(gcloud=gcloud, family=inputs.family, owner=inputs.owner, poll_seconds=inputs.poll_seconds),
        archive=_archive(inputs, gcloud) if inputs.export else None,
    )


def _archive(inputs: Inputs, gcloud: Gcloud) -> Archive:
    return Archive(
        gcloud=gcloud,
        folder=inputs.export,
        build_account=inputs.export_build,
        machine_account=inputs.export_machine,
        zone=inputs.zones[0],
        subnet=inputs.subnet,
    )
