"""The doctor compared with what real systems said: `tests/captured/README.md` describes the files."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from components.kubernetes.arc_links import errors
from ops.doctor.log.reasons import reason_of
from ops.doctor.questions.kubernetes import reasons
from tests.doctor.worlds import CAPTURED, scheduler_messages

pytestmark = pytest.mark.pure

CAUSES: Final = {
    "plugin-absent": {"Insufficient nvidia.com/gpu"},
    "plugin-registers-0": {"Insufficient nvidia.com/gpu"},
    "all-gpus-busy": {"Insufficient cpu", "Insufficient memory", "Insufficient nvidia.com/gpu"},
    "taint-without-toleration": {"node(s) had untolerated taint(s)"},
    "toleration-forgotten": {"node(s) had untolerated taint(s)"},
    "node-cordoned": {"node(s) were unschedulable"},
    "cpu-too-small": {"Insufficient cpu"},
    "volume-zone": {"node(s) didn't match PersistentVolume's node affinity"},
    "pool-at-zero-other-pool-up": {"node(s) didn't match Pod's node affinity/selector"},
    "two-reasons-two-nodes": {"Insufficient nvidia.com/gpu", "node(s) had untolerated taint(s)"},
}
"""Situations to what decides in them."""


def test_the_reasons_of_a_pending_pod_are_those_of_the_nodes_that_it_selects() -> None:
    found = {name: {one.lstrip("0123456789 ") for one in reasons(text)} for name, text in scheduler_messages().items()}

    assert {name: found[name] for name in CAUSES} == CAUSES


def test_every_reason_of_the_scheduler_has_a_meaning() -> None:
    found = {one for text in scheduler_messages().values() for one in reasons(text)}

    assert {one for one in found if reason_of("pending-pods", one) is None} == set()


def labelled() -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the kind and the labels of each object that a chart or the controller creates, and of the pods of those."""
    for path in sorted((CAPTURED / "charts").iterdir()):
        for one in json.loads(path.read_text(encoding="utf-8"))["objects"]:
            yield one["kind"], one["labels"] or {}
            if one.get("pod_template"):
                yield "Pod", one["pod_template"]["labels"] or {}
    for world in json.loads((CAPTURED / "objects.json").read_text(encoding="utf-8"))["worlds"].values():
        for one in world["items"]:
            yield one["kind"], one["metadata"].get("labels") or {}


SELECTOR: Final = re.compile(r"app\.kubernetes\.io/[a-z-]+=[a-z0-9-]+(?:,app\.kubernetes\.io/[a-z-]+=[a-z0-9-]+)*")
"""A selector by the labels of charts."""
KINDS: Final = {"deployment": "Deployment", "daemonset": "DaemonSet"}


def selectors() -> Iterator[tuple[str, str, str]]:
    """Yield the file, the kind of object and the selector of each command in programs and pages."""
    files = [path for folder in ("components", "gpu_ci", "ops", "docs") for path in Path(folder).rglob("*")]
    for path in files:
        if path.suffix not in {".py", ".md", ".yaml", ".j2", ".sh"}:
            continue
        text = path.read_text(encoding="utf-8")
        for found in SELECTOR.finditer(text):
            line = text[text.rfind("\n", 0, found.start()) + 1 : found.start()]
            kinds = [kind for word, kind in KINDS.items() if re.search(rf"\b{word}s?\b", line)]
            yield str(path), kinds[0] if kinds else "Pod", found[0]


def test_every_selector_finds_an_object_that_a_chart_creates() -> None:
    known = list(labelled())

    def found(kind: str, selector: str) -> bool:
        wanted = dict(one.split("=") for one in selector.split(","))
        return any(kind == one and wanted.items() <= labels.items() for one, labels in known)

    assert [one for one in selectors() if not found(one[1], one[2])] == []


@pytest.mark.parametrize(
    ("kind", "selector"),
    [("Deployment", "controller._CONTROLLER"), ("DaemonSet", "gpu_pools._PLUGIN"), ("Pod", "controller._CONTROLLER")],
)
def test_a_selector_of_a_check_finds_the_objects_that_it_asks_for(kind: str, selector: str) -> None:
    from ops.doctor import chain  # noqa: PLC0415

    module, name = selector.split(".")
    values: Any = __import__(f"{chain.__name__}.{module}", fromlist=[name])
    wanted = dict(one.split("=") for one in getattr(values, name).split(","))

    assert [one for one, labels in labelled() if one == kind and wanted.items() <= labels.items()]


LOGS: Final = {
    "controller-healthy.log": "",
    "listener-healthy.log": "",
    "controller-wrong-key-first-installation.log": "GitHub rejects the key of the App",
    "listener-wrong-key.log": "GitHub rejects the key of the App",
    "listener-wrong-app-id.log": "GitHub knows no installation of the App",
    "controller-quota.log": "a quota of the namespace leaves no room for the pod of the runner",
    "listener-session-conflict.log": "another listener has the session of the scale set",
    "listener-scale-set-deleted.log": "GitHub has deleted the scale set or its session",
    "listener-without-pem.log": "the key of the App is not a private key in PEM form",
    "listener-could-not-patch.log": "the listener serves objects that were deleted",
}
"""A captured log to the start of the meaning of its last error; empty without an error."""


def test_the_last_error_of_a_captured_log_has_its_meaning() -> None:
    found = {}
    for name in LOGS:
        logged = errors((CAPTURED / "logs" / name).read_text(encoding="utf-8"))
        reason = reason_of("arc-controller", logged[-1]) if logged else None
        found[name] = reason.meaning if reason else "".join(logged[-1:])

    assert {
        name: text for name, text in found.items() if not text.startswith(LOGS[name]) or (not LOGS[name] and text)
    } == {}
