"""The back end `cirun-gcp`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from gpu_ci.back_ends.cirun_gcp.permissions import ROLE_TITLE, permissions
from gpu_ci.back_ends.cirun_gcp.section import CirunGcpSection
from gpu_ci.back_ends.offer import HostSoftware, Machine, Offer, OwnMachines
from gpu_ci.back_ends.protocol import BackEnd, ProgramContext, Repository
from gpu_ci.back_ends.shared.cirun.back_end import CirunBackEnd
from gpu_ci.back_ends.shared.cirun.outputs import manual_steps
from gpu_ci.knowledge.machines import attach, gpu_model
from gpu_ci.knowledge.machines.groups import Placement
from gpu_ci.knowledge.machines.start_up import own_machine_steps
from gpu_ci.knowledge.regions import Cloud, region_of
from gpu_ci.repository.cirun_runners import GpuRunner
from gpu_ci.stack_file.identity import Identity
from gpu_ci.stack_file.sections.runners import RunnerSettings
from gpu_ci.stack_file.sections.settings import Settings
from gpu_ci.stack_file.values.general import gibibytes

if TYPE_CHECKING:
    import pulumi


class CirunGcp(CirunBackEnd):
    """cirun on Google Cloud: a Compute Engine instance for each job, from the image that `host-image` builds."""

    title = "cirun on Google Cloud"

    def offer(self, name: str, runner: RunnerSettings, settings: Settings) -> Offer:
        """Return what one runner is offered."""
        stated, path, needs = runner.section(CirunGcpSection), f"runners.{name}", runner.needs
        section, disk_gib = f"{path}.cirun-gcp", gibibytes(stated.disk)
        model = gpu_model(needs.gpu)
        attached = any(settings.machines.gce(machine).gpu is None for machine in stated.machine_types)
        zones: dict[str, list[str]] = {}
        for zone in stated.zones:
            zones.setdefault(region_of(zone), []).append(zone)
        return Offer(
            path=path,
            section=section,
            machines=tuple(
                Machine(type=attach(settings.machines.gce(machine), model, needs.gpus), disk_gib=disk_gib)
                for machine in stated.machine_types
            ),
            host=HostSoftware(builds_image=True),
            steps=own_machine_steps(),
            own=OwnMachines(
                cloud=Cloud.GCP,
                types=stated.machine_types,
                placements=tuple(
                    Placement(region=region, zones=tuple(tried), spot=spot)
                    for region, tried in zones.items()
                    for spot in dict.fromkeys(stated.spot)
                ),
                places_key=f"{section}.zones",
                spot_key=f"{section}.spot",
                at_once=stated.at_once,
                at_once_key=f"{section}.at-once",
                disk_gib=disk_gib,
                disk_key=f"{section}.disk",
                disk_kind=settings.machines.gce(stated.machine_types[0]).boot_disk,
                attached_gpu=needs.gpu if attached else None,
                attached_gpus=needs.gpus if attached else 0,
                image_gib=gibibytes(settings.host_image.builder.disk) if settings.host_image else 0,
            ),
        )

    def gpu_runner(self, name: str, runner: RunnerSettings, repository: Repository) -> GpuRunner:
        """Return the entry of `.cirun.yml` for one runner.

        The image is stated by its name and not by its family, so that the file changes whenever the image does.
        """
        stated, settings, identity = (
            runner.section(CirunGcpSection),
            repository.stack.settings,
            repository.stack.identity,
        )
        if settings.gcp is None or repository.machine_image is None:
            message = f"runners.{name} was not validated: it needs gcp and host-image"
            raise ValueError(message)
        project = settings.gcp.project
        has_gpu = all(settings.machines.gce(machine).gpu is not None for machine in stated.machine_types)
        return GpuRunner(
            name=name,
            cloud=Cloud.GCP,
            labels=(self.runs_on(name, runner).label,),
            instance_types=stated.machine_types,
            places=stated.zones,
            # By its path: in PROJECT:NAME cirun may look for a machine image, too, which its role cannot read.
            images=dict.fromkeys(stated.zones, f"projects/{project}/global/images/{repository.machine_image}"),
            spot=stated.spot,
            gpu=None if has_gpu else gpu_model(runner.needs.gpu).gcp,
            disk_gib=gibibytes(stated.disk),
            disk_type=settings.machines.gce(stated.machine_types[0]).boot_disk,
            project=project,
            network=f"projects/{project}/global/networks/{network_name(identity)}",
            gvnic=any(settings.machines.gce(machine).gvnic for machine in stated.machine_types),
            public_address=settings.gcp.public_addresses,
            service_account=f"{identity.prefix}-runner@{project}.iam.gserviceaccount.com",
        )

    def declare(self, context: ProgramContext) -> Mapping[str, pulumi.Resource]:
        """Declare cirun's service account and the network of its machines."""
        settings, identity = context.stack.settings, context.stack.identity
        if settings.gcp is None or settings.cirun is None or not settings.cirun.gcp:
            return {}
        # Imported here: a stack without Google Cloud does not load its SDK.
        import pulumi  # noqa: PLC0415

        from components.gcp.cirun_access import CirunGcpAccess, CirunGcpArgs  # noqa: PLC0415
        from components.gcp.runner_network import RunnerNetwork, RunnerNetworkArgs  # noqa: PLC0415

        project = settings.gcp.project
        access = CirunGcpAccess(
            "cirun-gcp",
            CirunGcpArgs(
                project=project,
                account=f"{identity.prefix}-cirun",
                # The id of a role takes letters, digits, dots and underscores only.
                role=f"{identity.prefix}_cirun".replace("-", "_"),
                title=ROLE_TITLE,
                permissions=permissions(),
                runs_as=context.runner_account,
            ),
            context.gcp,
        )
        private = () if settings.gcp.public_addresses else settings.served(CirunGcpSection)
        network = RunnerNetwork(
            "runner-network",
            RunnerNetworkArgs(
                project=project,
                title=network_name(identity),
                nat_regions={region_of(zone) for _, _, section in private for zone in section.zones},
            ),
            context.gcp,
        )
        pulumi.export("cirun_gcp", access.email.apply(_outputs))
        served = sorted(f"runners.{name}" for name, runner in settings.runners.items() if "cirun_gcp" in runner.stated)
        return {"cirun.network": network, **dict.fromkeys(("cirun", *served), access)}


def network_name(identity: Identity) -> str:
    """Return the name of the network of cirun's machines, which `.cirun.yml` refers to."""
    return f"{identity.prefix}-runners"


def _outputs(email: str) -> dict[str, str]:
    return manual_steps(
        key=f"gcloud iam service-accounts keys create cirun.json --iam-account {email}", cloud="Google Cloud"
    )


BACK_END: Final[BackEnd] = CirunGcp()
