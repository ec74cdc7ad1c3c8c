"""What stands inside the cluster: the services that runners need, and the runners."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pulumi
from pulumi import Input, Output, ResourceOptions

from components.kubernetes import arc_controller
from components.kubernetes.alerts import SYSTEMS
from components.kubernetes.arc_controller import ArcController, ArcControllerArgs
from components.kubernetes.autoscaler import Autoscaler, AutoscalerArgs
from components.kubernetes.device_plugin import DevicePlugin
from components.kubernetes.gpu_metrics import GpuMetrics, GpuMetricsArgs
from components.kubernetes.scale_set import JobHooks, ScaleSet, ScaleSetArgs
from components.kubernetes.storage import Storage
from composition import wiring
from config import pins

if TYPE_CHECKING:
    from collections.abc import Mapping

    from config.identity import Identity
    from config.load import Secrets
    from config.services import ImageSettings
    from config.settings import Settings


def services(
    settings: Settings,
    cluster_name: Output[str],
    region: str,
    version: str,
    identity: Identity,
    inside: ResourceOptions,
) -> dict[str, pulumi.Resource]:
    """What the cluster offers to runners."""
    made: dict[str, pulumi.Resource] = {}
    if settings.storage is not None:
        made["storage"] = Storage("storage", default_class=settings.storage.default_class, opts=inside)
    if settings.device_plugin is not None:
        made["device-plugin"] = DevicePlugin(
            "device-plugin", version=pins.DEVICE_PLUGIN_CHART, values=wiring.device_plugin(settings), opts=inside
        )
    scaling = wiring.autoscaler(settings, region, version)
    if scaling is not None:
        made["autoscaler"] = Autoscaler(
            "autoscaler",
            AutoscalerArgs(
                cluster_name=cluster_name,
                known_cluster_name=identity.prefix,
                version=pins.CLUSTER_AUTOSCALER_CHART,
                values=scaling,
            ),
            inside,
        )
    if settings.monitoring is not None and settings.monitoring.dcgm is not None:
        made["monitoring"] = GpuMetrics(
            "gpu-metrics",
            GpuMetricsArgs(
                version=pins.DCGM_EXPORTER_CHART,
                interval_seconds=settings.monitoring.dcgm.interval_seconds,
                service_monitor=settings.monitoring.dcgm.service_monitor,
                alerts=settings.monitoring.dcgm.alerts,
                tolerations=wiring.gpu_tolerations(settings),
            ),
            inside,
        )
    return made


def runners(
    settings: Settings, secrets: Secrets, urls: Mapping[str, Output[str]], inside: ResourceOptions
) -> dict[str, pulumi.Resource]:
    """The runner controller, and a scale set for each runner it serves."""
    if settings.arc is None or settings.github is None or secrets.github_app_private_key is None:
        return {}
    controller = ArcController(
        "arc",
        ArcControllerArgs(
            version=pins.ARC_CHARTS,
            log_level=settings.arc.log_level,
            app_id=settings.github.app_id,
            installation_id=settings.github.installation_id,
            private_key=secrets.github_app_private_key,
        ),
        inside,
    )
    hooks = JobHooks("job-hooks", namespace=controller.runners_namespace, opts=inside)
    made: dict[str, pulumi.Resource] = {"arc": controller}
    for name, runner in settings.runners.items():
        if runner.arc is not None:
            made[f"runners.{name}"] = ScaleSet(
                f"runner-{name}",
                ScaleSetArgs(
                    values=wiring.scale_set(name, runner, runner.arc, settings),
                    version=pins.ARC_CHARTS,
                    namespace=controller.runners_namespace,
                    image=_reference(settings.images[runner.arc.image], urls),
                    secret_name=controller.secret_name,
                    controller_namespace=SYSTEMS,
                    controller_account=arc_controller.SERVICE_ACCOUNT,
                    after=[controller.ready, hooks.config_map],
                ),
                inside,
            )
    return made


def _reference(image: ImageSettings, urls: Mapping[str, Output[str]]) -> Input[str]:
    """An image as a pod names it, by digest where it is known: a tag can be moved."""
    pin = f"@{image.digest}" if image.digest else f":{image.tag}"
    if image.repository is not None:
        return Output.concat(urls[image.repository], pin)
    return f"{image.reference}{pin}"
