"""NVIDIA's DCGM exporter: what each GPU does, for Prometheus to fetch, and to tell of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pulumi
import pulumi_kubernetes as k8s
from pulumi import ResourceOptions

from components.kubernetes.alerts import API, SYSTEMS, listeners, rules
from components.kubernetes.chart import chart
from gpu.kubernetes.node_group import GPU_PRESENT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

REPOSITORY = "https://nvidia.github.io/dcgm-exporter/helm-charts"
NAMESPACE = "gpu-metrics"


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuMetricsArgs:
    """How the exporter runs."""

    version: str
    interval_seconds: int
    service_monitor: bool
    """Whether to declare a ServiceMonitor, which fails where the Prometheus operator's definitions are missing."""
    tolerations: Sequence[Mapping[str, str]]
    alerts: bool = False
    """Whether to declare what Prometheus tells of, and to have the listeners' figures fetched for it."""


def gpu_metrics_values(args: GpuMetricsArgs) -> dict[str, Any]:
    """The chart's values. Its own would run it on nodes without a GPU, and on none with our taint."""
    return {
        "nodeSelector": {GPU_PRESENT: "true"},
        "tolerations": [dict(toleration) for toleration in args.tolerations],
        "serviceMonitor": {"enabled": args.service_monitor, "interval": f"{args.interval_seconds}s"},
        "extraEnv": [
            {"name": "DCGM_EXPORTER_INTERVAL", "value": str(args.interval_seconds * 1000)},
            # Left to itself the exporter starts a thread a core and runs out of memory on large nodes.
            {"name": "GOMAXPROCS", "value": "2"},
            {"name": "GOMEMLIMIT", "value": "410MiB"},
        ],
        "resources": {"requests": {"cpu": "100m", "memory": "256Mi"}, "limits": {"memory": "512Mi"}},
    }


class GpuMetrics(pulumi.ComponentResource):
    """The exporter on every GPU node, in a namespace of its own."""

    def __init__(self, name: str, args: GpuMetricsArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:kubernetes:GpuMetrics", name, None, opts)
        namespace = k8s.core.v1.Namespace(
            name,
            metadata={"name": NAMESPACE},
            opts=ResourceOptions(parent=self, delete_before_replace=True),
        )
        chart(
            name,
            release="dcgm-exporter",
            repository=REPOSITORY,
            chart_name="dcgm-exporter",
            version=args.version,
            namespace=namespace.metadata.apply(lambda metadata: metadata.name or NAMESPACE),
            values=gpu_metrics_values(args),
            parent=self,
        )
        if args.alerts:
            specs = {"PrometheusRule": rules(), "PodMonitor": listeners(SYSTEMS, args.interval_seconds)}
            for kind, spec in specs.items():
                k8s.apiextensions.CustomResource(
                    f"{name}-{kind.lower()}",
                    api_version=API,
                    kind=kind,
                    metadata={"name": "gpu-ci", "namespace": namespace.metadata.name},
                    spec=spec,
                    opts=ResourceOptions(parent=self, delete_before_replace=True),
                )
        self.register_outputs({})
