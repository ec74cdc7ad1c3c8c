"""The offer of a machine that exists between jobs, from the stack file."""

from __future__ import annotations

from typing import Any, Final

import pytest

from gpu_ci.back_ends.offer import HostSoftware, Offer
from gpu_ci.back_ends.shared.machine.offers import machine_offer
from gpu_ci.back_ends.shared.machine.section import OWN, STOCK, AlertSettings, MachineSection
from gpu_ci.knowledge.machines.running import RunningTime, Schedule
from gpu_ci.knowledge.machines.start_up import FIRST_BOOT
from gpu_ci.stack_file.sections.machine_images import Ec2ImageSettings
from gpu_ci.stack_file.sections.settings import Settings
from tests.checks.stacks import standing
from tests.stack_file import stacks

pytestmark = pytest.mark.pure

KEY: Final = "runners.gpu.vm"
SETTINGS: Final = stacks.settings()
RUNNER: Final = SETTINGS.runners["cirun-gcp-gpu"]
ON_AWS: Final = {"cloud": "aws", "zone": "us-west-2a", "machine_type": "g4dn.xlarge"}
ON_GCP: Final = {"cloud": "gcp", "zone": "us-central1-b", "machine_type": "n1-standard-4"}


def offered(stated: dict[str, Any], settings: Settings = SETTINGS, *, schedule: Schedule | None = None) -> Offer:
    machine = MachineSection.model_validate(stated, by_name=True)
    return machine_offer(
        path="runners.gpu",
        key=KEY,
        runner=RUNNER,
        machine=machine,
        settings=settings,
        standing=standing(schedule=schedule),
    )


def time_of(made: Offer) -> RunningTime:
    assert made.own is not None
    assert made.own.standing is not None
    return made.own.standing.time


def test_the_first_boot_of_stock_ubuntu_installs_the_stated_driver() -> None:
    made = offered({**ON_AWS, "image": STOCK, "driver": "580"})

    assert made.host == HostSoftware(image="ubuntu-24.04 with driver 580", image_key=f"{KEY}.driver")
    assert made.first_steps == (FIRST_BOOT,)
    assert made.own is not None
    assert made.own.image_gib == 10


def test_an_own_image_on_aws_has_the_driver_and_the_size_of_its_section() -> None:
    image = Ec2ImageSettings(
        zone="us-west-2a", serial="20261105", driver="595", regions=("us-west-2",), os="ubuntu-22.04", disk="80Gi"
    )
    made = offered({**ON_AWS, "image": OWN}, SETTINGS.model_copy(update={"ec2_image": image}))

    assert made.host == HostSoftware(image="ubuntu-22.04 with driver 595", image_key="ec2-image.driver")
    assert made.first_steps == ()
    assert made.own is not None
    assert made.own.image_gib == 80


def test_an_own_image_on_google_cloud_is_the_host_image() -> None:
    made = offered({**ON_GCP, "image": OWN})

    assert made.host == HostSoftware(builds_image=True)
    assert made.own is not None
    assert (made.own.attached_gpu, made.own.attached_gpus, made.own.image_gib) == ("t4", 1, 50)


def test_the_software_of_any_other_image_is_not_known() -> None:
    made = offered({**ON_AWS, "image": "ami-0123456789abcdef0"})

    assert made.host == HostSoftware()
    assert made.own is not None
    assert made.own.image_gib == 0


@pytest.mark.parametrize(
    ("place", "schedule", "alarms"),
    [
        (ON_AWS, None, 3),
        (ON_AWS, Schedule(days=5, minutes=60), 5),
        (ON_GCP, None, 2),
        (ON_GCP, Schedule(days=5, minutes=60), 3),
    ],
)
def test_alarms_are_counted_where_an_address_is_stated(
    place: dict[str, str], schedule: Schedule | None, alarms: int
) -> None:
    stated = {**place, "image": OWN}
    with_alerts = {**stated, "alerts": AlertSettings(email="ci@example.org")}

    assert time_of(offered(with_alerts, schedule=schedule)).alarms == alarms
    assert time_of(offered(stated, schedule=schedule)).alarms == 0


def test_a_machine_on_google_cloud_has_a_public_address_where_the_stack_states_it() -> None:
    made = [time_of(offered({**place, "image": OWN})).public_address for place in (ON_AWS, ON_GCP)]
    assert SETTINGS.gcp is not None

    assert made == [True, SETTINGS.gcp.public_addresses]
