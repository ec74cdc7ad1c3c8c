"""The back end `cirun-aws`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from gpu_ci.back_ends.cirun_aws.permissions import policy
from gpu_ci.back_ends.cirun_aws.section import CirunAwsSection
from gpu_ci.back_ends.offer import HostSoftware, Machine, Offer, OwnMachines
from gpu_ci.back_ends.protocol import BackEnd, ProgramContext, Repository
from gpu_ci.back_ends.shared.cirun.back_end import CirunBackEnd
from gpu_ci.back_ends.shared.cirun.outputs import manual_steps
from gpu_ci.knowledge.machines.groups import Placement
from gpu_ci.knowledge.machines.start_up import own_machine_steps
from gpu_ci.knowledge.regions import Cloud, region_of
from gpu_ci.repository.cirun_runners import GpuRunner
from gpu_ci.stack_file.sections.runners import RunnerSettings
from gpu_ci.stack_file.sections.settings import Settings
from gpu_ci.stack_file.values.general import gibibytes

if TYPE_CHECKING:
    import pulumi


class CirunAws(CirunBackEnd):
    """cirun on AWS: an EC2 instance for each job, from an AMI that the stack file names."""

    title = "cirun on AWS"

    def offer(self, name: str, runner: RunnerSettings, settings: Settings) -> Offer:
        """Return what one runner is offered."""
        stated, path = runner.section(CirunAwsSection), f"runners.{name}"
        section, disk_gib = f"{path}.cirun-aws", gibibytes(stated.disk)
        # The software of an image that the account builds itself is unknown.
        public = stated.image_parameter if (stated.image_parameter or "").startswith("/aws/service/") else None
        return Offer(
            path=path,
            section=section,
            machines=tuple(
                Machine(type=settings.machines.ec2(one), disk_gib=disk_gib) for one in stated.instance_types
            ),
            host=HostSoftware(
                image=public,
                image_key=f"{section}.image-parameter" if public else "",
            ),
            steps=own_machine_steps(),
            own=OwnMachines(
                cloud=Cloud.AWS,
                types=stated.instance_types,
                placements=tuple(
                    Placement(region=region, spot=spot)
                    for region in dict.fromkeys(stated.regions)
                    for spot in dict.fromkeys(stated.spot)
                ),
                places_key=f"{section}.regions",
                spot_key=f"{section}.spot",
                at_once=stated.at_once,
                at_once_key=f"{section}.at-once",
                disk_gib=disk_gib,
                disk_key=f"{section}.disk",
                disk_kind="gp3",
                network_key=f"{section}.subnets",
                in_own_network=bool(stated.subnets),
            ),
        )

    def gpu_runner(self, name: str, runner: RunnerSettings, repository: Repository) -> GpuRunner:  # noqa: ARG002
        """Return the entry of `.cirun.yml` for one runner."""
        stated = runner.section(CirunAwsSection)
        return GpuRunner(
            name=name,
            cloud=Cloud.AWS,
            labels=(self.runs_on(name, runner).label,),
            instance_types=stated.instance_types,
            places=stated.regions,
            images=stated.images,
            spot=stated.spot,
            disk_gib=gibibytes(stated.disk),
            subnets=stated.subnets,
        )

    def declare(self, context: ProgramContext) -> Mapping[str, pulumi.Resource]:
        """Declare cirun's IAM user, and export what remains to be done by hand."""
        settings, identity = context.stack.settings, context.stack.identity
        if settings.aws is None or settings.cirun is None or not settings.cirun.aws:
            return {}
        # Imported here: a stack without AWS does not load its SDK.
        import pulumi  # noqa: PLC0415

        from components.aws.cirun_access import CirunAwsAccess, CirunAwsArgs  # noqa: PLC0415
        from components.aws.network.runner_network import RunnerNetwork, RunnerNetworkArgs  # noqa: PLC0415

        served = _served(settings)
        regions = sorted({region for one in served.values() for region in one.regions})
        zones = sorted({zone for one in served.values() for zone in one.zones})
        network = RunnerNetwork(
            "cirun-network",
            RunnerNetworkArgs(
                title=f"{identity.prefix}-cirun",
                zones={region: [zone for zone in zones if region_of(zone) == region] for region in regions},
            ),
            context.aws,
        )
        account = settings.aws.account

        def document(vpcs: Mapping[str, str]) -> str:
            return json.dumps(
                policy(
                    account=account,
                    vpcs=vpcs,
                    instance_types=sorted({stated for one in served.values() for stated in one.instance_types}),
                    spot=any(True in one.spot for one in served.values()),
                    stated=all(one.subnets for one in served.values()),
                ),
                sort_keys=True,
            )

        access = CirunAwsAccess(
            "cirun-aws",
            CirunAwsArgs(user=f"{identity.prefix}-cirun", policy=pulumi.Output.all(**network.vpc_arns).apply(document)),
            context.aws,
        )
        known = pulumi.Output.all(access.user_name, pulumi.Output.all(**network.subnet_ids))
        pulumi.export("cirun_aws", known.apply(lambda facts: outputs(facts[0], settings, facts[1])))
        declared = dict.fromkeys(("cirun", *sorted(f"runners.{name}" for name in served)), access)
        return {"cirun.network": network, **declared}


def _served(settings: Settings) -> dict[str, CirunAwsSection]:
    return {
        name: stated
        for name, runner in settings.runners.items()
        if isinstance(stated := runner.stated.get("cirun_aws"), CirunAwsSection)
    }


def outputs(user: str, settings: Settings, subnets: Mapping[str, str]) -> dict[str, str]:
    """Return the manual steps for cirun on AWS, its subnets, and the command per region that reads the newest AMI."""
    images = {
        f"image-{name}-{region}": f"aws ssm get-parameter --region {region} --name {stated.image_parameter}"
        " --query Parameter.Value --output text"
        for name, stated in _served(settings).items()
        if stated.image_parameter is not None
        for region in stated.regions
    }
    networks = {f"subnet-{place}": subnet for place, subnet in subnets.items()}
    return manual_steps(key=f"aws iam create-access-key --user-name {user}", cloud="AWS") | networks | images


BACK_END: Final[BackEnd] = CirunAws()
