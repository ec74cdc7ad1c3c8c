"""What a stack tells of itself is true of what it builds."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.config import stacks as files
from tests.plan import stacks
from wiring.outputs import verify

if TYPE_CHECKING:
    from ops.plan.model import Plan

pytestmark = pytest.mark.plan

CLUSTERS = [name for name in stacks.NAMES if "cluster" in files.sections(name)]
REGISTRIES = [name for name in stacks.NAMES if "ecr" in files.sections(name)]
CLOUD_NAMESPACES = {"kube-system"}


def questions(plan: Plan) -> dict[str, str]:
    found: dict[str, str] = plan.outputs["verify"]
    return found


@pytest.mark.parametrize("name", stacks.NAMES)
def test_every_runner_says_how_it_is_asked_for(name: str) -> None:
    """A job that cirun serves asks for a machine of its own run and attempt, which nobody else's job gets."""
    said = stacks.planned(name).outputs["runs_on"]
    runners = files.sections(name).get("runners", {})

    assert set(said) == set(runners)
    for runner, stated in runners.items():
        if "arc" in stated:
            assert said[runner] == f"runs-on: {runner}"
        else:
            assert re.fullmatch(
                r'runs-on: "cirun-[a-z0-9-]+--\$\{\{ github\.run_id \}\}-\$\{\{ github\.run_attempt \}\}"', said[runner]
            )


@pytest.mark.parametrize("name", CLUSTERS)
def test_the_way_in_leads_to_the_cluster(name: str) -> None:
    plan = stacks.planned(name)
    (cluster,) = plan.of("aws:eks/cluster:Cluster")
    region = files.sections(name)["aws"]["region"]

    assert plan.outputs["configure_kubectl"] == (
        f"aws eks update-kubeconfig --name {cluster.inputs['name']} --region {region}"
    )
    assert plan.outputs["cluster"]["name"] == cluster.inputs["name"]
    assert plan.outputs["kubeconfig"] == "[secret]"


@pytest.mark.parametrize("name", CLUSTERS)
def test_questions_ask_of_what_is_there(name: str) -> None:
    plan = stacks.planned(name)
    namespaces = {each.inputs["metadata"]["name"] for each in plan.of("kubernetes:core/v1:Namespace")}
    asked = {found for text in questions(plan).values() for found in re.findall(r"--namespace (\S+)", text)}
    labels = {key for group in plan.of("aws:eks/nodeGroup:NodeGroup") for key in group.inputs["labels"]}
    text = " ".join(questions(plan).values())

    assert asked <= namespaces | CLOUD_NAMESPACES
    assert {"nvidia.com/gpu", "gpu-ci/pool"} <= labels
    assert "--selector nvidia.com/gpu=true" in text
    assert "gpu-ci/runner" in text


@pytest.mark.parametrize(
    ("section", "gone"),
    [
        ("autoscaler", {"autoscaler", "autoscaler-log"}),
        ("arc", {"scale-sets", "listeners", "runner-log"}),
        ("monitoring", {"usage"}),
    ],
)
def test_nothing_is_asked_of_a_part_that_is_off(section: str, gone: set[str]) -> None:

    settings = files.settings()
    without = settings.model_copy(update={section: None})

    assert set(verify(settings)) - set(verify(without)) == gone


@pytest.mark.parametrize("name", REGISTRIES)
def test_a_login_is_for_the_registry_that_holds_the_images(name: str) -> None:
    plan = stacks.planned(name)
    hosts = {url.partition("/")[0] for url in plan.outputs["repositories"].values()}

    assert {host for host in hosts if plan.outputs["registry_login"].endswith(f" {host}")} == hosts
    assert "--password-stdin" in plan.outputs["registry_login"]
