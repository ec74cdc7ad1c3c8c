"""The base of the sections that cirun serves."""

from __future__ import annotations

from typing import ClassVar, Literal

from gpu_ci.stack_file.sections.section import Section


class CirunSection(Section):
    """Served by cirun, which starts a machine for each job."""

    CLOUD: ClassVar[Literal["aws", "gcp"]]
