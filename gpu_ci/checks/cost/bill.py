"""The bill of a stack: every part of the stack file that costs money."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from components.aws.nodes.pool_alarm_rules import pool_alarms
from gpu_ci.back_ends.stack import Stack
from gpu_ci.checks.cost.machine_groups import build_groups, factory_groups, job_loads, machine_groups
from gpu_ci.derived.kubernetes import job_pools
from gpu_ci.knowledge.cost.month import Bill, Item, Quantity, group_hours, machine_items, running_items
from gpu_ci.knowledge.cost.prices import HOURS_A_MONTH, NoPrice, Price
from gpu_ci.knowledge.cost.prices_aws import aws_price
from gpu_ci.knowledge.cost.prices_gcp import GCP_ITEMS
from gpu_ci.knowledge.machines.start_up import USUAL_IMAGE_GIB
from gpu_ci.stack_file.rules.machine_images import images
from gpu_ci.stack_file.sections.aws import AwsSettings
from gpu_ci.stack_file.sections.machine_images import Ec2ImageSettings
from gpu_ci.stack_file.sections.settings import Settings

CONTROL_PLANE_LOGS_GB: Final = Decimal(10)
"""The control-plane logs of a small cluster in a month. An estimate: no figure is published, and the audit log, which
is most of it, grows with the activity in the cluster."""
FLOW_LOGS_GB: Final = Decimal(20)
"""The flow logs of a small cluster in a month. An estimate: they grow with the number of connections."""
HOST_IMAGE_GB: Final = Decimal(10)
"""The stored, compressed size of a machine image. An estimate: a system, a driver and Docker."""
BUILD_HOURS: Final = Decimal("1.25")
"""The time in which EC2 Image Builder runs a machine to build and another one to test. An estimate with a margin."""
BUILDS_A_MONTH: Final = 1
"""The expected builds of an image: its base image and its driver have about one release a month."""


def bill(stack: Stack) -> Bill:
    """Return all items of a stack."""
    items: list[Item] = []
    settings, loads = stack.settings, job_loads(stack)
    if settings.aws is not None:
        items += _on_aws(stack, settings.aws)
    for group in machine_groups(stack):
        own = [load for load in loads if load.group == group.path]
        hours = group_hours(group, own)
        items += (*machine_items(group, hours), *running_items(group, hours))
    for name in settings.artifact_registry:
        gb = Decimal(str(USUAL_IMAGE_GIB)) * settings.artifact_registry[name].keep
        items.append(_always(f"artifact-registry.{name}", "container images", GCP_ITEMS["registry-storage"], gb))
    return Bill(items=(*items, *_host_image(settings), *_aws_images(settings)))


def _always(path: str, what: str, price: Price | NoPrice, units: Decimal) -> Item:
    return Item(path=path, what=what, price=price, quantity=Quantity.always(units))


def _on_aws(stack: Stack, aws: AwsSettings) -> Iterator[Item]:
    settings, hours = stack.settings, Decimal(HOURS_A_MONTH)
    cluster, network = settings.cluster, settings.network
    if cluster is not None and cluster.existing is None:
        # All versions that a stack file accepts were in standard support when their node images were pinned.
        later = "extended" if cluster.support == "extended" else "standard"
        for support, used in (
            ("standard", Quantity(idle=hours, expected=hours, worst=hours if later == "standard" else Decimal(0))),
            ("extended", Quantity(worst=hours if later == "extended" else Decimal(0))),
        ):
            price = aws_price(f"eks-{support}", aws.region)
            yield Item(path="cluster", what=f"control plane, {support} support", price=price, quantity=used)
        logs = CONTROL_PLANE_LOGS_GB if cluster.logs else Decimal(0)
        kept = (logs * cluster.log_retention_days / 30).quantize(Decimal("0.000001"))
        yield _always("cluster", "control-plane logs, written", aws_price("logs-ingestion", aws.region), logs)
        yield _always("cluster", "control-plane logs, kept", aws_price("logs-storage", aws.region), kept)
        yield _always("cluster", "encryption key", aws_price("kms-key", aws.region), Decimal(1))
    if network is not None and network.existing is None:
        gateways = hours * len(network.gateway_zones)
        traffic = _image_traffic(stack)
        yield _always("network", "NAT gateways", aws_price("nat-gateway", aws.region), gateways)
        yield _always("network", "public addresses of NAT gateways", aws_price("public-ipv4", aws.region), gateways)
        yield Item(
            path="network",
            what="traffic through NAT gateways",
            price=aws_price("nat-traffic", aws.region),
            quantity=Quantity(expected=traffic, worst=traffic),
        )
        if network.flow_logs is not None:
            kept = (FLOW_LOGS_GB * network.flow_logs.retention_days / 30).quantize(Decimal("0.000001"))
            path = "network.flow-logs"
            yield _always(path, "flow logs, written", aws_price("logs-ingestion", aws.region), FLOW_LOGS_GB)
            yield _always(path, "flow logs, kept", aws_price("logs-storage", aws.region), kept)
            yield _always(path, "encryption key", aws_price("kms-key", aws.region), Decimal(1))
    if settings.monitoring is not None and (watch := settings.monitoring.cloudwatch) is not None:
        idle = dict.fromkeys(job_pools(stack), watch.idle_minutes)
        alarms = sum(len(pool_alarms(pool, idle_minutes=idle.get(pool))) for pool in settings.gpu_pools)
        yield _always("monitoring.cloudwatch", "alarms", aws_price("alarm", aws.region), Decimal(alarms))
    for name, repository in settings.ecr.items():
        sizes = [image.pulled_gib for image in settings.images.values() if image.repository == name]
        gb = Decimal(str(max(sizes, default=USUAL_IMAGE_GIB))) * repository.keep
        yield _always(f"ecr.{name}", "container images", aws_price("ecr-storage", aws.region), gb)


def _image_traffic(stack: Stack) -> Decimal:
    """Return the GB that pods pull through the NAT gateways: images of other registries, once for each job.

    Image layers from ECR come through the gateway endpoint of S3.
    """
    total = Decimal(0)
    for name, offer in stack.offers.items():
        work = stack.settings.runners[name].workload
        if offer.shared is not None and work is not None:
            image = stack.settings.images[offer.shared.image]
            if image.reference is not None:
                total += Decimal(str(image.pulled_gib)) * work.jobs_per_month
    return total


def _host_image(settings: Settings) -> Iterator[Item]:
    image = settings.host_image
    if image is None:
        return
    controller = image.mode == "controller"
    kept = HOST_IMAGE_GB * (image.keep if controller else 1)
    yield _always("host-image", "machine images", GCP_ITEMS["image-storage"], kept)
    minutes = {"build": image.builder.max_minutes, "verify": image.verifier.max_minutes}
    for purpose, group in build_groups(settings).items():
        # Each machine runs for as long as it may.
        once = (Decimal(minutes[purpose] * BUILDS_A_MONTH) / 60).quantize(Decimal("0.000001"))
        hours = Quantity(idle=once, expected=once, worst=once * (image.builder.attempts if controller else 1))
        yield from machine_items(group, hours, f" to {purpose}")


def _aws_images(settings: Settings) -> Iterator[Item]:
    """Yield the snapshots of the kept images, which are at most as large as their disks, and the builders."""
    groups, stated = factory_groups(settings), images(settings)
    for path, group in groups.items():
        image = stated[path]
        regions = image.regions if isinstance(image, Ec2ImageSettings) else [group.expected.region]
        for region in regions:
            gb = Decimal(group.disk.gib * image.keep)
            yield _always(path, f"machine images in {region}", aws_price("snapshot-storage", region), gb)
        hours = BUILD_HOURS * BUILDS_A_MONTH
        yield from machine_items(group, Quantity.always(hours), " to build and test")
