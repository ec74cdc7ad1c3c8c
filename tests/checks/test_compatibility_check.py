"""The check `compatibility`: each problem is reported once, at the key that has to change."""

from __future__ import annotations

from typing import Any

import pytest

from gpu_ci.checks.images import compatibility
from gpu_ci.knowledge.verdict import Level
from ops.cli.options import ROOT
from tests.checks.stacks import verdicts
from tests.tables import OUT

pytestmark = pytest.mark.pure

RUNNER_IMAGE = {"images/runner-gpu/repository": OUT, "images/runner-gpu/digest": OUT}


def problems(changes: dict[str, Any]) -> list[tuple[str, Level]]:
    found = verdicts(compatibility, changes)
    return [(verdict.subject, verdict.level) for verdict in found if verdict.level is not Level.OK]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, []),
        ({"host-image/driver": "550"}, [("host-image.driver", Level.ERROR)]),
        ({"host-image/driver": "585"}, [("host-image.driver", Level.ERROR)]),
        ({"host-image/driver": "610"}, [("host-image.driver", Level.WARNING)]),
        ({"runners/cirun-gcp-gpu/needs/cuda": "13.1"}, [("runners.cirun-gcp-gpu", Level.WARNING)]),
        ({"images/runner-gpu/cuda": "12.7"}, [("images.runner-gpu.cuda", Level.ERROR)]),
        (
            {
                **RUNNER_IMAGE,
                "images/runner-gpu/reference": "nvidia/cuda",
                "images/runner-gpu/tag": "12.9.2-cudnn9-runtime-ubuntu24.04",
            },
            [("images.runner-gpu.tag", Level.ERROR)],
        ),
        ({"test-image/cuda-image": "13.0.3-bse-ubuntu24.04"}, [("test-image.cuda-image", Level.ERROR)]),
    ],
)
def test_a_problem_is_reported_once_at_its_key(changes: dict[str, Any], expected: list[tuple[str, Level]]) -> None:
    assert problems(changes) == expected


def test_githubs_runner_image_has_no_cuda_even_if_one_is_stated_for_it() -> None:
    changes = {
        **RUNNER_IMAGE,
        "images/runner-gpu/reference": "ghcr.io/actions/actions-runner",
        "images/runner-gpu/tag": "2.337.0",
    }

    assert problems(changes) == [("runners.gpu-t4", Level.WARNING), ("runners.gpu-t4-steady", Level.WARNING)]


def test_every_part_that_passes_is_explained() -> None:
    passed = [verdict for verdict in verdicts(compatibility) if verdict.level is Level.OK]

    assert {"host-image", "images.runner-gpu", "runners.gpu-t4", "test-image.cuda-image"} <= {
        verdict.subject for verdict in passed
    }
    assert all(verdict.chain for verdict in passed if verdict.subject.startswith("runners."))


def test_the_page_shows_a_real_message() -> None:
    page = (ROOT / "docs/explanation/checks/compatibility.md").read_text(encoding="utf-8")
    changes = {"runners/cirun-gcp-gpu/needs/gpu": "v100", "runners/cirun-gcp-gpu/needs/cuda": "13.0"}
    (error,) = (verdict for verdict in verdicts(compatibility, changes) if verdict.level is Level.ERROR)

    assert str(error).rpartition(" (")[0] in page
    assert [line for line in error.chain if line not in page] == []
