"""The fixes of the compatibility check, applied to the stack file: the finding disappears and no error appears."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from gpu_ci.checks.images.compatibility import CHECK
from gpu_ci.knowledge.verdict import Level, Verdict
from tests.mistakes.catalogue import MISTAKES, PARAMETER, merge
from tests.mistakes.saying import write
from tests.mistakes.sound import settings_in, verdicts
from tests.tables import OUT

pytestmark = pytest.mark.pure

BY_NAME: Final = {mistake.name: mistake for mistake in MISTAKES if mistake.check == CHECK}
DIGEST: Final = f"sha256:{'0' * 64}"
MINE: Final = "us-central1-docker.pkg.dev/gpu-test-runners/gpu-tests/cuda"
ANOTHER_IMAGE: Final = {"repository": "runner-gpu", "digest": DIGEST, "cuda": "13.0", "compressed": "5Gi"}


def on_aws(needs: Mapping[str, Any] | None = None, **served: Any) -> dict[str, Any]:
    change = {"cirun-aws": {key.replace("_", "-"): value for key, value in served.items()}, "needs": needs or {}}
    return {"runners": {"cirun-aws-gpu": change}}


def driver(branch: str) -> dict[str, Any]:
    return {"host-image": {"driver": branch}}


def base(reference: str) -> dict[str, Any]:
    return {"test-image": {"cuda-image": reference}}


def job(name: str, **needs: Any) -> dict[str, Any]:
    return {"runners": {name: {"needs": needs}}}


APPLIED: Final = (
    ("a driver branch too old for the CUDA version", 'set host-image.driver to "580"', driver("580")),
    ("a driver too old for every runner", 'set host-image.driver to "580"', driver("580")),
    ("a driver branch that Ubuntu no longer has", 'set host-image.driver to "580"', driver("580")),
    ("a driver branch that never existed", 'did you mean "580"?', driver("580")),
    ("a driver branch after its end of life", 'set host-image.driver to "580"', driver("580")),
    (
        "a driver older than the CUDA version but of the same major version",
        'use cuda: "13.0"',
        job("cirun-gcp-gpu", cuda="13.0"),
    ),
    (
        "a driver older than the CUDA version but of the same major version",
        'set host-image.driver to "595"',
        driver("595"),
    ),
    (
        "a GPU that the driver of the AWS image does not support",
        "use images with driver R580 with the proprietary kernel modules and remove runners.cirun-aws-gpu.cirun-aws",
        on_aws(images={"us-west-2": "ami-0fedcba9876543210"}, image_parameter=OUT),
    ),
    ("a newer CUDA version than the driver of the AWS image supports", 'use cuda: "13.2"', on_aws({"cuda": "13.2"})),
    ("an unknown image parameter", f'did you mean "{PARAMETER}"?', on_aws(image_parameter=PARAMETER)),
    (
        "the runner image of GitHub for jobs that need CUDA",
        "state needs.torch if torch brings them",
        merge(job("gpu-t4", torch="2.9.1"), job("gpu-t4-steady", torch="2.9.1")),
    ),
    (
        "a CUDA version that differs from the image tag",
        "use a tag with CUDA 12.9.2",
        {"images": {"runner-gpu": {"tag": "12.9.2-runtime-ubuntu24.04"}}},
    ),
    (
        "an unknown tag of nvidia/cuda for runners",
        'did you mean "12.9.2-cudnn-runtime-ubuntu24.04"?',
        {"images": {"runner-gpu": {"tag": "12.9.2-cudnn-runtime-ubuntu24.04"}}},
    ),
    (
        "a base image tag with an old cuDNN name",
        'did you mean "13.0.3-cudnn-runtime-ubuntu24.04"?',
        base("13.0.3-cudnn-runtime-ubuntu24.04"),
    ),
    (
        "a base image tag with an unsupported Ubuntu version",
        'did you mean "13.0.3-base-ubuntu24.04"?',
        base("13.0.3-base-ubuntu24.04"),
    ),
    ("a misspelt base image tag", 'did you mean "13.0.3-base-ubuntu24.04"?', base("13.0.3-base-ubuntu24.04")),
    (
        "an unknown point release of a CUDA image",
        'did you mean "13.0.3-base-ubuntu24.04"?',
        base("13.0.3-base-ubuntu24.04"),
    ),
    (
        "a CUDA image after its end of life",
        "copy it to your own registry and name it by its digest",
        base(f"{MINE}:11.8.0-base-ubuntu22.04@{DIGEST}"),
    ),
    (
        "a CUDA image that a point release supersedes",
        "use 13.0.3-base-ubuntu24.04",
        base("13.0.3-base-ubuntu24.04"),
    ),
    (
        "a CUDA image that a point release supersedes",
        "copy it to your own registry and name it by its digest",
        base(f"{MINE}:13.0.0-base-ubuntu24.04@{DIGEST}"),
    ),
    ("an onnxruntime for another CUDA version", "use onnxruntime-gpu 1.26", job("gpu-t4", onnxruntime="1.26")),
    (
        "an onnxruntime for another CUDA version",
        'use an image with CUDA 13.0.3 and cuda: "13.0"',
        {
            "images": {"another": ANOTHER_IMAGE},
            "runners": {"gpu-t4": {"needs": {"cuda": "13.0"}, "arc": {"image": "another"}}},
        },
    ),
)
"""A mistake, words of its fix, and the change that applies the fix."""


def problems(change: Mapping[str, Any], folder: Path) -> list[Verdict]:
    found = verdicts(settings_in(write(change, folder)))
    return [verdict for verdict in found if verdict.check == CHECK and verdict.level is not Level.OK]


@pytest.mark.parametrize(("name", "words", "applied"), APPLIED, ids=[f"{name}: {words}" for name, words, _ in APPLIED])
def test_a_fix_works(tmp_path: Path, name: str, words: str, applied: Mapping[str, Any]) -> None:
    mistake = BY_NAME[name]
    before = problems(mistake.change, tmp_path)
    reported = [verdict for verdict in before if verdict.subject == mistake.path and words in verdict.fix]
    after = problems(merge(mistake.change, applied), tmp_path)

    assert len(reported) == 1, [str(verdict) for verdict in before]
    assert {verdict.reason for verdict in after} & {verdict.reason for verdict in reported} == set()
    assert [str(verdict) for verdict in after if verdict.level is Level.ERROR] == []


@pytest.mark.parametrize("branch", ["450", "470", "525", "535", "550", "560", "570", "575", "585", "999"])
def test_an_incompatible_driver_is_reported_once_at_its_key(tmp_path: Path, branch: str) -> None:
    found = problems(driver(branch), tmp_path)

    assert [verdict.subject for verdict in found] == ["host-image.driver"]
    assert found[0].level is Level.ERROR
