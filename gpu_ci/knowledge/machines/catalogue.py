"""The machine types that a stack can use: those of the tables, and those whose facts the stack file states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from gpu_ci.knowledge.machines.aws import EC2_TYPES, InstanceType, ec2_type
from gpu_ci.knowledge.machines.gcp import MachineType, gce_type
from gpu_ci.knowledge.machines.jarvis import jarvis_type
from gpu_ci.knowledge.regions import Cloud


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Catalogue:
    """The tables, and the stated types, which come first."""

    stated: Mapping[str, InstanceType | MachineType] = field(default_factory=lambda: MappingProxyType({}))
    """Name to the stated type."""

    @property
    def ec2_types(self) -> Mapping[str, InstanceType]:
        """Every EC2 instance type by its name."""
        return {**EC2_TYPES, **{name: one for name, one in self.stated.items() if isinstance(one, InstanceType)}}

    def ec2(self, name: str) -> InstanceType:
        """Return the EC2 instance type of that name.

        Raises:
            UnknownName: there is no such type.

        """
        found = self.stated.get(name)
        return found if isinstance(found, InstanceType) else ec2_type(name)

    def gce(self, name: str) -> MachineType:
        """Return the machine type of Google Cloud of that name.

        Raises:
            UnknownName: there is no such type.

        """
        found = self.stated.get(name)
        return found if isinstance(found, MachineType) else gce_type(name)

    def machine(self, cloud: Cloud, name: str) -> InstanceType | MachineType:
        """Return the type of that name on one cloud."""
        if cloud is Cloud.JARVIS:
            return jarvis_type(name)
        return self.ec2(name) if cloud is Cloud.AWS else self.gce(name)


TABLES: Final = Catalogue()
"""The tables alone."""
