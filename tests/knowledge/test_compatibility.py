"""The compatibility solver: errors, warnings, explanations, and the laws that it keeps."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_ci.knowledge.machines import GPU_MODELS
from gpu_ci.knowledge.software.architectures import architecture
from gpu_ci.knowledge.software.compatibility import Finding, Query, explain, findings
from gpu_ci.knowledge.software.cuda import TOOLKITS
from gpu_ci.knowledge.software.drivers import AS_OF, BRANCHES
from gpu_ci.knowledge.software.frameworks import ONNXRUNTIME, TORCH
from gpu_ci.knowledge.software.machine_images import MACHINE_IMAGES, on_ubuntu
from gpu_ci.knowledge.software.versions import dotted
from gpu_ci.knowledge.verdict import Level
from tests.work import calls

pytestmark = pytest.mark.pure

EKS = "AL2023_x86_64_NVIDIA:1.35.6-20260714"
DLAMI = "/aws/service/deeplearning/ami/x86_64/base-oss-nvidia-driver-gpu-ubuntu-24.04/latest/ami-id"
PARAMETER = "runners.gpu.cirun-aws.image-parameter"
DRIVER_KEY = "runners.gpu.machine.driver"
DIGEST = "sha256:" + "0" * 64

GPUS = st.sampled_from(sorted(GPU_MODELS))
CUDAS = [row.label for row in TOOLKITS.values()]
DRIVERS = [str(number) for number in sorted(BRANCHES)]
TORCHES = [build.label.removeprefix("torch ") for build in TORCH.values()]
IMAGES = [
    "nvidia/cuda:11.8.0-base-ubuntu22.04",
    "nvidia/cuda:12.6.3-runtime-ubuntu24.04",
    "nvidia/cuda:13.0.3-devel-ubuntu24.04",
    "pytorch/pytorch:2.14.0-cuda12.6-cudnn9-runtime",
    "pytorch/pytorch:2.14.0-cuda13.2-cudnn9-runtime",
    "ghcr.io/actions/actions-runner:2.335.0",
    "123456789012.dkr.ecr.us-west-2.amazonaws.com/runner-gpu:1",
]


def maybe(values: list[str]) -> st.SearchStrategy[str | None]:
    return st.none() | st.sampled_from(values)


BARE = st.builds(Query, gpu=GPUS, cuda=maybe(CUDAS), torch=maybe(TORCHES))
QUERIES = st.builds(
    lambda driver, machine_image, **parts: query(**parts, **({"machine_image": machine_image} if machine_image else {"driver": driver})),
    gpu=st.none() | GPUS,
    driver=maybe(DRIVERS),
    machine_image=maybe([*sorted(MACHINE_IMAGES), *(on_ubuntu("ubuntu-24.04", driver) for driver in DRIVERS)]),
    cuda=maybe(CUDAS),
    image=maybe(IMAGES),
    image_cuda=maybe(CUDAS),
    torch=maybe(TORCHES),
    onnxruntime=maybe([dotted(release) for release in ONNXRUNTIME]),
)  # fmt: skip


def query(**parts: Any) -> Query:
    """Return a query; a driver is always chosen by a key."""
    return Query(driver_key="host-image.driver", **parts)


def errors(asked: Query) -> list[Finding]:
    return [finding for finding in findings(asked) if finding.level is Level.ERROR]


def conflicts(asked: Query, day: date = AS_OF) -> set[tuple[str, ...]]:
    return {finding.parts for finding in findings(asked, as_of=day) if finding.level is Level.ERROR}


def warnings(asked: Query, day: date = AS_OF) -> list[str]:
    return [finding.reason for finding in findings(asked, as_of=day) if finding.level is Level.WARNING]


def test_a_v100_with_cuda_13_is_an_error_with_an_explanation() -> None:
    finding = findings(query(gpu="v100", cuda="13.0"))[0]

    assert finding.level is Level.ERROR
    assert finding.reason == "CUDA 13.0 cannot run on v100: CUDA 13 dropped sm_70"
    assert finding.fix == 'use cuda: "12.9", or use the GPU t4'
    assert finding.chain == (
        "v100 is sm_70 (Volta)",
        "CUDA 13 dropped sm_70; CUDA 12.x is the last version for Volta",
        "so CUDA 13.0 cannot run on v100",
    )


def test_the_explanation_includes_compatible_parts() -> None:
    asked = query(gpu="t4", machine_image=EKS, cuda="12.9")
    reason, chain = explain(asked)

    assert findings(asked) == ()
    assert reason == "t4, driver 580.159.03, CUDA 12.9 are compatible"
    assert chain[-1] == "CUDA 12.9 needs driver 575.51.03, and 580.159.03 is that or newer"


@pytest.mark.parametrize(
    ("parts", "reason", "fix"),
    [
        (
            {"gpu": "t4", "driver": "550", "cuda": "13.0"},
            "CUDA 13.0 cannot run on driver R550: CUDA 13.x needs driver 580.65.06 or newer",
            'set host-image.driver to "580", or use cuda: "12.4"',
        ),
        (
            {"gpu": "t4", "driver": "550", "cuda": "13.0", "driver_is_shared": True},
            "CUDA 13.0 cannot run on driver R550: CUDA 13.x needs driver 580.65.06 or newer",
            'set host-image.driver to "580"',
        ),
        (
            {"gpu": "v100", "driver": "595"},
            "driver R595 does not support v100: R580 is the last driver branch for Volta",
            'set host-image.driver to "580"',
        ),
        (
            {"gpu": "v100", "machine_image": DLAMI, "machine_image_key": PARAMETER},
            "driver 595.91.07 does not support v100: R580 is the last driver branch for Volta",
            f"use images with driver R580 with the proprietary kernel modules and remove {PARAMETER}",
        ),
        (
            {"gpu": "v100", "machine_image": DLAMI},
            "driver 595.91.07 does not support v100: R580 is the last driver branch for Volta",
            "use the GPU t4",
        ),
        (
            {"gpu": "v100", "machine_image": on_ubuntu("ubuntu-24.04", "580"), "machine_image_key": DRIVER_KEY},
            (
                "driver R580 does not support v100: Volta needs the proprietary kernel modules, which "
                "linux-modules-nvidia-580-server-open does not have"
            ),
            "use the GPU t4",
        ),
        (
            {"machine_image": on_ubuntu("ubuntu-22.04", "570"), "machine_image_key": DRIVER_KEY},
            "R570 is not available: linux-modules-nvidia-570-server-open only installs R580",
            f'set {DRIVER_KEY} to "580"',
        ),
        (
            {"machine_image": on_ubuntu("ubuntu-24.04", "550"), "machine_image_key": DRIVER_KEY, "cuda": "13.0"},
            "CUDA 13.0 cannot run on driver R550: CUDA 13.x needs driver 580.65.06 or newer",
            f'set {DRIVER_KEY} to "580", or use cuda: "12.4"',
        ),
        (
            {"machine_image": on_ubuntu("ubuntu-24.04", "585"), "machine_image_key": DRIVER_KEY},
            "585 is not a known driver branch",
            'did you mean "580"?',
        ),
        (
            {"gpu": "rtx-pro-6000", "driver": "550"},
            "driver R550 does not support rtx-pro-6000: Blackwell sm_120 needs driver branch R570 or newer",
            "use the GPU h100",
        ),
        (
            {"gpu": "rtx-pro-6000", "driver": "580"},
            (
                "driver R580 does not support rtx-pro-6000: Blackwell needs the open kernel modules, which "
                "linux-modules-nvidia-580-server-gcp does not have"
            ),
            "use the GPU h100",
        ),
        (
            {"driver": "570"},
            "R570 is not available: linux-modules-nvidia-570-server-gcp only installs R580",
            'set host-image.driver to "580"',
        ),
        (
            {"gpu": "rtx-pro-6000", "torch": "2.6.0"},
            "torch 2.6.0+cu124 has no code for rtx-pro-6000",
            "install torch==2.15.0",
        ),
        (
            {"gpu": "v100", "torch": "2.15.0"},
            "CUDA 13.2 inside torch 2.15.0+cu132 cannot run on v100: CUDA 13 dropped sm_70",
            "install torch==2.14.1 --index-url https://download.pytorch.org/whl/cu126, or use the GPU t4",
        ),
        (
            {"image": "nvidia/cuda:12.9.2-base-ubuntu24.04", "onnxruntime": "1.31.1"},
            "onnxruntime-gpu 1.31 loads CUDA 13 libraries, but the job has CUDA 12.9",
            "use onnxruntime-gpu 1.26, or use an image with CUDA 13.4.2",
        ),
        (
            {"cuda": "12.9", "image": "nvidia/cuda:12.6.3-base-ubuntu24.04"},
            "the job needs CUDA 12.9, but nvidia/cuda:12.6.3-base-ubuntu24.04 has CUDA 12.6",
            'use an image with CUDA 12.9.2, or cuda: "12.6"',
        ),
        (
            {"cuda": "12.9", "image": "registry/runner-gpu:1", "image_cuda": "13.0"},
            "the job needs CUDA 12.9, but registry/runner-gpu:1 has CUDA 13.0",
            'use an image with CUDA 12.9.2, or cuda: "13.0"',
        ),
        (
            {"image": "nvidia/cuda:13.0.3-base-ubuntu24.04", "image_cuda": "12.9"},
            "nvidia/cuda:13.0.3-base-ubuntu24.04 has CUDA 13.0, but CUDA 12.9 is stated for it",
            'use a tag with CUDA 12.9.2, or write "13.0" if the tag is correct',
        ),
        (
            {"image": "pytorch/pytorch:2.14.0-cuda13.2-cudnn9-runtime", "torch": "2.14.1+cu126"},
            (
                "pytorch/pytorch:2.14.0-cuda13.2-cudnn9-runtime contains torch 2.14.1+cu132, but torch 2.14.1+cu126 "
                "is stated"
            ),
            "state torch 2.14.1+cu132, or use an image without torch",
        ),
        ({"cuda": "12.7"}, "12.7 is not a known CUDA version", 'did you mean "12.6"?'),
        ({"driver": "585"}, "585 is not a known driver branch", 'did you mean "580"?'),
        ({"torch": "2.16"}, "2.16 is not a known torch version", 'did you mean "2.15"?'),
        ({"onnxruntime": "1.40"}, "1.40 is not a known onnxruntime-gpu version", 'did you mean "1.31"?'),
        ({"gpu": "a10"}, "a10 is not a known GPU model", 'did you mean "a10g"?'),
        (
            {"image": "nvidia/cuda:12.9.9-base-ubuntu24.04"},
            "12.9.9-base-ubuntu24.04 is not a known tag of nvidia/cuda",
            'did you mean "12.9.2-base-ubuntu24.04"?',
        ),
        (
            {"machine_image": "AL2023_x86_64_NVIDIA:1.35.6-20260917"},
            "AL2023_x86_64_NVIDIA:1.35.6-20260917 is not a known machine image",
            'did you mean "AL2023_x86_64_NVIDIA:20260714"?',
        ),
    ],
)
def test_each_error_has_a_reason_and_a_fix(parts: dict[str, Any], reason: str, fix: str) -> None:
    finding = findings(query(**parts))[0]

    assert (finding.level, finding.reason, finding.fix) == (Level.ERROR, reason, fix)


@pytest.mark.parametrize(
    ("parts", "reasons"),
    [
        (
            {"gpu": "t4", "machine_image": EKS, "cuda": "13.2"},
            ["CUDA 13.2 runs on driver 580.159.03 only through minor version compatibility"],
        ),
        ({"driver": "575"}, ["driver branch R575 reached its end of life on or before 2025-08-04"]),
        ({"gpu": "v100"}, ["v100 gets no driver after R580 and no CUDA after 12.x"]),
        ({"gpu": "t4"}, []),
        (
            {"gpu": "rtx-pro-6000", "cuda": "12.6"},
            ["CUDA 12.6 is older than rtx-pro-6000 and has no machine code for sm_120"],
        ),
        ({"gpu": "l4", "cuda": "11.6"}, []),
        ({"cuda": "12.9", "image": IMAGES[5]}, [f"{IMAGES[5]} has no CUDA libraries, but the job needs CUDA 12.9"]),
        ({"cuda": "12.9", "image": IMAGES[5], "torch": "2.14.1+cu126"}, []),
    ],
)
def test_a_query_has_the_expected_warnings(parts: dict[str, Any], reasons: list[str]) -> None:
    assert warnings(query(**parts)) == reasons


@pytest.mark.parametrize("cuda", ["13.3", "13.4"])
def test_an_older_driver_is_not_suggested_for_a_newer_cuda(cuda: str) -> None:
    assert findings(query(gpu="t4", driver="595", cuda=cuda))[0].fix == 'use cuda: "13.2"'


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ({"gpu": "v100", "driver": "580", "cuda": "13.0", "torch": "2.14.1+cu126"}, {("gpu", "cuda")}),
        ({"gpu": "v100", "machine_image": DLAMI, "cuda": "12.9"}, {("gpu", "machine_image")}),
        ({"gpu": "t4", "machine_image": EKS, "cuda": "12.9"}, set()),
        ({"gpu": "rtx-pro-6000", "machine_image": on_ubuntu("ubuntu-24.04", "580"), "cuda": "12.9"}, set()),
    ],
)
def test_an_error_names_the_involved_parts(parts: dict[str, Any], expected: set[tuple[str, ...]]) -> None:
    assert conflicts(query(**parts)) == expected


def test_an_unknown_name_hides_no_other_error() -> None:
    found = errors(query(gpu="v100", cuda="13.0", driver="585", torch="2.16"))

    assert [finding.reason for finding in found] == [
        "585 is not a known driver branch",
        "2.16 is not a known torch version",
        "CUDA 13.0 cannot run on v100: CUDA 13 dropped sm_70",
    ]


def test_a_driver_branch_is_supported_on_the_day_of_its_end_of_life() -> None:
    asked = query(gpu="t4", driver="580")

    assert warnings(asked, date(2028, 6, 30)) == []
    assert warnings(asked, date(2028, 7, 1)) == ["driver branch R580 reached its end of life on 2028-06-30"]


def test_an_image_at_its_end_of_life_is_deleted_six_months_later() -> None:
    asked = query(image="nvidia/cuda:12.9.2-base-ubuntu24.04")
    reason = "nvidia/cuda:12.9.2-base-ubuntu24.04 reached its end of life with its last driver branch on 2026-06-30"

    assert warnings(asked, date(2026, 6, 30)) == []
    assert warnings(asked, date(2026, 11, 21)) == [f"{reason}, and may be deleted from 2026-12-30"]
    assert warnings(asked, date(2026, 12, 30)) == [f"{reason}, and may have been deleted since 2026-12-30"]


@pytest.mark.parametrize(
    ("tag", "fix"),
    [
        ("13.0.2-base-ubuntu24.04", "use 13.0.3-base-ubuntu24.04, or copy it to your own registry and name it by its"),
        ("12.9.1-base-ubuntu24.04", "copy it to your own registry and name it by its digest"),
    ],
)
def test_only_a_supported_point_release_is_suggested(tag: str, fix: str) -> None:
    assert findings(query(image=f"nvidia/cuda:{tag}"))[0].fix.startswith(fix)


@pytest.mark.parametrize("tag", ["11.8.0-base-ubuntu22.04", "12.9.1-base-ubuntu24.04", "13.0.0-devel-ubuntu22.04"])
def test_a_copy_of_an_image_has_no_end_of_life_and_the_cuda_of_its_tag(tag: str) -> None:
    original = query(image=f"nvidia/cuda:{tag}", driver="450")
    copy = replace(original, image=f"us-central1-docker.pkg.dev/project/gpu-tests/cuda:{tag}@{DIGEST}")

    assert warnings(replace(original, driver=None)) != []
    assert warnings(replace(copy, driver=None)) == []
    assert conflicts(copy) == conflicts(original)


def test_a_torch_version_without_a_variant_accepts_that_of_the_image() -> None:
    asked = query(image="pytorch/pytorch:2.14.0-cuda12.6-cudnn9-runtime", torch="2.14.1")

    assert conflicts(asked) == set()
    assert conflicts(replace(asked, gpu="rtx-pro-6000")) == {("gpu", "image")}


# Laws --------------------------------------------------------------------------------------------------------

PARTS = [one.name for one in fields(Query) if one.default is None]


@given(QUERIES)
def test_every_finding_explains_itself_and_errors_come_first(asked: Query) -> None:
    found = findings(asked)

    assert [one for one in found if not (one.reason and one.fix and one.chain)] == []
    assert [one.level for one in found] == sorted((one.level for one in found), key=lambda one: one is not Level.ERROR)
    assert explain(asked)[0]


@given(QUERIES, st.sampled_from(PARTS))
def test_removing_a_part_adds_no_error_to_a_compatible_query(asked: Query, part: str) -> None:
    assert errors(asked) or not errors(replace(asked, **{part: None}))  # type: ignore[arg-type]  # an optional field


@given(QUERIES)
def test_removing_any_part_of_an_error_removes_the_error(asked: Query) -> None:
    for parts in conflicts(asked):
        for part in parts:
            assert parts not in conflicts(replace(asked, **{part: None}))  # type: ignore[arg-type]  # as above


@given(BARE, st.sampled_from(DRIVERS), st.sampled_from(DRIVERS))
def test_a_newer_driver_breaks_only_dropped_gpus(asked: Query, one: str, two: str) -> None:
    older, newer = sorted((one, two))
    last = architecture(GPU_MODELS[asked.gpu or ""].capability).last_driver
    broken = errors(replace(asked, driver=newer)) and not errors(replace(asked, driver=older))

    assert not broken or newer in {"535", "570"} or (last is not None and int(newer) > last)


@given(BARE, maybe(DRIVERS), st.sampled_from(CUDAS), st.sampled_from(CUDAS))
def test_a_newer_cuda_removes_no_error(asked: Query, driver: str | None, one: str, two: str) -> None:
    older, newer = sorted((one, two), key=CUDAS.index)
    bare = replace(asked, driver=driver, torch=None)

    assert errors(replace(bare, cuda=newer)) or not errors(replace(bare, cuda=older))


@given(QUERIES, st.dates(min_value=date(2025, 1, 1), max_value=date(2030, 1, 1)))
def test_errors_do_not_depend_on_the_day(asked: Query, day: date) -> None:
    assert conflicts(asked, day) == conflicts(asked)


@given(QUERIES)
def test_the_suggested_cuda_version_works(asked: Query) -> None:
    for finding in errors(asked):
        for cuda in re.findall(r'use cuda: "([\d.]+)"', finding.fix):
            assert finding.parts not in conflicts(replace(asked, cuda=cuda))


@given(BARE, maybe(DRIVERS))
def test_the_suggested_torch_works(asked: Query, driver: str | None) -> None:
    for finding in errors(replace(asked, driver=driver, driver_key="host-image.driver")):
        for version, variant in re.findall(r"install torch==([\d.]+)(?: --index-url \S+/(cu\d+))?", finding.fix):
            changed = replace(asked, driver=driver, torch=f"{version}+{variant}" if variant else version)

            assert [parts for parts in conflicts(changed) if "torch" in parts] == []


@given(GPUS, st.sampled_from(DRIVERS), maybe(CUDAS))
def test_the_suggested_driver_works(gpu: str, driver: str, cuda: str | None) -> None:
    asked = query(gpu=gpu, driver=driver, cuda=cuda)
    for finding in errors(asked):
        for branch in re.findall(r'set host-image\.driver to "(\d+)"', finding.fix):
            assert finding.parts not in conflicts(replace(asked, driver=branch))


@given(GPUS, st.sampled_from(CUDAS))
def test_the_suggested_gpu_works(gpu: str, cuda: str) -> None:
    for finding in errors(query(gpu=gpu, cuda=cuda)):
        for other in re.findall(r"use the GPU ([\w-]+)", finding.fix):
            assert conflicts(query(gpu=other, cuda=cuda)) == set()


@given(GPUS, st.sampled_from(DRIVERS), st.sampled_from(CUDAS))
def test_a_fix_for_minor_version_compatibility_gives_full_support(gpu: str, driver: str, cuda: str) -> None:
    asked = query(gpu=gpu, driver=driver, cuda=cuda)
    older = [finding for finding in findings(asked) if "minor version compatibility" in finding.reason]
    for finding in [] if errors(asked) else older:
        branch = re.search(r'set host-image\.driver to "(\d+)"', finding.fix)
        other = re.search(r'use cuda: "([\d.]+)"', finding.fix)

        assert other is not None
        assert warnings(replace(asked, cuda=other[1])) == warnings(replace(asked, cuda=None))
        assert branch is None or int(branch[1]) > int(driver)
        assert branch is None or "minor" not in " ".join(warnings(replace(asked, driver=branch[1])))


@given(QUERIES)
def test_a_query_takes_few_calls(asked: Query) -> None:
    assert calls(lambda: findings(asked)) < 20_000
