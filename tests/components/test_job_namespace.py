"""Runners that create pods for their jobs reach no Secret of the controller, and jobs have no token."""

from __future__ import annotations

import pytest

from ops.plan.model import Plan, Planned
from tests.components.made import waits_for
from tests.plan.stacks import planned

pytestmark = pytest.mark.plan

RBAC = "kubernetes:rbac.authorization.k8s.io/v1"
RELEASE = "kubernetes:helm.sh/v3:Release"


@pytest.fixture(scope="module")
def plan() -> Plan:
    """A stack with a runner of each container mode."""
    return planned("examples/eks-arc.yaml")


def template(plan: Plan, runner: str) -> Planned:
    return plan.one(RELEASE, f"runner-{runner}")


def test_the_account_of_a_runner_has_its_permissions_in_the_namespace_of_jobs_only(plan: Plan) -> None:
    (role,), (binding,) = plan.of(f"{RBAC}:Role"), plan.of(f"{RBAC}:RoleBinding")

    assert {one.inputs["metadata"]["namespace"] for one in (role, binding)} == {"arc-jobs"}
    assert binding.inputs["subjects"] == [{"kind": "ServiceAccount", "name": "job-creator", "namespace": "arc-runners"}]
    assert {rule["resources"][0] for rule in role.inputs["rules"]} == {"pods", "pods/exec", "pods/log", "secrets"}


def test_the_key_of_the_github_app_is_in_another_namespace(plan: Plan) -> None:
    (key,) = [one for one in plan.of("kubernetes:core/v1:Secret") if one.name == "arc-github-app"]

    assert key.inputs["metadata"]["namespace"] == "arc-runners"


def test_the_runner_creates_pods_in_the_namespace_of_jobs_with_its_own_account(plan: Plan) -> None:
    release = template(plan, "gpu-l4")
    spec = release.inputs["values"]["template"]["spec"]
    environment = {one["name"]: one["value"] for one in spec["containers"][0]["env"]}

    assert spec["serviceAccountName"] == "job-creator"
    assert environment["ACTIONS_RUNNER_KUBERNETES_NAMESPACE"] == "arc-jobs"
    assert all(waits_for(plan, release, one) for kind in ("Role", "RoleBinding") for one in plan.of(f"{RBAC}:{kind}"))


def test_no_job_has_a_token_of_the_kubernetes_api(plan: Plan) -> None:
    own = template(plan, "gpu-light").inputs["values"]["template"]["spec"]
    (config_map,) = [one for one in plan.of("kubernetes:core/v1:ConfigMap") if one.name == "runner-gpu-l4-job-pod"]

    assert own["automountServiceAccountToken"] is False
    assert '"automountServiceAccountToken": false' in config_map.inputs["data"]["job.yaml"]
