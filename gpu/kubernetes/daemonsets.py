"""What runs on every node beside the jobs, and takes room from them.

Requests: Amazon VPC CNI v1.23 (`config/master/aws-k8s-cni.yaml`: node and network policy agent), the EKS add-ons
kube-proxy, aws-ebs-csi-driver (three containers) and eks-node-monitoring-agent, and the values of the charts
nvidia-device-plugin 0.20.0, dcgm-exporter 4.8.2 and prometheus-node-exporter 4.56.1 (August 2026). Add-on requests
that were not read in a manifest are as generally known. A chart whose values state other requests is described by its
own pod template instead (`DaemonSet.of`).
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from gpu.kubernetes.pods import Pod, Requirement, Toleration, pod_from_template
from gpu.kubernetes.quantities import Resources
from gpu.nearest import UnknownName

if TYPE_CHECKING:
    from collections.abc import Mapping

EVERYWHERE = (Toleration(operator="Exists"),)
"""Tolerates every taint, as the system's own DaemonSets do."""

GPU_TAINT = Toleration(key="nvidia.com/gpu", operator="Exists", effect="NoSchedule")
"""What NVIDIA's charts tolerate by default."""

_GPU_PRESENT = tuple(
    (Requirement(key=key, operator="In", values=(value,)),)
    for key, value in (
        ("feature.node.kubernetes.io/pci-10de.present", "true"),
        ("feature.node.kubernetes.io/cpu-model.vendor_id", "NVIDIA"),
        ("nvidia.com/gpu.present", "true"),
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DaemonSet:
    """One pod on each node that it may run on."""

    name: str
    pod: Pod

    @classmethod
    def of(cls, name: str, template: Mapping[str, Any]) -> DaemonSet:
        """The DaemonSet of that pod template."""
        return cls(name=name, pod=pod_from_template(template))


def _system(name: str, **requests: str) -> DaemonSet:
    return DaemonSet(name=name, pod=Pod(requests=Resources.parse(requests), tolerations=EVERYWHERE))


DEVICE_PLUGIN = DaemonSet(
    name="nvidia-device-plugin",
    pod=Pod(tolerations=(Toleration(key="CriticalAddonsOnly", operator="Exists"), GPU_TAINT), required=_GPU_PRESENT),
)
"""NVIDIA's device plugin as its chart makes it: without one of its three labels a node gets none, and says nothing."""

DAEMONSETS = MappingProxyType(
    {
        daemonset.name: daemonset
        for daemonset in (
            _system("aws-node", cpu="50m"),
            _system("kube-proxy", cpu="100m"),
            _system("eks-pod-identity-agent"),
            _system("ebs-csi-node", cpu="30m", memory="120Mi"),
            _system("eks-node-monitoring-agent", cpu="10m", memory="30Mi"),
            _system("prometheus-node-exporter"),
            DEVICE_PLUGIN,
            DaemonSet(
                name="dcgm-exporter",
                pod=Pod(
                    requests=Resources.parse({"cpu": "100m", "memory": "128Mi"}),
                    tolerations=(GPU_TAINT,),
                    required=((Requirement(key="nvidia.com/gpu.present", operator="In", values=("true",)),),),
                ),
            ),
        )
    }
)
"""The DaemonSets that the stack and its add-ons bring, by name."""


def daemonset(name: str) -> DaemonSet:
    """The DaemonSet of that name."""
    try:
        return DAEMONSETS[name]
    except KeyError:
        raise UnknownName("DaemonSet", name, DAEMONSETS) from None
