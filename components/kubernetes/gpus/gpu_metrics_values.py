"""The values of the chart of NVIDIA's DCGM exporter. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from components.gpu_names import GPU_PRESENT

SCRAPE_TIMEOUT: Final = 10
"""The chart's timeout of a scrape in seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuMetricsValues:
    """The configuration of the exporter."""

    interval_seconds: int
    """Seconds between two readings of a GPU."""
    service_monitor: bool
    """Whether to declare a ServiceMonitor. It needs the definitions of the Prometheus operator."""
    tolerations: Sequence[Mapping[str, str]]
    """Tolerations for the nodes of every pool."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Labels by which Prometheus selects the ServiceMonitor."""


def gpu_metrics_values(args: GpuMetricsValues) -> dict[str, Any]:
    """Return the chart's values. With its defaults it runs on nodes without GPUs, and on none with our taint."""
    return {
        "nodeSelector": {GPU_PRESENT: "true"},
        "tolerations": [dict(toleration) for toleration in args.tolerations],
        "serviceMonitor": {
            "enabled": args.service_monitor,
            "interval": f"{args.interval_seconds}s",
            **({"additionalLabels": dict(args.labels)} if args.labels else {}),
            # The Prometheus operator drops a ServiceMonitor whose timeout is longer than its interval.
            **({"scrapeTimeout": f"{args.interval_seconds}s"} if args.interval_seconds < SCRAPE_TIMEOUT else {}),
        },
        "extraEnv": [
            {"name": "DCGM_EXPORTER_INTERVAL", "value": str(args.interval_seconds * 1000)},
            # By default the exporter starts a thread for each core and runs out of memory on large nodes.
            {"name": "GOMAXPROCS", "value": "2"},
            {"name": "GOMEMLIMIT", "value": "410MiB"},
        ],
        "resources": {"requests": {"cpu": "100m", "memory": "256Mi"}, "limits": {"memory": "512Mi"}},
    }
