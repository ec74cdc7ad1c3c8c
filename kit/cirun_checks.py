"""What is sound in a `.cirun.yml` and still goes wrong: judged before a job waits for a runner that never comes.

Owns the judgements. In a file that this project writes they are errors; in one that was found they are warnings
where public files show that cirun puts up with it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from config.cirun import ONE_LINE
from gpu.verdict import Level, Verdict
from kit.cirun import ADDED_BY_CIRUN, LABEL_PREFIX, AmazonRunner, AnyRunner, CirunFile, GoogleRunner

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
    """How long each list is, of those that cirun goes through in step."""
    values = {key: getattr(runner, key) for key in _TRIED_IN_TURN}
    return {key: len(value) for key, value in values.items() if isinstance(value, tuple)}


def attempts(runner: AnyRunner) -> tuple[Attempt, ...]:
    """What cirun tries, in order: lists in step by position, what is no list every time.

    Raises:
        ValueError: the lists differ in length, for which cirun's reference defines nothing.

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
    """Everything that can be said against `file`. `ours` says that this project writes it."""
    found: list[Verdict] = []
    names: set[str] = set()
    for position, runner in enumerate(file.runners):
        path = f"runners[{position}]"
        if runner.name in names:
            found.append(
                _verdict(
                    Level.ERROR,
                    f"{path}.name",
                    f"{runner.name} stands twice",
                    "name each runner once: .access.yml and cirun's dashboard know it by its name",
                )
            )
        names.add(runner.name)
        found += _labels(runner, path, ours=ours)
        found += _lists(runner, path, Level.ERROR if ours else Level.WARNING)
        found += _places(runner, path)
    return tuple(found)


def _labels(runner: AnyRunner, path: str, *, ours: bool) -> Iterator[Verdict]:
    for position, label in enumerate(runner.labels):
        here = f"{path}.labels[{position}]"
        if not label.startswith(LABEL_PREFIX) and (ours or label not in ADDED_BY_CIRUN):
            yield _verdict(
                Level.ERROR if ours else Level.WARNING,
                here,
                f'cirun\'s reference asks for labels that begin with {LABEL_PREFIX}, and "{label}" does not',
                f"write {LABEL_PREFIX}{label}, here and in the workflow's runs-on",
            )
        if "--" in label:
            yield _verdict(
                Level.ERROR,
                here,
                f'cirun drops everything from "--" on in what a job asks for, so "{label}" is never matched',
                f"write {label.replace('--', '-')}",
            )
        if _CLOUD.fullmatch(label):
            yield _verdict(
                Level.ERROR if ours and ONE_LINE.fullmatch(label) else Level.WARNING,
                here,
                f'"{label}" can also be read as cirun\'s one-line form, cirun-CLOUD-TYPE-IMAGE',
                "put the cloud's name last",
            )


def _lists(runner: AnyRunner, path: str, level: Level) -> Iterator[Verdict]:
    found = lengths(runner)
    if len(set(found.values())) > 1:
        stated = ", ".join(f"{key} has {length}" for key, length in found.items())
        yield _verdict(
            level,
            path,
            f"lists are tried in step, and these differ in length: {stated}",
            "repeat values until all are of one length; what is the same every time needs no list",
        )


def _places(runner: AnyRunner, path: str) -> Iterator[Verdict]:
    if isinstance(runner, AmazonRunner):
        regions = set(runner.region) if isinstance(runner.region, tuple) else {runner.region}
        if len(regions) > 1 and not isinstance(runner.machine_image, tuple):
            yield _verdict(
                Level.ERROR,
                f"{path}.machine_image",
                f"an AMI exists in one region, and {len(regions)} regions are tried with the same one",
                "state a list of AMIs in step with region",
            )
        for position, device in enumerate((runner.extra_config and runner.extra_config.block_devices) or ()):
            if device.device_name is None:
                yield _verdict(
                    Level.WARNING,
                    f"{path}.extra_config.BlockDeviceMappings[{position}]",
                    "without a DeviceName this is a second disk, /dev/sdc, and the root disk stays small",
                    "state DeviceName: /dev/sda1",
                )
    if isinstance(runner, GoogleRunner) and runner.region is None:
        yield _verdict(
            Level.WARNING,
            f"{path}.region",
            "no zone is stated, and cirun documents no default for Google Cloud",
            "state a zone, or a list of zones to try in turn",
        )


def _verdict(level: Level, subject: str, reason: str, fix: str) -> Verdict:
    return Verdict(check=_CHECK, level=level, subject=subject, reason=reason, fix=fix)


def _text(value: str | bool | None) -> str | None:
    return value if isinstance(value, str) else None
