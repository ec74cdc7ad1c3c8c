"""Rules between sections: what a section needs of others, and the list of all rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, get_args

from gpu_ci.stack_file.faults import Fault, listed
from gpu_ci.stack_file.rules import (
    aws as aws_rules,
)
from gpu_ci.stack_file.rules import (
    exceptions as exception_rules,
)
from gpu_ci.stack_file.rules import (
    existing_cluster as existing_cluster_rules,
)
from gpu_ci.stack_file.rules import (
    gcp as gcp_rules,
)
from gpu_ci.stack_file.rules import (
    github as github_rules,
)
from gpu_ci.stack_file.rules import (
    gpu_tests as gpu_tests_rules,
)
from gpu_ci.stack_file.rules import (
    images as image_rules,
)
from gpu_ci.stack_file.rules import (
    instance_types as instance_type_rules,
)
from gpu_ci.stack_file.rules import (
    machine_images as machine_image_rules,
)
from gpu_ci.stack_file.rules import (
    pools as pool_rules,
)
from gpu_ci.stack_file.rules import (
    runners as runner_rules,
)
from gpu_ci.stack_file.rules import (
    tags as tag_rules,
)
from gpu_ci.stack_file.rules.stated import Reference, Rule, Stated
from gpu_ci.stack_file.sections.section import Section, kebab
from gpu_ci.stack_file.sections.settings import GITHUB_APP_PRIVATE_KEY, Settings

NEEDS: Final[Mapping[str, tuple[str, ...]]] = {
    kebab(name): needed
    for name, field in Settings.model_fields.items()
    for kind in get_args(field.annotation)
    if isinstance(kind, type) and issubclass(kind, Section) and (needed := kind.NEEDS)
}
"""Section to the sections that it needs."""


def sections_have_what_they_need(settings: Settings, stated: Stated) -> Iterator[Fault]:
    """Report each missing section once, with everything that needs it."""
    needed_by: dict[str, list[str]] = {}
    for needy, needed in _needs(settings, stated):
        for other in needed:
            needed_by.setdefault(other, []).append(needy)
    for other, users in needed_by.items():
        if other not in stated.sections:
            verb, them = ("needs", users[0]) if len(users) == 1 else ("need", "them")
            yield Fault(other, f"missing, but {listed(users)} {verb} it", f"state {other}, or remove {them}")


def _needs(settings: Settings, stated: Stated) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each part of the stack file with the sections that it needs."""
    yield from ((section, needed) for section, needed in NEEDS.items() if section in stated.sections)
    for name, runner in settings.runners.items():
        for section in runner.stated.values():
            yield f"runners.{name}", section.NEEDS if runner.needs.gpu else section.NEEDS_WITHOUT_GPU or section.NEEDS
    if settings.cluster is not None and settings.cluster.existing is None:
        yield "cluster", ("system-nodes",)
    if settings.cirun is not None and settings.cirun.aws:
        yield "cirun.aws", ("aws",)
    if settings.cirun is not None and settings.cirun.gcp:
        yield "cirun.gcp", ("gcp",)


def secrets_are_set(settings: Settings, stated: Stated) -> Iterator[Fault]:
    """Require the key of the GitHub App where the cluster registers runners. Machines read it from their cloud."""
    if settings.arc is not None and GITHUB_APP_PRIVATE_KEY not in stated.secrets:
        yield Fault(
            GITHUB_APP_PRIVATE_KEY,
            "missing, but arc needs it",
            f"run: pulumi config set --secret gpu-ci:{GITHUB_APP_PRIVATE_KEY} < key.pem",
        )


def nothing_is_listed_twice(settings: Settings) -> Iterator[Fault]:
    """Reject repeated entries: a list in a stack file is a set, or an order in which entries are tried."""
    yield from _repeated("", settings.model_dump(mode="json", by_alias=True, exclude_unset=True))


def _repeated(path: str, value: object) -> Iterator[Fault]:
    if isinstance(value, dict):
        for key, below in value.items():
            yield from _repeated(f"{path}.{key}" if path else key, below)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            if item in value[:index]:
                shown = str(item).lower() if isinstance(item, bool) else item
                yield Fault(f"{path}[{index}]", f"{shown} is listed twice", "list it once")


RULES: Final[tuple[Rule, ...]] = (
    nothing_is_listed_twice,
    *pool_rules.RULES,
    *runner_rules.RULES,
    *aws_rules.RULES,
    *existing_cluster_rules.RULES,
    *machine_image_rules.RULES,
    *image_rules.RULES,
    *tag_rules.RULES,
    *gcp_rules.RULES,
    *github_rules.RULES,
    *gpu_tests_rules.RULES,
    *instance_type_rules.RULES,
    *exception_rules.RULES,
)
REFERENCES: Final[tuple[Reference, ...]] = (
    sections_have_what_they_need,
    secrets_are_set,
    *pool_rules.REFERENCES,
    *machine_image_rules.REFERENCES,
    *image_rules.REFERENCES,
    *gcp_rules.REFERENCES,
    *gpu_tests_rules.REFERENCES,
)
