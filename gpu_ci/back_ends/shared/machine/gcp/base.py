"""Parts on Google Cloud that all machines of one back end share: network, service account, and the App's key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import pulumi
import pulumi_gcp as gcp
from pulumi import Output, ResourceOptions

from components.gcp.closed_network import closed_network
from components.gcp.runner_account import RunnerAccount, RunnerAccountArgs

_IAP: Final = "35.235.240.0/20"
"""The addresses from which Identity-Aware Proxy forwards (Google Cloud, "Using IAP for TCP forwarding", 2026)."""
_SSH: Final = "22"
_SWITCH: Final = ("compute.instances.start", "compute.instances.stop")
"""The permissions that an instance schedule needs (Google Cloud, "Schedule a VM to start and stop", 2026)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GcpBaseArgs:
    """The project, the names and the regions."""

    project: str
    title: str
    """The name of the network, and the first part of other names."""
    account: str
    """The id of the service account, 6 to 30 characters."""
    key_secret: str
    """The id of the secret for the private key of the GitHub App."""
    regions: Iterable[str]
    """The regions of the machines."""
    nat: bool
    """Whether to create Cloud NAT, for machines without a public address."""
    scheduled: bool
    """Whether an instance schedule starts and stops a machine."""


class GcpBase(pulumi.ComponentResource):
    """A network that accepts connections from Identity-Aware Proxy only, and an account that can read one secret."""

    network: Output[str]
    subnetworks: Mapping[str, Output[str]]
    """Region to its subnetwork."""
    email: Output[str]
    """The service account of the machines, after it has its roles."""
    ready: tuple[pulumi.Resource, ...]
    """Resources without which a machine does not start or has no connection."""

    def __init__(self, name: str, args: GcpBaseArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:gcp:MachineBase", name, None, opts)
        child = ResourceOptions(parent=self)
        fixed = ResourceOptions(parent=self, delete_before_replace=True)
        closed = closed_network(
            name,
            parent=self,
            project=args.project,
            title=args.title,
            reason="Runners ask GitHub for their job: nothing has to come in",
            regions=args.regions,
            nat_regions=args.regions if args.nat else (),
        )
        network = closed.network
        proxy = gcp.compute.Firewall(
            f"{name}-iap",
            project=args.project,
            name=f"{args.title}-iap",
            network=network.self_link,
            direction="INGRESS",
            # Before the rule that denies all.
            priority=900,
            allows=[{"protocol": "tcp", "ports": [_SSH]}],
            source_ranges=[_IAP],
            description="SSH through Identity-Aware Proxy, which checks the permission of each person",
            opts=fixed,
        )
        out = gcp.compute.Firewall(
            f"{name}-no-egress",
            project=args.project,
            name=f"{args.title}-no-egress",
            network=network.self_link,
            direction="EGRESS",
            priority=1000,
            denies=[{"protocol": "all"}],
            destination_ranges=["0.0.0.0/0"],
            description="Each machine has a rule with its ports. DNS, time and metadata are always allowed",
            opts=fixed,
        )
        account = RunnerAccount(
            f"{name}-account", RunnerAccountArgs(project=args.project, account=args.account), opts=child
        )
        # Without a version: a person adds the key, so that it is in no state.
        secret = gcp.secretmanager.Secret(
            name, project=args.project, secret_id=args.key_secret, replication={"auto": {}}, opts=fixed
        )
        reader = gcp.secretmanager.SecretIamMember(
            name,
            project=args.project,
            secret_id=secret.secret_id,
            role="roles/secretmanager.secretAccessor",
            member=account.member,
            opts=child,
        )
        switch = self._switch(name, args, secret.name) if args.scheduled else ()
        self.network, self.email = network.self_link, account.email
        self.subnetworks = {region: subnet.self_link for region, subnet in closed.subnetworks.items()}
        self.ready = (*closed.ready, proxy, out, account, reader, *switch)
        self.register_outputs({"network": self.network})

    def _switch(self, name: str, args: GcpBaseArgs, secret: Output[str]) -> tuple[pulumi.Resource, ...]:
        """Let Compute Engine itself start and stop machines; creating one with a schedule is refused otherwise."""
        child = ResourceOptions(parent=self)
        role = gcp.projects.IAMCustomRole(
            f"{name}-schedule",
            project=args.project,
            # The id of a role takes letters, digits, dots and underscores only.
            role_id=f"{args.title}_schedule".replace("-", "_"),
            title="gpu-ci schedules",
            permissions=list(_SWITCH),
            opts=child,
        )
        # The account's name contains the number of the project, which is also in the name of the secret.
        agent = secret.apply(
            lambda path: f"serviceAccount:service-{path.split('/')[1]}@compute-system.iam.gserviceaccount.com"
        )
        grant = gcp.projects.IAMMember(
            f"{name}-schedule", project=args.project, role=role.name, member=agent, opts=child
        )
        return (grant,)
