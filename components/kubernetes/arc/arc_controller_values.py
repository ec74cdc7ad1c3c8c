"""The values of the chart of the Actions Runner Controller. Pure."""

from __future__ import annotations

from typing import Any, Final

from components.kubernetes.namespaces import RUNNERS

CONTROLLER_RESOURCES: Final = {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "512Mi"}}


def controller_values(log_level: str) -> dict[str, Any]:
    """Return the chart's values."""
    return {
        "replicaCount": 1,
        "flags": {
            "logLevel": log_level,
            "logFormat": "json",
            "watchSingleNamespace": RUNNERS,
            # `eventual` deletes the listener of a changed scale set until all its runners have ended, which an idle
            # runner never does (actions-runner-controller 4432).
            "updateStrategy": "immediate",
        },
        "metrics": {
            "controllerManagerAddr": ":8080",
            "listenerAddr": ":8080",
            "listenerEndpoint": "/metrics",
        },
        "nodeSelector": {"role": "system"},
        "resources": CONTROLLER_RESOURCES,
    }
