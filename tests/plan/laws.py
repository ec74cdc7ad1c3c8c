"""Rules for a whole plan. Each takes a plan and yields one sentence for each violation.

Rules for a single resource are in `gpu_ci/policy/`. These rules are about relations between resources.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import networkx as nx

from gpu_ci.policy.inputs import leaves
from ops.plan.model import STACK_TYPE, Plan, Planned

RELEASE: Final = "kubernetes:helm.sh/v3:Release"
WITH_DATA: Final = frozenset(
    {
        "aws:ecr/repository:Repository",
        "aws:efs/fileSystem:FileSystem",
        "aws:eks/cluster:Cluster",
        "aws:kms/key:Key",
        "aws:s3/bucket:Bucket",
        "gcp:artifactregistry/repository:Repository",
        "gcp:storage/bucket:Bucket",
    }
)
"""Types of resources with data or an identity."""
_CREDENTIAL = re.compile(
    r"(?i)(^|\.)(kubeconfig|pass(word|phrase|wd)|(private|api|access|secret)_?key|client_?secret|token)$"
)
_IN_A_SECRET = re.compile(r"^(data|stringData)\.")
_REGION = re.compile(r"\b[a-z]{2}(-[a-z]+)+-?\d[a-f]?\b")
_VERSION = re.compile(r"\d+\.\d+|\bv\d+\b")
_INDEX = re.compile(r"(^|[-_.])\d+($|[-_.])")


def every_resource_is_below_a_component(plan: Plan) -> Iterator[str]:
    """Allow only providers and components directly below the stack."""
    by_urn = {resource.urn: resource for resource in plan}
    for resource in plan:
        parent = by_urn.get(resource.parent)
        if resource.type == STACK_TYPE or resource.is_provider:
            continue
        if parent is None:
            yield f"{resource.urn} has a parent that is not in the plan"
        elif resource.custom and (parent.custom or parent.type == STACK_TYPE):
            yield f"{resource.urn} is below {parent.type}, which is not a component"


def every_resource_has_an_explicit_provider(plan: Plan) -> Iterator[str]:
    """Refuse default providers, which use the credentials and the region of the current user."""
    for resource in plan:
        if resource.custom and not resource.is_provider and not resource.provider:
            yield f"{resource.urn} has no provider"


def no_name_contains_an_index_or_a_version(plan: Plan) -> Iterator[str]:
    """Refuse names that depend on an order or a release. A name is a key of the state and must not change."""
    for resource in plan:
        name = _REGION.sub("", resource.name)
        if _VERSION.search(name):
            yield f"{resource.urn} contains a version"
        elif _INDEX.search(name):
            yield f"{resource.urn} contains an index"


def every_credential_is_secret(plan: Plan) -> Iterator[str]:
    """Require the secret mark on inputs with the name of a credential, and on the data of a Kubernetes Secret."""
    for resource in plan:
        in_a_secret = resource.type == "kubernetes:core/v1:Secret"
        for path, value in leaves(resource.inputs):
            named = _CREDENTIAL.search(path) or (in_a_secret and _IN_A_SECRET.search(path))
            if named and isinstance(value, str) and not is_secret(resource, path):
                yield f"{resource.urn} exposes {path}"


def is_secret(resource: Planned, path: str) -> bool:
    """Return whether the value at `path`, or a value that contains it, is marked as secret."""
    parts = path.split(".")
    return any(".".join(parts[:length]) in resource.secret_paths for length in range(1, len(parts) + 1))


def both_runner_charts_have_one_version(plan: Plan) -> Iterator[str]:
    """Require one version of both runner charts. A controller silently ignores scale sets of another version."""
    versions = {
        resource.inputs.get("version")
        for resource in plan.of(RELEASE)
        if "gha-runner-scale-set" in str(resource.inputs.get("chart"))
    }
    if len(versions) > 1:
        yield f"the runner charts have the versions {', '.join(sorted(map(str, versions)))}"


def workloads_are_destroyed_before_their_dependencies(plan: Plan) -> Iterator[str]:
    """Require this order of destroy: scale sets, their secret, their controller, its namespaces, add-ons and nodes."""
    waits_for = edges(plan)
    scale_sets = [r for r in plan.of(RELEASE) if str(r.inputs.get("chart")).endswith("/gha-runner-scale-set")]
    controllers = [r for r in plan.of(RELEASE) if str(r.inputs.get("chart")).endswith("-scale-set-controller")]
    secrets, namespaces = plan.of("kubernetes:core/v1:Secret"), plan.of("kubernetes:core/v1:Namespace")
    theirs = {
        str(r.inputs.get("namespace") or part(r.inputs, "metadata", "namespace")) for r in (*controllers, *secrets)
    }
    watched = [r for r in namespaces if part(r.inputs, "metadata", "name") in theirs]
    steps: list[tuple[Sequence[Planned], Sequence[Planned]]] = [
        (scale_sets, secrets),
        (secrets, controllers),
        (controllers, watched),
        (namespaces, plan.of("aws:eks/nodeGroup:NodeGroup")),
        # A controller that unregisters at GitHub needs DNS.
        (plan.of(RELEASE), plan.of("aws:eks/addon:Addon")),
    ]
    for first, later in steps:
        for before in first:
            for after in later:
                if not nx.has_path(waits_for, before.urn, after.urn):
                    yield f"{after.urn} may be destroyed before {before.urn}"


def resources_with_data_or_identity_are_protected(plan: Plan) -> Iterator[str]:
    """Require protection of the resources that cannot be recreated with their content."""
    for resource in plan:
        if resource.type in WITH_DATA and not resource.protect:
            yield f"{resource.urn} is not protected"


def edges(plan: Plan) -> nx.DiGraph[str]:
    """Return the graph of the engine: parents, providers and dependencies. Deletion is in the opposite order."""
    graph: nx.DiGraph[str] = nx.DiGraph()
    for resource in plan:
        graph.add_node(resource.urn)
        named = [*resource.dependencies, resource.parent, resource.provider]
        graph.add_edges_from((resource.urn, urn) for urn in named if urn)
    return graph


def part(inputs: Mapping[str, Any], *path: str) -> Any:
    """Return the value at `path`, or None."""
    value: Any = inputs
    for key in path:
        value = value.get(key) if hasattr(value, "get") else None
    return value


def no_dependency_is_circular(plan: Plan) -> Iterator[str]:
    """Refuse circular dependencies, which the engine finds only during a deployment."""
    for cycle in nx.simple_cycles(edges(plan)):
        yield f"{' → '.join(cycle)} wait for each other"


LAWS: Final = (
    every_resource_is_below_a_component,
    every_resource_has_an_explicit_provider,
    no_name_contains_an_index_or_a_version,
    every_credential_is_secret,
    both_runner_charts_have_one_version,
    workloads_are_destroyed_before_their_dependencies,
    no_dependency_is_circular,
)
