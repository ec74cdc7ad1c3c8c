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
    """The configuration of the plugin."""

    fail_on_init_error: bool
    """Whether the plugin fails on a node without a working GPU."""
    tolerations: Sequence[Mapping[str, str]]
    """Tolerations for the nodes of every pool."""
    sharing: Mapping[str, Sharing] = field(default_factory=dict)
    """Name of a configuration to its sharing. The label of a node selects one."""


def device_plugin_values(args: DevicePluginValues) -> dict[str, Any]:
    """Return the chart's values.

    The affinity selects nodes by `nvidia.com/gpu.present`, the only label of the chart's default affinity that our
    nodes have. It is stated so that a new default of the chart cannot silently remove the plugin from every node.
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
        # With a configuration the chart grants the plugin more rights, unless the strategy is `none`.
        values["migStrategy"] = "none"
    if any(sharing.mode == "mps" for sharing in args.sharing.values()):
        # The MPS daemon runs on nodes that feature discovery labels as capable.
        values["gfd"] = {"enabled": True}
        worker = {"tolerations": [dict(toleration) for toleration in args.tolerations]}
        # The subchart's default toleration has another value of our taint, so its pods would run on no GPU node.
        values["nfd"] = {"worker": worker, "postDeleteCleanup": False}
    return values


def _configuration(sharing: Sharing | None) -> str:
    """Return a configuration file, as JSON, which is valid YAML."""
    configuration: dict[str, Any] = {"version": "v1"}
    if sharing is not None:
        key = {"time-slicing": "timeSlicing", "mps": "mps"}[sharing.mode]
        resources = [{"name": GPU, "replicas": sharing.replicas}]
        configuration["sharing"] = {key: {"resources": resources}}
    return json.dumps(configuration, sort_keys=True)
