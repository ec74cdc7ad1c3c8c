"""Laws over a whole plan: each takes a plan and says, one sentence each, what breaks it.

What concerns one resource alone is a rule in `policy/`; these concern how resources stand to each other.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import networkx as nx

from ops.plan.model import STACK_TYPE
from policy.inputs import leaves

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ops.plan.model import Plan, Planned

RELEASE: Final = "kubernetes:helm.sh/v3:Release"
HOLDING: Final = frozenset(
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
"""What holds data or identity."""
_CREDENTIAL = re.compile(
    r"(?i)(^|\.)(kubeconfig|pass(word|phrase|wd)|(private|api|access|secret)_?key|client_?secret|token)$"
)
_IN_A_SECRET = re.compile(r"^(data|stringData)\.")
_REGION = re.compile(r"\b[a-z]{2}(-[a-z]+)+-?\d[a-f]?\b")
_VERSION = re.compile(r"\d+\.\d+|\bv\d+\b")
_INDEX = re.compile(r"(^|[-_.])\d+($|[-_.])")


def every_resource_hangs_below_a_component(plan: Plan) -> Iterator[str]:
    """A provider may stand at the root, and a component below the stack; nothing else."""
    by_urn = {resource.urn: resource for resource in plan}
    for resource in plan:
        parent = by_urn.get(resource.parent)
        if resource.type == STACK_TYPE or resource.is_provider:
            continue
        if parent is None:
            yield f"{resource.urn} has a parent that is not in the plan"
        elif resource.custom and (parent.custom or parent.type == STACK_TYPE):
            yield f"{resource.urn} hangs below {parent.type}, which is no component"


def every_resource_has_an_explicit_provider(plan: Plan) -> Iterator[str]:
    """None is left to a default provider, which would take the credentials and the region of whoever runs it."""
    for resource in plan:
        if resource.custom and not resource.is_provider and not resource.provider:
            yield f"{resource.urn} has no provider"


def no_name_holds_an_index_or_a_version(plan: Plan) -> Iterator[str]:
    """A name is the key of the state: it may not move with an order, nor with a release."""
    for resource in plan:
        name = _REGION.sub("", resource.name)
        if _VERSION.search(name):
            yield f"{resource.urn} holds a version"
        elif _INDEX.search(name):
            yield f"{resource.urn} holds an index"


def every_credential_is_secret(plan: Plan) -> Iterator[str]:
    """An input that is named like a credential, or stands in a Kubernetes Secret, is marked as secret."""
    for resource in plan:
        in_a_secret = resource.type == "kubernetes:core/v1:Secret"
        for path, value in leaves(resource.inputs):
            named = _CREDENTIAL.search(path) or (in_a_secret and _IN_A_SECRET.search(path))
            if named and isinstance(value, str) and not is_secret(resource, path):
                yield f"{resource.urn} shows {path}"


def is_secret(resource: Planned, path: str) -> bool:
    """Whether what stands at `path`, or around it, is marked as secret."""
    parts = path.split(".")
    return any(".".join(parts[:length]) in resource.secret_paths for length in range(1, len(parts) + 1))


def both_runner_charts_have_one_version(plan: Plan) -> Iterator[str]:
    """A scale set of another version than its controller is ignored by it, without a word."""
    versions = {
        resource.inputs.get("version")
        for resource in plan.of(RELEASE)
        if "gha-runner-scale-set" in str(resource.inputs.get("chart"))
    }
    if len(versions) > 1:
        yield f"the runner charts have the versions {', '.join(sorted(map(str, versions)))}"


def what_runs_inside_goes_before_what_it_runs_on(plan: Plan) -> Iterator[str]:
    """Destroy takes scale sets first, then their secret, their controller, its namespaces; the add-ons, and the nodes, last."""
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
        # A controller that takes its leave at GitHub must find GitHub's address.
        (plan.of(RELEASE), plan.of("aws:eks/addon:Addon")),
    ]
    for first, later in steps:
        for before in first:
            for after in later:
                if not nx.has_path(waits_for, before.urn, after.urn):
                    yield f"{after.urn} may be destroyed before {before.urn}"


def what_holds_data_or_identity_is_protected(plan: Plan) -> Iterator[str]:
    """Where a stack protects, what cannot be made again as it was refuses to be deleted."""
    for resource in plan:
        if resource.type in HOLDING and not resource.protect:
            yield f"{resource.urn} is not protected"


def edges(plan: Plan) -> nx.DiGraph[str]:
    """Who waits for whom, as the engine sees it: parents, providers and dependencies. Deletion goes the other way."""
    graph: nx.DiGraph[str] = nx.DiGraph()
    for resource in plan:
        graph.add_node(resource.urn)
        named = [*resource.dependencies, resource.parent, resource.provider]
        graph.add_edges_from((resource.urn, urn) for urn in named if urn)
    return graph


def part(inputs: Mapping[str, Any], *path: str) -> Any:
    """What stands at `path`, or None."""
    value: Any = inputs
    for key in path:
        value = value.get(key) if hasattr(value, "get") else None
    return value


def nothing_waits_in_a_circle(plan: Plan) -> Iterator[str]:
    """The engine refuses a circle only when it meets one."""
    for circle in nx.simple_cycles(edges(plan)):
        yield f"{' → '.join(circle)} wait for each other"


LAWS: Final = (
    every_resource_hangs_below_a_component,
    every_resource_has_an_explicit_provider,
    no_name_holds_an_index_or_a_version,
    every_credential_is_secret,
    both_runner_charts_have_one_version,
    what_runs_inside_goes_before_what_it_runs_on,
    nothing_waits_in_a_circle,
)
