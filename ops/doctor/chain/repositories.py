"""Check that a repository has the variables, secrets, environments and roles that its generated workflows refer to."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from gpu_ci.stack_file.sections.gpu_tests import SWITCH
from ops.doctor.finding import broken, doubtful, works
from ops.doctor.questions.repositories import files, repositories

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_ci.knowledge.verdict import Verdict
    from gpu_ci.stack_file.sections.settings import Settings
    from ops.doctor.world.world import World

CHECK: Final = "repository-settings"
NEEDS: Final = ("github-token",)
_SWITCHED: Final = re.compile(r"\bvars\.(\w+) == 'true'")
_VARIABLE: Final = re.compile(r"\bvars\.(\w+)")
_SECRET: Final = re.compile(r"\bsecrets\.(\w+)")
_ENVIRONMENT: Final = re.compile(r"^ +environment: (\S+)$", re.MULTILINE)
_ROLE: Final = re.compile(r"^ +role-to-assume: arn:aws:iam::\d+:role/(\S+)$", re.MULTILINE)
_GIVEN: Final = frozenset({"GITHUB_TOKEN"})
"""Secrets that every job has."""


def applies(settings: Settings) -> bool:
    """Return whether the stack runs jobs."""
    return bool(settings.runners)


def check(world: World) -> Iterator[Verdict]:
    """Yield a fault for each setting that is missing in a repository."""
    for repository in repositories(world):
        text = "\n".join(content for path, content in files(world, repository).items() if path.endswith(".yml"))
        faults = [*_variables(world, repository, text), *_environments(world, repository, text)]
        faults += [*_secrets(world, repository, text), *_roles(world, text)]
        yield from faults
        if not faults:
            yield works(CHECK, repository, "the repository has every variable, secret and environment that it needs")


def _variables(world: World, repository: str, text: str) -> Iterator[Verdict]:
    switches = dict.fromkeys(_SWITCHED.findall(text))
    if _has_own_machine(world):
        # Workflows of the repository itself use this switch (docs/how-to/vm.md).
        switches |= {SWITCH: None}
    wanted = dict.fromkeys((*switches, *_VARIABLE.findall(text)))
    if not wanted:
        return
    known = _values(world, repository, ("variables", "organization-variables"), "variables")
    for name in wanted:
        value = known.get(name)
        if name in switches and value != "true":
            yield doubtful(
                CHECK,
                f"{repository}: {name}",
                seen=f"the variable {name} is {value or 'missing'}",
                means='GPU jobs are skipped until it is "true"; a skipped job counts as passed',
                fix=f"gh variable set {name} --repo {repository} --body true",
            )
        elif name not in known:
            yield broken(
                CHECK,
                f"{repository}: {name}",
                seen=f"the repository has no variable {name}",
                means="the generated workflow gets an empty text in its place, and fails",
                fix=f"gh variable set {name} --repo {repository} --body VALUE",
            )


def _has_own_machine(world: World) -> bool:
    """Return whether a machine waits for jobs of workflows that people write."""
    owned = [offer.own.standing for offer in world.stack.offers.values() if offer.own is not None]
    return any(one is not None and not one.time.by_workflow for one in owned)


def _environments(world: World, repository: str, text: str) -> Iterator[Verdict]:
    for name in dict.fromkeys(_ENVIRONMENT.findall(text)):
        if world.github.ask(f"/repos/{repository}/environments/{name}") is None:
            yield broken(
                CHECK,
                f"{repository}: {name}",
                seen=f"the repository has no environment {name}",
                means="the role of the machine trusts jobs of this environment only, and its secrets are in it",
                fix=f"gh api --method PUT repos/{repository}/environments/{name}",
            )


def _secrets(world: World, repository: str, text: str) -> Iterator[Verdict]:
    wanted = [name for name in dict.fromkeys(_SECRET.findall(text)) if name not in _GIVEN]
    if not wanted:
        return
    known = set(_values(world, repository, ("secrets", "organization-secrets"), "secrets"))
    environments = list(dict.fromkeys(_ENVIRONMENT.findall(text)))
    for name in environments:
        answer = world.github.ask(f"/repos/{repository}/environments/{name}/secrets")
        known |= {one["name"] for one in (answer or {}).get("secrets", [])}
    for name in wanted:
        if name not in known:
            where = f" --env {environments[0]}" if environments else ""
            yield broken(
                CHECK,
                f"{repository}: {name}",
                seen=f"neither the repository nor its environments have a secret {name}",
                means="the generated workflow gets an empty text in its place, and fails",
                fix=f"gh secret set {name} --repo {repository}{where}",
            )


def _roles(world: World, text: str) -> Iterator[Verdict]:
    for name in dict.fromkeys(_ROLE.findall(text)):
        if world.aws.ask("iam.get_role", RoleName=name) is None:
            yield broken(
                CHECK,
                name,
                seen=f"the account has no role {name}",
                means="the workflow cannot sign in to AWS, so it cannot start the machine",
                fix="run `pulumi up`, and write the files again with `make kit`",
            )


def _values(world: World, repository: str, paths: tuple[str, ...], key: str) -> dict[str, str]:
    """Return the names, and the values of variables, in the repository and from its organisation."""
    found: dict[str, str] = {}
    for path in reversed(paths):
        answer: Any = world.github.ask(f"/repos/{repository}/actions/{path}")
        found |= {one["name"]: one.get("value", "") for one in (answer or {}).get(key, [])}
    return found
