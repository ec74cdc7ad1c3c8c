"""The solver: what it refuses, what it warns of, how it explains itself, and the laws that it keeps."""

from __future__ import annotations

import re
import time
from dataclasses import fields, replace
from datetime import date
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gpu.machines import GPU_MODELS
from gpu.software.architectures import architecture
from gpu.software.compatibility import Ask, conflicts, solve
from gpu.software.cuda import TOOLKITS
from gpu.software.drivers import AS_OF, BRANCHES
from gpu.software.frameworks import ONNXRUNTIME, TORCH
from gpu.software.machine_images import MACHINE_IMAGES
from gpu.software.versions import dotted
from gpu.verdict import Level, Verdict

pytestmark = pytest.mark.pure

EKS = "AL2023_x86_64_NVIDIA:1.35.6-20260714"
DIGEST = "sha256:" + "0" * 64

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


def asked(**parts: object) -> Ask:
    return Ask(path="runners.gpu", **parts)  # type: ignore[arg-type]  # the names of its fields, given by tests


def maybe(values: list[str]) -> st.SearchStrategy[str | None]:
    return st.none() | st.sampled_from(values)


ASKS = st.builds(
    Ask,
    path=st.just("runners.gpu"),
    gpus=st.lists(st.sampled_from(sorted(GPU_MODELS)), max_size=2, unique=True).map(tuple),
    driver=maybe([*DRIVERS, "580.159.03", "nvidia-driver-580-server", "nvidia-driver-580-server-open"]),
    machine_image=maybe(sorted(MACHINE_IMAGES)),
    cuda=maybe(CUDAS),
    image=maybe(IMAGES),
    image_cuda=maybe(CUDAS),
    torch=maybe(TORCHES),
    onnxruntime=maybe([dotted(release) for release in ONNXRUNTIME]),
    mig=st.booleans(),
)

BARE = st.builds(
    Ask,
    path=st.just("runners.gpu"),
    gpus=st.sampled_from(sorted(GPU_MODELS)).map(lambda slug: (slug,)),
    cuda=maybe(CUDAS),
    torch=maybe(TORCHES),
)


def grave(verdicts: tuple[Verdict, ...]) -> list[Verdict]:
    return [verdict for verdict in verdicts if verdict.level is Level.ERROR]


def refused(ask: Ask) -> bool:
    return bool(grave(solve(ask)))


# What it says ------------------------------------------------------------------------------------------------


def test_a_v100_with_cuda_13_is_refused_with_the_chain_that_explains_it() -> None:
    verdict = solve(asked(gpus=("v100",), cuda="13.0"))[0]

    assert (verdict.level, verdict.subject, verdict.check) == (Level.ERROR, "runners.gpu", "compatibility")
    assert verdict.reason == "CUDA 13.0 cannot run on v100: CUDA 13 dropped sm_70"
    assert verdict.fix == 'use cuda: "12.9", or take a t4 pool'
    assert verdict.chain == (
        "v100 is sm_70 (Volta)",
        "CUDA 13 dropped sm_70; CUDA 12.x is the last for Volta",
        "so CUDA 13.0 cannot run on v100",
    )


def test_the_chapter_shows_what_is_really_said() -> None:
    chapter = (Path(__file__).parents[2] / "docs/explanation/checks/compatibility.md").read_text()
    verdict = solve(asked(gpus=("v100",), cuda="13.0"))[0]

    assert str(verdict).rpartition(" (")[0] in chapter
    assert verdict.chapter == "explanation/checks/compatibility.md"


def test_what_holds_is_explained_as_well() -> None:
    (verdict,) = solve(asked(gpus=("t4",), machine_image=EKS, cuda="12.9"))

    assert (verdict.level, verdict.fix) == (Level.OK, "")
    assert verdict.reason == "t4, driver 580.159.03, CUDA 12.9 go together"
    assert verdict.chain[-1] == "CUDA 12.9 needs driver 575.51.03, and 580.159.03 is that or newer"


def test_a_newer_minor_version_than_the_drivers_own_is_a_warning_about_ptx() -> None:
    (verdict,) = solve(asked(gpus=("t4",), machine_image=EKS, cuda="13.2"))

    assert verdict.level is Level.WARNING
    assert verdict.reason == "CUDA 13.2 runs on driver 580.159.03 by minor version compatibility only"
    assert verdict.fix == 'use cuda: "13.0"'
    assert "without compiling PTX of that toolkit" in verdict.chain[-1]


def test_a_driver_below_the_floor_is_refused_and_forward_compatibility_is_not_counted_on() -> None:
    verdict = solve(asked(gpus=("t4",), driver="570", cuda="13.0"))[0]

    assert verdict.reason == "CUDA 13.0 cannot run on driver R570: CUDA 13.x needs driver 580.65.06 or newer"
    assert verdict.fix == 'take driver R580, or use cuda: "12.8"'
    assert verdict.chain[2] == "cuda-compat-13-0, for data-centre GPUs alone, is not counted on"


@pytest.mark.parametrize(
    ("parts", "reason", "fix"),
    [
        (
            {"gpus": ("v100",), "driver": "595"},
            "driver R595 does not drive v100: R580 is the last driver branch for Volta",
            "take driver R580 with the proprietary kernel modules",
        ),
        (
            {"gpus": ("v100",), "driver": "nvidia-driver-580-server-open"},
            (
                "driver R580 does not drive v100: Volta is driven by the proprietary kernel modules alone, and "
                "nvidia-driver-580-server-open brings the others"
            ),
            "take driver R580 with the proprietary kernel modules",
        ),
        (
            {"gpus": ("rtx-pro-6000",), "driver": "550"},
            "driver R550 does not drive rtx-pro-6000: Blackwell sm_120 needs driver branch R570 or newer",
            "take driver R580 with the open kernel modules",
        ),
        (
            {"gpus": ("rtx-pro-6000",), "torch": "2.6.0"},
            "torch 2.6.0+cu124 has no code for rtx-pro-6000",
            "install torch==2.15.0",
        ),
        (
            {"gpus": ("v100",), "torch": "2.15.0"},
            "CUDA 13.2 inside torch 2.15.0+cu132 cannot run on v100: CUDA 13 dropped sm_70",
            "install torch==2.14.1 --index-url https://download.pytorch.org/whl/cu126, or take a t4 pool",
        ),
        (
            {"image": "nvidia/cuda:12.9.2-base-ubuntu24.04", "onnxruntime": "1.31.1"},
            "onnxruntime-gpu 1.31 loads CUDA 13 libraries, and there is CUDA 12.9",
            "use onnxruntime-gpu 1.26, or use an image with CUDA 13.4.2",
        ),
        (
            {"cuda": "12.9", "image": "nvidia/cuda:12.6.3-base-ubuntu24.04"},
            "the job needs CUDA 12.9, and nvidia/cuda:12.6.3-base-ubuntu24.04 has CUDA 12.6",
            'use an image with CUDA 12.9.2, or cuda: "12.6"',
        ),
        (
            {"cuda": "12.9", "image": "registry/runner-gpu:1", "image_cuda": "13.0"},
            "the job needs CUDA 12.9, and registry/runner-gpu:1 has CUDA 13.0",
            'use an image with CUDA 12.9.2, or cuda: "13.0"',
        ),
        (
            {"image": "nvidia/cuda:13.0.3-base-ubuntu24.04", "image_cuda": "12.9"},
            "nvidia/cuda:13.0.3-base-ubuntu24.04 has CUDA 13.0, and CUDA 12.9 is stated for it",
            'take a tag with CUDA 12.9.2, or, where the tag is right, write "13.0"',
        ),
        (
            {"image": "pytorch/pytorch:2.14.0-cuda13.2-cudnn9-runtime", "torch": "2.14.1+cu126"},
            "pytorch/pytorch:2.14.0-cuda13.2-cudnn9-runtime carries torch 2.14.1+cu132, and torch 2.14.1+cu126 is stated",
            "state torch 2.14.1+cu132, or take an image without torch",
        ),
        (
            {"gpus": ("t4",), "mig": True},
            "t4 cannot be cut into MIG slices",
            "take one of a100, a100-80gb, h100, rtx-pro-6000, or share the GPU by time-slicing",
        ),
        (
            {"machine_image": EKS, "driver": "595"},
            "AL2023_x86_64_NVIDIA:20260714 carries driver 580.159.03, and 595 is stated",
            "state driver 580, or take another image",
        ),
    ],
)
def test_each_contradiction_has_its_reason_and_its_way_out(parts: dict[str, object], reason: str, fix: str) -> None:
    verdict = solve(asked(**parts))[0]

    assert (verdict.level, verdict.reason, verdict.fix) == (Level.ERROR, reason, fix)


@pytest.mark.parametrize(
    ("parts", "terms"),
    [
        ({"gpus": ("v100",), "driver": "580", "cuda": "13.0", "torch": "2.14.1+cu126"}, {("gpu", "cuda")}),
        ({"gpus": ("t4",), "driver": "535", "cuda": "13.0", "mig": True}, {("driver", "cuda"), ("gpu", "mig")}),
        ({"gpus": ("v100",), "machine_image": "cuda-installer-1.9.1:prod", "cuda": "12.9"}, {("gpu", "machine-image")}),
        ({"gpus": ("t4",), "machine_image": EKS, "cuda": "12.9"}, set()),
    ],
)
def test_the_smallest_contradictions_are_named(parts: dict[str, object], terms: set[tuple[str, ...]]) -> None:
    assert set(conflicts(asked(**parts))) == terms


@pytest.mark.parametrize(
    ("parts", "reason", "fix"),
    [
        ({"cuda": "12.7"}, "12.7 is not a known CUDA version", "did you mean 12.6?"),
        ({"driver": "585"}, "585 is not a known driver branch", "did you mean 580?"),
        ({"torch": "2.16"}, "2.16 is not a known torch version", "did you mean 2.15?"),
        ({"onnxruntime": "1.40"}, "1.40 is not a known onnxruntime-gpu version", "did you mean 1.31?"),
        (
            {"image": "nvidia/cuda:12.9.9-base-ubuntu24.04"},
            "12.9.9-base-ubuntu24.04 is not a known tag of nvidia/cuda",
            "did you mean 12.9.2-base-ubuntu24.04?",
        ),
        ({"gpus": ("a10",)}, "a10 is not a known GPU model", "did you mean a10g?"),
        (
            {"machine_image": "AL2023_x86_64_NVIDIA:1.35.6-20260917"},
            "AL2023_x86_64_NVIDIA:1.35.6-20260917 is not a known machine image",
            "did you mean AL2023_x86_64_NVIDIA:20260714?",
        ),
    ],
)
def test_an_unknown_name_is_an_error_and_never_a_guess(parts: dict[str, object], reason: str, fix: str) -> None:
    (verdict,) = solve(asked(**parts))

    assert (verdict.level, verdict.reason, verdict.fix) == (Level.ERROR, reason, fix)


def test_an_unknown_name_hides_no_other_fault() -> None:
    reasons = [verdict.reason for verdict in grave(solve(asked(gpus=("v100", "t5"), cuda="13.0", driver="585")))]

    assert reasons == [
        "585 is not a known driver branch",
        "t5 is not a known GPU model",
        "CUDA 13.0 cannot run on v100: CUDA 13 dropped sm_70",
    ]


# What ends ---------------------------------------------------------------------------------------------------


def reasons(ask: Ask, day: date = AS_OF) -> list[str]:
    return [verdict.reason for verdict in solve(ask, as_of=day) if verdict.level is Level.WARNING]


def test_a_branch_ends_on_its_day_and_not_before() -> None:
    ask = asked(gpus=("t4",), driver="580")

    assert reasons(ask, date(2028, 6, 30)) == []
    assert reasons(ask, date(2028, 7, 1)) == ["driver branch R580 ended on 2028-06-30"]


def test_a_branch_whose_day_is_not_known_ended_by_then() -> None:
    assert reasons(asked(driver="575")) == ["driver branch R575 ended not later than 2025-08-04"]


def test_an_image_of_an_ended_generation_is_to_be_copied_before_it_is_deleted() -> None:
    ask = asked(image="nvidia/cuda:12.9.2-base-ubuntu24.04")
    ended = "nvidia/cuda:12.9.2-base-ubuntu24.04 ended with its last driver branch on 2026-06-30, and may"

    assert reasons(ask, date(2026, 6, 30)) == []
    assert reasons(ask, date(2026, 11, 21)) == [f"{ended} be deleted from 2026-12-30"]
    assert reasons(ask, date(2026, 12, 30)) == [f"{ended} have been deleted since 2026-12-30"]


def test_a_superseded_point_release_names_the_newest_one() -> None:
    found = solve(asked(image="nvidia/cuda:13.0.2-base-ubuntu24.04"))[0]

    assert found.fix.startswith("use 13.0.3-base-ubuntu24.04, or keep a copy")


def test_a_point_release_of_an_ended_generation_is_not_offered() -> None:
    found = solve(asked(image="nvidia/cuda:12.9.1-base-ubuntu24.04"))[0]

    assert found.fix == "keep a copy in a registry of your own, and name it by its digest"


@pytest.mark.parametrize("tag", ["11.8.0-base-ubuntu22.04", "12.9.1-base-ubuntu24.04", "13.0.0-devel-ubuntu22.04"])
def test_a_copy_in_ones_own_registry_ends_with_nobody_and_is_judged_by_its_tag(tag: str) -> None:
    copy = f"us-central1-docker.pkg.dev/project/gpu-tests/cuda:{tag}@{DIGEST}"

    assert reasons(asked(image=f"nvidia/cuda:{tag}")) != []
    assert reasons(asked(image=copy)) == []
    assert conflicts(asked(image=copy, driver="450")) == conflicts(asked(image=f"nvidia/cuda:{tag}", driver="450"))


def test_a_transitional_package_is_refused_for_it_brings_another_branch() -> None:
    (verdict,) = solve(asked(driver="nvidia-driver-570-server"))

    assert (verdict.level, verdict.fix) == (Level.ERROR, "take driver R580")
    assert verdict.reason == "R570 is not to be had: nvidia-driver-570-server only pulls in R580"


def test_a_moving_image_is_a_surprise_but_not_where_exact_images_stand_beside_its_name() -> None:
    named = asked(machine_image="ubuntu-accelerator-2404-amd64-with-nvidia-580")

    assert reasons(replace(named, machine_image_key="runners.gpu.cirun-aws.image-parameter")) == []
    assert reasons(named) == [
        "ubuntu-accelerator-2404-amd64-with-nvidia-580 always means its newest image, so its driver can change by itself"
    ]


def test_a_frozen_gpu_is_warned_of_and_a_living_one_is_not() -> None:
    assert reasons(asked(gpus=("v100",))) == ["v100 is frozen at driver R580 and CUDA 12.x"]
    assert reasons(asked(gpus=("t4",))) == []


def test_the_runner_image_alone_brings_no_cuda() -> None:
    runner = "ghcr.io/actions/actions-runner:2.335.0"

    assert reasons(asked(cuda="12.9", image=runner)) == [f"{runner} has no CUDA libraries, and the job needs CUDA 12.9"]
    assert reasons(asked(cuda="12.9", image=runner, torch="2.14.1+cu126")) == []


def test_a_torch_without_a_variant_is_content_with_what_the_image_carries() -> None:
    ask = asked(image="pytorch/pytorch:2.14.0-cuda12.6-cudnn9-runtime", torch="2.14.1")

    assert conflicts(ask) == ()
    assert conflicts(replace(ask, gpus=("rtx-pro-6000",))) == (("gpu", "image"),)


def test_cuda_older_than_the_gpu_lives_on_ptx() -> None:
    assert reasons(asked(gpus=("rtx-pro-6000",), cuda="12.6")) == [
        "CUDA 12.6 is older than rtx-pro-6000, and holds no machine code for sm_120"
    ]
    assert reasons(asked(gpus=("l4",), cuda="11.6")) == []


# Laws --------------------------------------------------------------------------------------------------------


@given(ASKS)
def test_the_same_asking_has_the_same_answer_wherever_it_is_stated(ask: Ask) -> None:
    elsewhere = solve(replace(ask, path="gpu-pools.other"))

    assert solve(ask) == solve(replace(ask))
    assert [replace(verdict, subject="runners.gpu") for verdict in elsewhere] == list(solve(ask))


@given(ASKS)
def test_every_verdict_explains_itself(ask: Ask) -> None:
    verdicts = solve(ask)

    assert verdicts
    assert [v for v in verdicts if v.level is not Level.OK and not (v.reason and v.fix and v.chain)] == []
    assert {v.level for v in verdicts} == {Level.OK} or Level.OK not in {v.level for v in verdicts}
    assert [v.level for v in verdicts] == sorted(
        (v.level for v in verdicts), key=lambda level: level is not Level.ERROR
    )


UNSTATED = {"gpus": (), "mig": False}
PARTS = [one.name for one in fields(Ask) if one.default is None or one.name in UNSTATED]


@given(ASKS, st.data())
def test_leaving_something_out_never_makes_a_fault(ask: Ask, data: st.DataObject) -> None:
    assume(not refused(ask))
    part = data.draw(st.sampled_from(PARTS))

    assert not refused(replace(ask, **{part: UNSTATED.get(part)}))  # type: ignore[arg-type]  # a field and its default


@given(ASKS)
def test_a_smallest_contradiction_loses_its_fault_with_any_of_its_parts(ask: Ask) -> None:
    parts = {"gpu": "gpus", "machine-image": "machine_image", "image-cuda": "image_cuda"}
    for terms in conflicts(ask):
        for term in terms:
            field = parts.get(term, term)
            without = replace(ask, **{field: UNSTATED.get(field)})  # type: ignore[arg-type]  # a field and its default

            assert terms not in conflicts(without)


@given(BARE, st.sampled_from(DRIVERS), st.sampled_from(DRIVERS))
def test_a_newer_driver_breaks_nothing_but_what_it_dropped(ask: Ask, one: str, two: str) -> None:
    older, newer = sorted((one, two))
    last = architecture(GPU_MODELS[ask.gpus[0]].capability).last_driver
    broken = refused(replace(ask, driver=newer)) and not refused(replace(ask, driver=older))

    assert not broken or (last is not None and int(newer) > last)


@given(BARE, st.none() | st.sampled_from(DRIVERS), st.sampled_from(CUDAS), st.sampled_from(CUDAS))
def test_a_newer_cuda_loosens_nothing(ask: Ask, driver: str | None, one: str, two: str) -> None:
    older, newer = sorted((one, two), key=CUDAS.index)
    bare = replace(ask, driver=driver, torch=None)

    assert refused(replace(bare, cuda=newer)) or not refused(replace(bare, cuda=older))


@given(ASKS, st.sampled_from(sorted(GPU_MODELS)))
def test_one_more_gpu_loosens_nothing(ask: Ask, slug: str) -> None:
    assert refused(replace(ask, gpus=(*ask.gpus, slug))) or not refused(ask)


@given(ASKS, st.dates(min_value=date(2025, 1, 1), max_value=date(2030, 1, 1)))
def test_the_day_decides_warnings_and_never_errors(ask: Ask, day: date) -> None:
    assert conflicts(ask, as_of=day) == conflicts(ask)


@given(st.sampled_from(sorted(GPU_MODELS)), maybe(DRIVERS), st.sampled_from(CUDAS))
def test_the_cuda_that_is_offered_works(slug: str, driver: str | None, cuda: str) -> None:
    ask = asked(gpus=(slug,), driver=driver, cuda=cuda)
    offered = {found for verdict in grave(solve(ask)) for found in re.findall(r'use cuda: "([\d.]+)"', verdict.fix)}

    assert [other for other in offered if ("gpu", "cuda") in conflicts(replace(ask, cuda=other))] == []
    assert [other for other in offered if ("driver", "cuda") in conflicts(replace(ask, cuda=other))] == []


@given(st.sampled_from(sorted(GPU_MODELS)), maybe(DRIVERS), st.sampled_from(TORCHES))
def test_the_torch_that_is_offered_works(slug: str, driver: str | None, torch: str) -> None:
    ask = asked(gpus=(slug,), driver=driver, torch=torch)
    for verdict in grave(solve(ask)):
        for version, variant in re.findall(r"install torch==([\d.]+)(?: --index-url \S+/(cu\d+))?", verdict.fix):
            offered = replace(ask, torch=f"{version}+{variant}" if variant else version)

            assert [terms for terms in conflicts(offered) if "torch" in terms] == []


@given(st.sampled_from(sorted(GPU_MODELS)), st.sampled_from(DRIVERS), maybe(CUDAS))
def test_the_driver_that_is_offered_works(slug: str, driver: str, cuda: str | None) -> None:
    ask = asked(gpus=(slug,), driver=driver, cuda=cuda)
    for verdict in grave(solve(ask)):
        for offered in re.findall(r"take driver R(\d+)", verdict.fix):
            assert ("gpu", "driver") not in conflicts(replace(ask, driver=offered))


@given(st.sampled_from(sorted(GPU_MODELS)), st.sampled_from(DRIVERS), st.sampled_from(CUDAS))
def test_what_is_offered_against_a_warning_of_an_older_driver_carries_all_of_the_cuda(
    slug: str, driver: str, cuda: str
) -> None:
    ask = asked(gpus=(slug,), driver=driver, driver_key="host-image.driver", cuda=cuda)
    older = [verdict for verdict in solve(ask) if "minor version compatibility" in verdict.reason]
    for verdict in [] if refused(ask) else older:
        branch = re.search(r'set host-image\.driver to "(\d+)"', verdict.fix)
        other = re.search(r'use cuda: "([\d.]+)"', verdict.fix)

        assert other is not None
        assert reasons(replace(ask, cuda=other[1])) == reasons(replace(ask, cuda=None))
        assert branch is None or int(branch[1]) > int(driver)
        assert branch is None or verdict.reason not in reasons(replace(ask, driver=branch[1]))
        assert branch is None or "minor" not in " ".join(reasons(replace(ask, driver=branch[1])))


@pytest.mark.parametrize("cuda", ["13.3", "13.4"])
def test_no_older_driver_is_offered_for_a_newer_cuda(cuda: str) -> None:
    found = next(one for one in solve(asked(gpus=("t4",), driver="595", cuda=cuda)) if "minor" in one.reason)

    assert found.fix == 'use cuda: "13.2"'


def test_a_key_of_the_stack_file_is_offered_where_one_chooses_the_driver() -> None:
    ask = asked(gpus=("t4",), driver="linux-modules-nvidia-550-server-gcp", cuda="13.0", driver_key="host-image.driver")

    assert solve(ask)[0].fix == 'set host-image.driver to "580", or use cuda: "12.4"'
    assert solve(replace(ask, places=(("driver", "host-image.driver"),)))[0].fix == 'set host-image.driver to "580"'


def test_a_gpu_whose_modules_no_key_can_choose_is_to_be_changed_itself() -> None:
    ask = asked(gpus=("rtx-pro-6000",), driver="linux-modules-nvidia-580-server-gcp", driver_key="host-image.driver")
    found = solve(ask)[0]

    assert found.fix == "take an h100"
    assert conflicts(replace(ask, gpus=("h100",))) == ()


def test_a_node_image_that_no_key_names_is_not_offered_another_of() -> None:
    found = solve(asked(gpus=("v100",), machine_image="cuda-installer-1.9.1:prod"))[0]

    assert found.fix == "take a t4"


def test_what_is_judged_elsewhere_is_not_told_again() -> None:
    ask = asked(gpus=("t4",), driver="610", cuda="12.9")

    assert reasons(ask) == ["driver branch R610 ended on 2026-08-31"]
    assert [verdict.level for verdict in solve(replace(ask, elsewhere=("driver",)))] == [Level.OK]


@given(st.sampled_from(sorted(GPU_MODELS)), st.sampled_from(CUDAS))
def test_the_gpu_that_is_offered_works(slug: str, cuda: str) -> None:
    ask = asked(gpus=(slug,), cuda=cuda)
    for verdict in grave(solve(ask)):
        for offered in re.findall(r"take an? ([\w-]+) pool", verdict.fix):
            assert conflicts(replace(ask, gpus=(offered,))) == ()


@settings(max_examples=5, deadline=None)
@given(st.lists(ASKS, min_size=5, max_size=20))
def test_many_runners_cost_little(some: list[Ask]) -> None:
    started = time.process_time()
    for index in range(3000):
        solve(replace(some[index % len(some)], path=f"runners.gpu-{index}"))

    assert time.process_time() - started < 2
