"""Check that cirun's user or service account exists, and has a key that was pasted into cirun's dashboard.

cirun accepts only keys that people paste, so no deployment can prove that it has one. The last use of a key on AWS
shows it.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Final

from ops.doctor.finding import broken, doubtful, works

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_ci.knowledge.verdict import Verdict
    from gpu_ci.stack_file.sections.settings import Settings
    from ops.doctor.world.world import World

CHECK: Final = "cirun-key"
NEEDS: Final = ("aws-account", "google-project")
IAM: Final = "https://iam.googleapis.com/v1"
_OLD_DAYS: Final = 90


def applies(settings: Settings) -> bool:
    """Return whether cirun has access to a cloud."""
    return settings.cirun is not None and (settings.cirun.aws or settings.cirun.gcp)


def check(world: World) -> Iterator[Verdict]:
    """Yield a verdict for each cloud that cirun starts machines in."""
    stated = world.settings.cirun
    if stated is not None and stated.aws:
        yield _on_aws(world)
    if stated is not None and stated.gcp:
        yield _on_gcp(world)


def _on_aws(world: World) -> Verdict:
    user = f"{world.stack.identity.prefix}-cirun"
    answer = world.aws.ask("iam.list_access_keys", UserName=user)
    if answer is None:
        return broken(
            CHECK,
            "cirun.aws",
            seen=f"the account has no user {user}",
            means="cirun has no access to AWS",
            fix="run `pulumi up`",
        )
    active = [key for key in answer["AccessKeyMetadata"] if key["Status"] == "Active"]
    if not active:
        return _no_key(
            "cirun.aws", f"the user {user} has no active key", f"aws iam create-access-key --user-name {user}"
        )
    if not any("LastUsedDate" in key for key in active):
        return doubtful(
            CHECK,
            "cirun.aws",
            seen=f"no key of {user} was ever used",
            means="the key was not pasted into cirun's dashboard, or no job has requested a runner yet",
            fix="paste it at https://cirun.io under Cloud, AWS",
        )
    days = (world.now - min(datetime.fromisoformat(key["CreateDate"]) for key in active)).days
    if days > _OLD_DAYS:
        return _old("cirun.aws", user, days)
    return works(CHECK, "cirun.aws", f"a key of {user} is in use")


def _on_gcp(world: World) -> Verdict:
    project = world.settings.gcp.project if world.settings.gcp is not None else ""
    account = f"{world.stack.identity.prefix}-cirun@{project}.iam.gserviceaccount.com"
    place = f"{IAM}/projects/{project}/serviceAccounts/{account}"
    found = world.google.ask(place)
    if found is None:
        return broken(
            CHECK,
            "cirun.gcp",
            seen=f"the project has no service account {account}",
            means="cirun has no access to Google Cloud",
            fix="run `pulumi up`",
        )
    if found.get("disabled"):
        return broken(
            CHECK,
            "cirun.gcp",
            seen=f"the service account {account} is disabled",
            means="cirun cannot start machines",
            fix=f"gcloud iam service-accounts enable {account}",
        )
    answer = world.google.ask(f"{place}/keys", keyTypes="USER_MANAGED")
    keys = [key for key in (answer or {}).get("keys", []) if not key.get("disabled")]
    if not keys:
        create = f"gcloud iam service-accounts keys create cirun.json --iam-account {account}"
        return _no_key("cirun.gcp", f"{account} has no key", create)
    days = (world.now - min(datetime.fromisoformat(key["validAfterTime"]) for key in keys)).days
    if days > _OLD_DAYS:
        return _old("cirun.gcp", account, days)
    return works(CHECK, "cirun.gcp", f"{account} has a key")


def _no_key(subject: str, seen: str, create: str) -> Verdict:
    return broken(
        CHECK,
        subject,
        seen=seen,
        means="cirun cannot start machines; it accepts only a key that is pasted into its dashboard",
        fix=f"run `{create}`, paste the key at https://cirun.io under Cloud, and delete the file",
    )


def _old(subject: str, of: str, days: int) -> Verdict:
    return doubtful(
        CHECK,
        subject,
        seen=f"a key of {of} is {days} days old",
        means="it never expires, and any system that has it can start machines",
        fix="create another key, paste it into cirun's dashboard, and delete the old one",
    )
