"""The base of every section: closed, immutable, and written in kebab case."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from pydantic import BaseModel, ConfigDict


def kebab(name: str) -> str:
    """Return the stack file's spelling of a Python name."""
    return name.replace("_", "-")


class Section(BaseModel):
    """A closed, immutable part of the stack file, without conversions: a number in quotes is not a number."""

    NEEDS: ClassVar[tuple[str, ...]] = ()
    """The sections of the stack file that this one needs."""
    NEEDS_WITHOUT_GPU: ClassVar[tuple[str, ...]] = ()
    """The sections that a back end with this section needs for jobs without a GPU; empty where it serves none."""
    OWN_WORKFLOW: ClassVar[bool] = False
    """Whether a back end with this section writes a workflow of its own for the commands of `gpu-tests`."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        use_attribute_docstrings=True,
        alias_generator=kebab,
        validate_by_name=True,
        validate_by_alias=True,
    )

    def amis(self) -> Mapping[str, tuple[str, str]]:
        """Return the exact AMIs that the section states: the key to the region and the AMI."""
        return {}
