"""Facts of nodes and pods, read from the registered inputs of a recorded plan only."""

from __future__ import annotations

import base64
import json
from typing import Any, Final

from components.aws.nodes.taints import ApiTaint
from gpu_ci.knowledge.kubernetes.add_ons import ADD_ONS
from gpu_ci.knowledge.kubernetes.daemonsets import DaemonSet
from gpu_ci.knowledge.kubernetes.node_group import NodeGroupFacts
from gpu_ci.knowledge.kubernetes.pods import Pod, pod_from_template
from ops.plan.model import Plan, Planned

GROUP: Final = "aws:eks/nodeGroup:NodeGroup"
TEMPLATE: Final = "aws:ec2/launchTemplate:LaunchTemplate"
RELEASE: Final = "kubernetes:helm.sh/v3:Release"


def node_group(plan: Plan, pool: str) -> NodeGroupFacts:
    """Return a pool's node group with its launch template, tags, sharing and subnets."""
    group = plan.one(GROUP, f"pool-{pool}")
    template = _named(plan, group, "launchTemplate", TEMPLATE)
    (disk,) = template.inputs["blockDeviceMappings"]
    user_data = base64.b64decode(template.inputs.get("userData", "")).decode()
    stated = group.inputs
    return NodeGroupFacts(
        path=f"gpu-pools.{pool}",
        name=stated["nodeGroupNamePrefix"].removesuffix("-").removesuffix("-own"),
        instance_types=tuple(stated["instanceTypes"]),
        min_size=stated["scalingConfig"]["minSize"],
        max_size=stated["scalingConfig"]["maxSize"],
        capacity_type=stated["capacityType"],
        zones=tuple(_zones(plan)[subnet] for subnet in stated["subnetIds"]),
        disk_gib=disk["ebs"]["volumeSize"],
        nvme_storage="RAID0" in user_data,
        # EKS refuses both for a group whose launch template names an image.
        version=stated.get("version") or plan.one("aws:eks/cluster:Cluster", "cluster").inputs["version"],
        ami_type=stated.get("amiType") or "AL2023_x86_64_NVIDIA",
        labels=stated["labels"],
        taints=tuple(ApiTaint(**taint) for taint in stated["taints"]),
        tags=stated["tags"],
        asg_tags=_asg_tags(plan, group),
        shares=_shares(plan, stated["labels"].get("nvidia.com/device-plugin.config")),
    )


def gpu_pod(plan: Plan, runner: str) -> Pod:
    """Return the pod with the GPU: the runner's own, or that of its jobs."""
    described = [m for m in plan.of("kubernetes:core/v1:ConfigMap") if m.name == f"runner-{runner}-job-pod"]
    if described:
        return pod_from_template(json.loads(described[0].inputs["data"]["job.yaml"]))
    return pod_from_template(plan.one(RELEASE, f"runner-{runner}").inputs["values"]["template"])


def device_plugin(plan: Plan) -> DaemonSet:
    """Return the device plugin with the placement that its release states."""
    values = plan.one(RELEASE, "device-plugin").inputs["values"]
    return DaemonSet.of("nvidia-device-plugin", {"spec": {key: values[key] for key in ("affinity", "tolerations")}})


def daemonsets(plan: Plan) -> dict[str, DaemonSet]:
    """Return the other DaemonSets on GPU nodes, by name."""
    add_ons = {add_on.inputs["addonName"] for add_on in plan.of("aws:eks/addon:Addon")}
    found = {pods.name: pods for add_on in ADD_ONS if add_on.name in add_ons for pods in add_on.node_pods}
    for release in plan.of(RELEASE):
        if release.inputs["chart"] == "dcgm-exporter":
            values: dict[str, Any] = release.inputs["values"]
            spec = {key: values[key] for key in ("nodeSelector", "tolerations")}
            container = {"name": "exporter", "resources": values["resources"]}
            found["dcgm-exporter"] = DaemonSet.of("dcgm-exporter", {"spec": {**spec, "containers": [container]}})
    return found


def _named(plan: Plan, resource: Planned, key: str, type_: str) -> Planned:
    """Return the resource of that type that an input comes from."""
    urns = resource.property_dependencies[key]
    (found,) = [each for each in plan.of(type_) if each.urn in urns]
    return found


def _zones(plan: Plan) -> dict[str, str]:
    """Return the zone of each subnet; a route table association links them."""
    subnets = {subnet.urn: subnet.inputs["availabilityZone"] for subnet in plan.of("aws:ec2/subnet:Subnet")}
    associations = plan.of("aws:ec2/routeTableAssociation:RouteTableAssociation")
    return {each.inputs["subnetId"]: subnets[each.property_dependencies["subnetId"][0]] for each in associations}


def _asg_tags(plan: Plan, group: Planned) -> dict[str, str]:
    tags = [
        tag.inputs["tag"]
        for tag in plan.of("aws:autoscaling/tag:Tag")
        if group.urn in tag.property_dependencies["autoscalingGroupName"]
    ]
    return {tag["key"]: tag["value"] for tag in tags}


def _shares(plan: Plan, name: str | None) -> int:
    """Return the jobs that share a GPU in the device plugin's configuration with that name."""
    if name is None:
        return 1
    configuration = json.loads(plan.one(RELEASE, "device-plugin").inputs["values"]["config"]["map"][name])
    (resource,) = configuration["sharing"]["timeSlicing"]["resources"]
    return int(resource["replicas"])
