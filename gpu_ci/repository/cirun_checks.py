"""Checks of the runners in a `.cirun.yml` for settings that do not work.

The runners are plain data, so that every file can be checked, also with keys that this project does not know.
In a file that this project writes, problems are errors. In other files, problems that public files have as well are
warnings, because cirun seems to accept them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from gpu_ci.knowledge.verdict import Verdict, error, warning
from gpu_ci.repository.cirun import ADDED_BY_CIRUN, TRIED_IN_STEP
from gpu_ci.stack_file.sections.cirun import CIRUN_PREFIX, ONE_LINE

_CLOUD: Final = re.compile(r"cirun-(aws|gcp|azure|do|oracle|openstack)-[a-z0-9.]+(-[a-z0-9.]+)+")
_PLACES: Final = {
    "aws": (re.compile(r"[a-z]{2}(-[a-z]+)+-\d"), "an AWS region", "eu-west-1"),
    "gcp": (re.compile(r"[a-z]+-[a-z]+\d+-[a-z]"), "a Google Cloud zone", "us-central1-b"),
}
"""The form of `region` on each cloud, its name, and an example."""
_CHECK: Final = "cirun"


def judge(runners: Sequence[Mapping[str, Any]], *, ours: bool) -> tuple[Verdict, ...]:
    """Return every problem of `runners`. `ours` is True for a file that this project writes."""
    found: list[Verdict] = []
    names: list[object] = []
    for position, runner in enumerate(runners):
        path = f"runners[{position}]"
        found += [
            error(_CHECK, f"{path}.{key}", f"there is no {key}, or it is not a text", f"state {key}")
            for key in ("name", "cloud")
            if not _is_text(runner.get(key))
        ]
        name = runner.get("name")
        if _is_text(name) and name in names:
            reason = f"{name} is a duplicate name"
            fix = "use each name once: .access.yml and cirun's dashboard refer to it"
            found.append(error(_CHECK, f"{path}.name", reason, fix))
        names.append(name)
        found += _labels(runner.get("labels"), f"{path}.labels", ours=ours)
        found += _lengths(runner, path, ours=ours)
        found += _gpu(runner, path)
        found += _places(runner, path)
        found += _images(runner, path)
    return tuple(found)


def _labels(labels: object, path: str, *, ours: bool) -> Iterator[Verdict]:
    if not isinstance(labels, list) or not labels or not all(_is_text(label) for label in labels):
        yield error(_CHECK, path, "there is no list of labels", f"state labels: [{CIRUN_PREFIX}gpu]")
        return
    for position, label in enumerate(labels):
        here = f"{path}[{position}]"
        if not label.startswith(CIRUN_PREFIX) and (ours or label not in ADDED_BY_CIRUN):
            reason = f'cirun\'s reference requires labels to begin with {CIRUN_PREFIX}, and "{label}" does not'
            fix = f"write {CIRUN_PREFIX}{label}, here and in the workflow's runs-on"
            yield (error if ours else warning)(_CHECK, here, reason, fix)
        if "--" in label:
            reason = f'cirun ignores "--" and the text after it in the labels of a job, so "{label}" never matches'
            yield error(_CHECK, here, reason, f"write {label.replace('--', '-')}")
        if _CLOUD.fullmatch(label):
            reason = f'"{label}" can also be read as cirun\'s one-line form, cirun-CLOUD-TYPE-IMAGE'
            level = error if ours and ONE_LINE.fullmatch(label) else warning
            yield level(_CHECK, here, reason, "put the name of the cloud last")


def _gpu(runner: Mapping[str, Any], path: str) -> Iterator[Verdict]:
    gpu, cloud = runner.get("gpu"), runner.get("cloud")
    if isinstance(gpu, bool | int | float | list):
        stated = str(gpu).lower() if isinstance(gpu, bool) else str(gpu)
        fix = "write the accelerator type, for example gpu: nvidia-tesla-t4, or remove it if the machine type has a GPU"
        if cloud != "gcp":
            fix = "remove it: the instance type has the GPU, and an image with the driver needs no gpu"
        yield warning(_CHECK, f"{path}.gpu", f"cirun's reference requires the name of one GPU, not {stated}", fix)


def _lengths(runner: Mapping[str, Any], path: str, *, ours: bool) -> Iterator[Verdict]:
    found = {key: len(runner[key]) for key in TRIED_IN_STEP if isinstance(runner.get(key), list)}
    if len(set(found.values())) > 1:
        stated = ", ".join(f"{key} has {length}" for key, length in found.items())
        reason = f"cirun reads lists in step, but they differ in length: {stated}"
        fix = "repeat values until all lists have the same length, or use a single value"
        yield (error if ours else warning)(_CHECK, path, reason, fix)


def _places(runner: Mapping[str, Any], path: str) -> Iterator[Verdict]:
    region = runner.get("region")
    if region is None:
        if runner.get("cloud") == "gcp":
            reason = "there is no zone, and cirun documents no default for Google Cloud"
            yield warning(_CHECK, f"{path}.region", reason, "state a zone, or a list of zones to try in order")
        return
    for cloud, (form, name, example) in _PLACES.items():
        if runner.get("cloud") == cloud:
            for place in dict.fromkeys(map(str, region if isinstance(region, list) else [region])):
                if not form.fullmatch(place):
                    yield error(_CHECK, f"{path}.region", f'"{place}" is not {name}', f"write it as {example}")


def _images(runner: Mapping[str, Any], path: str) -> Iterator[Verdict]:
    """Check the AMI and the disk of a machine on AWS."""
    if runner.get("cloud") != "aws":
        return
    region, extra = runner.get("region"), runner.get("extra_config")
    regions = len(set(map(str, region))) if isinstance(region, list) else 1
    if regions > 1 and not isinstance(runner.get("machine_image"), list):
        reason = f"an AMI exists in one region, but it is used in {regions} regions"
        yield error(_CHECK, f"{path}.machine_image", reason, "state one AMI for each region")
    devices: Any = extra.get("BlockDeviceMappings") if isinstance(extra, dict) else None
    for position, device in enumerate(devices if isinstance(devices, list) else []):
        if isinstance(device, dict) and "DeviceName" not in device:
            here = f"{path}.extra_config.BlockDeviceMappings[{position}]"
            reason = "without a DeviceName, this is a second disk, /dev/sdc, and the root disk keeps its size"
            yield warning(_CHECK, here, reason, "state DeviceName: /dev/sda1")


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value != ""
