"""The values of NVIDIA's device plugin chart. Pure."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gpu.kubernetes.node_group import GPU_PRESENT
from gpu.kubernetes.quantities import GPU

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gpu.kubernetes.sharing import Sharing

DEFAULT_CONFIG = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class DevicePluginValues:
    """What the chart is told."""

    fail_on_init_error: bool
    tolerations: Sequence[Mapping[str, str]]
    sharing: Mapping[str, Sharing] = field(default_factory=dict)
    """Configuration name, which a node chooses by its label, to how its GPUs are shared."""


def device_plugin_values(args: DevicePluginValues) -> dict[str, Any]:
    """The chart's values.

    Nodes are found by `nvidia.com/gpu.present`, the one label of the chart's own affinity that our nodes carry; the
    affinity is stated again, so that a new default upstream cannot silently leave every node without the plugin.
    """
    requirement = {"key": GPU_PRESENT, "operator": "In", "values": ["true"]}
    values: dict[str, Any] = {
        "failOnInitError": args.fail_on_init_error,
        "affinity": {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [{"matchExpressions": [requirement]}]
                }
            }
        },
        "tolerations": [{"key": "CriticalAddonsOnly", "operator": "Exists"}, *map(dict, args.tolerations)],
    }
    if args.sharing:
        configurations = {DEFAULT_CONFIG: _configuration(None)}
        configurations |= {name: _configuration(sharing) for name, sharing in sorted(args.sharing.items())}
        values["config"] = {"map": configurations, "default": DEFAULT_CONFIG}
        # With a configuration the chart gives the plugin more rights unless this says that there is no MIG.
        values["migStrategy"] = "none"
    if any(sharing.mode == "mps" for sharing in args.sharing.values()):
        # The MPS daemon runs where feature discovery says that a node can.
        values["gfd"] = {"enabled": True}
        worker = {"tolerations": [dict(toleration) for toleration in args.tolerations]}
        # The subchart's own toleration names another value of our taint and would keep it off every GPU node.
        values["nfd"] = {"worker": worker, "postDeleteCleanup": False}
    return values


def _configuration(sharing: Sharing | None) -> str:
    """One configuration file. JSON is YAML, and has one form."""
    configuration: dict[str, Any] = {"version": "v1"}
    if sharing is not None:
        key = {"time-slicing": "timeSlicing", "mps": "mps"}[sharing.mode]
        resources = [{"name": GPU, "replicas": sharing.replicas}]
        configuration["sharing"] = {key: {"resources": resources}}
    return json.dumps(configuration, sort_keys=True)
