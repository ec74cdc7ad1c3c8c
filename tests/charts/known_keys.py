"""Which keys a chart reads: a misspelt one changes nothing, and nothing says so.

One file a chart in `data/`, taken from the published chart of the version that it names: `values`, the keys of its
values.yaml; `template_only`, those that its templates read and values.yaml does not show; `commented`, those that it
shows in comments; `free`, those below which anything may stand; `dead`, those that no template reads; `types`, those
whose kind a template asks for, and passes over where it is another.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

DATA: Final = Path(__file__).with_name("data")
SUBCHARTS: Final = {("nvidia-device-plugin", "nfd"): "node-feature-discovery"}
"""What stands below these keys is the subchart's to know."""
OTHERS: Final = {
    "gha-runner-scale-set": ("template.spec", "listenerTemplate"),
    "nvidia-device-plugin": ("config.map",),
}
"""What a chart hands on to Kubernetes as it is, judged by `objects`, and maps whose keys are names that we choose."""

_KINDS: Final[Mapping[str, type | tuple[type, ...]]] = {
    "bool": bool,
    "string": str,
    "int": int,
    "int64": int,
    "float64": int,
    "slice": list,
    "map": dict,
}


@functools.cache
def chart(name: str) -> dict[str, Any]:
    """What is known of a chart."""
    return dict(json.loads((DATA / f"{name}.json").read_text(encoding="utf-8")))


def unknown(name: str, values: Mapping[str, Any], above: str = "") -> Iterator[str]:
    """The keys of `values` that the chart does not read."""
    known = chart(name)
    free = (*known["free"], *OTHERS.get(name, ()))
    named = {*known["values"], *known["template_only"], *known["commented"]} - set(known["dead"])
    for key, value in values.items():
        path = f"{above}.{key}" if above else key
        subchart = SUBCHARTS.get((name, path))
        if subchart is not None:
            yield from (f"{path}.{inner}" for inner in unknown(subchart, value))
        elif path not in named and path not in free:
            yield path
        elif isinstance(value, Mapping) and path not in free:
            yield from unknown(name, value, path)


def wrong_kinds(name: str, values: Mapping[str, Any]) -> Iterator[str]:
    """The keys whose values are of a kind that the chart passes over."""
    for path, kinds in chart(name)["types"].items():
        found: Any = values
        for key in path.split("."):
            found = found.get(key) if isinstance(found, Mapping) else None
        taken = tuple(_KINDS[kind] for kind in kinds)
        if found is not None and not (isinstance(found, taken) and (isinstance(found, bool) is (bool in taken))):
            yield f"{path} is {type(found).__name__}, and {' or '.join(kinds)} is read"
