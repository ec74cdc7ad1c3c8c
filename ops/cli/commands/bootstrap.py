"""Create what a stack itself needs, in the real clouds: state, key, access for pipelines. Print the variables."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bootstrap.previews import jobs
from bootstrap.settings import settings_of
from ops.cli import terminal
from ops.cli.options import DEFAULT_STACK, ROOT, Stack  # Typer reads it
from ops.cli.terminal import progress
from ops.engine import pulumi_cli
from ops.outcome import Exit, Stop
from ops.plan.stack_file import find, read, shortened

if TYPE_CHECKING:
    from bootstrap.settings import BootstrapSettings

FOLDER: Final = ROOT / "bootstrap"
FIRST_APIS: Final = ("cloudresourcemanager.googleapis.com", "serviceusage.googleapis.com")
"""The APIs through which the provider enables all others."""


def main(stack: Stack = None) -> int:
    """Create what a stack itself needs, in the real clouds: state, key, access for pipelines. Print the variables."""
    path = find(stack or DEFAULT_STACK, FOLDER)
    file = read(path)
    settings = settings_of(file.config, file.name, shortened(path))
    problems = [*_aws_problems(settings), *_gcp_problems(settings)]
    if problems:
        raise Stop(Exit.OUTSIDE, "\n".join([*problems, "Nothing was changed."]))
    with progress("Looking for the Pulumi CLI") as line:
        cli = pulumi_cli.required(line)
    pulumi = _Pulumi(cli.path, file.name)
    pulumi.read("stack", "select", "--create", "--secrets-provider", "passphrase")
    code = pulumi.up()
    if code != Exit.GOOD:
        return code
    console = terminal.out()
    for text in commands(settings, file.name, json.loads(pulumi.read("stack", "output", "--json"))):
        console.print(text, markup=False, soft_wrap=True)
    return Exit.GOOD


def commands(settings: BootstrapSettings, stack: str, outputs: Mapping[str, Any]) -> Iterator[str]:
    """Yield the commands that connect the repositories and the stack to what was created."""
    repository, branch = settings.deploy.repository, settings.deploy.branch
    yield "# The environments, limited to a branch. If people approve the deployment, replace TEAM_ID by the number of"
    team = f"gh api orgs/{repository.partition('/')[0]}/teams/NAME --jq .id"
    yield f"# their team ({team}); otherwise write an empty list of reviewers:"
    yield from _environment(repository, settings.deploy.environment, branch, '[{"type": "Team", "id": TEAM_ID}]')
    if settings.plan is not None:
        yield from _environment(repository, settings.plan.environment, branch, "[]")
    if settings.preview is not None:
        # Without a branch: its jobs are those of pull requests.
        yield f"gh api --method PUT repos/{repository}/environments/{settings.preview.environment}"
    yield "# The variables of the deployment:"
    yield from _variables(settings.deploy.repository, settings.deploy.environment, outputs["deploy_variables"])
    for one in jobs(settings):
        yield f"# The variables of {'plans and of drift' if one.branch else 'previews of pull requests'}:"
        yield from _variables(settings.deploy.repository, one.environment, outputs[f"{one.kind}_variables"])
    if settings.images is not None:
        yield "# The variables of the workflow that pushes container images:"
        yield from _variables(settings.images.repository, settings.images.environment, outputs["images_variables"])
    yield "# The stack, unless it exists:"
    yield f"pulumi login {shlex.quote(outputs['deploy_variables']['PULUMI_BACKEND_URL'])}"
    yield f"pulumi stack init {stack} --secrets-provider {shlex.quote(outputs['secrets_provider'])}"
    yield "# Last, the switch of the deployment in .github/workflows/ci.yml:"
    yield f"gh variable set DEPLOY_{stack.upper().replace('-', '_')} --repo {repository} --body true"


def _environment(repository: str, environment: str, branch: str, reviewers: str) -> Iterator[str]:
    """Yield the commands that create an environment whose jobs run on one branch, after an approval."""
    path = f"repos/{repository}/environments/{environment}"
    policy = '{"protected_branches": false, "custom_branch_policies": true}'
    body = f'{{"reviewers": {reviewers}, "deployment_branch_policy": {policy}}}'
    yield f"gh api --method PUT {path} --input - <<< '{body}'"
    yield f"gh api --method POST {path}/deployment-branch-policies -f name={branch}"


def _variables(repository: str, environment: str | None, values: Mapping[str, str]) -> Iterator[str]:
    where = f"--repo {repository}" + (f" --env {environment}" if environment is not None else "")
    for name, value in sorted(values.items()):
        yield f"gh variable set {name} {where} --body {shlex.quote(value)}"


def _aws_problems(settings: BootstrapSettings) -> Iterator[str]:
    """Yield the reasons why AWS would refuse the update."""
    if settings.aws is None:
        return
    if shutil.which("aws") is None:
        yield "aws is not on PATH: install version 2 of the AWS CLI"
        return
    asked = _run("aws", "sts", "get-caller-identity", "--query", "Account", "--output", "text")
    if asked.returncode:
        yield f"AWS: {_last_line(asked)}; run aws sso login, or set AWS_PROFILE"
    elif asked.stdout.strip() != settings.aws.account:
        problem = f"the credentials are for the account {asked.stdout.strip()}, not for {settings.aws.account}"
        yield f"aws.account: {problem}; set AWS_PROFILE, or correct the account"


def _gcp_problems(settings: BootstrapSettings) -> Iterator[str]:
    """Yield the reasons why Google Cloud would refuse the update. Enable the first APIs, which only gcloud can."""
    if settings.gcp is None:
        return
    if shutil.which("gcloud") is None:
        yield "gcloud is not on PATH: install the Google Cloud CLI"
        return
    if (asked := _run("gcloud", "auth", "application-default", "print-access-token")).returncode:
        yield f"Google Cloud: {_last_line(asked)}; run gcloud auth application-default login"
    elif (enabled := _run("gcloud", "services", "enable", *FIRST_APIS, "--project", settings.gcp.project)).returncode:
        problem = _last_line(enabled)
        yield f"gcp.project: {problem}; correct the project, or get roles/serviceusage.serviceUsageAdmin on it"


def _run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, check=False, stdin=subprocess.DEVNULL, text=True)


def _last_line(ended: subprocess.CompletedProcess[str]) -> str:
    """Return the last line that a command printed to standard error, without its punctuation."""
    return (ended.stderr.strip().splitlines() or ["it failed without a message"])[-1].strip().rstrip(".;")


class _Pulumi:
    """The Pulumi CLI in the folder of the bootstrap, with the state in a folder next to the program."""

    def __init__(self, binary: Path, stack: str) -> None:
        state = FOLDER / "state"
        state.mkdir(exist_ok=True)
        self._binary = binary
        self._stack = stack
        self._environment = {
            **os.environ,
            "PATH": f"{binary.parent}{os.pathsep}{os.environ.get('PATH', '')}",
            # Without metadata, each write is one rename: a killed command leaves no half-written file.
            "PULUMI_BACKEND_URL": f"file://{state}?metadata=skip",
            # The state contains no secret; an empty passphrase lets everyone with the file continue.
            "PULUMI_CONFIG_PASSPHRASE": "",
            "PULUMI_SKIP_UPDATE_CHECK": "true",
        }

    def read(self, *words: str) -> str:
        """Run a short command and return its output."""
        ended = subprocess.run(
            [self._binary, "--non-interactive", *words, "--stack", self._stack],
            capture_output=True,
            check=False,
            cwd=FOLDER,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            text=True,
        )
        if ended.returncode:
            raise Stop(Exit.OUTSIDE, f"pulumi {' '.join(words[:2])}: {_last_line(ended)}")
        return ended.stdout

    def up(self) -> int:
        """Update, in the terminal of the caller. A Ctrl-C reaches Pulumi, too, which then writes its state and ends."""
        running = subprocess.Popen([self._binary, "up", "--stack", self._stack], cwd=FOLDER, env=self._environment)
        interrupted = False
        while running.poll() is None:
            try:
                running.wait()
            except KeyboardInterrupt:
                interrupted = True
        if interrupted:
            return Exit.INTERRUPTED
        if running.returncode:
            problem = "the update failed; fix the cause and run the command again, which continues"
            raise Stop(
                Exit.OUTSIDE,
                f"{problem}. If the account already has a provider for GitHub, state aws.oidc-provider: existing.",
            )
        return Exit.GOOD
