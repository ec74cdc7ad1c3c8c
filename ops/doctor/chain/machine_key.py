"""Check that the private key of the GitHub App is stored where the machines read it.

A person stores it with the command `add-key` in the outputs of the stack; no state contains it. The key itself is never
read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gpu_ci.back_ends.shared.machine.aws.permissions import key_parameter
from gpu_ci.knowledge.regions import Cloud
from ops.doctor.finding import broken, works
from ops.doctor.questions.machines import expected
from ops.doctor.questions.machines import has_machines as applies

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_ci.knowledge.verdict import Verdict
    from ops.doctor.world.world import World

__all__ = ["CHECK", "NEEDS", "applies", "check"]

CHECK: Final = "machine-key"
NEEDS: Final = ("aws-account", "google-project")
SECRETS: Final = "https://secretmanager.googleapis.com/v1/projects"
_END: Final = "-github-app-private-key"
_MEANS: Final = "the machine cannot sign in at GitHub, so it registers no runner"
_FIX: Final = "run the command `add-key` in `pulumi stack output`"


def check(world: World) -> Iterator[Verdict]:
    """Yield a verdict for each region of AWS and each secret of Google Cloud."""
    machines = list(expected(world))
    for region in dict.fromkeys(one.region for one in machines if one.cloud is Cloud.AWS):
        yield _on_aws(world, region)
    if any(one.cloud is Cloud.GCP for one in machines):
        yield from _on_gcp(world)


def _on_aws(world: World, region: str) -> Verdict:
    name = key_parameter(world.stack.identity.prefix)
    filters = [{"Key": "Name", "Values": [name]}]
    found = world.aws.ask("ssm.describe_parameters", ParameterFilters=filters, region=region)["Parameters"]
    if not found:
        return broken(CHECK, name, seen=f"{region} has no parameter {name}", means=_MEANS, fix=_FIX)
    if found[0]["Type"] != "SecureString":
        return broken(
            CHECK,
            name,
            seen=f"the parameter {name} is a {found[0]['Type']}",
            means="the key is stored in plain text",
            fix=f"revoke the key at GitHub, delete the parameter, and {_FIX} with a new key",
        )
    return works(CHECK, name, f"{region} has the parameter, changed on {found[0]['LastModifiedDate'][:10]}")


def _on_gcp(world: World) -> Iterator[Verdict]:
    project = world.settings.gcp.project if world.settings.gcp is not None else ""
    place = f"{SECRETS}/{project}/secrets"
    named = [str(one["name"]).rpartition("/")[2] for one in (world.google.ask(place) or {}).get("secrets", [])]
    mine = [name for name in named if name.startswith(f"{world.stack.identity.prefix}-") and name.endswith(_END)]
    if not mine:
        yield broken(
            CHECK,
            "gcp.project",
            seen=f"{project} has no secret whose name ends with {_END}",
            means=_MEANS,
            fix=f"run `pulumi up`, which creates it without a key; then {_FIX}",
        )
    for name in mine:
        answer = world.google.ask(f"{place}/{name}/versions", filter="state:ENABLED")
        if not (answer or {}).get("versions"):
            yield broken(CHECK, name, seen=f"the secret {name} has no enabled version", means=_MEANS, fix=_FIX)
        else:
            yield works(CHECK, name, "the secret has a key")
