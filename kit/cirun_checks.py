"""Checks of a valid `.cirun.yml` for settings that do not work.

In a file that this project writes, problems are errors. In other files, problems that public files have as well are
warnings, because cirun seems to accept them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from config.cirun import ONE_LINE
from gpu.verdict import Verdict, error, warning
from kit.cirun import ADDED_BY_CIRUN, LABEL_PREFIX, AnyRunner, AwsRunner, CirunFile, GcpRunner

if TYPE_CHECKING:
    from collections.abc import Iterator

_TRIED_IN_TURN: Final = ("instance_type", "machine_image", "region", "preemptible")
_CLOUD = re.compile(r"cirun-(aws|gcp|azure|do|oracle|openstack)-[a-z0-9.]+(-[a-z0-9.]+)+")
_CHECK: Final = "cirun"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One machine that cirun tries to start for a job."""

    instance_type: str | None
    machine_image: str | None
    region: str | None
    preemptible: bool


def lengths(runner: AnyRunner) -> dict[str, int]:
    """Return the length of each list that cirun reads in step with the others."""
    values = {key: getattr(runner, key) for key in _TRIED_IN_TURN}
    return {key: len(value) for key, value in values.items() if isinstance(value, tuple)}


def attempts(runner: AnyRunner) -> tuple[Attempt, ...]:
    """Return the machines that cirun tries, in order. Lists are read in step; single values apply to every attempt.

    Raises:
        ValueError: the lists differ in length, which cirun's reference does not define.

    """
    count = set(lengths(runner).values()) or {1}
    if len(count) > 1:
        message = f"{runner.name}: the lists of a runner differ in length: {lengths(runner)}"
        raise ValueError(message)
    steps = range(count.pop())

    def at(key: str, step: int) -> str | bool | None:
        value: str | bool | tuple[str | bool, ...] | None = getattr(runner, key)
        return value[step] if isinstance(value, tuple) else value

    return tuple(
        Attempt(
            instance_type=_text(at("instance_type", step)),
            machine_image=_text(at("machine_image", step)),
            region=_text(at("region", step)),
            preemptible=bool(at("preemptible", step)),
        )
        for step in steps
    )


def judge(file: CirunFile, *, ours: bool) -> tuple[Verdict, ...]:
    """Return every problem of `file`. `ours` is True for a file that this project writes."""
    found: list[Verdict] = []
    names: set[str] = set()
    for position, runner in enumerate(file.runners):
        path = f"runners[{position}]"
        if runner.name in names:
            found.append(
                error(
                    _CHECK,
                    f"{path}.name",
                    f"{runner.name} is a duplicate name",
                    "use each name once: .access.yml and cirun's dashboard refer to it",
                )
            )
        names.add(runner.name)
        found += _labels(runner, path, ours=ours)
        found += _lists(runner, path, ours=ours)
        found += _places(runner, path)
    return tuple(found)


def _labels(runner: AnyRunner, path: str, *, ours: bool) -> Iterator[Verdict]:
    for position, label in enumerate(runner.labels):
        here = f"{path}.labels[{position}]"
        if not label.startswith(LABEL_PREFIX) and (ours or label not in ADDED_BY_CIRUN):
            yield (error if ours else warning)(
                _CHECK,
                here,
                f'cirun\'s reference requires labels to begin with {LABEL_PREFIX}, and "{label}" does not',
                f"write {LABEL_PREFIX}{label}, here and in the workflow's runs-on",
            )
        if "--" in label:
            yield error(
                _CHECK,
                here,
                f'cirun ignores "--" and the text after it in the labels of a job, so "{label}" never matches',
                f"write {label.replace('--', '-')}",
            )
        if _CLOUD.fullmatch(label):
            yield (error if ours and ONE_LINE.fullmatch(label) else warning)(
                _CHECK,
                here,
                f'"{label}" can also be read as cirun\'s one-line form, cirun-CLOUD-TYPE-IMAGE',
                "put the name of the cloud last",
            )


def _lists(runner: AnyRunner, path: str, *, ours: bool) -> Iterator[Verdict]:
    found = lengths(runner)
    if len(set(found.values())) > 1:
        stated = ", ".join(f"{key} has {length}" for key, length in found.items())
        yield (error if ours else warning)(
            _CHECK,
            path,
            f"cirun reads lists in step, but they differ in length: {stated}",
            "repeat values until all lists have the same length, or use a single value",
        )


def _places(runner: AnyRunner, path: str) -> Iterator[Verdict]:
    if isinstance(runner, AwsRunner):
        regions = set(runner.region) if isinstance(runner.region, tuple) else {runner.region}
        if len(regions) > 1 and not isinstance(runner.machine_image, tuple):
            yield error(
                _CHECK,
                f"{path}.machine_image",
                f"an AMI exists in one region, but it is used in {len(regions)} regions",
                "state one AMI for each region",
            )
        for position, device in enumerate((runner.extra_config and runner.extra_config.block_devices) or ()):
            if device.device_name is None:
                yield warning(
                    _CHECK,
                    f"{path}.extra_config.BlockDeviceMappings[{position}]",
                    "without a DeviceName, this is a second disk, /dev/sdc, and the root disk keeps its size",
                    "state DeviceName: /dev/sda1",
                )
    if isinstance(runner, GcpRunner) and runner.region is None:
        yield warning(
            _CHECK,
            f"{path}.region",
            "there is no zone, and cirun documents no default for Google Cloud",
            "state a zone, or a list of zones to try in order",
        )


def _text(value: str | bool | None) -> str | None:
    return value if isinstance(value, str) else None
