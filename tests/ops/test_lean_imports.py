"""Clouds' packages are opened lazily while a plan is recorded, and lack nothing for it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from ops.cli.options import ROOT

pytestmark = pytest.mark.plan


def said(*lines: str) -> str:
    """What a program says that opens the packages lazily, in a process of its own."""
    body = [
        "import sys",
        "from ops.plan.lean_imports import lean_imports",
        "with lean_imports():",
        *map("    {}".format, lines),
    ]
    done = subprocess.run([sys.executable, "-c", "\n".join(body)], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_a_class_is_found_without_reading_its_siblings() -> None:
    assert (
        said(
            "import pulumi_aws as aws",
            "print(aws.sqs.Queue.__name__, aws.sqs.QueueArgs.__module__)",
            "print('pulumi_aws.sqs.queue' in sys.modules, 'pulumi_aws.sqs.queue_policy' in sys.modules)",
        )
        == "Queue pulumi_aws.sqs.queue\nTrue False"
    )


def test_a_class_in_a_file_of_its_own_name_is_the_class_however_often_it_is_asked_for() -> None:
    assert (
        said(
            "import pulumi_kubernetes as k8s",
            "first = k8s.storage.v1.StorageClass",
            "import pulumi_kubernetes.storage.v1.StorageClass",
            "print(isinstance(first, type), k8s.storage.v1.StorageClass is first)",
            "print('requests' in sys.modules, k8s.helm.v3.Release.__name__, 'requests' in sys.modules)",
        )
        == "True True\nFalse Release False"
    )


def test_what_stands_in_no_file_of_its_name_is_found_all_the_same() -> None:
    assert (
        said(
            "import pulumi_aws as aws",
            "print(aws.scheduler.outputs.__name__, aws.sqs.get_queue.__name__)",
            "print(aws.scheduler.ScheduleFlexibleTimeWindowArgs.__name__, 'pulumi_aws.scheduler.schedule' in sys.modules)",
        )
        == "pulumi_aws.scheduler.outputs get_queue\nScheduleFlexibleTimeWindowArgs True"
    )


def test_a_name_that_is_nowhere_is_told_as_always() -> None:
    assert (
        said(
            "import pulumi_aws as aws",
            "try: aws.sqs.Nowhere",
            "except AttributeError as fault: print(fault)",
        )
        == "module 'pulumi_aws.sqs' has no attribute 'Nowhere'"
    )


def test_a_class_is_the_same_before_and_after_everything_is_read() -> None:
    assert (
        said(
            "import pulumi_aws as aws",
            "before = aws.sqs.Queue",
            "aws.sqs.RedrivePolicy, hasattr(aws.sqs, 'Nowhere')",
            "print(aws.sqs.Queue is before)",
        )
        == "True"
    )
