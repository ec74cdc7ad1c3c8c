"""Entries of `gpu-tests`, one for each value of each option, and the stacks to try them on."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from gpu_ci.back_ends.stack_file import Settings as StackSettings
from gpu_ci.stack_file.identity import Identity
from gpu_ci.stack_file.reading.settle import settle
from ops.kit import stack as kit
from tests.stack_file import stacks

NAME: Final = "vision"
"""The repository of the entries."""

OPTIONS: Final[Mapping[str, Mapping[str, Any]]] = {
    "no option": {},
    "uv": {"tool": "uv", "python": "3.13"},
    "pip": {"tool": "pip"},
    "micromamba": {"tool": "micromamba"},
    "make": {"tool": "make"},
    "own commands": {
        "install": [],
        "tests": ["make -C tests 'gpu' | tee \"$RUNNER_TEMP/log\"", "key: value", "! false"],
    },
    "tests without a GPU": {"cpu": ['uv run pytest -m "not gpu"']},
    "matrix": {"matrix": {"torch": ["2.9.1", "2.10.0"]}},
    "matrix of Python": {"matrix": {"python": ["3.12", "3.13t"]}, "cpu": ["make test"]},
    "matrix of Python with pip": {"tool": "pip", "matrix": {"python": ["3.12", "3.13"]}},
    "matrix of Python with micromamba": {"tool": "micromamba", "matrix": {"python": ["3.12", "3.13"]}},
    "variables": {"env": {"TOKENIZERS_PARALLELISM": "false", "PORT": "8080", "TEXT": "a: b # 'c'"}},
    "container": {"container": "ghcr.io/example-org/tests@sha256:" + "a" * 64},
    "paths": {"paths": ["src/**", "!docs/**", "Makefile"]},
    "paths and a variable": {"paths": ["src/**"], "switch": "GPU", "cpu": ["make test"]},
    "cache of GitHub": {"cache": "actions"},
    "cache of GitHub with micromamba": {"tool": "micromamba", "cache": "actions"},
    "folder": {"cache": "/mnt/cache"},
    "bucket of AWS": {"cache": "s3://example-cache/gpu"},
    "bucket of Google Cloud": {"cache": "gs://example-cache"},
    "ccache": {"cache": "actions", "ccache": True},
    "ccache in a folder": {"cache": "/mnt/cache", "ccache": True},
    "ccache in a bucket": {"cache": "s3://example-cache", "ccache": True},
    "smoke test": {"smoke-test": True},
    "smoke test every week": {"smoke-test": True, "smoke-schedule": "23 5 * * 1"},
    "documentation": {"docs": ["uv sync --extra docs", "uv run mkdocs build --strict"]},
    "reusable": {"reusable": True},
    "reusable with a matrix": {"reusable": True, "tool": "pip", "matrix": {"python": ["3.12", "3.13"]}},
    "reusable with a variable and paths": {"reusable": True, "switch": "GPU", "paths": ["src/**"]},
    "Codecov": {"codecov-flag": "gpu-tests"},
    "smoke test on a schedule": {"smoke-test": True, "smoke-schedule": "17 12 * * 1"},
    "every night": {"nightly": "17 3 * * 1-5"},
    "switch": {"switch": "ENABLE_GPU"},
    "labels": {"run-label": "run gpu", "skip-label": "ci:skip gpu"},
}

RUNNERS: Final[Mapping[str, tuple[str, str]]] = {
    "a scale set": ("examples/eks-arc.yaml", "gpu-light"),
    "a scale set with pods of jobs": ("examples/eks-arc.yaml", "gpu-l4"),
    "a scale set with an image in ECR": (stacks.PRODUCTION, "gpu-t4"),
    "cirun on AWS": (stacks.AWS, "cirun-aws-gpu"),
    "cirun on Google Cloud, with a container": (stacks.GCP, "cirun-gcp-gpu"),
    "a machine on EC2": ("examples/vm-aws.yaml", "gpu-vm"),
    "a machine on Compute Engine": ("examples/vm-gcp.yaml", "gpu-vm"),
    "a machine that a workflow starts": ("examples/start-stop.yaml", "gpu-t4"),
}
"""The kinds of runners: a stack file, and a runner in it."""

CASES: Final = (*((name, "") for name in stacks.FILES), *((kind, option) for kind in RUNNERS for option in OPTIONS))
"""Every stack file, and every option on every kind of runner."""


@cache
def written(place: str, option: str = "") -> Mapping[str, str] | None:
    """Return the files for a stack file, or for a kind of runner and an option; None where a rule refuses the option."""
    if place not in RUNNERS:
        return files(place)
    stack, runner = RUNNERS[place]
    return files(stack, {"runner": runner, **OPTIONS[option]})


def files(stack: str, entry: Mapping[str, Any] | None = None) -> dict[str, str] | None:
    """Return the files of a repository with an entry, or None where a rule refuses the entry."""
    raw = stacks.sections(stack)
    if entry is not None:
        raw["gpu-tests"] = {NAME: dict(entry)}
        for runner in raw["runners"].values():
            machine = runner.get("vm") or runner.get("start-stop", {}).get("machine", {})
            if machine.get("image") == "stock":
                machine["packages"] = ["ccache", "make"]
    if stacks.faults(raw):
        return None
    settings = settle(raw, StackSettings)[0]
    name = NAME if entry is not None else next(iter(settings.gpu_tests), None)
    return kit.files(settings, Identity(project="gpu-ci", stack="staging"), repository=name)


def workflows(written: Mapping[str, str]) -> dict[str, str]:
    """Return the workflows among written files, by path."""
    return {path: text for path, text in written.items() if path.startswith(".github/workflows/")}
