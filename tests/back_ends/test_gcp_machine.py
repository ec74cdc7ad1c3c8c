"""A machine on Compute Engine: closed, limited, and with access to one secret."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import pulumi_gcp as gcp
import pytest
from pulumi import ResourceOptions

from gpu_ci.back_ends.shared.machine.gcp.base import GcpBase, GcpBaseArgs
from gpu_ci.back_ends.shared.machine.gcp.declaration import commands
from gpu_ci.back_ends.shared.machine.gcp.machine import STOCK_IMAGES, GcpMachine, GcpMachineArgs
from gpu_ci.back_ends.shared.machine.hours import Hours
from gpu_ci.knowledge.machines import GCE_TYPES, attach, gpu_model
from gpu_ci.policy.rules import findings
from ops.plan.model import Plan
from ops.plan.recorder import record
from tests.components.made import names, only, part, waits_for
from tests.ops.small import stack_file

pytestmark = pytest.mark.plan

PROJECT: Final = "gpu-test-runners"
INSTANCE: Final = "gcp:compute/instance:Instance"
FIREWALL: Final = "gcp:compute/firewall:Firewall"
SCHEDULE: Final = "gcp:compute/resourcePolicy:ResourcePolicy"
HOURS: Final = Hours(time_zone="Europe/Prague", days=("mon", "fri"), start="07:30", stop="19:00")
WITH_T4: Final = attach(GCE_TYPES["n1-standard-8"], gpu_model("t4"), 2)
WITH_L4: Final = attach(GCE_TYPES["g2-standard-4"], gpu_model("l4"), 1)


def made(*, nat: bool = False, **stated: Any) -> Plan:
    """The plan of one machine with these arguments."""

    def program() -> None:
        opts = ResourceOptions(providers=[gcp.Provider("gcp", project=PROJECT, region="us-central1")])
        base = GcpBase(
            "vm-gcp",
            GcpBaseArgs(
                project=PROJECT,
                title="gpu-ci-small-vm",
                account="gpu-ci-small-vm",
                key_secret="gpu-ci-small-vm-github-app-private-key",
                regions=["us-central1"],
                nat=nat,
                scheduled=stated.get("hours") is not None,
            ),
            opts,
        )
        args = GcpMachineArgs(
            title="gpu-ci-small-gpu",
            project=PROJECT,
            zone="us-central1-b",
            machine=WITH_T4,
            image=STOCK_IMAGES["ubuntu-24.04"],
            signed_driver=True,
            disk_gib=100,
            spot=False,
            public_address=not nat,
            egress_ports=(80, 443),
            user_data="#cloud-config\n",
            max_hours=12,
            base=base,
        )
        GcpMachine("vm-gpu", replace(args, **stated), opts)

    return record(stack_file(), program=program)


def test_only_ssh_through_the_identity_aware_proxy_reaches_a_machine() -> None:
    rules = {one.name: one.inputs for one in made().of(FIREWALL)}
    incoming = [rule for rule in rules.values() if rule["direction"] == "INGRESS"]

    assert [(rule["priority"], rule.get("allows"), rule["sourceRanges"]) for rule in incoming] == [
        (1000, None, ["0.0.0.0/0"]),
        (900, [{"protocol": "tcp", "ports": ["22"]}], ["35.235.240.0/20"]),
    ]


def test_a_machine_reaches_the_stated_ports_only() -> None:
    rules = {one.name: one.inputs for one in made().of(FIREWALL)}
    own, others = rules["vm-gpu"], rules["vm-gcp-no-egress"]

    assert (own["allows"], own["targetTags"]) == ([{"protocol": "tcp", "ports": ["80", "443"]}], ["gpu-ci-small-gpu"])
    assert (others["denies"], others["destinationRanges"]) == ([{"protocol": "all"}], ["0.0.0.0/0"])
    assert own["priority"] < others["priority"]


def test_compute_engine_stops_a_machine_after_the_stated_hours() -> None:
    scheduling = part(only(made(max_hours=5), INSTANCE), "scheduling")

    assert scheduling == {
        "provisioningModel": "STANDARD",
        "preemptible": False,
        "automaticRestart": True,
        "onHostMaintenance": "TERMINATE",
        "instanceTerminationAction": "STOP",
        "maxRunDuration": {"seconds": 18000},
    }


def test_a_spot_machine_stops_and_keeps_its_disk() -> None:
    scheduling = part(only(made(spot=True), INSTANCE), "scheduling")

    assert (scheduling["provisioningModel"], scheduling["automaticRestart"]) == ("SPOT", False)
    assert scheduling["instanceTerminationAction"] == "STOP"


@pytest.mark.parametrize(
    ("machine", "expected"), [(WITH_T4, [{"type": "nvidia-tesla-t4", "count": 2}]), (WITH_L4, None)]
)
def test_only_an_n1_machine_gets_attached_gpus(machine: Any, expected: Any) -> None:
    assert only(made(machine=machine), INSTANCE).inputs.get("guestAccelerators") == expected


def test_a_type_with_local_disks_discards_them_at_the_limit() -> None:
    large = attach(GCE_TYPES["a2-ultragpu-1g"], gpu_model("a100-80gb"), 1)

    assert part(only(made(machine=large), INSTANCE), "scheduling", "onInstanceStopAction") == {"discardLocalSsd": True}


def test_pulumi_does_not_decide_whether_a_machine_runs() -> None:
    assert "desiredStatus" not in only(made(), INSTANCE).inputs


def test_a_machine_starts_from_an_exact_image() -> None:
    image = part(only(made(), INSTANCE), "bootDisk", "initializeParams", "image")

    assert image == "projects/ubuntu-os-cloud/global/images/ubuntu-2404-noble-amd64-v20260918"
    assert all("/images/family/" not in one for one in STOCK_IMAGES.values())


@pytest.mark.parametrize("signed", [True, False])
def test_secure_boot_is_on_where_the_driver_is_signed(signed: bool) -> None:
    assert part(only(made(signed_driver=signed), INSTANCE), "shieldedInstanceConfig") == {
        "enableSecureBoot": signed,
        "enableVtpm": True,
        "enableIntegrityMonitoring": True,
    }


def test_the_account_reads_one_secret_and_writes_logs_and_metrics() -> None:
    plan = made()
    (reader,) = plan.of("gcp:secretmanager/secretIamMember:SecretIamMember")

    assert sorted(one.inputs["role"] for one in plan.of("gcp:projects/iAMMember:IAMMember")) == [
        "roles/logging.logWriter",
        "roles/monitoring.metricWriter",
    ]
    assert (reader.inputs["role"], reader.inputs["secretId"]) == (
        "roles/secretmanager.secretAccessor",
        "gpu-ci-small-vm-github-app-private-key",
    )


def test_the_stack_never_has_the_key() -> None:
    plan = made()

    assert names(plan, "gcp:secretmanager/secretVersion:SecretVersion") == []
    assert sorted(only(plan, "gcp:secretmanager/secret:Secret").inputs) == ["project", "replication", "secretId"]


@pytest.mark.parametrize(("nat", "addresses"), [(False, [{"networkTier": "PREMIUM"}]), (True, [])])
def test_a_machine_without_a_public_address_has_cloud_nat(nat: bool, addresses: Any) -> None:
    plan = made(nat=nat)
    (interface,) = part(only(plan, INSTANCE), "networkInterfaces")

    assert interface.get("accessConfigs", []) == addresses
    assert names(plan, "gcp:compute/routerNat:RouterNat") == (["vm-gcp-nat-us-central1"] if nat else [])


def test_a_machine_waits_for_its_network_and_its_roles() -> None:
    plan = made(nat=True, hours=HOURS)
    machine = only(plan, INSTANCE)
    needed = [
        *plan.of(FIREWALL),
        *plan.of("gcp:projects/iAMMember:IAMMember"),
        *plan.of("gcp:secretmanager/secretIamMember:SecretIamMember"),
        *plan.of("gcp:compute/routerNat:RouterNat"),
    ]

    assert [one.name for one in needed if not waits_for(plan, machine, one)] == []


def test_a_schedule_has_a_time_zone_and_permission_to_switch() -> None:
    plan = made(hours=HOURS)
    schedule = only(plan, SCHEDULE)
    role = only(plan, "gcp:projects/iAMCustomRole:IAMCustomRole")
    agents = [one for one in plan.of("gcp:projects/iAMMember:IAMMember") if one.name == "vm-gcp-schedule"]

    assert part(schedule, "instanceSchedulePolicy") == {
        "timeZone": "Europe/Prague",
        "vmStartSchedule": {"schedule": "30 7 * * 1,5"},
        "vmStopSchedule": {"schedule": "0 19 * * 1,5"},
    }
    assert part(role, "permissions") == ["compute.instances.start", "compute.instances.stop"]
    assert [one.inputs["member"] for one in agents] == [
        "serviceAccount:service-123456789012@compute-system.iam.gserviceaccount.com"
    ]


def test_another_schedule_has_another_name_because_one_in_use_cannot_be_deleted() -> None:
    other = replace(HOURS, stop="20:00")
    titles = {only(made(hours=hours), SCHEDULE).inputs["name"] for hours in (HOURS, HOURS, other)}

    assert len(titles) == 2
    assert only(made(hours=HOURS), SCHEDULE).delete_before_replace is False


def test_alarms_are_queries_that_need_no_existing_metric() -> None:
    plan = made(email="ci@example.org", idle_minutes=45, hours=HOURS)
    conditions = {
        one.name: part(one, "conditions")[0]["conditionPrometheusQueryLanguage"]
        for one in plan.of("gcp:monitoring/alertPolicy:AlertPolicy")
    }
    channel = only(plan, "gcp:monitoring/notificationChannel:NotificationChannel")

    assert sorted(conditions) == ["vm-gpu-gpu-idle", "vm-gpu-offline", "vm-gpu-unusual-hours"]
    assert all(one["disableMetricValidation"] is True for one in conditions.values())
    assert part(channel, "labels") == {"email_address": "ci@example.org"}
    assert "custom_googleapis_com:gpu_ci_GpuUtilization{" in conditions["vm-gpu-gpu-idle"]["query"]
    assert "[45m]" in conditions["vm-gpu-gpu-idle"]["query"]


def test_a_machine_without_hours_has_no_unusual_hour() -> None:
    assert names(made(email="ci@example.org"), "gcp:monitoring/alertPolicy:AlertPolicy") == [
        "vm-gpu-gpu-idle",
        "vm-gpu-offline",
    ]


def test_no_alarm_without_an_address() -> None:
    plan = made()

    assert [one.name for one in plan if one.type.startswith("gcp:monitoring/")] == []


def test_a_machine_breaks_no_rule_of_the_policy() -> None:
    plan = made(hours=HOURS, email="ci@example.org")
    labels = {"defaultLabels": {"project": "gpu-ci", "environment": "small", "managed-by": "pulumi"}}
    found = [str(one) for resource in plan for one in findings(resource.type, resource.name, resource.inputs, labels)]

    assert found == []


def test_the_commands_name_the_machine_and_the_secret() -> None:
    printed = commands(project=PROJECT, zone="us-central1-b", title="gpu-ci-small-gpu", key_secret="key-of-app")

    assert printed["add-key"] == f"gcloud secrets versions add key-of-app --project {PROJECT} --data-file key.pem"
    assert printed["shell"].endswith("--zone us-central1-b --tunnel-through-iap")
