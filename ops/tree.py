"""A plan as a tree on a terminal: components and what hangs below them, folded where many are alike."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from rich.markup import escape
from rich.tree import Tree

from ops.plan import STACK_TYPE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ops.plan import Plan, Planned

_FOLD_FROM: Final = 3
"""From how many resources of one type below one parent they share a line."""


def tree(plan: Plan) -> Tree:
    """The whole plan; a component with its count, a resource with its type and its marks."""
    children: dict[str, list[Planned]] = defaultdict(list)
    for resource in plan:
        children[resource.parent].append(resource)
    root = next((resource for resource in plan if resource.type == STACK_TYPE), None)
    top = Tree(f"[path]{escape(plan.stack)}[/]", guide_style="quiet")
    for child in children[root.urn if root else ""]:
        if child.type != STACK_TYPE:
            _grow(top, [child], "", children)
    return top


def short_type(token: str) -> str:
    """A type token as a reader knows it: `NodeGroup`, and a provider as `provider aws`."""
    head, _, last = token.rpartition(":")
    return f"provider {last}" if head == "pulumi:providers" else last


def _grow(branch: Tree, siblings: Sequence[Planned], parent: str, children: Mapping[str, Sequence[Planned]]) -> None:
    """Hang `siblings` on `branch`: components one by one, resources of one type together."""
    for group in _folded(siblings, children):
        first = group[0]
        if len(group) == 1:
            _grow(branch.add(_line(first, parent, children)), children.get(first.urn, ()), first.name, children)
            continue
        names = ", ".join(filter(None, (_bare(resource.name, parent) for resource in group)))
        branch.add(f"[type]{escape(short_type(first.type))}[/] x{len(group)}{_marks(group)}  [quiet]{escape(names)}[/]")


def _folded(siblings: Sequence[Planned], children: Mapping[str, Sequence[Planned]]) -> list[list[Planned]]:
    """Siblings in their order; leaves of one type, where there are enough, at the place of the first."""
    alike: dict[str, list[Planned]] = defaultdict(list)
    for resource in siblings:
        if resource.custom and not children.get(resource.urn):
            alike[resource.type].append(resource)
    groups: list[list[Planned]] = []
    for resource in siblings:
        group = alike.get(resource.type, [])
        if resource not in group or len(group) < _FOLD_FROM:
            groups.append([resource])
        elif resource is group[0]:
            groups.append(group)
    return groups


def _line(resource: Planned, parent: str, children: Mapping[str, Sequence[Planned]]) -> str:
    type_, marks = escape(short_type(resource.type)), _marks([resource])
    if resource.custom:
        name = "" if resource.is_provider else escape(_bare(resource.name, parent))
        return f"[type]{type_}[/]{marks}" + (f"  [quiet]{name}[/]" if name else "")
    below = _below(resource, children)
    return f"[path]{escape(resource.name)}[/]  [quiet]{type_}, {below}[/]{marks}"


def _below(resource: Planned, children: Mapping[str, Sequence[Planned]]) -> int:
    """How many resources a provider makes below this one."""
    return sum(child.custom + _below(child, children) for child in children.get(resource.urn, ()))


def _marks(resources: Sequence[Planned]) -> str:
    """What a reader must know of them beside their name."""
    marks = []
    if all(resource.protect for resource in resources):
        marks.append("protected")
    if any(resource.secret_paths for resource in resources):
        marks.append("secret")
    if all(resource.retain_on_delete for resource in resources):
        marks.append("kept")
    return "".join(f" [mark]{mark}[/]" for mark in marks)


def _bare(name: str, parent: str) -> str:
    """A resource's name without that of the component above it, which stands there already."""
    return "" if name == parent else name.removeprefix(f"{parent}-")
