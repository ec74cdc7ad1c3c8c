"""Every rule between sections finds what breaks it, in one line, and finds nothing where nothing does."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from config.aws_rules import AMAZON_RULES
from config.cirun_rules import CIRUN_RULES
from config.gcp_rules import GOOGLE_RULES
from config.rules import RULES
from config.settings import SECRETS
from gpu.machines.zones import AMAZON_ZONES, GOOGLE_ZONES
from tests.config import stacks
from tests.config.stacks import OUT, PRODUCTION, SHARED, STAGING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from config.faults import Fault
    from config.stated import Stated

pytestmark = pytest.mark.pure

GOOGLE = "examples/cirun-gcp.yaml"
AMAZON = "examples/cirun-aws.yaml"


@dataclass(frozen=True, kw_only=True)
class Broken:
    """A stack file with a fault, and what is told of it: nothing more, and nothing less."""

    rule: str
    stack: str = STAGING
    changes: Mapping[str, Any] = field(default_factory=dict)
    secrets: tuple[str, ...] = SECRETS
    told: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.rule}:{','.join(self.changes)}"


WITH_GPU = "take one of the families g4dn, g5, g6, g6e, g6f, g7e, gr6, gr6f, p3, p3dn, p4d, p5"
WITHOUT = "take one of the families c7i, m5, m6a, m6i, m7i, m7i-flex, t3"
LONG = "gpu-" + "t" * 42
ARC = {"pool": "t4-spot", "max": 2, "image": "runner-gpu"}
NEEDS = {"gpu": "t4", "cpu": 3, "memory": "12Gi", "cuda": "12.9"}
AMAZON_BACK_END = {
    "instance-types": ["g4dn.xlarge"],
    "regions": ["us-west-2"],
    "images": {"us-west-2": "ami-0123456789abcdef0"},
}

CASES = (
    Broken(
        rule="sections_have_what_they_need",
        changes={"device-plugin": OUT},
        told=("device-plugin: missing, and gpu-pools needs it; state device-plugin, or leave gpu-pools out",),
    ),
    Broken(
        rule="sections_have_what_they_need",
        changes={"network": OUT},
        told=("network: missing, and cluster needs it; state network, or leave cluster out",),
    ),
    Broken(
        rule="sections_have_what_they_need",
        changes={"aws": OUT},
        told=("aws: missing, and network, ecr and cluster need it; state aws, or leave them out",),
    ),
    Broken(
        rule="sections_have_what_they_need",
        changes={"cluster": OUT},
        told=(
            (
                "cluster: missing, and system-nodes, gpu-pools, device-plugin, autoscaler, storage, monitoring and arc "
                "need it; state cluster, or leave them out"
            ),
        ),
    ),
    Broken(
        rule="sections_have_what_they_need",
        changes={"arc": OUT, "github": OUT},
        secrets=(),
        told=("arc: missing, and runners.gpu-t4 and runners.gpu-t4-steady need it; state arc, or leave them out",),
    ),
    Broken(
        rule="sections_have_what_they_need",
        changes={"gpu-pools": OUT},
        told=(
            (
                "gpu-pools: missing, and runners.gpu-t4 and runners.gpu-t4-steady need it; "
                "state gpu-pools, or leave them out"
            ),
        ),
    ),
    Broken(
        rule="runners_name_what_exists",
        changes={"runners/gpu-t4/arc/pool": "t4-sopt"},
        told=('runners.gpu-t4.arc.pool: "t4-sopt" is not in gpu-pools; did you mean "t4-spot"?',),
    ),
    Broken(
        rule="runners_name_what_exists",
        changes={"runners/gpu-t4/arc/image": "unknown"},
        told=('runners.gpu-t4.arc.image: "unknown" is not in images; known: runner-gpu',),
    ),
    Broken(
        rule="runners_name_what_exists",
        changes={"runners/gpu-t4/arc/fallback": "t4-demand"},
        told=('runners.gpu-t4.arc.fallback: "t4-demand" is not in gpu-pools; did you mean "t4-on-demand"?',),
    ),
    Broken(
        rule="runners_name_what_exists",
        changes={"runners/gpu-t4/arc/fallback": "t4-spot"},
        told=("runners.gpu-t4.arc.fallback: is the pool itself; name another pool, or leave it out",),
    ),
    Broken(
        rule="images_name_what_exists",
        changes={"images/runner-gpu/repository": "runner-gpus"},
        told=('images.runner-gpu.repository: "runner-gpus" is not in ecr; did you mean "runner-gpu"?',),
    ),
    Broken(
        rule="images_name_what_exists",
        changes={"ecr": OUT},
        told=('images.runner-gpu.repository: "runner-gpu" is not in ecr; none is defined',),
    ),
    Broken(
        rule="secrets_are_set",
        secrets=(),
        told=(
            (
                "github-app-private-key: missing, and github needs it; "
                "run: pulumi config set --secret gpu-ci:github-app-private-key < key.pem"
            ),
        ),
    ),
    Broken(
        rule="empty_pools_have_an_autoscaler",
        changes={"autoscaler": OUT},
        told=(
            (
                "gpu-pools.t4-on-demand.max: the pool would stay at 0 nodes, since nothing scales it; "
                "state autoscaler: {}, or min: 2"
            ),
            (
                "gpu-pools.t4-spot.max: the pool would stay at 0 nodes, since nothing scales it; "
                "state autoscaler: {}, or min: 5"
            ),
        ),
    ),
    Broken(
        rule="instance_types_are_known",
        changes={"gpu-pools/t4-spot/instance-types": ["g4dn.xlarge", "g4dn.xlage"]},
        told=(
            'gpu-pools.t4-spot.instance-types[1]: g4dn.xlage is not a known EC2 instance type; did you mean "g4dn.xlarge"?',
        ),
    ),
    Broken(
        rule="instance_types_are_known",
        changes={"gpu-pools/t4-spot/instance-types": ["m6i.xlarge"]},
        told=(f"gpu-pools.t4-spot.instance-types[0]: m6i.xlarge has no GPU; {WITH_GPU}",),
    ),
    Broken(
        rule="instance_types_are_known",
        changes={"system-nodes/instance-types": ["t3.larg"]},
        told=('system-nodes.instance-types[0]: t3.larg is not a known EC2 instance type; did you mean "t3.large"?',),
    ),
    Broken(
        rule="instance_types_are_known",
        changes={"system-nodes/instance-types": ["m7i.large", "g6.xlarge"]},
        told=(f"system-nodes.instance-types[1]: g6.xlarge has a GPU, and nothing here uses one; {WITHOUT}",),
    ),
    Broken(
        rule="instance_types_are_known",
        stack=AMAZON,
        changes={"runners/cirun-aws-gpu/cirun-aws/instance-types": ["g4dn.xlage", "t3.large"]},
        told=(
            (
                "runners.cirun-aws-gpu.cirun-aws.instance-types[0]: g4dn.xlage is not a known EC2 instance type; "
                'did you mean "g4dn.xlarge"?'
            ),
            f"runners.cirun-aws-gpu.cirun-aws.instance-types[1]: t3.large has no GPU; {WITH_GPU}",
        ),
    ),
    Broken(
        rule="instance_types_are_known",
        changes={"system-nodes/instance-types": ["x99.enormous"]},
        told=(f"system-nodes.instance-types[0]: x99.enormous is not a known EC2 instance type; {WITHOUT}",),
    ),
    Broken(
        rule="gpus_are_known_and_are_there",
        changes={"runners/gpu-t4/needs/gpu": "tesla-t4"},
        told=(
            (
                'runners.gpu-t4.needs.gpu: "tesla-t4" is not a known GPU model; known: a100, a100-80gb, a10g, '
                "h100, l4, l40s, p100, p4, rtx-pro-6000, t4, v100, v100-32gb"
            ),
        ),
    ),
    Broken(
        rule="gpus_are_known_and_are_there",
        changes={"runners/gpu-t4/needs/gpu": "a10"},
        told=('runners.gpu-t4.needs.gpu: "a10" is not a known GPU model; did you mean "a10g"?',),
    ),
    Broken(
        rule="gpus_are_known_and_are_there",
        changes={"runners/gpu-t4/needs/gpu": "l4"},
        told=(
            (
                "runners.gpu-t4.needs.gpu: g4dn.xlarge and g4dn.2xlarge have the GPU t4, not l4; "
                "write t4, or leave them out"
            ),
        ),
    ),
    Broken(
        rule="gpus_are_known_and_are_there",
        changes={"gpu-pools/t4-spot/instance-types": ["g4dn.xlarge", "g6.xlarge"]},
        told=("runners.gpu-t4.needs.gpu: g6.xlarge has the GPU l4, not t4; write l4, or leave g6.xlarge out",),
    ),
    Broken(
        rule="gpus_are_known_and_are_there",
        changes={"gpu-pools/t4-on-demand/instance-types": ["g5.xlarge"]},
        told=(
            "runners.gpu-t4-steady.needs.gpu: g5.xlarge has the GPU a10g, not t4; write a10g, or leave g5.xlarge out",
            "runners.gpu-t4.needs.gpu: g5.xlarge has the GPU a10g, not t4; write a10g, or leave g5.xlarge out",
        ),
    ),
    Broken(
        rule="minimum_is_at_most_maximum",
        changes={"gpu-pools/t4-on-demand/min": 3},
        told=("gpu-pools.t4-on-demand.min: 3 is over max 2; write at most 2, or raise max",),
    ),
    Broken(
        rule="minimum_is_at_most_maximum",
        changes={"system-nodes/min": 5, "runners/gpu-t4/arc/min": 6},
        told=(
            "runners.gpu-t4.arc.min: 6 is over max 5; write at most 5, or raise max",
            "system-nodes.min: 5 is over max 4; write at most 4, or raise max",
        ),
    ),
    Broken(
        rule="a_runner_has_one_back_end",
        changes={"runners/gpu-t4/arc": OUT},
        told=("runners.gpu-t4: no back end serves it; state one of arc, cirun-aws, cirun-gcp",),
    ),
    Broken(
        rule="a_runner_has_one_back_end",
        changes={"runners/gpu-t4/cirun-aws": AMAZON_BACK_END, "cirun/aws": True},
        told=(
            (
                "runners.gpu-t4: arc and cirun-aws are both stated, and a runner has one back end; "
                "keep arc, and give cirun-aws a runner with another name"
            ),
        ),
    ),
    Broken(
        rule="zones_are_in_the_region",
        changes={"network/zones/us-east-1c": 3},
        told=("network.zones.us-east-1c: is not a zone of us-west-2; write us-west-2c",),
    ),
    Broken(
        rule="nodes_stand_in_zones_of_the_network",
        changes={"gpu-pools/t4-spot/zones": ["us-west-2a", "us-west-2d"]},
        told=('gpu-pools.t4-spot.zones[1]: us-west-2d has no subnet; did you mean "us-west-2c"?',),
    ),
    Broken(
        rule="nodes_stand_in_zones_of_the_network",
        changes={"system-nodes/zones": ["us-west-2d"]},
        told=('system-nodes.zones[0]: us-west-2d has no subnet; did you mean "us-west-2c"?',),
    ),
    Broken(
        rule="nodes_stand_in_zones_of_the_network",
        changes={"cluster/zones": ["us-west-2a", "us-west-2d"]},
        told=('cluster.zones[1]: us-west-2d has no subnet; did you mean "us-west-2c"?',),
    ),
    Broken(
        rule="slots_differ",
        changes={"network/zones/us-west-2c": 0},
        told=("network.zones.us-west-2c: slot 0 is us-west-2a's; take a free one, as 2",),
    ),
    Broken(
        rule="ranges_do_not_overlap",
        changes={"network/reserved/production": "10.0.128.0/20"},
        told=(
            (
                "network.reserved.production: 10.0.128.0/20 overlaps network.cidr 10.0.0.0/16; "
                "move one of them out of the other"
            ),
        ),
    ),
    Broken(
        rule="ranges_do_not_overlap",
        changes={"network/cidr": "172.20.0.0/16"},
        told=(
            (
                "cluster.service-cidr: 172.20.0.0/16 overlaps network.cidr 172.20.0.0/16; "
                "move one of them out of the other"
            ),
        ),
    ),
    Broken(
        rule="ranges_do_not_overlap",
        changes={"network/cidr": "172.17.0.0/20"},
        told=("network.cidr: 172.17.0.0/20 overlaps Docker's own 172.17.0.0/16; take another range",),
    ),
    Broken(
        rule="ranges_do_not_overlap",
        changes={"network/cidr": "10.0.0.0/15", "network/reserved": {}},
        told=("network.cidr: a /15 is the wrong size; take a /16 to /20",),
    ),
    Broken(
        rule="ranges_do_not_overlap",
        changes={"network/cidr": "10.0.0.0/21"},
        told=("network.cidr: a /21 is the wrong size; take a /16 to /20",),
    ),
    Broken(
        rule="a_protected_endpoint_is_not_open_to_all",
        stack=PRODUCTION,
        changes={"cluster/endpoint/public": ["203.0.113.0/24", "0.0.0.0/0"]},
        told=(
            (
                "cluster.endpoint.public[1]: 0.0.0.0/0 lets everybody reach the API of a protected stack; "
                "name the ranges that may, or none: nothing wider than /8"
            ),
        ),
    ),
    Broken(
        rule="a_protected_endpoint_is_not_open_to_all",
        stack=PRODUCTION,
        changes={"cluster/endpoint/public": ["0.0.0.0/1", "203.0.113.0/24", "128.0.0.0/1"]},
        told=(
            (
                "cluster.endpoint.public[0]: 0.0.0.0/1 lets everybody reach the API of a protected stack; "
                "name the ranges that may, or none: nothing wider than /8"
            ),
            (
                "cluster.endpoint.public[2]: 128.0.0.0/1 lets everybody reach the API of a protected stack; "
                "name the ranges that may, or none: nothing wider than /8"
            ),
        ),
    ),
    Broken(
        rule="a_protected_endpoint_is_not_open_to_all",
        stack=PRODUCTION,
        changes={"cluster/endpoint/public": [f"{first}.0.0.0/8" for first in range(11, 256) if first != 127]},
        told=(
            (
                "cluster.endpoint.public: its ranges are half of the internet or more, and let everybody reach the API "
                "of a protected stack; name the ranges that may, or none at all"
            ),
        ),
    ),
    Broken(
        rule="a_protected_repository_keeps_its_images",
        stack=PRODUCTION,
        changes={"ecr/runner-gpu/force-delete": True},
        told=("ecr.runner-gpu.force-delete: contradicts stack.protect; write false, or unprotect the stack",),
    ),
    Broken(
        rule="the_kubernetes_version_is_pinned",
        changes={"cluster/version": "1.30"},
        told=('cluster.version: 1.30 has no pinned node image and add-ons; did you mean "1.36"?',),
    ),
    Broken(
        rule="jobs_end_before_their_timeout",
        changes={"runners/gpu-t4/workload": {"jobs-per-month": 6, "minutes": 120, "p95-minutes": 130}},
        told=(
            (
                "runners.gpu-t4.workload.minutes: 120 is over timeout-minutes 60, at which such a job is ended; "
                "write at most 60, or raise timeout-minutes"
            ),
        ),
    ),
    Broken(
        rule="jobs_end_before_their_timeout",
        changes={"runners/gpu-t4/workload/p95-minutes": 61},
        told=(
            (
                "runners.gpu-t4.workload.p95-minutes: 61 is over timeout-minutes 60, at which such a job is ended; "
                "write at most 60, or raise timeout-minutes"
            ),
        ),
    ),
    Broken(
        rule="the_longest_jobs_are_longer_than_the_typical_one",
        changes={"runners/gpu-t4/workload/p95-minutes": 11},
        told=(
            (
                "runners.gpu-t4.workload.p95-minutes: 11 is under minutes 12, and the longest jobs are no shorter than a "
                "typical one; write at least 12, or lower minutes"
            ),
        ),
    ),
    Broken(
        rule="regions_are_known",
        changes={"aws/region": "us-west-9"},
        told=('aws.region: "us-west-9" is not a known region; did you mean "us-west-2"?',),
    ),
    Broken(
        rule="regions_are_known",
        stack=GOOGLE,
        changes={"gcp/region": "us-central7", "artifact-registry/gpu-tests/region": "us-centrall1"},
        told=(
            'artifact-registry.gpu-tests.region: "us-centrall1" is not a known region; did you mean "us-central1"?',
            'gcp.region: "us-central7" is not a known region; did you mean "us-central1"?',
        ),
    ),
    Broken(
        rule="regions_are_known",
        stack=AMAZON,
        changes={
            "runners/cirun-aws-gpu/cirun-aws/regions": ["eu-west-9"],
            "runners/cirun-aws-gpu/cirun-aws/images": {"eu-west-9": "ami-0756bd122da9b2618"},
        },
        told=(
            (
                'runners.cirun-aws-gpu.cirun-aws.regions[0]: "eu-west-9" is not a known region; '
                'did you mean "eu-west-3"?'
            ),
        ),
    ),
    Broken(
        rule="zones_are_known",
        changes={"network/zones/us-west-2z": 5},
        told=(
            (
                "network.zones.us-west-2z: us-west-2 has no zone us-west-2z; "
                "write one of us-west-2a, us-west-2b, us-west-2c, us-west-2d"
            ),
        ),
    ),
    Broken(
        rule="zones_are_known",
        changes={
            "host-image/zones": ["us-central1-d", "us-central9-b"],
            "runners/cirun-gcp-gpu/cirun-gcp/zones": ["us-central1-z", "us-central7-b"],
        },
        told=(
            (
                "host-image.zones[0]: us-central1 has no zone us-central1-d; "
                "write one of us-central1-a, us-central1-b, us-central1-c, us-central1-f"
            ),
            'host-image.zones[1]: "us-central9" is not a known region; did you mean "us-central1"?',
            (
                "runners.cirun-gcp-gpu.cirun-gcp.zones[0]: us-central1 has no zone us-central1-z; "
                "write one of us-central1-a, us-central1-b, us-central1-c, us-central1-f"
            ),
            (
                'runners.cirun-gcp-gpu.cirun-gcp.zones[1]: "us-central7" is not a known region; '
                'did you mean "us-central1"?'
            ),
        ),
    ),
    Broken(
        rule="scale_set_names_fit_the_chart",
        changes={f"runners/{LONG}": {"needs": NEEDS, "timeout-minutes": 30, "arc": ARC}},
        told=(f"runners.{LONG}: the name has 46 characters; a scale set's name has at most 45",),
    ),
    Broken(
        rule="labels_are_no_other_runners_name",
        changes={"runners/gpu-t4/arc/labels": ["gpu-t4", "nightly", "gpu-t4-steady"]},
        told=(
            (
                "runners.gpu-t4.arc.labels[2]: gpu-t4-steady is another runner, whose jobs would come here as well; "
                "take a label that no runner is called"
            ),
        ),
    ),
    Broken(
        rule="labels_and_taints_leave_ours_alone",
        stack=SHARED,
        changes={
            "gpu-pools/l4-spot/labels": {"gpu-ci/pool": "t4-shared", "example.org/tier": "a"},
            "gpu-pools/l4-spot/taints": {"nvidia.com/gpu": "l4:NoSchedule"},
        },
        told=(
            "gpu-pools.l4-spot.labels.gpu-ci/pool: is set by the program; take a key of your own",
            "gpu-pools.l4-spot.taints.nvidia.com/gpu: is set by the program; take a key of your own",
        ),
    ),
    Broken(
        rule="labels_and_taints_leave_ours_alone",
        stack=SHARED,
        changes={"gpu-pools/l4-spot/labels": {"role": "gpu", "topology.kubernetes.io/zone": "us-east-1a"}},
        told=(
            "gpu-pools.l4-spot.labels.role: is set by the program; take a key of your own",
            "gpu-pools.l4-spot.labels.topology.kubernetes.io/zone: is set by the program; take a key of your own",
        ),
    ),
)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_broken_rule_is_told_in_one_line_each(case: Broken) -> None:
    assert stacks.faults(stacks.sections(case.stack, case.changes), case.secrets) == list(case.told)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_rule_itself_finds_it(case: Broken) -> None:
    rule = next(rule for rule in RULES if rule.__name__ == case.rule)
    found = rule(stacks.stated(stacks.sections(case.stack, case.changes), case.secrets))

    assert sorted({str(fault) for fault in found}) == list(case.told)


@pytest.mark.parametrize("name", stacks.FILES)
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_a_committed_stack_file_breaks_no_rule(rule: Callable[[Stated], Iterator[Fault]], name: str) -> None:
    assert list(map(str, rule(stacks.stated(stacks.sections(name))))) == []


def test_every_rule_is_broken_by_some_case() -> None:
    ours = {rule.__name__ for rule in RULES} - {rule.__name__ for rule in (*GOOGLE_RULES, *AMAZON_RULES, *CIRUN_RULES)}

    assert ours - {case.rule for case in CASES} == set()


def test_a_pool_that_stays_at_its_one_size_needs_no_autoscaler() -> None:
    fixed = {"autoscaler": OUT, "gpu-pools/t4-spot/min": 5, "gpu-pools/t4-on-demand/min": 2}

    assert stacks.faults(stacks.sections(STAGING, fixed)) == []


def test_an_unprotected_stack_may_open_its_endpoint() -> None:
    assert stacks.faults(stacks.sections(STAGING, {"cluster/endpoint/public": ["0.0.0.0/0"]})) == []


@pytest.mark.parametrize("cidr", ["10.0.0.0/16", "10.0.0.0/20", "192.168.0.0/16", "172.18.0.0/16"])
def test_a_range_of_the_right_size_that_nobody_has_is_taken(cidr: str) -> None:
    assert stacks.faults(stacks.sections(STAGING, {"network/cidr": cidr})) == []


def test_a_name_of_exactly_the_charts_limit_is_taken() -> None:
    runner = {"needs": NEEDS, "timeout-minutes": 30, "arc": ARC}

    assert stacks.faults(stacks.sections(STAGING, {f"runners/{LONG[:-1]}": runner})) == []


def test_a_reference_to_an_entry_with_a_fault_of_its_own_is_no_second_fault() -> None:
    changes = {"gpu-pools/t4-spot/capacity": "sometimes", "images/runner-gpu/cuda": 12.9}

    assert stacks.faults(stacks.sections(STAGING, changes)) == [
        "gpu-pools.t4-spot.capacity: \"sometimes\" is not valid; write one of 'spot' or 'on-demand'",
        'images.runner-gpu.cuda: 12.9 is a number; write it in quotes: "12.9"',
    ]


@pytest.mark.parametrize("region", AMAZON_ZONES)
def test_every_zone_that_aws_has_is_taken(region: str) -> None:
    zones = {zone: slot for slot, zone in enumerate(AMAZON_ZONES[region])}
    faults = stacks.faults(stacks.sections(STAGING, {"aws/region": region, "network/zones": zones}))

    assert len(zones) >= 3
    assert [fault for fault in faults if "known region" in fault or fault.startswith("network.zones")] == []


@pytest.mark.parametrize("region", GOOGLE_ZONES)
def test_every_zone_that_google_cloud_has_is_taken(region: str) -> None:
    zones = ["us-central1-b", *GOOGLE_ZONES[region], f"{region}-ai1a"]
    faults = stacks.faults(stacks.sections(STAGING, {"runners/cirun-gcp-gpu/cirun-gcp/zones": zones}))

    assert len(zones) >= 5
    assert [fault for fault in faults if "known region" in fault or "has no zone" in fault] == []


def test_a_busy_month_is_no_fault() -> None:
    assert stacks.faults(stacks.sections(STAGING, {"runners/gpu-t4/workload/jobs-per-month": 120_000})) == []


def test_a_job_that_needs_a_volume_of_its_own_cannot_be_asked_for() -> None:
    """The mode whose runners claim volumes is not offered: it needs a class that every node can mount."""
    told = stacks.faults(stacks.sections(STAGING, {"runners/gpu-t4/arc/container-mode": "kubernetes"}))

    assert told == [
        "runners.gpu-t4.arc.container-mode: \"kubernetes\" is not valid; write one of 'none' or 'kubernetes-novolume'"
    ]
