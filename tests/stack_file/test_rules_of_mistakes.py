"""Rules that a mistake of the catalogue breaks: the rule, and the whole report of the file."""

from __future__ import annotations

from typing import Final

import pytest

from gpu_ci.back_ends.stack_file import GRAMMAR
from tests.mistakes.catalogue import MISTAKES, merge
from tests.stack_file import stacks
from tests.stack_file.test_faults_together import VALID

pytestmark = pytest.mark.pure

LINES: Final = {
    "a_gpu_has_its_software": (
        "CUDA without a GPU",
        ("runners.cpu.needs.cuda: has no effect without gpu; state gpu, as in gpu: t4, or remove it"),
    ),
    "a_finding_has_one_exception": (
        "two exceptions for one finding",
        ("exceptions.second: is for the same finding as exceptions.first; remove one of the two"),
    ),
    "an_existing_cluster_has_its_add_ons": (
        "an existing cluster without an add-on that storage needs",
        (
            "cluster.existing.add-ons: aws-ebs-csi-driver is not listed, but storage needs it; install and list "
            "it, or remove storage"
        ),
    ),
    "workflows_can_push": (
        "a built image in another registry",
        (
            "images.runner-gpu.reference: no workflow can push to quay.io/example-org/runner; state repository, or "
            "docker.io/USER/NAME or ghcr.io/OWNER/NAME as reference"
        ),
    ),
    "built_images_have_packages": (
        "a built image of a CUDA version without packages",
        (
            "images.runner-gpu.cuda: NVIDIA has no packages of CUDA 12.4 for Ubuntu 24.04, which the runner image "
            "has; use 12.5 or later, or remove build"
        ),
    ),
    "combinations_exist": (
        "a combination of torch and CUDA without wheels",
        ('pytorch-images.combinations[0]: torch 2.14.1 has no wheels for CUDA 12.9; did you mean "2.14.1-cuda12.6"?'),
    ),
    "images_for_gpus_state_cuda": (
        "an image for GPUs without the CUDA version",
        (
            "images.runner-gpu.cuda: missing, but runners.gpu-t4 and runners.gpu-t4-steady have a GPU; state it "
            'in quotes, as in cuda: "12.9"'
        ),
    ),
    "only_pods_of_jobs_need_a_secret": (
        "a secret for the pods of jobs that have none",
        (
            "runners.gpu-t4.arc.image-pull-secret: is for the pods of jobs, which container-mode: none does not "
            "have; state images.runner-gpu.image-pull-secret for the image of the runner, or remove it"
        ),
    ),
    "pools_have_their_own_names": (
        "a CPU pool with the name of a GPU pool",
        ("cpu-pools.t4-spot: is the name of a pool in gpu-pools, too; use another name"),
    ),
    "pushed_images_have_a_pusher": (
        "a built image that nothing may push",
        (
            "ecr.runner-gpu.pushed-by: missing, but the workflow of images.runner-gpu.build needs it to push; "
            "state {repository: OWNER/NAME, repository-id: NUMBER, owner-id: NUMBER}"
        ),
    ),
    "repositories_are_in_the_address": (
        "settings of a repository that is not the one in the address",
        ("github.repositories.speech: github.url is the repository vision; write vision"),
    ),
    "secrets_are_for_other_registries": (
        "a secret for the registry of the account",
        ("images.runner-gpu.image-pull-secret: nodes pull from the ECR of their account without a secret; remove it"),
    ),
    "smoke_tests_name_an_image": (
        "a smoke test with an unknown image",
        ('smoke-test.image: "runner-cpu" is not in images; did you mean "runner-gpu"?'),
    ),
    "tags_of_pytorch_can_change": (
        "images of PyTorch whose tags cannot change",
        (
            "artifact-registry.gpu-tests.immutable-tags: each build of pytorch-images overwrites its tags, which "
            "are immutable; write false"
        ),
    ),
    "the_cluster_is_own_or_existing": (
        "administrators of an existing cluster",
        ("cluster.administrators: has no effect on an existing cluster; remove it, or remove existing"),
    ),
    "the_network_is_own_or_existing": (
        "a NAT gateway in an existing VPC",
        ("network.nat: has no effect on an existing VPC; remove it, or remove existing"),
    ),
}
"""A rule to a mistake of the catalogue and the report of it."""


@pytest.mark.parametrize("rule", LINES)
def test_a_mistake_breaks_its_rule_and_no_other(rule: str) -> None:
    name, line = LINES[rule]
    (mistake,) = [one for one in MISTAKES if one.name == name]
    (known,) = [one for one in (*GRAMMAR.rules, *GRAMMAR.references) if one.__name__ == rule]

    assert known.__name__ == rule
    assert stacks.faults(merge(VALID, mistake.change)) == [line]
