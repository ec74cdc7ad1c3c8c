"""NVIDIA's DCGM exporter: metrics of every GPU for Prometheus, alerts, and a dashboard."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pulumi
import pulumi_kubernetes as k8s
from pulumi import ResourceOptions

from components.kubernetes.chart import chart
from components.kubernetes.gpus import dashboard
from components.kubernetes.gpus.alerts import API, listeners, rules
from components.kubernetes.gpus.gpu_metrics_values import GpuMetricsValues, gpu_metrics_values
from components.kubernetes.namespaces import SYSTEMS

REPOSITORY = "https://nvidia.github.io/dcgm-exporter/helm-charts"
NAMESPACE = "gpu-metrics"


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuMetricsArgs:
    """A release of the exporter."""

    version: str
    """The version of the chart."""
    values: GpuMetricsValues
    alerts: bool = False
    """Whether to declare alerts and the monitoring of listeners. They need the Prometheus operator's definitions."""
    dashboard: bool = False
    """Whether to declare the dashboard for Grafana."""
    to_zero: bool = False
    """Whether no GPU node may remain without a job. Only then an idle GPU is an alert."""
    namespace_labels: Mapping[str, str] = field(default_factory=dict)
    """Labels by which Prometheus selects the namespace."""


class GpuMetrics(pulumi.ComponentResource):
    """The exporter on every GPU node, in its own namespace."""

    def __init__(self, name: str, args: GpuMetricsArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:kubernetes:GpuMetrics", name, None, opts)
        namespace = k8s.core.v1.Namespace(
            name,
            metadata=k8s.meta.v1.ObjectMetaArgs(name=NAMESPACE, labels=dict(args.namespace_labels) or None),
            opts=ResourceOptions(parent=self, delete_before_replace=True),
        )
        chart(
            name,
            release="dcgm-exporter",
            repository=REPOSITORY,
            chart_name="dcgm-exporter",
            version=args.version,
            namespace=namespace.metadata.apply(lambda metadata: metadata.name or NAMESPACE),
            values=gpu_metrics_values(args.values),
            parent=self,
        )
        if args.dashboard:
            k8s.core.v1.ConfigMap(
                f"{name}-dashboard",
                metadata={
                    "name": "gpu-ci-dashboard",
                    "namespace": namespace.metadata.name,
                    "labels": dict(dashboard.LABELS),
                },
                data=dashboard.files(),
                opts=ResourceOptions(parent=self, delete_before_replace=True),
            )
        if args.alerts:
            selected = {"labels": dict(args.values.labels)} if args.values.labels else {}
            specs = {
                "PrometheusRule": rules(to_zero=args.to_zero),
                "PodMonitor": listeners(SYSTEMS, args.values.interval_seconds),
            }
            for kind, spec in specs.items():
                k8s.apiextensions.CustomResource(
                    f"{name}-{kind.lower()}",
                    api_version=API,
                    kind=kind,
                    metadata={"name": "gpu-ci", "namespace": namespace.metadata.name, **selected},
                    spec=spec,
                    opts=ResourceOptions(parent=self, delete_before_replace=True),
                )
        self.register_outputs({})
