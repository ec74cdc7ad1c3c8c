"""A plan as a tree for the terminal: components and their resources, similar resources on one line."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from rich.markup import escape
from rich.tree import Tree

from gpu_ci.policy.rules import short_type
from ops.plan.model import STACK_TYPE, Plan, Planned


def tree(plan: Plan) -> Tree:
    """Return the plan as a tree: a component with its number of resources, a resource with its type and marks."""
    children: dict[str, list[Planned]] = defaultdict(list)
    for resource in plan:
        children[resource.parent].append(resource)
    root = next((resource for resource in plan if resource.type == STACK_TYPE), None)
    top = Tree(f"[path]{escape(plan.stack)}[/]", guide_style="quiet")
    for child in children[root.urn if root else ""]:
        if child.type != STACK_TYPE:
            _grow(top, [child], "", children)
    return top


def _grow(branch: Tree, siblings: Sequence[Planned], parent: str, children: Mapping[str, Sequence[Planned]]) -> None:
    """Add `siblings` to `branch`; resources without children share lines."""
    for group in _folded(siblings, parent, children):
        first = group[0]
        below = children.get(first.urn, ())
        if len(group) == 1 and (below or not first.custom):
            _grow(branch.add(_line(first, parent, children)), below, first.name, children)
        elif len({resource.type for resource in group}) == 1:
            branch.add(_alike(group, parent))
        else:
            branch.add("[type]" + ", ".join(escape(short_type(resource.type)) for resource in group) + "[/]")


def _folded(
    siblings: Sequence[Planned], parent: str, children: Mapping[str, Sequence[Planned]]
) -> list[Sequence[Planned]]:
    """Group siblings that share a line, in the order of the first one of each line."""
    lines: dict[str, list[Planned]] = defaultdict(list)
    for resource in siblings:
        alone = not resource.custom or children.get(resource.urn) or resource.is_provider
        lines[resource.urn if alone else _line_of(resource, parent)].append(resource)
    return list(lines.values())


def _line_of(resource: Planned, parent: str) -> str:
    """Return the key of a leaf's line: its type and marks, or one for all leaves with the component's name."""
    own = _bare(resource.name, parent) or _marks([resource])
    return f"{resource.type}{_marks([resource])}" if own else "named like the component"


def _alike(group: Sequence[Planned], parent: str) -> str:
    """Return a line for resources of one type."""
    names = ", ".join(filter(None, (_bare(resource.name, parent) for resource in group)))
    count = f" x{len(group)}" if len(group) > 1 else ""
    shown = f"  [quiet]{escape(names)}[/]" if names and not group[0].is_provider else ""
    return f"[type]{escape(short_type(group[0].type))}[/]{count}{_marks(group)}{shown}"


def _line(resource: Planned, parent: str, children: Mapping[str, Sequence[Planned]]) -> str:
    """Return the line of a resource with children."""
    if resource.custom:
        return _alike([resource], parent)
    type_, below = escape(short_type(resource.type)), _below(resource, children)
    return f"[path]{escape(resource.name)}[/]  [quiet]{type_}, {below}[/]{_marks([resource])}"


def _below(resource: Planned, children: Mapping[str, Sequence[Planned]]) -> int:
    """Count the provider resources below this one."""
    return sum(child.custom + _below(child, children) for child in children.get(resource.urn, ()))


def _marks(resources: Sequence[Planned]) -> str:
    """Return the marks that all, or for secrets any, of the resources have."""
    marks = []
    if all(resource.protect for resource in resources):
        marks.append("protected")
    if any(resource.secret_paths for resource in resources):
        marks.append("secret")
    if all(resource.retain_on_delete for resource in resources):
        marks.append("kept")
    return "".join(f" [mark]{mark}[/]" for mark in marks)


def _bare(name: str, parent: str) -> str:
    """Return a resource's name without the name of its parent, which is already printed."""
    return "" if name == parent else name.removeprefix(f"{parent}-")
