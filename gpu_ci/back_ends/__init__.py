"""The back ends that serve runners: one package each.

`NAMES` is the registry. Each package has the modules that `gpu_ci.back_ends.protocol` describes.
"""

from __future__ import annotations

from typing import Final

NAMES: Final = ("arc", "cirun_aws", "cirun_gcp", "vm", "start_stop")
"""The packages, in the order in which the stack file's reference lists their sections."""
