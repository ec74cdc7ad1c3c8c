"""Alerts of Prometheus, and the metrics that they need."""

from __future__ import annotations

import re
from typing import Any

import pytest

from components.kubernetes.alerts import listeners, rules
from components.kubernetes.scale_set_values import LISTENER
from ops.plan.recorder import record
from tests.plan import stacks

pytestmark = pytest.mark.plan

COUNTED = {"DCGM_FI_DEV_XID_ERRORS", "DCGM_FI_DEV_ROW_REMAP_FAILURE", "DCGM_FI_DEV_GPU_TEMP"}
"""Of the counters that the exporter has by default (dcgm-exporter 4.8, etc/default-counters.csv)."""
LISTENED = {"gha_assigned_jobs", "gha_running_jobs", "gha_registered_runners"}
"""Of what a listener measures (actions-runner-controller 0.14, cmd/ghalistener/metrics)."""


def alerts() -> dict[str, dict[str, Any]]:
    return {rule["alert"]: rule for group in rules()["groups"] for rule in group["rules"]}


def declared(alerts_on: bool) -> dict[str, Any]:
    def change(monitoring: dict[str, Any]) -> None:
        monitoring["dcgm"] = {"interval-seconds": 30, "service-monitor": True, "alerts": alerts_on}

    plan = record(stacks.changed(stacks.STAGING, "monitoring", change))
    return {one.type.rpartition(":")[2]: one.inputs for one in plan if one.type.startswith("kubernetes:monitoring.")}


def test_it_goes_by_figures_that_there_are() -> None:
    used = {name for rule in alerts().values() for name in re.findall(r"DCGM_\w+|gha_\w+", rule["expr"])}

    assert used == COUNTED | LISTENED


def test_a_gpu_that_is_lost_is_told_of_at_once_and_a_job_s_own_fault_is_not() -> None:
    lost = alerts()["GpuLost"]

    assert re.findall(r"== (\d+)", lost["expr"]) == ["48", "79", "94", "95"]
    assert (lost["for"], lost["labels"]["severity"]) == ("0m", "critical")


def test_a_hot_gpu_and_one_without_spare_memory_are_told_of() -> None:
    assert alerts()["GpuHot"]["expr"] == "DCGM_FI_DEV_GPU_TEMP > 95"
    assert alerts()["GpuHot"]["for"] == "5m"
    assert alerts()["GpuRowRemapFailed"]["expr"] == "DCGM_FI_DEV_ROW_REMAP_FAILURE > 0"


def test_a_job_that_waits_is_told_of_ever_more_urgently() -> None:
    queue = [(rule["for"], rule["labels"]["severity"]) for name, rule in alerts().items() if "Queue" in name]

    assert queue == [("30m", "info"), ("60m", "warning"), ("120m", "critical")]
    assert alerts()["RunnerListenerStalled"]["for"] == "15m"


def test_listeners_are_fetched_from_where_they_stand() -> None:
    monitor = listeners("arc-systems", 30)

    assert monitor["namespaceSelector"] == {"matchNames": ["arc-systems"]}
    assert monitor["selector"]["matchLabels"] == {"app.kubernetes.io/component": f"runner-scale-set-{LISTENER['name']}"}


def test_nothing_is_declared_that_needs_the_operator_unless_it_is_asked_for() -> None:
    assert declared(alerts_on=False) == {}
    assert {kind: inputs["metadata"]["namespace"] for kind, inputs in declared(alerts_on=True).items()} == {
        "PodMonitor": "gpu-metrics",
        "PrometheusRule": "gpu-metrics",
    }
