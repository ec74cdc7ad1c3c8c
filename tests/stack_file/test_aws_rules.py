"""Rules of AWS: what AWS refuses in the middle of an update is reported before it begins."""

from __future__ import annotations

from ipaddress import IPv4Network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_ci.knowledge.machines.zones import AWS_ZONES
from gpu_ci.stack_file.sections.aws import NetworkSettings
from tests.stack_file import stacks
from tests.stack_file.stacks import AWS, STAGING, broken
from tests.tables import OUT

pytestmark = pytest.mark.pure

NO_GCP = dict.fromkeys(
    ("host-image", "artifact-registry", "test-image", "github-federation", "cirun", "runners/cirun-gcp-gpu"), OUT
)

CASES = (
    broken(
        "aws_regions_and_zones_are_known",
        {"network/zones/us-east-1c": 3},
        "network.zones.us-east-1c: is not a zone of us-west-2; write us-west-2c",
    ),
    broken(
        "aws_regions_and_zones_are_known",
        {"aws/region": "us-west-9"},
        'aws.region: "us-west-9" is not a known region; did you mean "us-west-2"?',
    ),
    broken(
        "aws_regions_and_zones_are_known",
        {"network/zones/us-west-2z": 5},
        (
            "network.zones.us-west-2z: us-west-2 has no zone us-west-2z; write one of us-west-2a, us-west-2b, "
            "us-west-2c, us-west-2d"
        ),
    ),
    broken(
        "aws_regions_and_zones_are_known",
        {
            "aws/region": "us-gov-west-1",
            "network/zones": {"us-gov-west-1a": 0, "us-gov-west-1b": 1},
            "cluster/zones": ["us-gov-west-1a", "us-gov-west-1b"],
            "system-nodes/zones": ["us-gov-west-1a"],
            "gpu-pools/t4-spot/zones": ["us-gov-west-1a"],
            "gpu-pools/t4-on-demand/zones": ["us-gov-west-1a"],
        },
        "aws.region: us-gov-west-1 is not in the partition aws, and no other is supported; use a commercial region",
    ),
    broken(
        "nodes_are_in_zones_of_the_network",
        {"gpu-pools/t4-spot/zones": ["us-west-2a", "us-west-2d"]},
        'gpu-pools.t4-spot.zones[1]: us-west-2d has no subnet; did you mean "us-west-2c"?',
    ),
    broken(
        "nodes_are_in_zones_of_the_network",
        {"system-nodes/zones": ["us-west-2d"]},
        'system-nodes.zones[0]: us-west-2d has no subnet; did you mean "us-west-2c"?',
    ),
    broken(
        "nodes_are_in_zones_of_the_network",
        {"cluster/zones": ["us-west-2a", "us-west-2d"]},
        'cluster.zones[1]: us-west-2d has no subnet; did you mean "us-west-2c"?',
    ),
    broken(
        "slots_differ",
        {"network/zones/us-west-2c": 0},
        "network.zones.us-west-2c: us-west-2a already uses slot 0; use a free slot, for example 2",
    ),
    broken(
        "the_gateway_has_a_zone",
        {"network/zones": {"us-west-2a": 2, "us-west-2b": 1, "us-west-2c": 3}},
        (
            "network.nat-zone: is required, because no zone has slot 0; "
            "write us-west-2b, the zone with the lowest slot; a gateway that exists is there"
        ),
    ),
    broken(
        "the_gateway_has_a_zone",
        {"network/nat-zone": "us-west-2d"},
        'network.nat-zone: us-west-2d has no subnet; did you mean "us-west-2c"?',
    ),
    broken(
        "the_gateway_has_a_zone",
        {"network/nat": "per-zone", "network/nat-zone": "us-west-2a"},
        "network.nat-zone: has no effect with nat: per-zone; remove it",
    ),
    broken(
        "ranges_do_not_overlap",
        {"network/reserved/production": "10.0.128.0/20"},
        "network.reserved.production: 10.0.128.0/20 overlaps network.cidr 10.0.0.0/16; use ranges that do not overlap",
    ),
    broken(
        "ranges_do_not_overlap",
        {"network/cidr": "172.20.0.0/16"},
        "cluster.service-cidr: 172.20.0.0/16 overlaps network.cidr 172.20.0.0/16; use ranges that do not overlap",
    ),
    broken(
        "ranges_do_not_overlap",
        {"network/cidr": "172.17.0.0/20"},
        "network.cidr: 172.17.0.0/20 overlaps Docker's bridge network 172.17.0.0/16; use another range",
    ),
    broken(
        "ranges_do_not_overlap",
        {"network/cidr": "10.0.0.0/15", "network/reserved": {}},
        "network.cidr: a /15 is not supported; use a /16 to /20",
    ),
    broken(
        "ranges_do_not_overlap",
        {"network/cidr": "10.0.0.0/21"},
        "network.cidr: a /21 is not supported; use a /16 to /20",
    ),
    broken(
        "services_have_a_range_that_eks_accepts",
        {"cluster/service-cidr": "100.64.0.0/16"},
        (
            "cluster.service-cidr: 100.64.0.0/16 is not in a range that EKS accepts; use one inside 10.0.0.0/8, "
            "172.16.0.0/12, 192.168.0.0/16"
        ),
    ),
    broken(
        "services_have_a_range_that_eks_accepts",
        {"cluster/service-cidr": "10.100.0.0/28"},
        "cluster.service-cidr: a /28 is not supported; use a /12 to /24",
    ),
    broken(
        "the_endpoint_lists_public_ranges",
        {"cluster/endpoint/public": ["203.0.113.0/24", "10.0.0.0/8"]},
        "cluster.endpoint.public[1]: 10.0.0.0/8 is not a public range; list public addresses, or remove it",
    ),
    broken(
        "roles_of_the_cluster_differ",
        {
            "cluster/administrators": {
                "deploy": "arn:aws:iam::123456789012:role/gpu-ci-deploy",
                "again": "arn:aws:iam::123456789012:role/gpu-ci-deploy",
            }
        },
        "cluster.administrators.again: has the same role as deploy; remove one of them",
    ),
    broken(
        "roles_of_the_cluster_differ",
        {
            "cluster/administrators": {"deploy": "arn:aws:iam::123456789012:role/gpu-ci-deploy"},
            "cluster/viewers": {"plan": "arn:aws:iam::123456789012:role/gpu-ci-deploy"},
        },
        "cluster.viewers.plan: has the same role as deploy; remove one of them",
    ),
    broken(
        "roles_of_the_cluster_differ",
        {
            "cluster/administrators": {"deploy": "arn:aws:iam::123456789012:role/gpu-ci-deploy"},
            "cluster/viewers": {"deploy": "arn:aws:iam::123456789012:role/gpu-ci-plan"},
        },
        "cluster.viewers.deploy: is also the name of an administrator; use another name",
    ),
    broken(
        "tags_are_valid",
        {"stack/tags/Team": "R&D"},
        'stack.tags.Team: "R&D" is not a tag value; use letters, digits, spaces and _.:/=+@-',
    ),
    broken(
        "tags_are_valid",
        {"stack/tags/project": "mine"},
        "stack.tags.project: would replace the tag Project; use another key",
    ),
    broken(
        "tags_are_valid",
        {"stack/tags": {f"key-{index}": "x" for index in range(41)}},
        "stack.tags: has 41 tags, but the limit is 40; remove some of them",
    ),
    broken(
        "tags_are_valid",
        {"stack/tags": {"team": "a", "Team": "b"}, "gcp": OUT, **NO_GCP},
        "stack.tags.Team: is the same key as team for IAM, which ignores case; remove one of them",
    ),
    broken(
        "networks_have_room_for_nodes",
        {"network/cidr": "10.0.0.0/20", "gpu-pools/t4-spot/max": 503},
        (
            "gpu-pools.t4-spot.max: 503 nodes need more than the 502 addresses of their subnets in network.cidr "
            "10.0.0.0/20; write at most 502"
        ),
    ),
    broken(
        "the_endpoint_lists_public_ranges",
        {"cluster/endpoint/public": ["224.0.0.0/4"]},
        "cluster.endpoint.public[0]: 224.0.0.0/4 is not a public range; list public addresses, or remove it",
    ),
    broken(
        "networks_are_in_the_regions",
        {
            "runners/cirun-aws-gpu/cirun-aws/zones": ["us-east-1a", "us-east-2a"],
            "runners/cirun-aws-gpu/cirun-aws/subnets": {"us-east-1": ["subnet-0123456789abcdef0"]},
        },
        (
            "runners.cirun-aws-gpu.cirun-aws.regions[1]: us-west-2 has no subnet, but other regions have; state "
            "subnets: {us-west-2: [subnet-…]}, from the output cirun_aws"
        ),
        "runners.cirun-aws-gpu.cirun-aws.zones[1]: us-east-2a is in none of its regions; add the region",
        stack=AWS,
    ),
    broken(
        "amis_are_in_one_region",
        {"runners/cirun-aws-gpu/cirun-aws/images/us-west-2": "ami-0123456789abcdef0"},
        (
            "runners.cirun-aws-gpu.cirun-aws.images.us-west-2: ami-0123456789abcdef0 is the image of us-east-1 in "
            "runners.cirun-aws-gpu.cirun-aws.images.us-east-1, and an AMI exists in one region only; write the id of its "
            "copy in us-west-2"
        ),
        stack=AWS,
    ),
    broken(
        "ec2_machines_have_the_gpu",
        {"runners/cirun-aws-gpu/cirun-aws/instance-types": ["g4dn.xlage", "t3.large"]},
        (
            "runners.cirun-aws-gpu.cirun-aws.instance-types[0]: g4dn.xlage is not a known EC2 instance type; did "
            'you mean "g4dn.xlarge"?'
            " If not, state its facts, as in gpu-ci:instance-types: {g4dn.xlage: {cloud: aws, vcpus: 8, memory: 32Gi, gpu: t4, gpus: 1, max-pods: 58}}"
        ),
        (
            "runners.cirun-aws-gpu.cirun-aws.instance-types[1]: t3.large has no GPU; use one of the families "
            "g4dn, g5, g6, g6e, g6f, g7e, gr6, gr6f, p3, p3dn, p4d, p4de, p5, p5e, p5en, p6-b200, p6-b300"
        ),
        stack=AWS,
    ),
    broken(
        "every_region_has_an_image",
        {
            "runners/cirun-aws-gpu/cirun-aws/regions": ["eu-west-9"],
            "runners/cirun-aws-gpu/cirun-aws/images": {"eu-west-9": "ami-0756bd122da9b2618"},
            "runners/cirun-aws-gpu/cirun-aws/zones": [],
            "runners/cirun-aws-gpu/cirun-aws/subnets": {},
        },
        'runners.cirun-aws-gpu.cirun-aws.regions[0]: "eu-west-9" is not a known region; did you mean "eu-west-3"?',
        stack=AWS,
    ),
    broken(
        "every_region_has_an_image",
        {
            "runners/cirun-aws-gpu/cirun-aws/images": {
                "us-east-1": "ami-0756bd122da9b2618",
                "us-east-2": "ami-0756bd122da9b2619",
            }
        },
        'runners.cirun-aws-gpu.cirun-aws.images.us-east-2: is not in regions; did you mean "us-west-2"?',
        "runners.cirun-aws-gpu.cirun-aws.regions[1]: us-west-2 has no image; state images: {us-west-2: ami-…}",
        stack=AWS,
    ),
)


def test_a_broken_rule_is_reported_at_its_path_with_the_fix() -> None:
    assert stacks.not_as_stated(CASES) == []


@pytest.mark.parametrize("cidr", ["10.0.0.0/16", "10.0.0.0/20", "192.168.0.0/16", "172.18.0.0/16"])
def test_a_range_without_overlap_is_accepted(cidr: str) -> None:
    assert stacks.faults(stacks.sections(STAGING, {"network/cidr": cidr})) == []


def test_every_zone_of_aws_is_accepted() -> None:
    def refusals(region: str, zones: list[str]) -> list[str]:
        changes = {"aws/region": region, "network/zones": {zone: slot for slot, zone in enumerate(zones)}}
        found = stacks.faults(stacks.sections(STAGING, changes))
        return [fault for fault in found if "known region" in fault or fault.startswith("network.zones")]

    assert {region: zones for region, zones in AWS_ZONES.items() if len(zones) < 3} == {}
    assert {region: found for region, zones in AWS_ZONES.items() if (found := refusals(region, list(zones)))} == {}


@given(
    slots=st.permutations(range(6)).map(lambda slots: dict(zip(AWS_ZONES["us-east-1"], slots, strict=True))),
    stated=st.none() | st.sampled_from(AWS_ZONES["us-east-1"]),
    others=st.sets(st.sampled_from(AWS_ZONES["us-east-1"]), min_size=1),
)
def test_a_new_zone_never_moves_the_only_gateway(slots: dict[str, int], stated: str | None, others: set[str]) -> None:
    """An accepted stack has the zone of its gateway: the stated one, or the one with slot 0."""
    gateway = stated or next(zone for zone, slot in slots.items() if slot == 0)
    cidr = IPv4Network("10.0.0.0/16")
    small, large = (
        NetworkSettings(cidr=cidr, zones={zone: slots[zone] for zone in zones}, nat="single", nat_zone=stated)
        for zones in ({gateway, *others, *sorted(slots)[:2]}, slots)
    )

    assert small.gateway_zones == large.gateway_zones == (gateway,)


def test_a_label_of_the_longest_length_fits() -> None:
    key = "a" * 30 + ".example.com/" + "b" * 39

    assert stacks.faults(stacks.sections(changes={"gpu-pools/t4-spot/labels": {key: "x"}})) == []
