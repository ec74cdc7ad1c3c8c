"""Runners of a cirun file are checked for settings that do not work."""

from __future__ import annotations

from typing import Any

import pytest

from gpu_ci.knowledge.verdict import Level
from gpu_ci.repository.cirun_checks import judge

pytestmark = pytest.mark.pure

AWS = {"name": "a", "cloud": "aws", "labels": ["cirun-a"]}
GCP = {"name": "a", "cloud": "gcp", "labels": ["cirun-a"], "region": "us-central1-a"}
ZONES = ["us-central1-a", "us-central1-b"]
REGIONS = ["eu-west-1", "us-west-2"]


@pytest.mark.parametrize(
    ("runner", "subject", "level"),
    [
        ({**GCP, "labels": ["gpu"]}, "labels[0]", Level.WARNING),
        ({**GCP, "labels": ["cirun-a--b"]}, "labels[0]", Level.ERROR),
        ({**AWS, "labels": ["cirun-aws-t2-large-ubuntu2204"]}, "labels[0]", Level.WARNING),
        ({**GCP, "labels": [{"a": "b"}]}, "labels", Level.ERROR),
        ({**GCP, "labels": []}, "labels", Level.ERROR),
        ({**GCP, "name": None}, "name", Level.ERROR),
        ({"name": "a", "labels": ["cirun-a"]}, "cloud", Level.ERROR),
        ({**GCP, "region": None}, "region", Level.WARNING),
        ({**GCP, "region": "us-central1"}, "region", Level.ERROR),
        ({**GCP, "region": ["us-central1-b", "Iowa"]}, "region", Level.ERROR),
        ({**AWS, "region": "eu-west-1a"}, "region", Level.ERROR),
        ({**AWS, "region": REGIONS, "machine_image": "ami-1"}, "machine_image", Level.ERROR),
        (
            {**AWS, "extra_config": {"BlockDeviceMappings": [{"VolumeSize": 9}]}},
            "extra_config.BlockDeviceMappings[0]",
            Level.WARNING,
        ),
    ],
)
def test_a_setting_that_does_not_work_is_reported(runner: dict[str, Any], subject: str, level: Level) -> None:
    (verdict,) = judge([runner], ours=False)

    assert (verdict.subject, verdict.level) == (f"runners[0].{subject}", level)


@pytest.mark.parametrize(
    "runner",
    [
        {**AWS, "region": REGIONS, "machine_image": ["ami-1", "ami-2"], "preemptible": [True, False]},
        {**AWS, "extra_config": {"BlockDeviceMappings": [{"DeviceName": "/dev/sda1"}], "cache": True}},
        {**GCP, "region": ZONES, "idle": {"replicas": 2}},
        {**AWS, "cloud": "azure", "region": "westeurope", "machine_image": {"publisher": "Canonical"}},
    ],
)
def test_a_setting_that_works_is_not_reported(runner: dict[str, Any]) -> None:
    assert judge([runner], ours=False) == ()


@pytest.mark.parametrize(("ours", "level"), [(False, Level.WARNING), (True, Level.ERROR)])
def test_lists_of_different_length_are_reported(ours: bool, level: Level) -> None:
    (verdict,) = judge([{**GCP, "region": ZONES, "preemptible": [True]}], ours=ours)

    assert (verdict.level, verdict.reason.rpartition(": ")[2]) == (level, "region has 2, preemptible has 1")


def test_two_runners_with_the_same_name_are_an_error() -> None:
    assert [verdict.subject for verdict in judge([AWS, AWS], ours=False)] == ["runners[1].name"]
