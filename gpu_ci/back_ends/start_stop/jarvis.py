"""The part of the back end `start-stop` that serves a runner with an instance of Jarvis Labs.

The stack declares no resource for it. A workflow creates, resumes and pauses the instance by its name.
"""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import urlsplit

from gpu_ci.back_ends.offer import HostSoftware, Machine, Offer, OwnMachines, Standing
from gpu_ci.back_ends.start_stop.section import JarvisSettings
from gpu_ci.knowledge.machines.groups import Placement
from gpu_ci.knowledge.machines.jarvis import jarvis_gpu, jarvis_instance
from gpu_ci.knowledge.machines.running import RunningTime
from gpu_ci.knowledge.machines.start_up import PAUSED_INSTANCE, standing_machine_steps
from gpu_ci.knowledge.regions import Cloud
from gpu_ci.knowledge.software.runner_releases import CHECKSUMS, NEWEST
from gpu_ci.stack_file.sections.runners import RunnerSettings
from gpu_ci.stack_file.sections.services import GitHubSettings
from gpu_ci.stack_file.values.general import gibibytes

SDK: Final = "jarvislabs==0.2.19"
"""The package that the workflow installs."""
API_KEY: Final = "TOKEN_JARVIS"
"""The secret with the API key of Jarvis Labs."""
APP_KEY: Final = "GPU_APP_PRIVATE_KEY"
"""The secret with the private key of the GitHub App."""
# renovate: datasource=github-tags depName=actions/create-github-app-token
SIGN_IN: Final = "actions/create-github-app-token@1b10c78c7865c340bc4f6099eb2f838309f1e8c3 # v3.1.1"


def jarvis_offer(name: str, runner: RunnerSettings, stated: JarvisSettings) -> Offer:
    """Return the offer of an instance to one runner."""
    path, needs, disk_gib = f"runners.{name}", runner.needs, gibibytes(stated.storage)
    section = f"{path}.start-stop.jarvis"
    instance = jarvis_instance(needs.gpu, needs.gpus)
    return Offer(
        path=path,
        section=section,
        machines=(Machine(type=instance, disk_gib=disk_gib),),
        host=HostSoftware(),
        steps=standing_machine_steps(by_workflow=True, start=PAUSED_INSTANCE),
        own=OwnMachines(
            cloud=Cloud.JARVIS,
            types=(instance.name,),
            placements=(Placement(region=stated.region or "", spot=False),),
            at_once=1,
            places_key=f"{section}.region",
            disk_gib=disk_gib,
            disk_key=f"{section}.storage",
            disk_kind="ssd",
            standing=Standing(
                time=RunningTime(by_workflow=True, most_hours=stated.max_hours, public_address=False),
                idle_key="",
                most_hours_key=f"{section}.max-hours",
                runner=NEWEST,
                runner_key="",
                group_key="",
                # Its runner has no script before a job. Each start serves one job, and no key is on the instance.
                forks=True,
            ),
        ),
    )


def script_name(name: str) -> str:
    """Return the name of the startup script in the account of Jarvis Labs."""
    return f"gpu-ci {name}"


def jarvis_facts(
    name: str, runner: RunnerSettings, stated: JarvisSettings, github: GitHubSettings, *, workflow: str, job: str
) -> dict[str, Any]:
    """Return the facts that the command in the repository needs.

    Args:
        name: the runner.
        runner: its settings.
        stated: its instance.
        github: where the runner is registered.
        workflow: the file name of the workflow that uses the instance.
        job: the title of its job that starts the instance.

    """
    return {
        "cloud": Cloud.JARVIS.value,
        "name": stated.name,
        "gpu": jarvis_gpu(runner.needs.gpu).name,
        "gpus": runner.needs.gpus,
        "storage": gibibytes(stated.storage),
        "template": stated.template,
        "region": stated.region,
        "script": script_name(name),
        "runner_version": NEWEST,
        "runner_sha256": CHECKSUMS[NEWEST],
        "owner": owner(github.url),
        "runner": name,
        "labels": [name],
        "workflow": workflow,
        "job": job,
        "max_hours": stated.max_hours,
    }


def jarvis_values(github: GitHubSettings) -> dict[str, Any]:
    """Return the values of the templates `jarvis-*.yml.j2`."""
    kind, _, rest = owner(github.url).partition("/")
    return {"app_token": SIGN_IN, "app_id": github.app_id, "organisation": rest if kind == "orgs" else ""}


def owner(url: str) -> str:
    """Return the part of GitHub's API that has the runners of an organisation or a repository."""
    parts = urlsplit(url).path.strip("/").split("/")
    return f"repos/{'/'.join(parts)}" if len(parts) > 1 else f"orgs/{parts[0]}"


def secret_commands(environment: str, url: str) -> dict[str, str]:
    """Return the commands that store the secrets in an environment of the repository.

    The generated files contain the other values, so no variables are needed: the name of the instance, of its script
    and of the workflow, and the time after which a queued run is cancelled.
    """
    kind, _, rest = owner(url).partition("/")
    # An organisation does not state which of its repositories use the instance.
    where = rest if kind == "repos" else f"{rest}/REPOSITORY"
    return {
        "environment": f"gh api --method PUT repos/{where}/environments/{environment}",
        "api-key": f"gh secret set {API_KEY} --repo {where} --env {environment}",
        "github-app-key": f"gh secret set {APP_KEY} --repo {where} --env {environment} < github-app.pem",
    }
