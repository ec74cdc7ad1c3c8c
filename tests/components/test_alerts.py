"""Alerts and the dashboard of Prometheus: the metrics that they need, and the labels by which they are selected."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final

import promql_parser
import pytest

from components.kubernetes.arc.scale_set_values import LISTENER
from components.kubernetes.gpus import dashboard
from components.kubernetes.gpus.alerts import RUNBOOK, listeners, rules
from ops.plan.recorder import record
from tests.plan import stacks

pytestmark = pytest.mark.plan

EXPORTED: Final = frozenset(
    {
        *("DCGM_FI_DEV_SM_CLOCK", "DCGM_FI_DEV_MEM_CLOCK", "DCGM_FI_DEV_MEMORY_TEMP", "DCGM_FI_DEV_GPU_TEMP"),
        *("DCGM_FI_DEV_POWER_USAGE", "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "DCGM_FI_DEV_PCIE_REPLAY_COUNTER"),
        *("DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_MEM_COPY_UTIL", "DCGM_FI_DEV_ENC_UTIL", "DCGM_FI_DEV_DEC_UTIL"),
        *("DCGM_FI_DEV_XID_ERRORS", "DCGM_FI_DEV_FB_FREE", "DCGM_FI_DEV_FB_USED"),
        *("DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL", "DCGM_FI_DEV_VGPU_LICENSE_STATUS", "DCGM_FI_DEV_ROW_REMAP_FAILURE"),
        *("DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS", "DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS"),
        *("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", "DCGM_FI_PROF_DRAM_ACTIVE"),
        *("DCGM_FI_PROF_PCIE_TX_BYTES", "DCGM_FI_PROF_PCIE_RX_BYTES"),
    }
)
"""The metrics of the ConfigMap in the exporter's chart (dcgm-exporter 4.8.2, deployment/templates/
metrics-configmap.yaml). It replaces the list in the image, so the throughput of PCIe, for example, is not exported."""
LISTENED: Final = {"gha_assigned_jobs", "gha_running_jobs", "gha_registered_runners"}
"""Metrics of a listener (actions-runner-controller 0.14, cmd/ghalistener/metrics)."""
GRID: Final = 24
"""Columns of a Grafana dashboard."""


def alerts(*, to_zero: bool = True) -> dict[str, dict[str, Any]]:
    return {rule["alert"]: rule for group in rules(to_zero=to_zero)["groups"] for rule in group["rules"]}


def expressions() -> list[str]:
    return [rule["expr"] for rule in alerts().values()] + [panel[2] for panel in dashboard.PANELS]


def declared(**stated: Any) -> dict[str, Any]:
    def change(monitoring: dict[str, Any]) -> None:
        monitoring["dcgm"] = {"interval-seconds": 30, "service-monitor": True, **stated}

    plan = record(stacks.changed(stacks.STAGING, "monitoring", change))
    mine = {one.type.rpartition(":")[2]: one.inputs for one in plan if one.type.startswith("kubernetes:monitoring.")}
    names = {"gpu-metrics-dashboard": "Dashboard"}
    mine |= {names[one.name]: one.inputs for one in plan if one.name in names}
    (mine["Namespace"],) = [one.inputs for one in plan.of("kubernetes:core/v1:Namespace") if one.name == "gpu-metrics"]
    charts = plan.of("kubernetes:helm.sh/v3:Release")
    (mine["Release"],) = [one.inputs for one in charts if one.inputs["chart"] == "dcgm-exporter"]
    return mine


@pytest.mark.parametrize("expression", expressions())
def test_alerts_and_the_dashboard_use_metrics_that_are_exported(expression: str) -> None:
    used = set(re.findall(r"DCGM_\w+|gha_\w+", expression))

    assert used
    assert used <= EXPORTED | LISTENED


@pytest.mark.parametrize("expression", expressions())
def test_expressions_are_valid_in_prometheus(expression: str) -> None:
    assert isinstance(promql_parser.parse(expression), promql_parser.Expr)


def test_a_lost_gpu_is_an_immediate_alert_and_an_error_of_a_job_is_not_an_alert() -> None:
    lost = alerts()["GpuLost"]

    assert re.findall(r"== (\d+)", lost["expr"]) == ["48", "79", "94", "95"]
    assert (lost["for"], lost["labels"]["severity"]) == ("0m", "critical")


def test_a_hot_gpu_and_one_without_spare_memory_are_alerts() -> None:
    assert alerts()["GpuHot"]["expr"] == "DCGM_FI_DEV_GPU_TEMP > 95"
    assert alerts()["GpuHot"]["for"] == "5m"
    assert alerts()["GpuRowRemapFailed"]["expr"] == "DCGM_FI_DEV_ROW_REMAP_FAILURE > 0"


def test_an_idle_gpu_is_an_alert_only_where_every_node_is_for_a_job() -> None:
    assert alerts()["GpuIdle"]["for"] == "60m"
    assert set(alerts()) - set(alerts(to_zero=False)) == {"GpuIdle"}


def test_waiting_jobs_are_alerts_of_rising_severity() -> None:
    queue = [(rule["for"], rule["labels"]["severity"]) for name, rule in alerts().items() if "Queue" in name]

    assert queue == [("30m", "info"), ("60m", "warning"), ("120m", "critical")]
    assert alerts()["RunnerListenerStalled"]["for"] == "15m"


def test_the_runbook_has_an_entry_for_each_alert() -> None:
    text = Path("docs/runbook.md").read_text(encoding="utf-8")
    _, _, anchor = RUNBOOK.partition("#")
    titles = {title.lower().replace(" ", "-"): title for title in re.findall(r"^## (.+)$", text, re.MULTILINE)}
    section = text.partition(f"## {titles[anchor]}\n")[2].partition("\n## ")[0]
    named = set(re.findall(r"`((?:Gpu|Runner)\w+)`", section))

    assert named == set(alerts())
    assert {rule["annotations"]["runbook"] for rule in alerts().values()} == {RUNBOOK}


def test_listeners_are_scraped_in_their_own_namespace() -> None:
    monitor = listeners("arc-systems", 30)

    assert monitor["namespaceSelector"] == {"matchNames": ["arc-systems"]}
    assert monitor["selector"]["matchLabels"] == {"app.kubernetes.io/component": f"runner-scale-set-{LISTENER['name']}"}


def test_grafana_can_import_the_dashboard() -> None:
    made = json.loads(dashboard.files()[dashboard.FILE])
    places = [panel["gridPos"] for panel in made["panels"]]
    cells = [
        (x, y) for at in places for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])
    ]

    assert len(made["uid"]) <= 40
    assert [panel["id"] for panel in made["panels"]] == list(range(1, len(dashboard.PANELS) + 1))
    assert len({panel["title"] for panel in made["panels"]}) == len(made["panels"])
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < GRID
    variables = {f"${{{one['name']}}}" for one in made["templating"]["list"]}
    assert {panel["datasource"]["uid"] for panel in made["panels"]} <= variables


def test_the_stack_file_states_what_needs_the_operator() -> None:
    assert set(declared()) == {"Namespace", "Release"}
    assert set(declared(alerts=True)) == {"Namespace", "Release", "PodMonitor", "PrometheusRule"}
    assert set(declared(dashboard=True)) == {"Namespace", "Release", "Dashboard"}


def test_every_object_has_the_label_that_kube_prometheus_stack_selects() -> None:
    made = declared(alerts=True, dashboard=True, labels={"release": "monitoring"})

    assert made["PodMonitor"]["metadata"]["labels"] == {"release": "monitoring"}
    assert made["PrometheusRule"]["metadata"]["labels"] == {"release": "monitoring"}
    assert made["Release"]["values"]["serviceMonitor"]["additionalLabels"] == {"release": "monitoring"}
    assert made["Dashboard"]["metadata"]["labels"] == {"grafana_dashboard": "1"}
    assert made["Namespace"]["metadata"] == {"name": "gpu-metrics"}


def test_the_namespace_has_the_labels_that_a_prometheus_selects_by() -> None:
    made = declared(alerts=True, **{"namespace-labels": {"monitored": "true"}})

    assert made["Namespace"]["metadata"]["labels"] == {"monitored": "true"}
    assert "labels" not in made["PodMonitor"]["metadata"]
