"""Prometheus alerts for GPUs and runners, and the monitoring of the listeners. Pure.

Metrics of GPUs are from the exporter (`DCGM_FI_DEV_*`). Its chart brings its own list of them, which differs from the
default of the image (dcgm-exporter 4.8, deployment/templates/metrics-configmap.yaml). XID 48 is an
uncorrectable memory error, 79 a GPU that is no longer on the bus, 94 and 95 are contained and uncontained memory errors
(NVIDIA, "XID Errors"). Jobs cause most other XIDs. Metrics of runners are from the listeners (`gha_*`, Actions Runner
Controller 0.14).
"""

from __future__ import annotations

from typing import Any, Final

API: Final = "monitoring.coreos.com/v1"
LISTENERS: Final = "runner-scale-set-listener"
"""The value of a listener pod's label `app.kubernetes.io/component`."""
FATAL_XIDS: Final = (48, 79, 94, 95)
HOTTEST: Final = 95
"""Degrees Celsius. A T4 slows down at a lower temperature."""
IDLE_PERCENT: Final = 5
"""The utilization below which a GPU is idle."""
IDLE_MINUTES: Final = 60
STALLED_MINUTES: Final = 15
QUEUED_MINUTES: Final = (30, 60, 120)
"""Minutes for which jobs wait, one for each severity."""
SEVERITIES: Final = ("info", "warning", "critical")


RUNBOOK: Final = "docs/runbook.md#an-alert-about-a-gpu-or-a-runner"
"""The section of the runbook with an entry for each alert, in the repository of gpu-ci."""


def rules(*, to_zero: bool) -> dict[str, Any]:
    """Return the spec of the PrometheusRule; `to_zero` is whether no GPU node may remain without a job."""
    host = "{{ $labels.Hostname }}"
    idle = f"max by (Hostname) (DCGM_FI_DEV_GPU_UTIL) < {IDLE_PERCENT}"
    xids = " or ".join(f"DCGM_FI_DEV_XID_ERRORS == {xid}" for xid in FATAL_XIDS)
    waiting = "sum by (name) (gha_assigned_jobs) - sum by (name) (gha_running_jobs) > 0"
    return {
        "groups": [
            {
                "name": "gpu",
                "rules": [
                    _rule("GpuLost", xids, 0, "critical", f"{host} reports XID {{{{ $value }}}}: replace it"),
                    _rule("GpuRowRemapFailed", "DCGM_FI_DEV_ROW_REMAP_FAILURE > 0", 0, "critical",
                          f"{host} has no spare memory left: replace it"),
                    _rule("GpuHot", f"DCGM_FI_DEV_GPU_TEMP > {HOTTEST}", 5, "warning",
                          f"{host} has {{{{ $value }}}} degrees"),
                    *(
                        [_rule("GpuIdle", idle, IDLE_MINUTES, "warning", f"{host} has not used its GPUs for an hour")]
                        if to_zero
                        else []
                    ),
                ],
            },
            {
                "name": "runners",
                "rules": [
                    _rule("RunnerListenerStalled", "sum by (name) (gha_assigned_jobs) > 0 and "
                          "sum by (name) (gha_running_jobs + gha_registered_runners) == 0", STALLED_MINUTES, "critical",
                          "{{ $labels.name }} has jobs, and neither runs one nor has a runner"),
                    *(
                        _rule(f"RunnerQueue{minutes}m", waiting, minutes, severity,
                              "jobs of {{ $labels.name }} have waited for " + f"{minutes} minutes")
                        for minutes, severity in zip(QUEUED_MINUTES, SEVERITIES, strict=True)
                    ),
                ],
            },
        ]
    }  # fmt: skip


def listeners(namespace: str, interval_seconds: int) -> dict[str, Any]:
    """Return the spec of the PodMonitor. Listeners belong to no Service, so a ServiceMonitor cannot find them."""
    return {
        "namespaceSelector": {"matchNames": [namespace]},
        "selector": {"matchLabels": {"app.kubernetes.io/component": LISTENERS}},
        "podMetricsEndpoints": [{"port": "metrics", "path": "/metrics", "interval": f"{interval_seconds}s"}],
    }


def _rule(name: str, expression: str, minutes: int, severity: str, summary: str) -> dict[str, Any]:
    return {
        "alert": name,
        "expr": expression,
        "for": f"{minutes}m",
        "labels": {"severity": severity},
        "annotations": {"summary": summary, "runbook": RUNBOOK},
    }
