"""From an installer to an image that is proved: what is done in which order, and what is undone when it fails.

Owns the order alone; machines and images have modules of their own. Each step first looks whether it is done, so that
a run that was killed is taken up by the next: the machines it left are swept, an image it made is proved.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from components.gcp.image_controller.gcloud import CallFailed, Gcloud, NoAccess
from components.gcp.image_controller.images import Images, is_verified
from components.gcp.image_controller.machine import Failed, Job, Machines, Preempted, say
from components.gcp.image_controller.startup_script import INSTALL_HOME, VERIFY_HOME, startup_script

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from components.gcp.image_controller.inputs import Inputs

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

    def build(self) -> dict[str, str]:
        """Make sure that the image is there, proved and promoted; what is known of it then.

        Raises:
            NoAccess: the project cannot be read.
            CallFailed, Preempted, Overdue: something outside failed.
            Failed: the installer or the verifier did.

        """
        self._access()
        name = self.inputs.name
        with self._swept():
            found = self.images.find(name)
            if found is not None and found["status"] == "FAILED":
                self.images.delete(name)
                found = None
            if found is None:
                self._make()
                self._prove()
            elif found["status"] != "READY":
                raise CallFailed("compute images describe", f"{name} is {found['status']}; run again when it is READY")
            elif not is_verified(found):
                say(f"{name} is there and was not proved yet")
                self._prove()
            else:
                say(f"{name} is there already")
        self.images.promote(name)
        self.images.retire(name, self.inputs.keep)
        self.images.share(name, self.inputs.share)
        if self.inputs.export:
            self.images.export(name, self.inputs.export, self.inputs.zones[0])
        return {
            "image": name,
            "self_link": f"projects/{self.inputs.project}/global/images/{name}",
            "family": self.inputs.family,
            "hash": self.inputs.content.hash,
        }

    def destroy(self) -> None:
        """Take the machines away, and the image with its elders where they are not to be kept."""
        self._access()
        self.machines.sweep()
        if self.inputs.keep_on_destroy:
            say(f"{self.inputs.name} and the images kept beside it stay, as stated")
        else:
            self.images.delete_all(self.inputs.name)

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
        )
        for attempt in range(1, self.inputs.attempts + 1):
            zone = self.machines.run(job)
            try:
                self.machines.stop(job.name, zone)
            except Preempted:
                # Taken away between its report and this call, and its disk with it.
                if attempt == self.inputs.attempts:
                    raise
                say(f"{job.name} was pre-empted before its disk could be kept; trying again")
                continue
            say(f"making the image {self.inputs.name}")
            labels = {"gpu-image-hash": self.inputs.content.hash}
            self.images.create(
                self.inputs.name, disk=job.name, zone=zone, labels=labels, location=self.inputs.content.location
            )
            return

    def _prove(self) -> None:
        """Boot the candidate on a machine with a GPU. What fails there is deleted; what had no machine stays."""
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
            zones=self.inputs.verify_zones,
            provisioning=self.inputs.provisioning,
        )
        try:
            self.machines.run(job)
        except Failed:
            self.images.delete(self.inputs.name)
            raise
        say(f"{self.inputs.name} is proved")

    def _base(self) -> tuple[str, ...]:
        project, name = self.inputs.content.base_image.split("/")
        return (f"--image={name}", f"--image-project={project}")

    def _options(self, options: Mapping[str, str]) -> dict[str, str]:
        return {**options, HASH_OPTION: self.inputs.content.hash}


def controller(inputs: Inputs) -> Controller:
    """The controller of what `inputs` state."""
    gcloud = Gcloud(project=inputs.project)
    network = () if not inputs.subnet else (f"--subnet={inputs.subnet}",)
    return Controller(
        inputs=inputs,
        gcloud=gcloud,
        machines=Machines(
            gcloud=gcloud,
            labels=(f"gpu-image={inputs.name}", f"gpu-image-owner={inputs.owner}"),
            network=network if inputs.external_address else (*network, "--no-address"),
            attempts=inputs.attempts,
            poll_seconds=inputs.poll_seconds,
        ),
        images=Images(
            gcloud=gcloud,
            family=inputs.family,
            labels={"gpu-image-family": inputs.family, "gpu-image-owner": inputs.owner},
        ),
    )
