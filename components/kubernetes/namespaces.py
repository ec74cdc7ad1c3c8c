"""The namespaces of the Actions Runner Controller. Pure."""

from __future__ import annotations

from typing import Final

SYSTEMS: Final = "arc-systems"
"""The namespace of the controller and the listeners."""
RUNNERS: Final = "arc-runners"
"""The namespace of the runners."""
