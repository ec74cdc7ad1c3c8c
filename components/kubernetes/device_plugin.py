"""NVIDIA's device plugin: without it a node's GPUs are nothing that a pod could ask for."""

from __future__ import annotations

import pulumi
from pulumi import ResourceOptions

from components.kubernetes.chart import chart
from components.kubernetes.device_plugin_values import DevicePluginValues, device_plugin_values

REPOSITORY = "https://nvidia.github.io/k8s-device-plugin"


class DevicePlugin(pulumi.ComponentResource):
    """The plugin on every GPU node, and nowhere else."""

    def __init__(
        self, name: str, *, version: str, values: DevicePluginValues, opts: ResourceOptions | None = None
    ) -> None:
        super().__init__("gpu-ci:kubernetes:DevicePlugin", name, None, opts)
        chart(
            name,
            release="nvidia-device-plugin",
            repository=REPOSITORY,
            chart_name="nvidia-device-plugin",
            version=version,
            namespace="kube-system",
            values=device_plugin_values(values),
            parent=self,
        )
        self.register_outputs({})
