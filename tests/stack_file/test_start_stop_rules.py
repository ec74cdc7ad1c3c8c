"""Rules of machines that a workflow starts: each reports what breaks it, and nothing else."""

from __future__ import annotations

from typing import Any, Final

import pytest

from tests.stack_file import stacks
from tests.stack_file.stacks import Broken, broken
from tests.tables import OUT

pytestmark = pytest.mark.pure

STACK: Final = "examples/start-stop.yaml"
T4, L4 = "runners/gpu-t4/start-stop", "runners/gpu-l4/start-stop"


def wrong(rule: str, changes: dict[str, Any], *reported: str, stack: str = STACK) -> Broken:
    return broken(rule, changes, *reported, stack=stack)


JARVIS: Final = "examples/jarvis.yaml"
INSTANCE: Final = "runners/jarvis-l4/start-stop/jarvis"
AT: Final = "runners.jarvis-l4.start-stop.jarvis"
CASES = (
    wrong(
        "the_repository_is_one_of_github_url",
        {f"{T4}/repository/name": "speech", "gpu-tests": OUT},
        "runners.gpu-t4.start-stop.repository.name: speech is not the repository in github.url, which registers the"
        " runner; write vision, or the organisation in github.url",
    ),
    wrong(
        "the_federation_trusts_the_repository",
        {f"{L4}/repository/id": 5},
        "runners.gpu-l4.start-stop.repository.id: 5 is not in github-federation.repositories; state vision: 5 there",
    ),
    wrong(
        "machines_stop_when_they_are_idle",
        {f"{T4}/machine/idle-stop-minutes": 0},
        "runners.gpu-t4.start-stop.machine.idle-stop-minutes: 0 keeps the machine running after it was created, and"
        " after a stop job that was lost; write 10 or more",
    ),
    wrong(
        "jobs_of_forks_cannot_start_a_machine",
        {f"{T4}/machine/forks": True},
        "runners.gpu-t4.start-stop.machine.forks: GitHub gives the workflow of a fork no token, so it cannot start the"
        " machine; remove it",
    ),
    wrong(
        "instances_serve_one_runner",
        {"runners/other": stacks.sections(JARVIS)["runners"]["jarvis-l4"]},
        'runners.other.start-stop.jarvis.name: "vision-ci" is the instance of the runner jarvis-l4; write another name',
        stack=JARVIS,
    ),
    wrong(
        "a_container_runs_the_startup_script",
        {f"{INSTANCE}/template": "vm"},
        f"{AT}.template: a virtual machine of Jarvis Labs runs no startup script, so no runner would start; write"
        " pytorch",
        stack=JARVIS,
    ),
    wrong(
        "storage_can_be_rented",
        {f"{INSTANCE}/storage": "50Gi"},
        f"{AT}.storage: 50Gi is outside the 100 to 5000 GiB that Jarvis Labs rents; write 100Gi to 5000Gi",
        stack=JARVIS,
    ),
    wrong(
        "jarvis_labs_has_the_gpus",
        {"runners/jarvis-l4/needs/gpus": 9},
        "runners.jarvis-l4.needs.gpus: 9 GPUs are stated, but an instance of Jarvis Labs has at most 8; write 8 or"
        " fewer",
        stack=JARVIS,
    ),
    wrong(
        "jobs_end_before_the_instance_is_paused",
        {"runners/jarvis-l4/timeout-minutes": 120},
        f"{AT}.max-hours: the instance is paused after 2 h, but a job may take 120 min; write 3, or lower"
        " timeout-minutes",
        stack=JARVIS,
    ),
    wrong(
        "an_organisation_or_a_repository_has_the_runner",
        {"github/url": "https://github.com/enterprises/example"},
        "github.url: a GitHub App cannot register the runner of an instance of Jarvis Labs for an enterprise; write the"
        " address of an organisation or a repository",
        stack=JARVIS,
    ),
)


def test_a_broken_rule_of_a_started_machine_is_reported_at_its_path_with_the_fix() -> None:
    assert stacks.not_as_stated(CASES) == []
