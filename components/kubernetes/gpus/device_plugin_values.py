"""The values of NVIDIA's device plugin chart. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from components.gpu_names import GPU, GPU_PRESENT

DEFAULT_CONFIG = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class DevicePluginValues:
    """The configuration of the plugin."""

    fail_on_init_error: bool
    """Whether the plugin fails on a node without a working GPU."""
    tolerations: Sequence[Mapping[str, str]]
    """Tolerations for the nodes of every pool."""
    shares: Mapping[str, int] = field(default_factory=dict)
    """Name of a configuration to the number of jobs that share one GPU. The label of a node selects one."""


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
    if args.shares:
        configurations = {DEFAULT_CONFIG: _configuration(1)}
        configurations |= {name: _configuration(shares) for name, shares in sorted(args.shares.items())}
        values["config"] = {"map": configurations, "default": DEFAULT_CONFIG}
        # With a configuration the chart grants the plugin more rights, unless the strategy is `none`.
        values["migStrategy"] = "none"
    return values


def _configuration(shares: int) -> str:
    """Return a configuration file, as JSON, which is valid YAML."""
    configuration: dict[str, Any] = {"version": "v1"}
    if shares > 1:
        configuration["sharing"] = {"timeSlicing": {"resources": [{"name": GPU, "replicas": shares}]}}
    return json.dumps(configuration, sort_keys=True)
