"""The form of every section: closed, immutable, and written in kebab case."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


def kebab(name: str) -> str:
    """The stack file's spelling of a Python name."""
    return name.replace("_", "-")


class Section(BaseModel):
    """A closed, immutable part of the stack file.

    Strict: a number in quotes is not a number, so that a value means the same to the reader and to the program.
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        use_attribute_docstrings=True,
        alias_generator=kebab,
        validate_by_name=True,
        validate_by_alias=True,
    )
