"""Rules of the cluster, its nodes and the runners: each reports what breaks it, and nothing else."""

from __future__ import annotations

from typing import Final

import pytest

from gpu_ci.back_ends.registry import BACK_ENDS
from gpu_ci.back_ends.stack_file import GRAMMAR
from gpu_ci.stack_file.rules import between_sections as rules
from gpu_ci.stack_file.rules.stated import SECTIONS
from gpu_ci.stack_file.sections.section import kebab
from gpu_ci.stack_file.values.general import IN_QUOTES
from tests.stack_file import (
    stacks,
    test_aws_rules,
    test_gcp_rules,
    test_machine_image_rules,
    test_machine_rules,
    test_rules_of_mistakes,
    test_start_stop_rules,
)
from tests.stack_file.stacks import AWS, GCP, PRODUCTION, SHARED, STAGING, broken
from tests.tables import OUT

pytestmark = pytest.mark.pure

LONG: Final = "gpu-" + "t" * 42
KEY: Final = "a" * 30 + ".example.com/" + "b" * 40
NEEDS: Final = {"gpu": "t4", "cpu": 3, "memory": "12Gi", "cuda": "12.9"}
ON_ARC: Final = {
    "needs": NEEDS,
    "timeout-minutes": 30,
    "arc": {"pool": "t4-spot", "max": 2, "image": "runner-gpu"},
}
ON_AWS: Final = {
    "instance-types": ["g4dn.xlarge"],
    "regions": ["us-west-2"],
    "images": {"us-west-2": "ami-0123456789abcdef0"},
}

CASES = (
    broken(
        "sections_have_what_they_need",
        {"device-plugin": OUT},
        "device-plugin: missing, but gpu-pools needs it; state device-plugin, or remove gpu-pools",
    ),
    broken(
        "sections_have_what_they_need",
        {"network": OUT},
        "network: missing, but cluster needs it; state network, or remove cluster",
    ),
    broken(
        "sections_have_what_they_need",
        {"aws": OUT},
        "aws: missing, but network, cluster and ecr need it; state aws, or remove them",
    ),
    broken(
        "sections_have_what_they_need",
        {"cluster": OUT},
        (
            "cluster: missing, but system-nodes, gpu-pools, device-plugin, autoscaler, storage, monitoring and "
            "arc need it; state cluster, or remove them"
        ),
    ),
    broken(
        "sections_have_what_they_need",
        {"arc": OUT, "github": OUT},
        "arc: missing, but runners.gpu-t4 and runners.gpu-t4-steady need it; state arc, or remove them",
        secrets=(),
    ),
    broken(
        "sections_have_what_they_need",
        {"gpu-pools": OUT},
        "gpu-pools: missing, but runners.gpu-t4 and runners.gpu-t4-steady need it; state gpu-pools, or remove them",
    ),
    broken(
        "sections_have_what_they_need",
        {"host-image": OUT},
        "host-image: missing, but runners.cirun-gcp-gpu needs it; state host-image, or remove runners.cirun-gcp-gpu",
        stack=GCP,
    ),
    broken(
        "sections_have_what_they_need",
        {"aws": OUT},
        "aws: missing, but runners.cirun-aws-gpu and cirun.aws need it; state aws, or remove them",
        stack=AWS,
    ),
    broken(
        "sections_have_what_they_need",
        {"cirun/gcp": True},
        "gcp: missing, but cirun.gcp needs it; state gcp, or remove cirun.gcp",
        stack=AWS,
    ),
    broken(
        "secrets_are_set",
        {},
        (
            "github-app-private-key: missing, but arc needs it; run: pulumi config set --secret "
            "gpu-ci:github-app-private-key < key.pem"
        ),
        secrets=(),
    ),
    broken(
        "empty_pools_have_an_autoscaler",
        {"autoscaler": OUT},
        (
            "gpu-pools.t4-on-demand.max: the pool stays at 0 nodes, because there is no autoscaler; state "
            "autoscaler: {}, or min: 2"
        ),
        (
            "gpu-pools.t4-spot.max: the pool stays at 0 nodes, because there is no autoscaler; state autoscaler: "
            "{}, or min: 5"
        ),
    ),
    broken(
        "images_name_what_exists",
        {"images/runner-gpu/repository": "runner-gpus"},
        'images.runner-gpu.repository: "runner-gpus" is not in ecr; did you mean "runner-gpu"?',
    ),
    broken(
        "images_name_what_exists",
        {"ecr": OUT},
        'images.runner-gpu.repository: "runner-gpu" is not in ecr; none is defined',
    ),
    broken(
        "runners_name_what_exists",
        {"runners/gpu-t4/arc/pool": "t4-sopt"},
        'runners.gpu-t4.arc.pool: "t4-sopt" is not in gpu-pools; did you mean "t4-spot"?',
    ),
    broken(
        "runners_name_what_exists",
        {"runners/gpu-t4/arc/image": "unknown"},
        'runners.gpu-t4.arc.image: "unknown" is not in images; known: runner-gpu',
    ),
    broken(
        "runners_name_what_exists",
        {"runners/gpu-t4/arc/fallback": "t4-demand"},
        'runners.gpu-t4.arc.fallback: "t4-demand" is not in gpu-pools; did you mean "t4-on-demand"?',
    ),
    broken(
        "runners_name_what_exists",
        {"runners/gpu-t4/arc/fallback": "t4-spot"},
        "runners.gpu-t4.arc.fallback: is the same as pool; name another pool, or remove it",
    ),
    broken(
        "labels_are_not_names_of_other_runners",
        {"runners/gpu-t4/arc/labels": ["gpu-t4", "nightly", "gpu-t4-steady"]},
        (
            "runners.gpu-t4.arc.labels[2]: gpu-t4-steady is the name of another runner, whose jobs would run "
            "here too; use a label that is not the name of a runner"
        ),
    ),
    broken(
        "nothing_is_listed_twice",
        {"gpu-pools/t4-spot/zones": ["us-west-2a", "us-west-2b", "us-west-2a"]},
        "gpu-pools.t4-spot.zones[2]: us-west-2a is listed twice; list it once",
    ),
    broken(
        "nothing_is_listed_twice",
        {"runners/cirun-gcp-gpu/cirun-gcp/spot": [True, True]},
        "runners.cirun-gcp-gpu.cirun-gcp.spot[1]: true is listed twice; list it once",
    ),
    broken(
        "minimum_is_at_most_maximum",
        {"gpu-pools/t4-on-demand/min": 3},
        "gpu-pools.t4-on-demand.min: 3 is more than max 2; write at most 2, or raise max",
    ),
    broken(
        "minimum_is_at_most_maximum scale_sets_fit_the_chart",
        {"system-nodes/min": 5, "runners/gpu-t4/arc/min": 6},
        "runners.gpu-t4.arc.min: 6 is more than max 5; write at most 5, or raise max",
        "system-nodes.min: 5 is more than max 4; write at most 4, or raise max",
    ),
    broken(
        "instance_types_are_known",
        {"gpu-pools/t4-spot/instance-types": ["g4dn.xlarge", "g4dn.xlage"]},
        (
            "gpu-pools.t4-spot.instance-types[1]: g4dn.xlage is not a known EC2 instance type; did you mean "
            '"g4dn.xlarge"?'
            " If not, state its facts, as in gpu-ci:instance-types: {g4dn.xlage: {cloud: aws, vcpus: 8, memory: 32Gi, gpu: t4, gpus: 1, max-pods: 58}}"
        ),
    ),
    broken(
        "instance_types_are_known",
        {"gpu-pools/t4-spot/instance-types": ["m6i.xlarge"]},
        (
            "gpu-pools.t4-spot.instance-types[0]: m6i.xlarge has no GPU; use one of the families g4dn, g5, g6, "
            "g6e, g6f, g7e, gr6, gr6f, p3, p3dn, p4d, p4de, p5, p5e, p5en, p6-b200, p6-b300"
        ),
    ),
    broken(
        "instance_types_are_known",
        {"system-nodes/instance-types": ["t3.larg"]},
        (
            'system-nodes.instance-types[0]: t3.larg is not a known EC2 instance type; did you mean "t3.large"?'
            " If not, state its facts, as in gpu-ci:instance-types: {t3.larg: {cloud: aws, vcpus: 8, memory: 32Gi, max-pods: 58}}"
        ),
    ),
    broken(
        "instance_types_are_known",
        {"system-nodes/instance-types": ["m7i.large", "g6.xlarge"]},
        (
            "system-nodes.instance-types[1]: g6.xlarge has a GPU, which system nodes do not use; use a type "
            "without a GPU, as in m7i.large or t3.large"
        ),
    ),
    broken(
        "instance_types_are_known",
        {"system-nodes/instance-types": ["x99.enormous"]},
        (
            "system-nodes.instance-types[0]: x99.enormous is not a known EC2 instance type; use a type "
            "without a GPU, as in m7i.large or t3.large"
            ", or state its facts, as in gpu-ci:instance-types: {x99.enormous: {cloud: aws, vcpus: 8, memory: 32Gi, max-pods: 58}}"
        ),
    ),
    broken(
        "instance_types_are_known",
        {"system-nodes/instance-types": ["m7g.large"]},
        (
            "system-nodes.instance-types[0]: m7g.large has an arm64 processor, but node images and GPU images are for "
            "x86_64; use a type without a GPU, as in m7i.large or t3.large"
        ),
    ),
    broken(
        "stated_types_have_plausible_facts",
        {"instance-types": {"m9x.large": {"cloud": "aws", "vcpus": 2, "memory": "800Gi", "max-pods": 29}}},
        (
            "instance-types.m9x.large.memory: 800Gi for 2 vCPUs is not plausible; state the memory of the whole "
            "machine, as its cloud publishes it"
        ),
    ),
    broken(
        "stated_types_agree_with_the_tables",
        {"instance-types": {"m7i.large": {"cloud": "aws", "vcpus": 4, "memory": "8Gi", "max-pods": 29}}},
        "instance-types.m7i.large: contradicts the table of gpu-ci, which has vcpus: 2; correct it, or remove it",
    ),
    broken(
        "labels_and_taints_have_their_own_keys",
        {
            "gpu-pools/l4-spot/labels": {"gpu-ci/pool": "t4-shared", "example.org/tier": "a"},
            "gpu-pools/l4-spot/taints": {"nvidia.com/gpu": "l4:NoSchedule"},
        },
        "gpu-pools.l4-spot.labels.gpu-ci/pool: is set by gpu-ci; use another key",
        "gpu-pools.l4-spot.taints.nvidia.com/gpu: is set by gpu-ci; use another key",
        stack=SHARED,
    ),
    broken(
        "labels_and_taints_have_their_own_keys",
        {"gpu-pools/l4-spot/labels": {"role": "gpu", "topology.kubernetes.io/zone": "us-east-1a"}},
        "gpu-pools.l4-spot.labels.role: is set by gpu-ci; use another key",
        "gpu-pools.l4-spot.labels.topology.kubernetes.io/zone: is set by gpu-ci; use another key",
        stack=SHARED,
    ),
    broken(
        "labels_and_taints_have_their_own_keys",
        {"gpu-pools/t4-spot/labels": {f"{KEY}": "x"}},
        (f"gpu-pools.t4-spot.labels.{KEY}: has 83 characters, but its tag key allows 82; use a shorter key"),
    ),
    broken(
        "the_kubernetes_version_is_pinned",
        {"cluster/version": "1.30"},
        'cluster.version: 1.30 has no pinned node image and add-ons; did you mean "1.35"?',
    ),
    broken(
        "a_protected_endpoint_is_not_open_to_all",
        {"cluster/endpoint/public": ["203.0.113.0/24", "0.0.0.0/0"]},
        (
            "cluster.endpoint.public[1]: 0.0.0.0/0 exposes the API of a protected stack to the internet; list "
            "only the ranges that need it, none wider than /8"
        ),
        stack=PRODUCTION,
    ),
    broken(
        "a_protected_endpoint_is_not_open_to_all",
        {"cluster/endpoint/public": ["0.0.0.0/1", "203.0.113.0/24", "128.0.0.0/1"]},
        (
            "cluster.endpoint.public[0]: 0.0.0.0/1 exposes the API of a protected stack to the internet; list "
            "only the ranges that need it, none wider than /8"
        ),
        (
            "cluster.endpoint.public[2]: 128.0.0.0/1 exposes the API of a protected stack to the internet; list "
            "only the ranges that need it, none wider than /8"
        ),
        stack=PRODUCTION,
    ),
    broken(
        "a_protected_repository_keeps_its_images",
        {"ecr/runner-gpu/force-delete": True},
        "ecr.runner-gpu.force-delete: contradicts stack.protect; write false, or write stack.protect: false",
        stack=PRODUCTION,
    ),
    broken(
        "a_runner_has_one_back_end",
        {"runners/gpu-t4/arc": OUT},
        f"runners.gpu-t4: no back end serves it; state one of {', '.join(kebab(one) for one in BACK_ENDS)}",
    ),
    broken(
        "a_runner_has_one_back_end",
        {"runners/gpu-t4/cirun-aws": ON_AWS, "cirun/aws": True},
        (
            "runners.gpu-t4: states arc and cirun-aws, but a runner has one back end; keep arc, and move "
            "cirun-aws to another runner"
        ),
    ),
    broken(
        "gpus_are_known",
        {"runners/gpu-t4/needs/gpu": "tesla-t4"},
        (
            'runners.gpu-t4.needs.gpu: "tesla-t4" is not a known GPU model; known: a100, a100-80gb, a10g, a30, a5000, '
            "a6000, b200, b300, h100, h200, l4, l40s, p100, p4, rtx-5000, rtx-6000-ada, rtx-pro-6000, t4, v100, v100-32gb"
        ),
    ),
    broken(
        "gpus_are_known",
        {"runners/gpu-t4/needs/gpu": "a10"},
        'runners.gpu-t4.needs.gpu: "a10" is not a known GPU model; did you mean "a10g"?',
    ),
    broken(
        "jobs_end_before_their_timeout",
        {"runners/gpu-t4/workload": {"jobs-per-month": 6, "minutes": 120, "p95-minutes": 130}},
        (
            "runners.gpu-t4.workload.minutes: 120 is more than timeout-minutes 60; write at most 60, or raise "
            "timeout-minutes"
        ),
    ),
    broken(
        "jobs_end_before_their_timeout",
        {"runners/gpu-t4/workload/p95-minutes": 61},
        (
            "runners.gpu-t4.workload.p95-minutes: 61 is more than timeout-minutes 60; write at most 60, or raise "
            "timeout-minutes"
        ),
    ),
    broken(
        "jobs_end_before_their_timeout",
        {"runners/gpu-t4/workload/p95-minutes": 11},
        (
            "runners.gpu-t4.workload.p95-minutes: 11 is less than minutes 12, the duration of a typical job; "
            "write at least 12, or lower minutes"
        ),
    ),
    broken(
        "names_are_not_labels_of_github",
        {"runners/ubuntu-latest": ON_ARC, "runners/gpu-t4/arc/labels": ["linux", "macos-15-intel"]},
        (
            "runners.gpu-t4.arc.labels[1]: macos-15-intel is a label of GitHub's own machines, which would get the jobs; "
            "use another label"
        ),
        "runners.ubuntu-latest: GitHub has this label on other runners, which would get the jobs; use another name",
    ),
    broken(
        "scale_sets_fit_the_chart",
        {f"runners/{LONG}": ON_ARC},
        (f"runners.{LONG}: the name has 46 characters, but the chart allows 45; use a shorter name"),
    ),
    broken(
        "pools_have_the_gpu",
        {"runners/gpu-t4/needs/gpu": "l4"},
        "runners.gpu-t4.needs.gpu: g4dn.xlarge and g4dn.2xlarge have the GPU t4, not l4; write t4, or remove them",
    ),
    broken(
        "pools_have_the_gpu",
        {"gpu-pools/t4-spot/instance-types": ["g4dn.xlarge", "g6.xlarge"]},
        "runners.gpu-t4.needs.gpu: g6.xlarge has the GPU l4, not t4; write l4, or remove g6.xlarge",
    ),
    broken(
        "pools_have_the_gpu",
        {"gpu-pools/t4-on-demand/instance-types": ["g5.xlarge"]},
        "runners.gpu-t4-steady.needs.gpu: g5.xlarge has the GPU a10g, not t4; write a10g, or remove g5.xlarge",
        "runners.gpu-t4.needs.gpu: g5.xlarge has the GPU a10g, not t4; write a10g, or remove g5.xlarge",
    ),
)


def test_a_broken_rule_is_reported_at_its_path_with_the_fix() -> None:
    assert stacks.not_as_stated(CASES) == []


def test_every_rule_has_a_case_that_breaks_it() -> None:
    cases = (
        *CASES,
        *test_aws_rules.CASES,
        *test_gcp_rules.CASES,
        *test_machine_rules.CASES,
        *test_machine_image_rules.CASES,
        *test_start_stop_rules.CASES,
    )

    assert {rule.__name__ for rule in (*GRAMMAR.rules, *GRAMMAR.references)} == {
        *(rule for case in cases for rule in case.rules),
        *test_rules_of_mistakes.LINES,
    }


@pytest.mark.parametrize("name", stacks.FILES)
def test_a_committed_stack_file_breaks_no_rule(name: str) -> None:
    assert stacks.faults(stacks.sections(name)) == []


def test_the_table_of_needed_sections_names_only_sections() -> None:
    assert {name for section, needed in rules.NEEDS.items() for name in (section, *needed)} <= set(SECTIONS)


def test_a_pool_of_a_fixed_size_needs_no_autoscaler() -> None:
    fixed = {"autoscaler": OUT, "gpu-pools/t4-spot/min": 5, "gpu-pools/t4-on-demand/min": 2}

    assert stacks.faults(stacks.sections(STAGING, fixed)) == []


def test_an_unprotected_stack_may_open_its_endpoint() -> None:
    assert stacks.faults(stacks.sections(STAGING, {"cluster/endpoint/public": ["0.0.0.0/0"]})) == []


@pytest.mark.parametrize("repository", ["team/runner-gpu", "runner_gpu", "a.b"])
def test_an_image_is_in_any_repository_that_ecr_accepts(repository: str) -> None:
    found = stacks.sections()
    image = next(image for image in found["images"].values() if "repository" in image)
    found["ecr"] = {repository: {"force-delete": True}}
    image["repository"] = repository

    assert stacks.faults(found) == []


def test_a_name_of_the_longest_length_is_accepted() -> None:
    assert stacks.faults(stacks.sections(STAGING, {f"runners/{LONG[:-1]}": ON_ARC})) == []


def test_a_reference_to_a_faulty_entry_is_not_a_second_fault() -> None:
    changes = {"gpu-pools/t4-spot/capacity": "sometimes", "images/runner-gpu/cuda": 12.9}

    assert stacks.faults(stacks.sections(STAGING, changes)) == [
        "gpu-pools.t4-spot.capacity: \"sometimes\" is not valid; write one of 'spot' or 'on-demand'",
        f"images.runner-gpu.cuda: 12.9 is a number; {IN_QUOTES}",
    ]


def test_a_busy_month_is_accepted() -> None:
    assert stacks.faults(stacks.sections(STAGING, {"runners/gpu-t4/workload/jobs-per-month": 120_000})) == []


def test_a_container_mode_that_needs_volumes_is_rejected() -> None:
    """Its runners claim volumes of a class that every node can mount."""
    printed = stacks.faults(stacks.sections(STAGING, {"runners/gpu-t4/arc/container-mode": "kubernetes"}))

    assert printed == [
        "runners.gpu-t4.arc.container-mode: \"kubernetes\" is not valid; write one of 'none' or 'kubernetes-novolume'"
    ]
