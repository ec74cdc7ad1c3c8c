"""The steps from an installer to a verified image, and the cleanup after a failure.

Each step first checks whether it is done. The next run therefore continues after a killed one: it deletes the machines
and verifies the image that the killed run left.
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
    """The builder of one image."""

    inputs: Inputs
    gcloud: Gcloud
    machines: Machines
    images: Images
    archive: Archive | None
    """The destination of exports; None exports nothing."""

    def build(self) -> dict[str, str]:
        """Ensure that the image exists, is verified and is promoted; return its name, link, family and hash.

        Raises:
            NoAccess: the project cannot be read.
            CallFailed, Preempted, Hindered, Overdue: something outside failed.
            Failed: the installer or the verifier failed.

        """
        self._access()
        name = self.inputs.name
        with self._swept():
            found = self.images.find(name)
            if found is None or (found["status"] == "FAILED" and self.images.release(name)):
                self._install()
            # This may be an image that another stack created in the meantime.
            if is_verified(self.images.join(name)):
                say(f"{name} already exists")
            else:
                self._verify()
        self.images.promote(name)
        self.images.retire(name, self.inputs.keep)
        self._report_head()
        if self.archive is not None:
            self.archive.keep(name)
        return {
            "image": name,
            "self_link": f"projects/{self.inputs.project}/global/images/{name}",
            "family": self.inputs.family,
            "hash": self.inputs.content.hash,
        }

    def destroy(self) -> None:
        """Delete the machines, and the images of the family unless they are kept."""
        self._access()
        self.machines.sweep()
        if self.archive is not None:
            self.archive.sweep()
        if self.inputs.keep_on_destroy:
            say(f"keeping the images of the family {self.inputs.family}, as stated")
        else:
            self.images.release_all()

    def _report_head(self) -> None:
        """Report the image that the family returns. This stack does not deprecate images without its label."""
        name, head = self.inputs.name, self.images.head()
        if head == name:
            say(f"{name} is the image of the family {self.inputs.family}")
        else:
            say(
                f"the family {self.inputs.family} returns {head or 'no image'}, which this stack does not own: "
                f"boot {name} by its name, or deprecate the other image by hand"
            )

    def _access(self) -> None:
        try:
            self.gcloud.run("compute", "project-info", "describe", "--format=value(name)")
        except CallFailed as error:
            raise NoAccess("compute project-info describe", error.text) from None

    @contextmanager
    def _swept(self) -> Generator[None]:
        """Delete this stack's machines before and after the block, even if it fails."""
        self.machines.sweep()
        try:
            yield
        except BaseException:
            try:
                self.machines.sweep()
            except CallFailed as error:
                say(str(error))  # The first error is the one to report.
            raise
        self.machines.sweep()

    def _install(self) -> None:
        """Install on a machine without a GPU, and create the candidate from its disk."""
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
        say(f"creating the image {self.inputs.name}")
        labels = {"gpu-image-hash": self.inputs.content.hash}
        try:
            self.images.create(
                self.inputs.name, disk=job.name, zone=zone, labels=labels, location=self.inputs.content.location
            )
        except Exists:
            say(f"{self.inputs.name} exists by now")

    def _verify(self) -> None:
        """Boot the candidate on a machine with a GPU. Delete it if it fails or hangs; keep it if it was not tried."""
        accelerator = self.inputs.verify_accelerator
        job = Job(
            name=f"{self.inputs.name}-verify",
            hash=self.inputs.content.hash,
            image=(f"--image={self.inputs.name}", f"--image-project={self.inputs.project}"),
            shape=(
                f"--machine-type={self.inputs.verify_machine_type}",
                *((f"--accelerator=type={accelerator},count={self.inputs.verify_gpus}",) if accelerator else ()),
                # A machine with a GPU cannot migrate.
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
            self.images.release(self.inputs.name)
            raise
        say(f"{self.inputs.name} is verified")

    def _base(self) -> tuple[str, ...]:
        project, name = self.inputs.content.base_image.split("/")
        return (f"--image={name}", f"--image-project={project}")

    def _options(self, options: Mapping[str, str]) -> dict[str, str]:
        return {**options, HASH_OPTION: self.inputs.content.hash}


def controller(inputs: Inputs) -> Controller:
    """Return the builder of the image that `inputs` describe."""
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
