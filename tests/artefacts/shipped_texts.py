"""The texts that other systems run, found by rules: files, steps of workflows, `RUN` lines and inputs of resources.

Each has an id, as in `callers.yaml`.
"""

from __future__ import annotations

import functools
import json
import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

import yaml

from ops.cli.options import ROOT
from ops.plan.model import Plan
from ops.plan.recorder import record
from tests.artefacts.callers import caller_of_step
from tests.components.test_smoke_test import SECTION as SMOKE_TEST
from tests.kit.test_containers import FORMS, written
from tests.kit.test_every_workflow import every_document, parsed
from tests.plan import stacks

FOLDERS: Final = ("ami", "components", "docker", "gpu_ci", "ops/pipeline")
"""The folders whose files are copied to other systems or run there."""
SUFFIXES: Final = (".service", ".sh", ".sh.j2", ".py.j2", ".timer")
KEYS: Final = re.compile(
    r"(args|command|create|data|delete|expr|metadataStartupScript|schedule|scheduleExpression|script|startup-script|text"
    r"|update|user-data|userData)"
)
"""The inputs of resources that other systems run."""


@functools.cache
def files() -> dict[str, str]:
    """Return the text of each file that another system runs, by its path."""
    listed = subprocess.run(["git", "ls-files", *FOLDERS], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    texts = {path: (ROOT / path).read_text(encoding="utf-8") for path in listed.splitlines()}
    return {path: text for path, text in texts.items() if _runs(path, text)}


def _runs(path: str, text: str) -> bool:
    main = path.endswith(".py") and ("\nif __name__ == " in text or path.endswith("/__main__.py"))
    return path.endswith(SUFFIXES) or text.startswith("#!") or main or bool(re.match(r"docker/.*\.py$", path))


@functools.cache
def steps() -> frozenset[tuple[str, str, str]]:
    """Return the steps of the workflows of this project and of the kit: the id, the caller and the text."""
    documents = [(path.name, parsed(path.read_text())) for path in (ROOT / ".github/workflows").glob("*.yml")]
    documents += [("kit", document) for _, document in every_document()]
    for form in FORMS.values():
        documents += [("kit", parsed(text)) for path, text in written(form).items() if ".github/workflows/" in path]
    found = set()
    for place, workflow in documents:
        for one in workflow["on"].get("schedule", ()) if isinstance(workflow["on"], dict) else ():
            found.add((f"{place}: on.schedule", "the schedule of GitHub", one["cron"]))
        for job in workflow["jobs"].values():
            for step in (step for step in job.get("steps", ()) if "run" in step):
                # A step without a name is one command.
                name = step.get("name", step["run"].splitlines()[0])
                found.add((f"{place}: {name}", caller_of_step(step, job, workflow), step["run"]))
    return frozenset(found)


def stated_callers() -> Iterator[tuple[str, str]]:
    """Yield the texts that state their caller: steps, `RUN` lines by their shell, steps of Image Builder by their action."""
    yield from ((text, caller) for text, caller, _ in steps())
    for path in sorted((ROOT / "docker").glob("*/Dockerfile")):
        shell = ["/bin/sh", "-c"]
        for word, rest in re.findall(r"^(FROM|SHELL|RUN) (.*)", path.read_text(), re.MULTILINE):
            if word == "RUN":
                yield str(path.relative_to(ROOT)), f"RUN in {' '.join(shell)}"
            else:
                shell = ["/bin/sh", "-c"] if word == "FROM" else json.loads(rest)
    for path in sorted((ROOT / "ami").glob("*/*.yaml")):
        for phase in yaml.safe_load(path.read_text())["phases"]:
            yield from ((str(path.relative_to(ROOT)), f"{step['action']} of Image Builder") for step in phase["steps"])


def variants() -> Iterator[Plan]:
    """Yield plans of options that no committed stack file has."""
    declared = {"mode": "declared", "zones": ["us-central1-b"]}
    yield record(stacks.changed("examples/cirun-gcp.yaml", "host-image", lambda image: image.update(declared)))
    metrics = {"dcgm": {"service-monitor": True, "alerts": True, "dashboard": True}}
    file = stacks.changed(stacks.STAGING, "monitoring", lambda monitoring: monitoring.update(metrics))
    yield record(replace(file, config={**file.config, "gpu-ci:smoke-test": json.dumps(SMOKE_TEST)}))


def resources(plan: Plan) -> frozenset[str]:
    """Return the ids of the texts in a plan: the type, the input, and the first line of a command."""
    found = set()
    for resource in plan:
        for path, value in _inputs(resource.inputs):
            if not KEYS.fullmatch(path.rpartition(".")[2]) or isinstance(value, bool | int):
                continue
            if resource.type == "command:local:Command":
                found.add(f"{resource.type} {value.splitlines()[0]}")
            elif resource.type == "kubernetes:core/v1:ConfigMap":
                found |= {f"ConfigMap {resource.name} {key}" for key in value if "." in key}
            elif resource.type != "kubernetes:core/v1:Secret":
                found.add(f"{resource.type} {path}")
    return frozenset(found)


def _inputs(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each input of a resource with its path, without the numbers of lists."""
    if isinstance(value, Mapping):
        for key, one in value.items():
            yield f"{path}{key}", one
            yield from _inputs(one, f"{path}{key}.")
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _inputs(one, path)
