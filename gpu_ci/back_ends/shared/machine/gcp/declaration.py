"""The machines of one back end on Google Cloud: names and image from the stack file, and their declaration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpu_ci.back_ends.protocol import ProgramContext
from gpu_ci.back_ends.shared.machine.runner import MachineRunner, machine_title
from gpu_ci.back_ends.shared.machine.section import OWN, STOCK, MachineSection
from gpu_ci.knowledge.machines import attach, gpu_model
from gpu_ci.knowledge.regions import region_of
from gpu_ci.stack_file.identity import Identity
from gpu_ci.stack_file.values.general import gibibytes

if TYPE_CHECKING:
    import pulumi

    from gpu_ci.back_ends.shared.machine.gcp.machine import GcpMachine


@dataclass(frozen=True, slots=True, kw_only=True)
class GcpNames:
    """The names of what the machines of one back end share on Google Cloud."""

    title: str
    """The name of the network."""
    account: str
    """The id of the service account."""
    key_secret: str
    """The id of the secret for the private key of the GitHub App."""


def names(identity: Identity, kind: str) -> GcpNames:
    """Return the names for one back end; `kind` has at most six characters, as in `vm`."""
    title = f"{identity.prefix}-{kind}"
    return GcpNames(title=title, account=title, key_secret=f"{title}-github-app-private-key")


def declare(context: ProgramContext, kind: str, runners: Mapping[str, MachineRunner]) -> dict[str, GcpMachine]:
    """Declare the machines of one back end; return them by the runner's name.

    Args:
        context: what is declared already.
        kind: the back end in names, at most six characters.
        runners: runner name to its machine.

    """
    settings, identity = context.stack.settings, context.stack.identity
    if settings.gcp is None or not runners:
        return {}
    # Imported here: a stack without Google Cloud does not load its SDK.
    from gpu_ci.back_ends.shared.machine.gcp.base import GcpBase, GcpBaseArgs  # noqa: PLC0415
    from gpu_ci.back_ends.shared.machine.gcp.machine import STOCK_IMAGES, GcpMachine, GcpMachineArgs  # noqa: PLC0415

    shared, account = names(identity, kind), settings.gcp
    base = GcpBase(
        f"{kind}-gcp",
        GcpBaseArgs(
            project=account.project,
            title=shared.title,
            account=shared.account,
            key_secret=shared.key_secret,
            regions={region_of(one.section.zone) for one in runners.values()},
            nat=not account.public_addresses,
            scheduled=any(one.hours is not None for one in runners.values()),
        ),
        context.gcp,
    )
    machines: dict[str, GcpMachine] = {}
    for name, one in runners.items():
        section, needs, alerts = one.section, one.runner.needs, one.section.alerts
        machines[name] = GcpMachine(
            f"{kind}-{name}",
            GcpMachineArgs(
                title=machine_title(identity, name),
                project=account.project,
                zone=section.zone,
                machine=attach(settings.machines.gce(section.machine_type), gpu_model(needs.gpu), needs.gpus),
                image=_image(context, section, STOCK_IMAGES),
                signed_driver=section.image in {STOCK, OWN},
                disk_gib=gibibytes(section.disk),
                spot=section.spot,
                public_address=account.public_addresses,
                egress_ports=section.egress_ports,
                user_data=one.user_data,
                max_hours=section.max_hours,
                base=base,
                hours=one.hours,
                email=alerts.email if alerts is not None else "",
                idle_minutes=alerts.idle_minutes if alerts is not None else 0,
            ),
            context.gcp,
        )
    return machines


def _image(context: ProgramContext, section: MachineSection, stock: Mapping[str, str]) -> pulumi.Input[str]:
    """Return the path of the machine's image. The image of `host-image` exists only after its tests passed."""
    if section.image == STOCK:
        return stock[section.os]
    if section.image == OWN and context.host_image is not None and context.stack.settings.gcp is not None:
        project = context.stack.settings.gcp.project
        return context.host_image.apply(lambda name: f"projects/{project}/global/images/{name}")
    return section.image


def commands(*, project: str, zone: str, title: str, key_secret: str) -> dict[str, str]:
    """Return the commands of people for one machine."""
    place = f"{title} --project {project} --zone {zone}"
    report = "--query-path gpu-ci/runner --format 'value(value)'"
    return {
        "add-key": f"gcloud secrets versions add {key_secret} --project {project} --data-file key.pem",
        "start": f"gcloud compute instances start {place}",
        "stop": f"gcloud compute instances stop {place}",
        "status": f"gcloud compute instances get-guest-attributes {place} {report}",
        "shell": f"gcloud compute ssh {place} --tunnel-through-iap",
    }
