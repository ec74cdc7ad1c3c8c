"""The repositories that use the runners: their settings, generated files, and the file of cirun."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from gpu_ci.knowledge.verdict import Level
from gpu_ci.repository.cirun import FILE, GLOBAL_FILE, read
from gpu_ci.repository.cirun_checks import judge
from gpu_ci.repository.documents import FileError
from gpu_ci.stack_file.sections.gpu_tests import SWITCH
from ops.doctor.chain import sections
from ops.doctor.check import Chapter
from ops.doctor.finding import Finding, broken, doubtful, works
from ops.doctor.questions.repositories import OF_ORGANISATION, content, files, owner, repositories, scope
from ops.doctor.world.redaction import text_without_secrets
from ops.doctor.world.world import World

CHAPTER: Final = Chapter()

_SWITCHED: Final = re.compile(r"\bvars\.(\w+) == 'true'")
_VARIABLE: Final = re.compile(r"\bvars\.(\w+)")
_SECRET: Final = re.compile(r"\bsecrets\.(\w+)")
_ENVIRONMENT: Final = re.compile(r"^ +environment: (\S+)$", re.MULTILINE)
_ROLE: Final = re.compile(r"^ +role-to-assume: arn:aws:iam::\d+:role/(\S+)$", re.MULTILINE)
_GIVEN: Final = frozenset({"GITHUB_TOKEN"})
"""Secrets that every job has."""


@CHAPTER.check(needs=("github-token",), applies=sections.runners)
def repository_settings(world: World) -> Iterator[Finding]:
    """Check that a repository has the variables, secrets, environments and roles that its generated workflows
    refer to.
    """
    for repository in repositories(world):
        text = "\n".join(content for path, content in files(world, repository).items() if path.endswith(".yml"))
        faults = [*_variables(world, repository, text), *_environments(world, repository, text)]
        faults += [*_secrets(world, repository, text), *_roles(world, text)]
        yield from faults
        if not faults:
            yield works(repository, "the repository has every variable, secret and environment that it needs")


def _variables(world: World, repository: str, text: str) -> Iterator[Finding]:
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
                f"{repository}: {name}",
                seen=f"the variable {name} is {value or 'missing'}",
                means='GPU jobs are skipped until it is "true"; a skipped job counts as passed',
                fix=f"gh variable set {name} --repo {repository} --body true",
            )
        elif name not in known:
            yield broken(
                f"{repository}: {name}",
                seen=f"the repository has no variable {name}",
                means="the generated workflow gets an empty text in its place, and fails",
                fix=f"gh variable set {name} --repo {repository} --body VALUE",
            )


def _has_own_machine(world: World) -> bool:
    """Return whether a machine waits for jobs of workflows that people write."""
    owned = [offer.own.standing for offer in world.stack.offers.values() if offer.own is not None]
    return any(one is not None and not one.time.by_workflow for one in owned)


def _environments(world: World, repository: str, text: str) -> Iterator[Finding]:
    for name in dict.fromkeys(_ENVIRONMENT.findall(text)):
        if world.github.ask(f"/repos/{repository}/environments/{name}") is None:
            yield broken(
                f"{repository}: {name}",
                seen=f"the repository has no environment {name}",
                means="the role of the machine trusts jobs of this environment only, and its secrets are in it",
                fix=f"gh api --method PUT repos/{repository}/environments/{name}",
            )


def _secrets(world: World, repository: str, text: str) -> Iterator[Finding]:
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
                f"{repository}: {name}",
                seen=f"neither the repository nor its environments have a secret {name}",
                means="the generated workflow gets an empty text in its place, and fails",
                fix=f"gh secret set {name} --repo {repository}{where}",
            )


def _roles(world: World, text: str) -> Iterator[Finding]:
    for name in dict.fromkeys(_ROLE.findall(text)):
        if world.aws.ask("iam.get_role", RoleName=name) is None:
            yield broken(
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


_GENERATED: Final = "# Generated by gpu-ci"


@CHAPTER.check(needs=("github-token",), applies=sections.runners)
def kit_files(world: World) -> Iterator[Finding]:
    """Check that the default branch of a repository has the files that `make kit` writes today."""
    if not repositories(world):
        yield works("repositories", "the stack file names no repository; REPO=OWNER/NAME checks one")
    for repository in repositories(world):
        if world.github.ask(f"/repos/{repository}") is None:
            yield broken(
                repository,
                seen=f"GitHub does not show the repository {repository}",
                means="its name is wrong, or the token may not read it",
                fix="correct the name in gpu-tests or in REPO=, or give the token access to the repository",
            )
            continue
        wanted = {path: text for path, text in files(world, repository).items() if not path.startswith(OF_ORGANISATION)}
        faults = [finding for path, text in wanted.items() for finding in _compared(world, repository, path, text)]
        yield from faults
        if wanted and not faults:
            yield works(repository, f"the default branch has all {len(wanted)} files of `make kit`")


def _compared(world: World, repository: str, path: str, wanted: str) -> Iterator[Finding]:
    found = content(world, repository, path)
    write = f"make kit OUT=../{repository.partition('/')[2]} REPO={repository.partition('/')[2]}"
    # The content of the repository has passed the removal of secrets.
    if found == text_without_secrets(wanted):
        return
    if found is None:
        # With the files of an organisation, a repository needs none of its own.
        if path.startswith(".cirun") and content(
            world, f"{owner(world)}/.cirun", path.replace("cirun", "cirun.global")
        ):
            return
        yield broken(
            f"{repository}: {path}",
            seen=f"the default branch has no {path}",
            means="no workflow of this kit runs in the repository; cirun reads its file from the default branch only",
            fix=f"run `{write}`, and commit the file to the default branch",
        )
    elif found.startswith(_GENERATED):
        yield doubtful(
            f"{repository}: {path}",
            seen=f"{path} is not what `make kit` writes today",
            means="the stack file or this program changed since; labels, images or limits may differ",
            fix=f"run `{write}`, and commit the difference",
        )
    else:
        yield doubtful(
            f"{repository}: {path}",
            seen=f"{path} was not generated by gpu-ci",
            means="gpu-ci does not know what it does; `make workflows` checks its labels",
            fix=f"run `{write}` into an empty folder, and compare",
        )


_OURS: Final = "Generated by gpu-ci"
_APP: Final = "cirun"
"""The start of the name of cirun's GitHub App."""


@CHAPTER.check(needs=("github-token",), applies=lambda settings: settings.cirun is not None)
def cirun_file(world: World) -> Iterator[Finding]:
    """Check cirun's file in each repository, or in the repository `.cirun` of the organisation, and cirun's App."""
    yield from _app(world)
    shared = content(world, f"{owner(world)}/.cirun", GLOBAL_FILE) if owner(world) else None
    for repository in repositories(world):
        own = content(world, repository, FILE)
        text, name = (
            (own, f"{repository}: {FILE}") if own is not None else (shared, f"{owner(world)}/.cirun: {GLOBAL_FILE}")
        )
        if text is None:
            yield broken(
                f"{repository}: {FILE}",
                seen=f"the default branch has no {FILE}, and the organisation has no .cirun/{GLOBAL_FILE}",
                means="cirun starts nothing for this repository; GitHub only shows that no runner matches",
                fix="run `make kit OUT=../REPOSITORY`, and commit the file to the default branch",
            )
            continue
        faults = list(_file_faults(name, text))
        yield from faults
        if not faults:
            yield works(name, "the file is valid")


def _file_faults(name: str, text: str) -> Iterator[Finding]:
    try:
        runners = read(text)
        findings = judge(runners, ours=_OURS in text.partition("\n")[0])
    except (FileError, KeyError, TypeError, AttributeError) as fault:
        yield broken(
            name,
            seen=f"the file cannot be read: {' '.join(str(fault).split())}",
            means="cirun starts nothing",
            fix="run `python -m ops cirun-migrate .cirun.yml --check`, or write the file again with `make kit`",
        )
        return
    for one in findings:
        make = broken if one.level is Level.ERROR else doubtful
        yield make(
            f"{name}: {one.subject}", seen=one.reason, means="cirun may start nothing for this entry", fix=one.fix
        )


def _app(world: World) -> Iterator[Finding]:
    """Yield a fault if the organisation has no App of cirun. A token of another person does not show it."""
    place = scope(world.settings)
    if not place.startswith("/orgs/"):
        return
    answer = world.github.ask(f"{place}/installations")
    installed = (answer or {}).get("installations", [])
    apps = [one for one in installed if str(one.get("app_slug", "")).startswith(_APP)]
    if installed and not apps:
        yield broken(
            "cirun",
            seen=f"{place.removeprefix('/orgs/')} has no App whose name begins with {_APP}",
            means="cirun does not hear of jobs",
            fix="sign in at https://cirun.io, install its App, and activate the repositories",
        )
    for one in apps:
        if one.get("suspended_at"):
            yield broken(
                "cirun",
                seen=f"cirun's App is suspended since {one['suspended_at']}",
                means="cirun does not hear of jobs",
                fix="unsuspend it in the settings of the organisation, GitHub Apps",
            )
