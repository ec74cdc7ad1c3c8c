"""The machines outside of the cluster, and the keys that they and cirun need."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final

from gpu_ci.back_ends.shared.machine.aws.permissions import key_parameter
from gpu_ci.knowledge.regions import Cloud
from ops.doctor.chain import sections
from ops.doctor.check import Chapter
from ops.doctor.finding import Finding, broken, doubtful, works
from ops.doctor.log.messages import found_in
from ops.doctor.questions.machines import Expected, Machine, expected, found, has_machines
from ops.doctor.world.world import World
from ops.kit import stack as kit

CHAPTER: Final = Chapter()

SECRETS: Final = "https://secretmanager.googleapis.com/v1/projects"
_KEY_NAME: Final = "-github-app-private-key"
_NO_KEY: Final = "the machine cannot sign in at GitHub, so it registers no runner"
_ADD_KEY: Final = "run the command `add-key` in `pulumi stack output`"


@CHAPTER.check(needs=("aws-account", "google-project"), applies=has_machines)
def machine_key(world: World) -> Iterator[Finding]:
    """Check that the private key of the GitHub App is stored where the machines read it.

    A person stores it with the command `add-key` in the outputs of the stack; no state contains it. The key itself is
    never read.
    """
    machines = list(expected(world))
    for region in dict.fromkeys(one.region for one in machines if one.cloud is Cloud.AWS):
        yield _key_on_aws(world, region)
    if any(one.cloud is Cloud.GCP for one in machines):
        yield from _key_on_gcp(world)


def _key_on_aws(world: World, region: str) -> Finding:
    name = key_parameter(world.stack.identity.prefix)
    filters = [{"Key": "Name", "Values": [name]}]
    found = world.aws.ask("ssm.describe_parameters", ParameterFilters=filters, region=region)["Parameters"]
    if not found:
        return broken(name, seen=f"{region} has no parameter {name}", means=_NO_KEY, fix=_ADD_KEY)
    if found[0]["Type"] != "SecureString":
        return broken(
            name,
            seen=f"the parameter {name} is a {found[0]['Type']}",
            means="the key is stored in plain text",
            fix=f"revoke the key at GitHub, delete the parameter, and {_ADD_KEY} with a new key",
        )
    return works(name, f"{region} has the parameter, changed on {found[0]['LastModifiedDate'][:10]}")


def _key_on_gcp(world: World) -> Iterator[Finding]:
    project = world.settings.gcp.project if world.settings.gcp is not None else ""
    place = f"{SECRETS}/{project}/secrets"
    named = [str(one["name"]).rpartition("/")[2] for one in (world.google.ask(place) or {}).get("secrets", [])]
    mine = [name for name in named if name.startswith(f"{world.stack.identity.prefix}-") and name.endswith(_KEY_NAME)]
    if not mine:
        yield broken(
            "gcp.project",
            seen=f"{project} has no secret whose name ends with {_KEY_NAME}",
            means=_NO_KEY,
            fix=f"run `pulumi up`, which creates it without a key; then {_ADD_KEY}",
        )
    for name in mine:
        answer = world.google.ask(f"{place}/{name}/versions", filter="state:ENABLED")
        if not (answer or {}).get("versions"):
            yield broken(name, seen=f"the secret {name} has no enabled version", means=_NO_KEY, fix=_ADD_KEY)
        else:
            yield works(name, "the secret has a key")


_LOG: Final = (
    "open a shell with the command in `pulumi stack output`, and run `gpu-ci check` and journalctl -u 'gpu-ci*'"
)


@CHAPTER.check(needs=("aws-account", "google-project"), applies=has_machines)
def machine(world: World) -> Iterator[Finding]:
    """Check the state of each machine that exists between jobs, and the status that it publishes."""
    for one in expected(world):
        machine = found(world, one)
        if machine is None or machine.state == "deleted":
            yield broken(
                f"runners.{one.runner}",
                seen=f"{one.zone} has no machine {one.title}",
                means="it was never created, or was deleted outside of this program",
                fix="run `pulumi up --refresh`",
            )
        else:
            yield _machine(one, machine)


def _machine(one: Expected, machine: Machine) -> Finding:
    subject, status = f"runners.{one.runner}", machine.status
    seen = f"{one.title} ({machine.id}) is {machine.state}, and published {status or 'no status'}"
    if status.startswith("failed:"):
        known = found_in(f"gpu-ci: status: {status}")
        return broken(
            subject, seen=seen, means=known[0].message.meaning, fix=f"{_LOG}; then stop and start it: {machine.start}"
        )
    if machine.state == "running":
        return _running(subject, seen, status)
    if machine.state == "stopped":
        return _stopped(one, machine, subject, seen)
    return works(subject, seen)


def _running(subject: str, seen: str, status: str) -> Finding:
    if status in {"online", "busy"}:
        return works(subject, seen)
    if status.startswith("waiting: GitHub"):
        return broken(
            subject,
            seen=seen,
            means="the machine repeats the request until GitHub accepts it, and takes no jobs until then",
            fix="correct app-id, installation-id, the permission or the key of the App, as the text says",
        )
    if "no key" in status or "not a private key" in status:
        return broken(
            subject,
            seen=seen,
            means="the machine cannot sign in at GitHub without the private key of the App",
            fix="add the key with the command `add-key` in `pulumi stack output`",
        )
    return doubtful(
        subject,
        seen=seen,
        means="the machine runs and its runner is not online; a first boot takes up to twenty minutes",
        fix=f"wait, and run the doctor again; if it stays, {_LOG}",
    )


def _stopped(one: Expected, machine: Machine, subject: str, seen: str) -> Finding:
    reason = f": {machine.reason}" if machine.reason else ""
    if "Spot" in machine.reason or "preempted" in machine.reason or "spot capacity" in machine.status:
        return doubtful(
            subject,
            seen=f"{seen}{reason}",
            means="the cloud took the spot capacity; jobs wait until it is free again",
            fix=f"start it again: {machine.start}; or state spot: false",
        )
    if one.standing.time.by_workflow or one.standing.time.schedule is not None:
        return works(subject, f"{seen}; it starts by its workflow or its schedule")
    return doubtful(
        subject,
        seen=f"{seen}{reason}",
        means="nothing starts this machine automatically, so its jobs wait",
        fix=f"start it: {machine.start}; or state a schedule",
    )


_FACTS: Final = "/instances.json"
"""The end of the path of the generated file that describes the machines."""


@CHAPTER.check(applies=sections.jarvis)
def jarvis_instance(world: World) -> Iterator[Finding]:
    """Check the instances of Jarvis Labs that workflows start."""
    instances = world.jarvis.ask("instances.list")
    for runner, facts in _stated_instances(world):
        named = [one for one in instances if one["name"] == facts["name"]]
        yield _instance(f"runners.{runner}", facts, named)


def _stated_instances(world: World) -> Iterator[tuple[str, dict[str, Any]]]:
    files = kit.files(world.settings, world.stack.identity)
    for path, text in files.items():
        if path.endswith(_FACTS):
            yield from (
                (name, facts) for name, facts in json.loads(text).items() if facts["cloud"] == Cloud.JARVIS.value
            )


def _instance(subject: str, facts: dict[str, Any], named: list[dict[str, Any]]) -> Finding:
    name = facts["name"]
    if len(named) > 1:
        return broken(
            subject,
            seen=f'{len(named)} instances have the name "{name}"',
            means="the workflow refuses to choose one, and each costs money",
            fix="destroy all but one at https://jarvislabs.ai",
        )
    if not named:
        return works(subject, f'there is no instance "{name}"; the next run of its workflow creates it')
    one = named[0]
    status = one["status"]
    if status in {"Failed", "Destroying", "Destroyed"}:
        return broken(
            subject,
            seen=f'the instance "{name}" is {status}',
            means="the workflow cannot resume it",
            fix="destroy it at https://jarvislabs.ai; the next run creates another one",
        )
    if (one["gpu_type"], one["num_gpus"]) != (facts["gpu"], facts["gpus"]) and status != "Running":
        return doubtful(
            subject,
            seen=f'the instance "{name}" has {one["num_gpus"]} {one["gpu_type"]}',
            means=f"the stack file states {facts['gpus']} {facts['gpu']}; the next resume requests them",
            fix="run the workflow, or destroy the instance",
        )
    if status == "Running":
        return doubtful(
            subject,
            seen=f'the instance "{name}" runs',
            means="it costs money until its workflow pauses it; the sweep pauses it at its limit",
            fix="if no job runs, pause it at https://jarvislabs.ai, and look for a cancelled run",
        )
    return works(subject, f'the instance "{name}" is {status}')


IAM: Final = "https://iam.googleapis.com/v1"
_OLD_DAYS: Final = 90


@CHAPTER.check(
    needs=("aws-account", "google-project"),
    applies=lambda settings: settings.cirun is not None and (settings.cirun.aws or settings.cirun.gcp),
)
def cirun_key(world: World) -> Iterator[Finding]:
    """Check that cirun's user or service account exists, and has a key that was pasted into cirun's dashboard.

    cirun accepts only keys that people paste, so no deployment can prove that it has one. The last use of a key on AWS
    shows it.
    """
    stated = world.settings.cirun
    if stated is not None and stated.aws:
        yield _cirun_on_aws(world)
    if stated is not None and stated.gcp:
        yield _cirun_on_gcp(world)


def _cirun_on_aws(world: World) -> Finding:
    user = f"{world.stack.identity.prefix}-cirun"
    answer = world.aws.ask("iam.list_access_keys", UserName=user)
    if answer is None:
        return broken(
            "cirun.aws",
            seen=f"the account has no user {user}",
            means="cirun has no access to AWS",
            fix="run `pulumi up`",
        )
    active = [key for key in answer["AccessKeyMetadata"] if key["Status"] == "Active"]
    if not active:
        return _no_cirun_key(
            "cirun.aws", f"the user {user} has no active key", f"aws iam create-access-key --user-name {user}"
        )
    if not any("LastUsedDate" in key for key in active):
        return doubtful(
            "cirun.aws",
            seen=f"no key of {user} was ever used",
            means="the key was not pasted into cirun's dashboard, or no job has requested a runner yet",
            fix="paste it at https://cirun.io under Cloud, AWS",
        )
    days = (world.now - min(datetime.fromisoformat(key["CreateDate"]) for key in active)).days
    if days > _OLD_DAYS:
        return _old_cirun_key("cirun.aws", user, days)
    return works("cirun.aws", f"a key of {user} is in use")


def _cirun_on_gcp(world: World) -> Finding:
    project = world.settings.gcp.project if world.settings.gcp is not None else ""
    account = f"{world.stack.identity.prefix}-cirun@{project}.iam.gserviceaccount.com"
    place = f"{IAM}/projects/{project}/serviceAccounts/{account}"
    found = world.google.ask(place)
    if found is None:
        return broken(
            "cirun.gcp",
            seen=f"the project has no service account {account}",
            means="cirun has no access to Google Cloud",
            fix="run `pulumi up`",
        )
    if found.get("disabled"):
        return broken(
            "cirun.gcp",
            seen=f"the service account {account} is disabled",
            means="cirun cannot start machines",
            fix=f"gcloud iam service-accounts enable {account}",
        )
    answer = world.google.ask(f"{place}/keys", keyTypes="USER_MANAGED")
    keys = [key for key in (answer or {}).get("keys", []) if not key.get("disabled")]
    if not keys:
        create = f"gcloud iam service-accounts keys create cirun.json --iam-account {account}"
        return _no_cirun_key("cirun.gcp", f"{account} has no key", create)
    days = (world.now - min(datetime.fromisoformat(key["validAfterTime"]) for key in keys)).days
    if days > _OLD_DAYS:
        return _old_cirun_key("cirun.gcp", account, days)
    return works("cirun.gcp", f"{account} has a key")


def _no_cirun_key(subject: str, seen: str, create: str) -> Finding:
    return broken(
        subject,
        seen=seen,
        means="cirun cannot start machines; it accepts only a key that is pasted into its dashboard",
        fix=f"run `{create}`, paste the key at https://cirun.io under Cloud, and delete the file",
    )


def _old_cirun_key(subject: str, of: str, days: int) -> Finding:
    return doubtful(
        subject,
        seen=f"a key of {of} is {days} days old",
        means="it never expires, and any system that has it can start machines",
        fix="create another key, paste it into cirun's dashboard, and delete the old one",
    )
