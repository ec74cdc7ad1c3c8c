"""The checks of scale sets, on objects as `kubectl get --output json` prints them for ARC 0.14.2."""

from __future__ import annotations

import copy
import json
import re
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from components.kubernetes import arc_check
from components.kubernetes.arc_check import Failed, KubectlFailed, kubectl_with, listening, removed
from ops.cli.options import ROOT
from tests.artefacts.callers import Run, run_as_called

pytestmark = pytest.mark.pure

SET: dict[str, Any] = {
    "kind": "AutoscalingRunnerSet",
    "metadata": {"name": "gpu-t4", "annotations": {"runner-scale-set-id": "7"}},
}
RUNNER_SET: dict[str, Any] = {"kind": "EphemeralRunnerSet", "metadata": {"name": "gpu-t4-x2k9d"}}
LISTENER: dict[str, Any] = {
    "kind": "AutoscalingListener",
    "metadata": {"name": "gpu-t4-754b578d-listener"},
    "spec": {
        "autoscalingRunnerSetName": "gpu-t4",
        "ephemeralRunnerSetName": "gpu-t4-x2k9d",
        "runnerScaleSetId": 7,
    },
}
POD: dict[str, Any] = {
    "kind": "Pod",
    "metadata": {"name": "gpu-t4-754b578d-listener"},
    "status": {
        "phase": "Running",
        "containerStatuses": [{"name": "listener", "state": {"running": {"startedAt": "2026-11-22T04:00:00Z"}}}],
    },
}
RUNNER: dict[str, Any] = {
    "kind": "EphemeralRunner",
    "metadata": {"name": "gpu-t4-x2k9d-runner-abcde", "labels": {"actions.github.com/scale-set-name": "gpu-t4"}},
    "status": {"phase": "Running", "jobDisplayName": "train", "jobRepositoryName": "example-org/vision"},
}
LOG = '{"level":"INFO","msg":"Getting next message","component":"listener","lastMessageID":0}\n'
REFUSED = "2026/11/22 04:00:01 Application returned an error: failed to create message session: 401 Unauthorized\n"
HEALTHY: tuple[dict[str, Any], ...] = (SET, RUNNER_SET, LISTENER, POD)
ACCOUNT: dict[str, Any] = {
    "kind": "ServiceAccount",
    "metadata": {
        "name": "gpu-t4-gha-rs-kube-mode",
        "deletionTimestamp": "2026-11-22T04:00:00Z",
        "finalizers": ["actions.github.com/cleanup-protection"],
    },
}
IN_RUNNERS = ("AutoscalingRunnerSet", "EphemeralRunnerSet", "EphemeralRunner", "ServiceAccount", "Role")


def altered(item: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """Return an object with another value at a path."""
    changed = copy.deepcopy(item)
    *parts, last = path.split(".")
    inner: Any = changed
    for part in parts:
        inner = inner[part]
    inner[last] = value
    return changed


def kubectl(
    items: Sequence[dict[str, Any]], *, log: str | None = LOG, controller: str = ""
) -> Callable[[Sequence[str]], str]:
    """Return a kubectl that prints these objects and logs."""

    def run(words: Sequence[str]) -> str:
        if "logs" in words:
            if "--selector" in words:
                return controller
            if log is None:
                raise KubectlFailed("container is waiting to start")
            return log
        inside = words[1] == "arc-runners"
        return json.dumps({"items": [item for item in items if (item["kind"] in IN_RUNNERS) == inside]})

    return run


TERMINATING = altered(SET, "metadata.deletionTimestamp", "2026-11-22T04:00:00Z")
WAITING = [{"name": "listener", "state": {"waiting": {"reason": "ImagePullBackOff", "message": "not found"}}}]
UNSCHEDULABLE = {
    "phase": "Pending",
    "conditions": [{"status": "False", "reason": "Unschedulable", "message": "0/2 nodes are available"}],
}
ENDED = [{"name": "listener", "state": {"terminated": {"reason": "Error", "exitCode": 1}}}]


def test_a_listener_with_a_session_passes() -> None:
    listening("gpu-t4", kubectl(HEALTHY), seconds=0)


def test_a_listener_that_logs_only_errors_passes_after_two_minutes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arc_check, "_now", lambda: datetime(2026, 11, 22, 4, 1, tzinfo=UTC))
    with pytest.raises(Failed, match="has no session at GitHub; it logged: nothing"):
        listening("gpu-t4", kubectl(HEALTHY, log=""), seconds=0)
    monkeypatch.setattr(arc_check, "_now", lambda: datetime(2026, 11, 22, 4, 2, tzinfo=UTC))
    listening("gpu-t4", kubectl(HEALTHY, log=""), seconds=0)


@pytest.mark.parametrize(
    ("items", "log", "words"),
    [
        ([RUNNER_SET], LOG, ("the cluster has no scale set", "Fix: run `pulumi up --replace 'urn:release'`.")),
        ([TERMINATING, RUNNER_SET, LISTENER, POD], LOG, ("still terminating", "wait until `kubectl get autoscal")),
        (
            [altered(SET, "metadata.annotations", {}), RUNNER_SET],
            LOG,
            ("GitHub has not registered the scale set", "installation-id and the key", "The controller logged: "),
        ),
        ([SET, RUNNER_SET], LOG, ("no single listener", "logs --selector app.kubernetes.io/part-of=gha-rs-controller")),
        ([SET, RUNNER_SET, LISTENER, altered(LISTENER, "metadata.name", "gpu-t4-b"), POD], LOG, ("no single listener",)),
        (
            [SET, altered(RUNNER_SET, "metadata.name", "gpu-t4-other"), LISTENER, POD],
            LOG,
            ("bound to objects that were deleted", "arc-systems delete autoscalinglistener gpu-t4-754b578d-listener`"),
        ),
        ([SET, RUNNER_SET, altered(LISTENER, "spec.runnerScaleSetId", 6), POD], LOG, ("bound to objects",)),
        ([SET, RUNNER_SET, LISTENER], None, ("has no pod",)),
        (
            [SET, RUNNER_SET, LISTENER, altered(POD, "status", UNSCHEDULABLE)],
            None,
            ("does not run: Unschedulable: 0/2 nodes are available", "system nodes"),
        ),
        (
            [SET, RUNNER_SET, LISTENER, altered(POD, "status.containerStatuses", WAITING)],
            None,
            ("does not run: ImagePullBackOff: not found",),
        ),
        ([SET, RUNNER_SET, LISTENER, altered(POD, "status.containerStatuses", ENDED)], REFUSED, ("not run: Error",)),
        (HEALTHY, REFUSED, ("has no session at GitHub; it logged: 2026/11/22", "401 Unauthorized", "key of the GitHub")),
    ],
    ids=[
        "missing", "terminating", "unregistered", "no-listener", "two-listeners", "deleted-runner-set", "other-id",
        "no-pod", "unschedulable", "no-image", "ended", "rejected",
    ],
)  # fmt: skip
def test_a_broken_link_fails_with_its_fix(
    monkeypatch: pytest.MonkeyPatch, items: Sequence[dict[str, Any]], log: str | None, words: tuple[str, ...]
) -> None:
    monkeypatch.setenv("GPU_CI_RELEASE", "urn:release")
    controller = '{"level":"info","name":"gpu-t4"}\n{"level":"error","name":"gpu-t4","error":"401"}\n'
    with pytest.raises(Failed) as failed:
        listening("gpu-t4", kubectl(items, log=log, controller=controller), seconds=0)

    assert str(failed.value).startswith("gpu-t4: ")
    assert [word for word in words if word not in str(failed.value)] == []


def test_the_log_of_a_listener_that_is_not_ready_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    worlds = iter([[SET, RUNNER_SET], [SET, RUNNER_SET], HEALTHY, HEALTHY])
    monkeypatch.setattr("time.sleep", lambda _: None)
    listening("gpu-t4", lambda words: kubectl(HEALTHY if "logs" in words else next(worlds))(words), seconds=60)

    assert next(worlds, None) is None


def test_a_listener_of_an_unreachable_cluster_fails_after_the_last_attempt() -> None:
    with pytest.raises(
        Failed, match=r"^gpu-t4: dial tcp: i/o timeout\. Fix: see docs/how-to/unreachable-cluster\.md\.$"
    ):
        listening("gpu-t4", failing("dial tcp: i/o timeout"), seconds=0)


def test_the_removal_of_all_scale_sets_leaves_no_object() -> None:
    removed(kubectl([]), seconds=0)


def test_a_remaining_scale_set_is_reported_with_its_job() -> None:
    with pytest.raises(Failed, match=r"gpu-t4 \(job train of example-org/vision\); gpu-v100 \(no job\)\. The key of"):
        removed(kubectl([altered(SET, "metadata.name", "gpu-v100"), TERMINATING, RUNNER]), seconds=0)


def test_accounts_that_a_scale_set_no_longer_uses_lose_their_finalizer_after_the_last_scale_set() -> None:
    """The controller finds them by annotations of the scale set, which an update removes."""
    in_use = altered({**ACCOUNT, "kind": "Role"}, "metadata", {"name": "used"})
    commands: list[Sequence[str]] = []

    def run(words: Sequence[str]) -> str:
        commands.append(words)
        return kubectl([ACCOUNT, in_use])(words)

    removed(run, seconds=0)

    assert [list(words[2:5]) for words in commands if "patch" in words] == [
        ["patch", "serviceaccount/gpu-t4-gha-rs-kube-mode", "--type"]
    ]
    assert '{"metadata":{"finalizers":null}}' in commands[-1]


def failing(error: str) -> Callable[[Sequence[str]], str]:
    def run(_words: Sequence[str]) -> str:
        raise KubectlFailed(error)

    return run


def test_a_cluster_without_the_controller_has_no_scale_sets() -> None:
    removed(failing('error: the server doesn\'t have a resource type "autoscalingrunnersets"'), seconds=0)


def test_an_unreachable_cluster_counts_as_deleted_only_if_the_user_confirms_it(monkeypatch: pytest.MonkeyPatch) -> None:
    unreachable = failing("dial tcp: i/o timeout")
    with pytest.raises(Failed, match="i/o timeout"):
        removed(unreachable, seconds=0)
    monkeypatch.setenv("PULUMI_K8S_DELETE_UNREACHABLE", "true")
    removed(unreachable, seconds=0)


def as_pulumi(folder: Path, kubectl: str | None, **environment: str) -> Run:
    """Run the command that checks the removal; `kubectl` is the body of that program, None for no such program."""
    if kubectl is not None:
        (folder / "kubectl").write_text(f"#!/bin/sh\n{kubectl}\n")
        (folder / "kubectl").chmod(0o755)
    if not (folder / "python3").exists():
        (folder / "python3").symlink_to(sys.executable)
    text = f"{arc_check.COMMAND} removed"
    variables = {"PATH": str(folder), "GPU_CI_KUBECONFIG": "the kubeconfig", **environment}
    return run_as_called(f"command:local:Command {text}", text, world=folder, folder=ROOT, environment=variables)


def test_the_command_writes_the_kubeconfig_and_the_error(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    ended = as_pulumi(tmp_path, f'/bin/cat "$2" > {seen}; echo "Unauthorized" >&2; exit 1')

    assert ended.code == 1
    assert seen.read_text() == "the kubeconfig"
    assert ended.err.endswith("failed: Unauthorized\n")


def test_the_command_of_a_cluster_without_scale_sets_ends(tmp_path: Path) -> None:
    ended = as_pulumi(tmp_path, f"""echo "$*" >> {tmp_path}/asked; echo '{{"items": []}}'""")
    first, *others = (tmp_path / "asked").read_text().splitlines()

    assert (ended.code, ended.err) == (0, "")
    assert re.search(
        r"^--kubeconfig \S+ --request-timeout 5s --namespace arc-runners get autoscalingrunnersets,", first
    )
    assert len(others) == 1


def test_a_missing_kubectl_is_reported_without_a_traceback(tmp_path: Path) -> None:
    """A destroy runs no program, so nothing else checks PATH."""
    ended = as_pulumi(tmp_path, None)

    assert (ended.code, ended.err.partition(":")[0]) == (1, "kubectl is not on PATH")


def test_a_kubectl_that_does_not_end_is_stopped(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "kubectl").write_text("#!/bin/sh\nexec sleep 600\n")
    (tmp_path / "kubectl").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(arc_check, "CALL_SECONDS", 0.2)

    with pytest.raises(KubectlFailed, match=r"^`kubectl get pods` did not end within 0\.2 seconds$"):
        kubectl_with("file")(["get", "pods"])
