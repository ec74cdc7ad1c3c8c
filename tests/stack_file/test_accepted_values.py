"""Values that the services accept are accepted in the stack file, field by field."""

from __future__ import annotations

from typing import Any

import pytest

from tests.stack_file.stacks import GCP, STAGING, faults, sections

pytestmark = pytest.mark.pure

POOL = "gpu-pools/t4-spot"
TESTS = "gpu-tests/vision"

ACCEPTED: list[tuple[str, str, Any]] = [
    # ECR API, RepositoryName.
    *((STAGING, f"ecr/{name}", {"force-delete": True}) for name in (
        "team/runner-gpu", "runner_gpu", "a.b", "a--b", "a__b", "ab", "0/1", "a/b/c_d", "r" * 200,
    )),
    (STAGING, f"{POOL}/disk", {"size": "200Gi", "iops": 80_000, "throughput": 2_000}),
    (STAGING, f"{POOL}/disk", {"size": "64Ti"}),
    (STAGING, f"{POOL}/labels", {"example.org/team": "vision", "team": "A_b.c-9"}),
    (STAGING, f"{POOL}/taints", {"example.org/team": "vision:NoExecute"}),
    (STAGING, "cluster/logs", []),
    *((STAGING, "cluster/log-retention-days", days) for days in (150, 1096, 1827, 2192, 2557, 2922, 3288, 3653)),
    (STAGING, "autoscaler/expander", ["priority", "least-nodes"]),
    (STAGING, "runners/gpu-t4/timeout-minutes", 7200),
    (STAGING, "runners/gpu-t4/arc/labels", ["linux", "X64", "cuda-12.9", "gpu_t4"]),
    (STAGING, "runners/gpu-t4/needs/torch", "2.9.1+cu129"),
    (STAGING, "budget", {"worst": 250_000}),
    (STAGING, "stack/tags", {"cost-centre:team/unit": "R+D = 1", "Owner": "ci@example.org"}),
    (STAGING, "github/url", "https://github.com/enterprises/example"),
    (GCP, "artifact-registry/a--b", {}),
    (GCP, f"artifact-registry/{'r' * 63}", {}),
    (GCP, f"{TESTS}/python", "3.13.1"),
    (GCP, f"{TESTS}/python", "3.14t"),
    (GCP, f"{TESTS}/switch", "run_gpu_2"),
    (GCP, f"{TESTS}/run-label", "ci/gpu:run it"),
    (GCP, f"{TESTS}/codecov-flag", "gpu_tests.2"),
    *((GCP, f"{TESTS}/nightly", cron) for cron in (
        "17 3 * * MON-FRI", "17 3 * * mon,Wed,FRI", "5 0-6/2 1,15 JAN-JUN *", "*/15 * * * *", "17 3 1-31/2 */3 0",
        "07 03 01 01 7", "17  3 * *  *",
    )),
]  # fmt: skip
"""A stack file, a path, and a value there that the service documents as valid."""


def test_a_value_that_the_service_accepts_is_accepted() -> None:
    assert [(*row, found) for row in ACCEPTED if (found := faults(_with(*row)))] == []


def _with(name: str, path: str, value: Any) -> dict[str, Any]:
    """Return the sections of a stack file with one part changed; names may contain slashes."""
    section, _, rest = path.partition("/")
    if section in {"ecr", "artifact-registry"}:
        found = sections(name)
        found.setdefault(section, {})[rest] = value
        return found
    return sections(name, {path: value})


@pytest.mark.parametrize("repository", ["team/runner-gpu", "runner_gpu", "a.b"])
def test_an_image_is_in_any_repository_that_ecr_accepts(repository: str) -> None:
    found = sections()
    image = next(image for image in found["images"].values() if "repository" in image)
    found["ecr"] = {repository: {"force-delete": True}}
    image["repository"] = repository

    assert faults(found) == []


@pytest.mark.parametrize(
    "cron",
    ["@daily", "60 * * * *", "0 24 * * *", "0 0 0 * *", "0 0 * 13 *", "0 0 * * FRIDAY", "*/0 * * * *", "0 0 * *"],
)
def test_a_time_that_is_not_cron_is_refused(cron: str) -> None:
    assert faults(sections(GCP, {f"{TESTS}/nightly": cron})) != []
