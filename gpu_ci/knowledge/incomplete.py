"""The exception for a table or a registry of this project that lacks a part."""

from __future__ import annotations


class Incomplete(LookupError):
    """A change of this project is not complete: the place and what to add."""

    def __init__(self, problem: str, fix: str) -> None:
        super().__init__(f"{problem}; {fix}")
