"""The keys that a chart reads: Helm ignores a misspelt key without an error.

`make chart-keys` writes one file for each chart to `data/`: `values`, the keys of values.yaml; `template_only`, keys that
only templates read; `commented`, keys in comments of values.yaml; `free`, keys with arbitrary content; `dead`, keys that
no template reads; `types`, keys that a template ignores if they have another type.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

DATA: Final = Path(__file__).with_name("data")
SUBCHARTS: Final = {("nvidia-device-plugin", "nfd"): "node-feature-discovery"}
"""Keys whose content belongs to a subchart."""
OTHERS: Final = {
    "gha-runner-scale-set": ("template.spec", "listenerTemplate"),
    "nvidia-device-plugin": ("config.map",),
}
"""Keys whose content a chart passes to Kubernetes, which `objects` checks, and maps with names of our choice."""

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
    """Return the lists of a chart."""
    return dict(json.loads((DATA / f"{name}.json").read_text(encoding="utf-8")))


def unknown(name: str, values: Mapping[str, Any], above: str = "") -> Iterator[str]:
    """Yield the keys of `values` that the chart does not read."""
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
    """Yield the keys whose values have a type that the chart ignores."""
    for path, kinds in chart(name)["types"].items():
        found: Any = values
        for key in path.split("."):
            found = found.get(key) if isinstance(found, Mapping) else None
        taken = tuple(_KINDS[kind] for kind in kinds)
        if found is not None and not (isinstance(found, taken) and (isinstance(found, bool) is (bool in taken))):
            yield f"{path} is {type(found).__name__}, and {' or '.join(kinds)} is read"
