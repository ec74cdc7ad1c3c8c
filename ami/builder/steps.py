"""The steps from an installer to a verified image, and the cleanup after a failure.

Each step first checks whether it is done. The next run therefore continues after a killed one: it deletes the machines
and verifies the image that the killed run left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ami.builder.gcloud import CallFailed, Gcloud, say
from ami.builder.images import Images, is_verified
from ami.builder.inputs import NotStarted
from ami.builder.machine import Failed, Job, Machines, Overdue
from ami.builder.preconditions import refuse
from ami.builder.startup_script import HASH_OPTION, INSTALL_HOME, VERIFY_FILES, VERIFY_HOME, startup_script

if TYPE_CHECKING:
    from ami.builder.content_hash import ImageContent
    from ami.builder.inputs import Inputs


def build(inputs: Inputs) -> dict[str, str]:
    """Ensure that the image exists, is verified and is promoted; return its name, link, family and hash.

    Raises:
        NotStarted: the folder has changed, the project cannot be read or may have no GPU, or its base is missing.
        Outside: something outside failed.
        Failed: the installer or the verifier failed.

    """
    try:
        content = inputs.content()
        installer, verifier = _installer(inputs, content), _verifier(inputs, content)
    except (OSError, ValueError) as error:
        raise NotStarted(str(error)) from None
    gcloud = _gcloud(inputs)
    machines = Machines(gcloud=gcloud, inputs=inputs, hash=content.hash)
    images = Images(gcloud=gcloud, inputs=inputs)
    machines.sweep()
    refuse(gcloud, inputs, images.find(inputs.name))
    try:
        _create_and_verify(inputs.name, machines, images, installer, verifier)
    except BaseException:
        try:
            machines.sweep()
        except CallFailed as error:
            say(str(error))  # The first error is the one to report.
        raise
    machines.sweep()
    images.promote(inputs.name)
    images.retire(inputs.name, inputs.keep)
    images.report_head(inputs.name)
    if inputs.export:
        images.export(inputs.name)
    return {
        "image": inputs.name,
        "self_link": f"projects/{inputs.project}/global/images/{inputs.name}",
        "family": inputs.family,
        "hash": content.hash,
    }


def destroy(inputs: Inputs) -> None:
    """Delete the machines, and the images of the family unless they are kept.

    Raises:
        NotStarted: the project cannot be read.
        Outside: something outside failed.

    """
    gcloud = _gcloud(inputs)
    images = Images(gcloud=gcloud, inputs=inputs)
    Machines(gcloud=gcloud, inputs=inputs).sweep()
    if inputs.export:
        images.sweep_exports()
    if inputs.keep_on_destroy:
        say(f"keeping the images of the family {inputs.family}, as stated")
    else:
        images.release_all()


def _gcloud(inputs: Inputs) -> Gcloud:
    """Return gcloud for the project, which it can read."""
    gcloud = Gcloud(project=inputs.project, pause_seconds=inputs.poll_seconds)
    try:
        gcloud.run("compute", "project-info", "describe", "--format=value(name)")
    except CallFailed as error:
        raise NotStarted(str(error)) from None
    return gcloud


def _create_and_verify(name: str, machines: Machines, images: Images, installer: Job, verifier: Job) -> None:
    """Create the candidate unless it exists, and verify it on a machine with a GPU unless that is done."""
    found = images.find(name)
    if found is None or (found["status"] == "FAILED" and images.release(name)):
        zone = machines.run(installer)
        images.create(name, disk=installer.name, zone=zone)
    # This may be an image that another stack created in the meantime.
    if is_verified(images.join(name)):
        say(f"{name} already exists")
        return
    try:
        machines.run(verifier)
    except (Failed, Overdue):
        # Any other error leaves a candidate that was not tried: the next run verifies it.
        images.release(name)
        raise
    say(f"{name} is verified")


def _installer(inputs: Inputs, content: ImageContent) -> Job:
    """Return the job that installs on a machine without a GPU."""
    project, image = inputs.base.split("/")
    options = {**inputs.options, HASH_OPTION: content.hash}
    return Job(
        name=f"{inputs.name}-build",
        arguments=(
            f"--image={image}",
            f"--image-project={project}",
            f"--machine-type={inputs.machine_type}",
            f"--boot-disk-size={inputs.disk_gib}GB",
            "--boot-disk-type=pd-balanced",
        ),
        script=startup_script(content.files, options, home=INSTALL_HOME, run="install.sh"),
        minutes=inputs.build_minutes,
        gvnic=inputs.gvnic,
        stops=True,
    )


def _verifier(inputs: Inputs, content: ImageContent) -> Job:
    """Return the job that boots the candidate on a machine with a GPU and verifies it."""
    options = {**inputs.options, **inputs.verify_options, HASH_OPTION: content.hash}
    accelerator = f"--accelerator=type={inputs.verify_accelerator},count={inputs.verify_gpus}"
    return Job(
        name=f"{inputs.name}-verify",
        arguments=(
            f"--image={inputs.name}",
            f"--image-project={inputs.project}",
            f"--machine-type={inputs.verify_machine_type}",
            *([accelerator] if inputs.verify_accelerator else []),
            # A machine with a GPU cannot migrate.
            "--maintenance-policy=TERMINATE",
            f"--boot-disk-size={inputs.disk_gib}GB",
            "--boot-disk-type=pd-balanced",
        ),
        script=startup_script(inputs.files(VERIFY_FILES), options, home=VERIFY_HOME, run="verify.sh"),
        minutes=inputs.verify_minutes,
        gvnic=inputs.verify_gvnic,
    )
