"""The packages of the clouds are imported lazily while a plan is recorded, and have every name."""

from __future__ import annotations

import subprocess
import sys

import pytest

from ops.cli.options import ROOT

pytestmark = pytest.mark.plan


def printed(*lines: str) -> str:
    """Return what these lines print inside `lean_imports`, in a new process."""
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
        printed(
            "import pulumi_aws as aws",
            "print(aws.sqs.Queue.__name__, aws.sqs.QueueArgs.__module__)",
            "print('pulumi_aws.sqs.queue' in sys.modules, 'pulumi_aws.sqs.queue_policy' in sys.modules)",
        )
        == "Queue pulumi_aws.sqs.queue\nTrue False"
    )


def test_a_class_takes_precedence_over_its_module_of_the_same_name() -> None:
    assert (
        printed(
            "import pulumi_kubernetes as k8s",
            "first = k8s.storage.v1.StorageClass",
            "import pulumi_kubernetes.storage.v1.StorageClass",
            "print(isinstance(first, type), k8s.storage.v1.StorageClass is first)",
            "print('requests' in sys.modules, k8s.helm.v3.Release.__name__, 'requests' in sys.modules)",
        )
        == "True True\nFalse Release False"
    )


def test_a_name_without_a_file_of_its_own_is_found() -> None:
    assert (
        printed(
            "import pulumi_aws as aws",
            "print(aws.scheduler.outputs.__name__, aws.sqs.get_queue.__name__)",
            "print(aws.scheduler.ScheduleFlexibleTimeWindowArgs.__name__, 'pulumi_aws.scheduler.schedule' in sys.modules)",
        )
        == "pulumi_aws.scheduler.outputs get_queue\nScheduleFlexibleTimeWindowArgs True"
    )


def test_an_unknown_name_raises_the_usual_error() -> None:
    assert (
        printed(
            "import pulumi_aws as aws",
            "try: aws.sqs.Unknown",
            "except AttributeError as fault: print(fault)",
        )
        == "module 'pulumi_aws.sqs' has no attribute 'Unknown'"
    )


def test_a_class_is_the_same_before_and_after_the_whole_package_is_read() -> None:
    assert (
        printed(
            "import pulumi_aws as aws",
            "before = aws.sqs.Queue",
            "aws.sqs.RedrivePolicy, hasattr(aws.sqs, 'Unknown')",
            "print(aws.sqs.Queue is before)",
        )
        == "True"
    )


def test_a_stack_without_variables_does_not_import_the_package_of_github() -> None:
    assert (
        printed(
            "import sys, gpu_ci.program, gpu_ci.back_ends.shared.machine.github_variables",
            "print('pulumi_github' in sys.modules)",
        )
        == "False"
    )
