"""Refusals of Compute Engine for a machine, beyond those that a row can state.

Sources: "GPU machine types", "Spot VMs" and "Schedule a VM to start and stop" of Google Cloud, and the errors that
users of hashicorp/terraform-provider-google and cloud-foundation-fabric report (2870, 9482; 2026).
"""

from __future__ import annotations

import re
from typing import Final

from ops.fakes.cloud.objects import CloudObject, Objects
from ops.fakes.cloud.paths import value_at, values_at
from ops.fakes.cloud.request import PROJECT_NUMBER

RESOURCE_POLICY: Final = "gcp:compute/resourcePolicy:ResourcePolicy"
_GRANT: Final = "gcp:projects/iAMMember:IAMMember"
_WITH_GPU: Final = re.compile(r"(a2|a3|a4|g2|g4)-.+")
_UBUNTU: Final = re.compile(
    r"projects/ubuntu-os-cloud/global/images/(ubuntu-2204-jammy|ubuntu-2404-noble-amd64)-v20\d{6}[a-z]?"
)
_AGENT: Final = f"serviceAccount:service-{PROJECT_NUMBER}@compute-system.iam.gserviceaccount.com"
_NO_T4: Final = ("us-central1-d", "europe-west1-a", "us-east1-b", "us-west1-c")
"""Zones without a T4."""


def gpus_do_not_move(_cloud: Objects, machine: CloudObject) -> str | None:
    """Refuse live migration of a machine with a GPU."""
    with_gpu = machine.inputs.get("guestAccelerators") or _WITH_GPU.fullmatch(str(machine.inputs.get("machineType")))
    if with_gpu and machine.at("scheduling.onHostMaintenance") != "TERMINATE":
        return "Error 400: Instances with guest accelerators do not support live migration., badRequest"
    return None


def spot_does_not_restart(_cloud: Objects, machine: CloudObject) -> str | None:
    """Refuse a spot machine that would restart automatically."""
    if machine.at("scheduling.preemptible") and machine.at("scheduling.automaticRestart") is not False:
        return "Error 400: Scheduling must have automaticRestart be false when preemptible is true., badRequest"
    return None


def a_limit_has_an_action(_cloud: Objects, machine: CloudObject) -> str | None:
    """Refuse a limit of the run time without the action that follows it."""
    if machine.at("scheduling.maxRunDuration") and not machine.at("scheduling.instanceTerminationAction"):
        return "Error 400: You must specify an instance termination action to use max run duration., badRequest"
    return None


def gpus_are_in_the_zone(_cloud: Objects, machine: CloudObject) -> str | None:
    """Refuse a GPU that the zone does not have."""
    for _, slug in values_at("guestAccelerators.*.type", machine.inputs):
        zone = str(machine.inputs.get("zone"))
        if slug == "nvidia-tesla-t4" and zone in _NO_T4:
            return f"Error 404: The resource 'zones/{zone}/acceleratorTypes/{slug}' was not found, notFound"
    return None


def images_exist(_cloud: Objects, machine: CloudObject) -> str | None:
    """Refuse an image of Canonical's project that cannot exist."""
    image = str(machine.at("bootDisk.initializeParams.image") or "")
    if image.startswith("projects/ubuntu-os-cloud/") and _UBUNTU.fullmatch(image) is None:
        return f"Error 404: The resource '{image}' was not found, notFound"
    return None


def a_schedule_may_switch(cloud: Objects, machine: CloudObject) -> str | None:
    """Refuse a schedule of another region, and one without permission for Compute Engine's own account."""
    stated = machine.inputs.get("resourcePolicies")
    if not stated:
        return None
    policy = next((one for one in cloud.of(RESOURCE_POLICY) if one.at("selfLink") == stated), None)
    if policy is None:
        return f"Error 404: The resource '{stated}' was not found, notFound"
    region = str(value_at("region", policy.outputs))
    if not str(machine.inputs.get("zone")).startswith(f"{region}-"):
        return f"Error 400: Resource policy must be in the region of the instance, not in {region}., badRequest"
    if not any(grant.inputs.get("member") == _AGENT for grant in cloud.of(_GRANT)):
        agent = _AGENT.removeprefix("serviceAccount:")
        return (
            f"Error 412: Compute Engine System service account {agent} needs to have [compute.instances.start,"
            "compute.instances.stop] permissions applied in order to perform this operation., conditionNotMet"
        )
    return None


MACHINE_CHECKS: Final = (
    gpus_do_not_move,
    spot_does_not_restart,
    a_limit_has_an_action,
    gpus_are_in_the_zone,
    images_exist,
    a_schedule_may_switch,
)
