"""NVIDIA's device plugin: it makes the GPUs of a node available to pods."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi
from pulumi import ResourceOptions

from components.kubernetes.chart import chart
from components.kubernetes.gpus.device_plugin_values import DevicePluginValues, device_plugin_values

REPOSITORY = "https://nvidia.github.io/k8s-device-plugin"


@dataclass(frozen=True, slots=True, kw_only=True)
class DevicePluginArgs:
    """A release of the plugin."""

    version: str
    """The version of the chart."""
    values: DevicePluginValues


class DevicePlugin(pulumi.ComponentResource):
    """The plugin on every GPU node."""

    def __init__(self, name: str, args: DevicePluginArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("gpu-ci:kubernetes:DevicePlugin", name, None, opts)
        chart(
            name,
            release="nvidia-device-plugin",
            repository=REPOSITORY,
            chart_name="nvidia-device-plugin",
            version=args.version,
            namespace="kube-system",
            values=device_plugin_values(args.values),
            parent=self,
        )
        self.register_outputs({})
