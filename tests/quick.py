"""A pytest plugin for `make test`: select the tests that find most mistakes in a few minutes.

`make test-all`, and each run that names its tests, do not use it. The rules are about kinds of tests:

- A slow test is one on the engine, or one of `SLOW`. Only `EXAMPLES` of them run.
- A test of the plans of several stack files runs on `STACKS`.
- A test of the plans of the catalogue's mistakes runs on the first mistake of each check and level, and on all stack
  files that are refused when they are read. `tests/mistakes/test_checks.py` has the other ones, without their plans.

Hypothesis tries fewer examples, and the same ones in every run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import pytest
from hypothesis import settings

from tests.mistakes.catalogue import Mistake, Severity

STACKS: Final = frozenset(
    {
        "tests/stacks/staging.yaml",
        "examples/cirun-aws.yaml",
        "examples/cirun-gcp.yaml",
        "examples/start-stop.yaml",
        "examples/vm-aws.yaml",
    }
)
"""The stack of most tests, which has `arc`, and a stack file for each other back end."""
SLOW: Final = (
    "tests/artefacts/test_callers.py::test_every_row_has_a_text",
    "tests/artefacts/test_callers.py",
    "tests/artefacts/test_container_images.py",
    "tests/artefacts/test_deploy.py",
    "tests/artefacts/test_gpu_test_image.py",
    "tests/artefacts/test_gpu_workflow_lint.py",
    "tests/artefacts/test_image_builder.py",
    "tests/bootstrap/test_bootstrap_command.py",
    "tests/stack_file/test_faults_together.py::test_two_mistakes_are_both_reported_and_nothing_else",
    "tests/house/test_adoption.py",
    "tests/house/test_docs.py::test_a_stack_file_with_a_fragment_from_a_page_can_be_planned",
    "tests/house/test_docs.py::test_the_output_that_a_page_shows_is_what_the_command_prints",
    "tests/house/test_docs.py::test_the_tutorial_shows_the_messages_that_its_broken_stack_files_give",
    "tests/house/test_makefile.py",
    "tests/house/test_tiers.py",
    "tests/machine/test_boot.py",
    "tests/machine/test_booted.py",
    "tests/machine/test_lint.py",
    "tests/machine/test_time_limit.py",
    "tests/ops/test_machine.py",
    "tests/plan/test_determinism.py::test_another_process_and_environment_give_the_same_bytes",
    "tests/policy/test_pack.py",
    "tests/report/test_upgrade_check.py",
    "tests/start_stop/test_ec2_instance.py",
    "tests/start_stop/test_gce_instance.py",
    "tests/start_stop/test_jarvis_kit.py",
    "tests/start_stop/test_machine_life.py",
)
"""Files and tests that start many processes or simulate weeks."""
EXAMPLES: Final = frozenset(
    {
        "tests/engine/test_engine.py::test_a_destroy_deletes_everything_and_the_folder_is_removed",
        "tests/engine/test_engine.py::test_an_update_creates_every_resource_and_leaves_no_changes",
        "tests/engine/test_image_builds.py::test_the_same_content_is_built_again_only_with_a_higher_number_and_a_destroy_keeps_images",
        "tests/engine/test_lives.py::test_a_committed_stack_passes_its_rehearsal[examples/cirun-aws.yaml]",
        "tests/machine/test_booted.py::test_the_first_boot_prepares_the_machine[aws]",
        "tests/report/test_edits.py::test_a_comparison_starts_few_processes",
    }
)
"""A destroy, an update, an image build, a rehearsal, a boot and a report."""


def pytest_configure() -> None:
    """Load the profile of Hypothesis before the tests are imported."""
    settings.register_profile("quick", settings(), max_examples=20, derandomize=True)
    settings.load_profile("quick")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the tests that run only in `make test-all`."""
    kept, left = selected(items)
    config.hook.pytest_deselected(items=left)
    items[:] = kept


def selected(items: Sequence[pytest.Item]) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """Return the tests to run and the others, both in their order."""
    on_stacks = {function_of(item) for item in items if stack_files_of(item) & STACKS}
    kinds: set[tuple[str, str, str]] = set()
    kept: list[pytest.Item] = []
    left: list[pytest.Item] = []
    for item in items:
        files, kind = stack_files_of(item), kind_of(item)
        if item.get_closest_marker("engine") or item.nodeid.startswith(SLOW):
            keep = item.nodeid in EXAMPLES
        elif item.get_closest_marker("plan"):
            keep = kind not in kinds and (not files or bool(files & STACKS) or function_of(item) not in on_stacks)
        else:
            keep = True
        if kind is not None:
            kinds.add(kind)
        (kept if keep else left).append(item)
    return kept, left


def function_of(item: pytest.Item) -> str:
    """Return the id of a test without its parameters."""
    return item.nodeid.partition("[")[0]


def parameters_of(item: pytest.Item) -> Mapping[str, Any]:
    """Return the parameters of a test by their names."""
    called = getattr(item, "callspec", None)
    return called.params if called is not None else {}


def stack_files_of(item: pytest.Item) -> set[str]:
    """Return the stack files among the parameters of a test."""
    return {value for value in parameters_of(item).values() if isinstance(value, str) and value.endswith(".yaml")}


def kind_of(item: pytest.Item) -> tuple[str, str, str] | None:
    """Return the function, check and level of a test of a mistake in a plan; None for other tests."""
    mistake = parameters_of(item).get("mistake")
    if not isinstance(mistake, Mistake) or mistake.level is Severity.FAULT:
        return None
    return function_of(item), mistake.check, mistake.level
