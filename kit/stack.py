"""From the stack file to the files of a repository that uses its runners: which runners, which labels, which images.

Owns the choice and the paths. What a file looks like is each file's own module.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from back_ends.cirun_gcp.back_end import network_name as runner_network
from config.cirun import cirun_label
from config.values import gibibytes
from gpu.machines import gce_type, gpu_model
from gpu.software.image_tags import cuda_base
from kit.cirun import FILE
from kit.cirun_access import ACCESS_FILE, AccessFile, Grant, Policy, render_access
from kit.cirun_runners import GpuRunner, cirun_yml
from kit.cirun_workflow import workflows
from kit.gpu_tests import gpu_tests
from kit.image_workflow import GpuTestsImage, image_files
from wiring import host_image
from wiring.outputs import gpu_test_image

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from config.cirun import CirunAccessSettings
    from config.identity import Identity
    from config.runners import CirunAmazonBackEnd, CirunGoogleBackEnd, RunnerSettings
    from config.settings import Settings
    from kit.cirun_workflow import GpuTests

GLOBAL: Final = "organisation/.cirun.global.yml"
"""Of the organisation's repository `.cirun`: the same runners, for all its repositories."""
ACCESS: Final = f"organisation/{ACCESS_FILE}"
"""Beside it: who may start which."""


def cirun_runners(settings: Settings, identity: Identity, installer: Path = host_image.INSTALLER) -> list[GpuRunner]:
    """The runners that cirun serves, as its file states them."""
    found: list[GpuRunner] = []
    for name, runner in settings.runners.items():
        if runner.cirun_aws is not None:
            found.append(_amazon(name, runner, runner.cirun_aws))
        if runner.cirun_gcp is not None:
            found.append(_google(name, runner, runner.cirun_gcp, settings, identity, installer))
    return found


def workflow_of(
    settings: Settings, identity: Identity, installer: Path = host_image.INSTALLER, *, repository: str | None = None
) -> GpuTests | None:
    """What a repository tests on a GPU; none where cirun serves no runner."""
    runners = cirun_runners(settings, identity, installer)
    if not runners:
        return None
    return gpu_tests(settings, runners, repository, _branches(settings), gpu_test_image(settings))


def files(
    settings: Settings, identity: Identity, installer: Path = host_image.INSTALLER, *, repository: str | None = None
) -> dict[str, str]:
    """Every file for a repository, by its path: of cirun, the workflows that test on a label, the tests' container."""
    container = gpu_test_image(settings)
    built: dict[str, str] = {}
    if container is not None and settings.test_image is not None and settings.test_image.built_by == "workflow":
        built = image_files(
            GpuTestsImage(
                reference=container,
                cuda_image=cuda_base(settings.test_image.cuda_image),
                branch=_branches(settings)[0],
            )
        )
    tested = workflow_of(settings, identity, installer, repository=repository)
    if tested is None:
        return built
    text = cirun_yml(cirun_runners(settings, identity, installer))
    access = settings.cirun.access if settings.cirun is not None else {}
    shared = {ACCESS: render_access(_access(access))} if access else {}
    return {FILE: text, GLOBAL: text, **shared, **workflows(tested), **built}


def _branches(settings: Settings) -> tuple[str, ...]:
    """Where a repository's reviewed state is: images come from the first, and the state of each is tested."""
    return settings.github_federation.branches if settings.github_federation is not None else ("main",)


def _access(stated: Mapping[str, CirunAccessSettings]) -> AccessFile:
    runners = dict.fromkeys(runner for entry in stated.values() for runner in entry.runners)
    return AccessFile(
        policies=tuple(
            Policy(
                id=name,
                repo=entry.repository,
                teams=entry.teams or None,
                roles=entry.roles or None,
                users=entry.users or None,
                pull_request=entry.pull_requests,
            )
            for name, entry in stated.items()
        ),
        access_control=tuple(
            Grant(resource=runner, policies=tuple(name for name, entry in stated.items() if runner in entry.runners))
            for runner in runners
        ),
    )


def _amazon(name: str, runner: RunnerSettings, served: CirunAmazonBackEnd) -> GpuRunner:
    return GpuRunner(
        name=name,
        cloud="aws",
        labels=(cirun_label(name),),
        instance_types=served.instance_types,
        places=served.regions,
        images=served.images,
        spot=served.spot,
        disk_gib=gibibytes(served.disk),
        timeout_minutes=runner.timeout_minutes,
    )


def _google(
    name: str,
    runner: RunnerSettings,
    served: CirunGoogleBackEnd,
    settings: Settings,
    identity: Identity,
    installer: Path,
) -> GpuRunner:
    """By the image's own name and not its family: the file says what is run, and changes when that does."""
    if settings.gcp is None or settings.host_image is None:
        message = f"runners.{name} was not validated: it needs gcp and host-image"
        raise ValueError(message)
    project = settings.gcp.project
    image = f"{project}:{host_image.name(settings.host_image, settings.gcp.region, installer)}"
    brings_its_own = all(gce_type(machine).gpu is not None for machine in served.machine_types)
    return GpuRunner(
        name=name,
        cloud="gcp",
        labels=(cirun_label(name),),
        instance_types=served.machine_types,
        places=served.zones,
        images=dict.fromkeys(served.zones, image),
        spot=served.spot,
        gpu=None if brings_its_own else gpu_model(runner.needs.gpu).google,
        disk_gib=gibibytes(served.disk),
        project=project,
        network=f"projects/{project}/global/networks/{runner_network(identity)}",
        service_account=f"{identity.prefix}-runner@{project}.iam.gserviceaccount.com",
        timeout_minutes=runner.timeout_minutes,
    )
