"""Every value that a release states is one that its chart reads, and of the kind that it reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pulumi_kubernetes as k8s
import pytest

from components.kubernetes.gpus.device_plugin_values import DevicePluginValues, device_plugin_values
from components.kubernetes.gpus.gpu_metrics_values import GpuMetricsValues, gpu_metrics_values
from gpu_ci.knowledge import pins
from tests.charts import known_keys, objects, releases
from tests.charts.releases import STACKS

pytestmark = pytest.mark.plan

PINNED = {
    "nvidia-device-plugin": pins.DEVICE_PLUGIN_CHART,
    "cluster-autoscaler": pins.CLUSTER_AUTOSCALER_CHART,
    "gha-runner-scale-set": pins.ARC_CHARTS,
    "gha-runner-scale-set-controller": pins.ARC_CHARTS,
    "dcgm-exporter": pins.DCGM_EXPORTER_CHART,
}
TYPED = {
    "affinity": k8s.core.v1.AffinityArgs,
    "extraEnv": Sequence[k8s.core.v1.EnvVarArgs],
    "listenerTemplate": k8s.core.v1.PodTemplateSpecArgs,
    "nodeSelector": Mapping[str, str],
    "resources": k8s.core.v1.ResourceRequirementsArgs,
    "template": k8s.core.v1.PodTemplateSpecArgs,
    "tolerations": Sequence[k8s.core.v1.TolerationArgs],
}
"""What charts hand on to Kubernetes, by its key."""


@pytest.mark.parametrize("stack", STACKS)
def test_the_chart_reads_every_value(stack: str) -> None:
    ignored = {str(each): list(known_keys.unknown(each.chart, each.values)) for each in releases.of(stack)}

    assert ignored == {name: [] for name in ignored}


@pytest.mark.parametrize("stack", STACKS)
def test_every_value_has_the_type_that_the_chart_reads(stack: str) -> None:
    passed_over = {str(each): list(known_keys.wrong_kinds(each.chart, each.values)) for each in releases.of(stack)}

    assert passed_over == {name: [] for name in passed_over}


def handed_on(values: Mapping[str, Any]) -> Iterator[str]:
    for key, kind in TYPED.items():
        if key in values:
            yield from objects.faults(values[key], kind, key)


@pytest.mark.parametrize("stack", STACKS)
def test_kubernetes_knows_every_field_that_a_chart_passes_on(stack: str) -> None:
    unknown = {str(each): list(handed_on(each.values)) for each in releases.of(stack)}

    assert unknown == {name: [] for name in unknown}


@pytest.mark.parametrize("name", PINNED)
def test_the_list_of_keys_has_the_installed_chart_version(name: str) -> None:
    """A list of another version proves nothing: with a new pin comes a new list, from `helm show values`."""
    assert known_keys.chart(name)["version"] == PINNED[name]


def test_every_installed_chart_has_a_list_of_keys() -> None:
    assert {release.chart for stack in STACKS for release in releases.of(stack)} == set(PINNED)


def test_the_chart_reads_the_sharing_values_of_the_device_plugin() -> None:
    values = device_plugin_values(
        DevicePluginValues(
            fail_on_init_error=True,
            tolerations=[{"key": "nvidia.com/gpu", "operator": "Exists"}],
            shares={"time-slicing-2": 2},
        )
    )

    assert list(known_keys.unknown("nvidia-device-plugin", values)) == []
    assert list(known_keys.wrong_kinds("nvidia-device-plugin", values)) == []


@pytest.mark.parametrize(("seconds", "timeout"), [(1, "1s"), (9, "9s"), (10, None), (30, None)])
def test_the_timeout_of_a_scrape_is_never_longer_than_its_interval(seconds: int, timeout: str | None) -> None:
    """The Prometheus operator drops such a ServiceMonitor. The chart's own timeout is 10 seconds."""
    values = gpu_metrics_values(GpuMetricsValues(interval_seconds=seconds, service_monitor=True, tolerations=[]))

    assert values["serviceMonitor"].get("scrapeTimeout") == timeout


def test_the_chart_reads_the_service_monitor_values_of_the_exporter() -> None:
    values = gpu_metrics_values(
        GpuMetricsValues(interval_seconds=5, service_monitor=True, tolerations=[{"operator": "Exists"}])
    )

    assert list(known_keys.unknown("dcgm-exporter", values)) == []
    assert list(handed_on(values)) == []


@pytest.mark.parametrize(
    ("chart", "values"),
    [
        ("gha-runner-scale-set", {"minRunner": 0}),
        ("gha-runner-scale-set", {"tolerations": []}),
        ("gha-runner-scale-set", {"runnerLabels": ["gpu"]}),
        ("gha-runner-scale-set", {"runnerScaleSetLabels": ["gpu"]}),
        ("gha-runner-scale-set", {"runnerScaleDownDelaySecondsAfterScaleOut": 300}),
        ("gha-runner-scale-set", {"containerMode": {"kind": "dind"}}),
        ("gha-runner-scale-set-controller", {"flags": {"watchNamespace": "arc-runners"}}),
        ("gha-runner-scale-set-controller", {"log": {"level": "debug"}}),
        ("nvidia-device-plugin", {"gfd": {"noTimestamp": True}}),
        ("nvidia-device-plugin", {"nfd": {"postDeleteCleanUp": False}}),
        ("cluster-autoscaler", {"serviceAccount": {"name": "cluster-autoscaler"}}),
        ("cluster-autoscaler", {"autoDiscovery": {"cluster": "gpu-ci"}}),
        ("dcgm-exporter", {"serviceMonitor": {"enable": True}}),
    ],
)
def test_an_ignored_key_is_reported(chart: str, values: dict[str, Any]) -> None:
    (found,) = known_keys.unknown(chart, values)
    (key,), (inner,) = values, values.values()

    assert found in {key, f"{key}.{next(iter(inner), '')}" if isinstance(inner, dict) else key}


@pytest.mark.parametrize(
    ("chart", "values", "reported"),
    [
        ("gha-runner-scale-set", {"maxRunners": "5"}, "maxRunners is str, and float64 or int64 is read"),
        ("gha-runner-scale-set", {"minRunners": True}, "minRunners is bool, and float64 or int64 is read"),
        ("nvidia-device-plugin", {"failOnInitError": "false"}, "failOnInitError is str, and bool is read"),
    ],
)
def test_a_value_of_an_ignored_type_is_reported(chart: str, values: dict[str, Any], reported: str) -> None:
    assert list(known_keys.wrong_kinds(chart, values)) == [reported]


@pytest.mark.parametrize(
    ("key", "value", "reported"),
    [
        ("template", {"spec": {"toleration": []}}, "template.spec.toleration is no key of PodSpec"),
        (
            "template",
            {"spec": {"containers": [{"name": "runner", "image": "i", "commands": ["run"]}]}},
            "template.spec.containers[0].commands is no key of Container",
        ),
        (
            "template",
            {"spec": {"terminationGracePeriodSeconds": "110"}},
            "template.spec.terminationGracePeriodSeconds is str, not int",
        ),
        ("template", {"spec": {"containers": {"name": "runner"}}}, "template.spec.containers is no list"),
        ("resources", {"request": {"cpu": "1"}}, "resources.request is no key of ResourceRequirements"),
        ("tolerations", [{"key": "a", "effects": "NoSchedule"}], "tolerations[0].effects is no key of Toleration"),
        ("nodeSelector", {"nvidia.com/gpu.present": True}, "nodeSelector.nvidia.com/gpu.present is bool, not str"),
        ("affinity", {"nodeAffinity": []}, "affinity.nodeAffinity is no map"),
    ],
)
def test_a_field_unknown_to_kubernetes_is_reported(key: str, value: Any, reported: str) -> None:
    assert list(handed_on({key: value})) == [reported]
