"""Check which jobs may use the runners, and the network of the machines.

A pull request from a fork runs with its own version of the workflows. A label that a workflow requires does not stop
it, because it can remove the condition. Only settings outside the repository's files do: the approval of workflow runs,
the runner group, and cirun's access file (GitHub Docs, "Approving workflow runs from public forks" and "Managing access
to self-hosted runners using groups", 2026).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gpu_ci.back_ends.offer import Offer, OwnMachines, Standing
from gpu_ci.back_ends.stack import Stack
from gpu_ci.knowledge.verdict import Verdict, ok, warning

CHECK: Final = "untrusted-jobs"
APPROVAL: Final = "in Settings, Actions, General of the repository, require approval for all external contributors"
GROUP: Final = "limit the runner group to named repositories and workflows"
ACCESS: Final = "state cirun.access, which names the people whose jobs may start a runner"


def check(stack: Stack) -> Iterator[Verdict]:
    """Yield the settings that decide which jobs may use the runners."""
    settings = stack.settings
    shared = any(offer.shared is not None for offer in stack.offers.values())
    if shared and settings.arc is not None and settings.github is not None:
        key = "arc.runner-group"
        yield _group(key, settings.arc.runner_group, settings.github.url, stated=key)
    own = [(offer, offer.own) for offer in stack.offers.values() if offer.own is not None]
    for offer, machines in own:
        yield from _network(machines)
        if machines.standing is not None and settings.github is not None:
            standing = machines.standing
            yield _group(
                standing.group_key or offer.path, standing.group, settings.github.url, stated=standing.group_key
            )
            yield _forks(offer, standing)
    if settings.cirun is not None and any(machines.created and machines.standing is None for _, machines in own):
        if settings.cirun.access:
            reason = "only the people in cirun.access may start the runners that cirun serves"
            yield ok(CHECK, "cirun.access", reason, (APPROVAL,))
        else:
            reason = "everyone who may run a workflow may start the runners that cirun serves"
            yield ok(CHECK, "cirun", reason, (APPROVAL, ACCESS))


def _network(own: OwnMachines) -> Iterator[Verdict]:
    """Yield a warning for machines that share a network with others."""
    if not own.in_own_network:
        yield warning(
            CHECK,
            own.network_key,
            "not stated, so the machines start in the default network of the region, next to other workloads",
            "run pulumi up, and state the subnets that its output lists",
        )


def _forks(offer: Offer, standing: Standing) -> Verdict:
    if standing.forks:
        reason = "jobs of pull requests from forks may run on the machine, which deletes their files after each job"
        return ok(CHECK, standing.forks_key or offer.path, reason, (APPROVAL,))
    kept = "it keeps the files of jobs for the next ones, and " if standing.keeps_files else ""
    return ok(CHECK, offer.path, f"{kept}the machine refuses jobs of pull requests from forks", (APPROVAL,))


def _group(path: str, group: str, url: str, *, stated: str) -> Verdict:
    """Return the verdict on a runner group; `stated` is the key that names it, empty where none does."""
    owner = url.rstrip("/").partition("://")[2].split("/")[1:]
    if len(owner) == 1 and group.casefold() == "default":
        return warning(
            CHECK,
            path,
            f"every repository of {owner[0]} may use the runners, and a fork may edit the workflow that asks for them",
            f"create a runner group at GitHub, {GROUP}, and state its name"
            if stated
            else "write the address of one repository as github.url",
            (APPROVAL,),
        )
    if len(owner) == 1:
        reason = f"only the repositories and workflows of the runner group {group} may use the runners"
        return ok(CHECK, path, reason, (GROUP, APPROVAL))
    return ok(CHECK, "github.url", f"only workflows of {'/'.join(owner)} may use the runners", (APPROVAL,))
