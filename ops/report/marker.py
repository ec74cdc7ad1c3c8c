"""The first line of a comment with a report, by which a later run finds it."""

from __future__ import annotations

from typing import Final

MARKER: Final = "<!-- gpu-ci report: {stack} -->"
