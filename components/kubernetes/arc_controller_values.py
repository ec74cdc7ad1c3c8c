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
            # A changed scale set waits for its running jobs before it creates runners.
            "updateStrategy": "eventual",
        },
        "metrics": {
            "controllerManagerAddr": ":8080",
            "listenerAddr": ":8080",
            "listenerEndpoint": "/metrics",
        },
        "nodeSelector": {"role": "system"},
        "resources": CONTROLLER_RESOURCES,
    }
