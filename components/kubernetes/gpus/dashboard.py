"""The Grafana dashboard of GPUs and runners. Pure.

Grafana's sidecar loads each ConfigMap with the label `grafana_dashboard: "1"`, in all namespaces (kube-prometheus-stack
88.5, `grafana.sidecar.dashboards`).
"""

from __future__ import annotations

import json
from typing import Any, Final

LABELS: Final = {"grafana_dashboard": "1"}
"""The label that the sidecar selects."""
FILE: Final = "gpu-ci.json"
UID: Final = "gpu-ci"

_DATASOURCE: Final = {"type": "prometheus", "uid": "${datasource}"}
_PANEL: Final = {"w": 12, "h": 8}
"""The size of a panel; a row of Grafana has 24 columns."""
_GPU: Final = "{{Hostname}} GPU {{gpu}}"

PANELS: Final = (
    ("GPU utilization", "percent", "DCGM_FI_DEV_GPU_UTIL", _GPU),
    (
        "GPU memory in use",
        "percent",
        "100 * DCGM_FI_DEV_FB_USED / (DCGM_FI_DEV_FB_USED + DCGM_FI_DEV_FB_FREE)",
        _GPU,
    ),
    ("GPU temperature", "celsius", "DCGM_FI_DEV_GPU_TEMP", _GPU),
    ("GPU power", "watt", "DCGM_FI_DEV_POWER_USAGE", _GPU),
    ("Last XID error of each GPU", "none", "DCGM_FI_DEV_XID_ERRORS", _GPU),
    (
        "Remapped memory rows",
        "none",
        "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS + DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS",
        _GPU,
    ),
    ("GPUs with metrics", "none", "count by (modelName) (DCGM_FI_DEV_GPU_UTIL)", "{{modelName}}"),
    ("Tensor cores in use", "percentunit", "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", _GPU),
    ("Running jobs", "none", "sum by (name) (gha_running_jobs)", "{{name}}"),
    (
        "Waiting jobs",
        "none",
        "sum by (name) (gha_assigned_jobs) - sum by (name) (gha_running_jobs)",
        "{{name}}",
    ),
)
"""Title, unit, expression and legend of each graph."""


def dashboard() -> dict[str, Any]:
    """Return the dashboard as Grafana imports it."""
    return {
        "uid": UID,
        "title": "gpu-ci",
        "tags": ["gpu-ci"],
        "schemaVersion": 39,
        "refresh": "1m",
        "time": {"from": "now-6h", "to": "now"},
        "templating": {
            "list": [{"name": "datasource", "label": "Prometheus", "type": "datasource", "query": "prometheus"}]
        },
        "panels": [
            {
                "id": number + 1,
                "title": title,
                "type": "timeseries",
                "datasource": _DATASOURCE,
                "gridPos": {**_PANEL, "x": number % 2 * _PANEL["w"], "y": number // 2 * _PANEL["h"]},
                "fieldConfig": {"defaults": {"unit": unit, "min": 0}, "overrides": []},
                "targets": [{"refId": "A", "datasource": _DATASOURCE, "expr": expression, "legendFormat": legend}],
            }
            for number, (title, unit, expression, legend) in enumerate(PANELS)
        ],
    }


def files() -> dict[str, str]:
    """Return the data of the ConfigMap."""
    return {FILE: json.dumps(dashboard(), indent=2, sort_keys=True)}
