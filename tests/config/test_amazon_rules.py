"""What AWS would refuse in the middle of an update is refused before it begins, in one line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from config.aws_rules import AMAZON_RULES
from tests.config import stacks

if TYPE_CHECKING:
    from collections.abc import Mapping

pytestmark = pytest.mark.pure

ROLE = "arn:aws:iam::123456789012:role/gpu-ci-deploy"

CASES: dict[str, list[tuple[Mapping[str, Any], str]]] = {
    "the_region_is_of_the_public_cloud": [
        (
            {
                "aws/region": "us-gov-west-1",
                "network/zones": {"us-gov-west-1a": 0, "us-gov-west-1b": 1},
                "cluster/zones": ["us-gov-west-1a", "us-gov-west-1b"],
                **{
                    f"{nodes}/zones": ["us-gov-west-1a"]
                    for nodes in ("system-nodes", "gpu-pools/t4-spot", "gpu-pools/t4-on-demand")
                },
            },
            (
                "aws.region: us-gov-west-1 is in a partition of its own, whose ARNs do not begin with arn:aws:; "
                "name a region of the public cloud; no other is served"
            ),
        ),
    ],
    "services_have_a_range_that_eks_takes": [
        (
            {"cluster/service-cidr": "100.64.0.0/16"},
            (
                "cluster.service-cidr: 100.64.0.0/16 is in no range that EKS takes; "
                "take one inside 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16"
            ),
        ),
        (
            {"cluster/service-cidr": "10.100.0.0/28"},
            "cluster.service-cidr: 10.100.0.0/28 is not a /12 to a /24; take one of 256 addresses at least: a /24",
        ),
    ],
    "the_endpoint_is_reached_from_public_addresses": [
        (
            {"cluster/endpoint/public": ["203.0.113.0/24", "10.0.0.0/8"]},
            (
                "cluster.endpoint.public[1]: 10.0.0.0/8 is no range of the internet; "
                "name the public addresses, or leave it out"
            ),
        ),
    ],
    "an_administrator_is_named_once": [
        (
            {"cluster/administrators": {"deploy": ROLE, "again": ROLE}},
            "cluster.administrators.again: is the same as deploy; leave one of them out",
        ),
    ],
    "nothing_is_listed_twice": [
        (
            {"gpu-pools/t4-spot/zones": ["us-west-2a", "us-west-2b", "us-west-2a"]},
            "gpu-pools.t4-spot.zones[2]: us-west-2a stands there already; name it once",
        ),
        (
            {"runners/cirun-gcp-gpu/cirun-gcp/spot": [True, True]},
            "runners.cirun-gcp-gpu.cirun-gcp.spot[1]: true stands there already; name it once",
        ),
    ],
    "tags_are_ones_that_aws_takes": [
        (
            {"stack/tags/Team": "R&D"},
            'stack.tags.Team: "R&D" is no tag\'s value; use letters, digits, spaces and _.:/=+@-',
        ),
        (
            {"stack/tags/project": "mine"},
            "stack.tags.project: would take the place of Project; give it another key",
        ),
        (
            {"stack/tags": {f"key-{index}": "x" for index in range(41)}},
            "stack.tags: are 41, and there is room for 40; leave some out",
        ),
    ],
    "a_label_fits_into_its_tag": [
        (
            {"gpu-pools/t4-spot/labels": {"a" * 30 + ".example.com/" + "b" * 40: "x"}},
            (
                f"gpu-pools.t4-spot.labels.{'a' * 30}.example.com/{'b' * 40}: "
                "has 83 characters, and its tag takes 82; take a shorter key"
            ),
        ),
    ],
}


@pytest.mark.parametrize(
    ("rule", "changes", "told"), [(rule, *case) for rule, cases in CASES.items() for case in cases]
)
def test_what_aws_refuses_is_told_at_its_path_and_nothing_else_is(
    rule: str, changes: Mapping[str, Any], told: str
) -> None:
    stated = stacks.stated(stacks.sections(changes=changes))

    assert stacks.faults(stacks.sections(changes=changes)) == [told]
    assert [one.__name__ for one in AMAZON_RULES if list(one(stated))] == [rule]


def test_every_rule_is_broken_by_some_case() -> None:
    assert {rule.__name__ for rule in AMAZON_RULES} == set(CASES)


def test_a_label_of_the_most_characters_fits() -> None:
    key = "a" * 30 + ".example.com/" + "b" * 39

    assert stacks.faults(stacks.sections(changes={"gpu-pools/t4-spot/labels": {key: "x"}})) == []
