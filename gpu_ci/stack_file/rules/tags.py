"""Rules of tags: the limits of AWS, and of Google Cloud, where each tag becomes a label."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gpu_ci.stack_file.faults import Fault
from gpu_ci.stack_file.identity import label, own_tags
from gpu_ci.stack_file.rules.stated import Rule
from gpu_ci.stack_file.sections.settings import Settings

OWN_TAGS: Final = ("Project", "Environment", "ManagedBy", "Name")
"""The tags that gpu-ci sets."""
TAG_LIMIT: Final = 40
"""AWS allows 50 tags; the rest is for gpu-ci's own and for those that EKS adds to an instance."""
TAG_VALUE: Final = r"[\w .:/=+@-]*"
FOREIGN: Final = ("eks:", "k8s.io/", "kubernetes.io/")
"""Beginnings of keys by which EKS and the autoscaler find the resources of a cluster."""
LABEL_KEY: Final = r"(?!goog)[a-z][a-z0-9_-]*"
"""The key of a label (Compute Engine, "Label resources", 2026). Google keeps keys that begin with goog for itself."""


def tags_are_valid(settings: Settings) -> Iterator[Fault]:
    """Check tags against the limits of AWS, which reports them only when the first tagged resource is created."""
    tags = settings.stack.tags
    if len(tags) > TAG_LIMIT:
        yield Fault("stack.tags", f"has {len(tags)} tags, but the limit is {TAG_LIMIT}", "remove some of them")
    own = {name.lower(): name for name in OWN_TAGS}
    taken: dict[str, str] = {}
    for key, value in tags.items():
        path = f"stack.tags.{key}"
        if key.lower() in own:
            yield Fault(path, f"would replace the tag {own[key.lower()]}", "use another key")
        if key.lower().startswith(FOREIGN):
            yield Fault(path, "is a key by which EKS and the autoscaler find their resources", "use another key")
        if (first := taken.setdefault(key.lower(), key)) != key:
            yield Fault(path, f"is the same key as {first} for IAM, which ignores case", "remove one of them")
        if re.fullmatch(TAG_VALUE, value) is None:
            yield Fault(path, f'"{value}" is not a tag value', "use letters, digits, spaces and _.:/=+@-")


def labels_are_valid(settings: Settings) -> Iterator[Fault]:
    """Check the labels that tags become on Google Cloud: their keys have fewer signs, so two tags may be one label."""
    if settings.gcp is None:
        return
    taken = {label(key): f"the tag {key}" for key in own_tags("", "")}
    for key in settings.stack.tags:
        path, translated = f"stack.tags.{key}", label(key)
        if re.fullmatch(LABEL_KEY, translated) is None:
            problem = (
                f"becomes the label {translated} on Google Cloud, which must begin with a letter, and not with goog"
            )
            yield Fault(path, problem, "use another key")
        elif translated in taken and key.lower() not in {name.lower() for name in OWN_TAGS}:
            problem = f"becomes the label {translated} on Google Cloud, as does {taken[translated]}"
            yield Fault(path, problem, "use another key")
        taken.setdefault(translated, path)


RULES: Final[tuple[Rule, ...]] = (tags_are_valid, labels_are_valid)
