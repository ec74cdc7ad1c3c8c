"""The checks of a machine that exists between jobs, with offers made by hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import pytest

from gpu_ci.back_ends.offer import HostSoftware, Offer, Standing
from gpu_ci.checks import Check, plausibility, untrusted_jobs
from gpu_ci.checks.capacity import gpu_zones, queue_time, quota
from gpu_ci.checks.cost import money, spot_plan
from gpu_ci.checks.images import compatibility, runner_version
from gpu_ci.checks.nodes import floor, machine_fit, pool_shape
from gpu_ci.knowledge.machines import attach, ec2_type, gce_type, gpu_model
from gpu_ci.knowledge.machines.jarvis import jarvis_instance
from gpu_ci.knowledge.machines.running import Schedule
from gpu_ci.knowledge.machines.start_up import FIRST_BOOT, standing_machine_steps
from gpu_ci.knowledge.regions import Cloud
from gpu_ci.knowledge.software.machine_images import on_ubuntu
from gpu_ci.knowledge.verdict import Level, Verdict
from tests.checks.stacks import PATH, SECTION, offer, standing, verdicts

pytestmark = pytest.mark.pure

OFFICE: Final = Schedule(days=5, minutes=720)


RUNNER_PATH: Final = PATH.replace(".", "/")


def machine(made: Standing, name: str = "g4dn.xlarge", **options: Any) -> Offer:
    """Return an offer of one machine on EC2."""
    return offer(ec2_type(name), zones=("us-west-2a",), cloud=Cloud.AWS, standing=made, **options)


def verdicts_on(check: Check, made: Offer, changes: Mapping[str, Any] | None = None) -> list[Verdict]:
    """Return the verdicts on the runner."""
    return [one for one in verdicts(check, changes, made) if one.subject.startswith(PATH)]


# Money.


def months(made: Standing, jobs: int = 100) -> list[Verdict]:
    work = {"jobs-per-month": jobs, "minutes": 30}
    changes = {f"{RUNNER_PATH}/workload": work}
    return [one for one in verdicts(money, changes, machine(made)) if one.subject == PATH]


def test_the_hours_of_a_month_and_the_cost_of_a_lost_stop_are_shown() -> None:
    (found,) = months(standing(schedule=OFFICE))

    assert found.level is Level.OK
    assert (
        found.reason
        == "a month has 11 hours without jobs, 66 with the stated jobs, 261 at most, and more with starts by hand"
    )
    assert found.chain[0] == "one start lasts at most 12 hours, and costs at most 6.31 USD"


def test_more_jobs_than_hours_of_the_schedule_are_a_warning() -> None:
    warned, _ = months(standing(schedule=OFFICE), jobs=1000)

    assert (warned.level, warned.subject) == (Level.WARNING, PATH)
    assert warned.reason == "the stated jobs need 550 machine hours a month, and at most 261 are available"
    assert warned.fix == (
        f"lengthen {SECTION}.schedule or {SECTION}.max-hours, use more runners, or lower {PATH}.workload.jobs-per-month to 474"
    )
    assert len(months(standing(schedule=OFFICE), jobs=474)) == 1


def test_more_jobs_than_a_month_has_hours_are_a_warning_without_a_schedule_to_lengthen() -> None:
    warned, _ = months(standing(by_workflow=True), jobs=2000)

    assert warned.fix == f"use more runners, or lower {PATH}.workload.jobs-per-month to 1327"
    assert len(months(standing(by_workflow=True), jobs=1327)) == 1
    assert len(months(standing(by_workflow=True), jobs=1328)) == 2


# Waiting time.

STEPS: Final = standing_machine_steps(by_workflow=False)


def test_jobs_wait_without_a_limit_for_a_manually_started_machine() -> None:
    (found,) = verdicts_on(queue_time, machine(standing(), steps=STEPS, first_steps=(FIRST_BOOT,)))

    assert (found.level, found.subject) == (Level.OK, PATH)
    assert found.reason == "a job waits until someone starts the machine, then 1.1 minutes, and one in 20 more than 2.6"
    assert found.chain[-2].startswith(
        "only once: the first boot installs the driver and restarts the machine once: 300 s"
    )
    assert found.chain[-1] == "after 30 minutes without a job the machine stops, until someone starts it again"


def test_a_queue_target_does_not_apply_while_a_machine_is_off() -> None:
    target = {f"{RUNNER_PATH}/queue-target-minutes": 5}
    (found,) = verdicts_on(queue_time, machine(standing(schedule=OFFICE, idle_minutes=0), steps=STEPS), target)

    assert (found.level, found.subject) == (Level.WARNING, f"{PATH}.queue-target-minutes")
    assert found.reason.startswith("a job waits until its schedule starts the machine, then 1.1 minutes")
    assert not [line for line in found.chain if line.startswith("after ")]


def test_a_machine_that_the_workflow_starts_meets_a_target_from_the_dispatch() -> None:
    made = machine(standing(by_workflow=True), steps=standing_machine_steps(by_workflow=True))
    (met,) = verdicts_on(queue_time, made, {f"{RUNNER_PATH}/queue-target-minutes": 4})
    (missed,) = verdicts_on(queue_time, made, {f"{RUNNER_PATH}/queue-target-minutes": 1})

    assert met.reason == ("a job waits 1.4 minutes for a runner, and one in 20 more than 3.0, within the target of 4")
    assert missed.level is Level.ERROR


# Runner.


@pytest.mark.parametrize(
    ("release", "level", "reason"),
    [
        ("2.328.0", Level.ERROR, "the runner 2.328.0 cannot register at GitHub, which accepts 2.329.0 and later"),
        (
            "2.329.0",
            Level.OK,
            "the machine installs the runner 2.329.0, and replaces it by 2.337.0 or later automatically",
        ),
        ("2.337.0", Level.OK, "the machine installs the runner 2.337.0"),
    ],
)
def test_only_a_runner_version_that_github_rejects_is_refused(release: str, level: Level, reason: str) -> None:
    (found,) = verdicts_on(runner_version, machine(standing(runner=release)))

    assert (found.level, found.subject, found.reason) == (level, f"{SECTION}.runner-version", reason)
    assert found.fix == ('write "2.337.0"' if level is Level.ERROR else "")


ORGANISATION: Final = {"github/url": "https://github.com/example-org"}


def test_the_default_group_of_an_organisation_is_a_warning() -> None:
    warned, forks = verdicts_on(untrusted_jobs, machine(standing(group="default")), ORGANISATION)

    assert (warned.level, warned.subject) == (Level.WARNING, f"{SECTION}.runner-group")
    assert forks.reason == "the machine refuses jobs of pull requests from forks"


def test_a_machine_whose_group_cannot_be_stated_needs_the_address_of_a_repository() -> None:
    made = replace(standing(group="default", forks=True), group_key="", forks_key="")
    warned, forks = verdicts_on(untrusted_jobs, machine(made), ORGANISATION)

    assert (warned.subject, warned.fix) == (PATH, "write the address of one repository as github.url")
    assert forks.subject == PATH


@pytest.mark.parametrize(
    ("made", "subject", "reason"),
    [
        (
            standing(forks=True),
            f"{SECTION}.forks",
            "jobs of pull requests from forks may run on the machine, which deletes their files after each job",
        ),
        (
            standing(keeps_files=True),
            PATH,
            "it keeps the files of jobs for the next ones, and the machine refuses jobs of pull requests from forks",
        ),
    ],
)
def test_the_treatment_of_forks_is_shown(made: Standing, subject: str, reason: str) -> None:
    *_, found = verdicts_on(untrusted_jobs, machine(made), ORGANISATION)

    assert (found.level, found.subject, found.reason) == (Level.OK, subject, reason)


def test_access_of_cirun_is_not_shown_for_machines_that_register_themselves() -> None:
    assert [one.subject for one in verdicts(untrusted_jobs, None, machine(standing()))] == [
        f"{SECTION}.runner-group",
        PATH,
    ]


def test_access_of_cirun_to_a_cloud_where_it_serves_no_runner_is_a_warning() -> None:
    made = machine(standing())

    assert "cirun.aws" in {one.subject for one in verdicts(plausibility, {"cirun/aws": True}, made)}


# Hardware and software.


def test_a_type_below_the_minimum_is_reported_once() -> None:
    (found,) = verdicts_on(floor, machine(standing(), "g6f.xlarge"))

    assert found.level is Level.ERROR
    assert found.reason == "g6f.xlarge has 3 GB of GPU memory; the minimum is 8"


def test_a_job_and_its_disk_are_compared_with_the_machine() -> None:
    needs = {f"{RUNNER_PATH}/needs/{key}": value for key, value in {"cpu": 8, "memory": "4Gi", "disk": "95Gi"}.items()}
    cores, disk = verdicts_on(machine_fit, machine(standing()), needs)

    assert cores.reason == "g4dn.xlarge has 4 cores but the job needs 8"
    assert disk.fix == f"ask for disk: 90Gi, or state {SECTION}.disk: 105Gi"


def test_a_disk_smaller_than_the_image_of_the_machine_is_an_error() -> None:
    (found,) = (one for one in verdicts_on(machine_fit, machine(standing(), image_gib=200)) if one.level is Level.ERROR)

    assert (found.subject, found.fix) == (f"{SECTION}.disk", "state at least 200Gi")


@pytest.mark.parametrize(("driver", "level"), [("580", Level.OK), ("595", Level.OK), ("550", Level.ERROR)])
def test_the_driver_of_the_first_boot_is_compared_with_cuda(driver: str, level: Level) -> None:
    host = HostSoftware(image=on_ubuntu("ubuntu-24.04", driver), image_key=f"{SECTION}.driver")
    needs = {f"{RUNNER_PATH}/needs/cuda": "13.0", f"{RUNNER_PATH}/needs/torch": None}
    found = verdicts_on(compatibility, machine(standing(), host=host), needs)

    assert found[0].level is level
    if level is Level.ERROR:
        assert found[0].subject == f"{SECTION}.driver"
        assert found[0].fix.startswith(f'set {SECTION}.driver to "580"')


# Places, markets and quotas.


def test_a_gpu_that_the_zone_does_not_offer_is_an_error() -> None:
    made = offer(attach(gce_type("n1-standard-4"), gpu_model("t4"), 1), zones=("us-central1-d",), standing=standing())
    (found,) = verdicts_on(gpu_zones, made)

    assert (found.level, found.subject) == (Level.ERROR, f"{SECTION}.zones")


def test_one_spot_machine_is_a_warning() -> None:
    (found,) = verdicts_on(pool_shape, machine(standing(), spot=(True,)))

    assert found.reason == "one spot machine in one zone: without spot capacity it does not start, and its job is lost"
    assert (found.subject, found.fix) == (f"{SECTION}.spot", "set it to false, unless jobs can wait")
    assert verdicts_on(pool_shape, machine(standing())) == []


def test_long_jobs_on_one_spot_machine_are_sent_to_the_on_demand_market() -> None:
    work = {
        f"{RUNNER_PATH}/workload": {"jobs-per-month": 10, "minutes": 600},
        f"{RUNNER_PATH}/timeout-minutes": 7200,
    }
    (found,) = verdicts_on(spot_plan, machine(standing(), spot=(True,)), work)

    assert found.level is Level.OK
    assert found.reason.startswith("a finished job costs ")
    assert verdicts_on(spot_plan, machine(standing()), work) == []


def test_one_machine_counts_against_the_quota_of_its_market() -> None:
    made = offer(ec2_type("g4dn.xlarge"), zones=("us-east-1a",), cloud=Cloud.AWS, standing=standing())
    (found,) = verdicts_on(quota, made)

    assert found.reason.startswith("the stack can use 4 vCPUs in us-east-1, quota L-DB2E81BA")


def test_jarvis_labs_has_no_quota() -> None:
    made = offer(jarvis_instance("l4", 1), zones=("",), cloud=Cloud.JARVIS, standing=standing(by_workflow=True))

    assert verdicts_on(quota, made) == []


@pytest.mark.parametrize(("driver", "problems"), [("580", 0), ("570", 1), ("585", 1)])
def test_the_driver_of_an_image_that_the_stack_builds_is_reported_once(driver: str, problems: int) -> None:
    host = HostSoftware(image=on_ubuntu("ubuntu-24.04", driver), image_key="ec2-image.driver")
    image = {"serial": "20261105", "driver": driver, "zone": "us-west-2a", "regions": ["us-west-2"]}
    found = verdicts(compatibility, {"ec2-image": image}, machine(standing(), host=host))

    assert [one.subject for one in found if one.level is Level.ERROR] == ["ec2-image.driver"] * problems
