"""The committed settings of the bootstrap, variants of them, and their plans."""

from __future__ import annotations

import functools
import json
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from bootstrap.program import run
from ops.plan.model import Plan
from ops.plan.recorder import record
from ops.plan.stack_file import StackFile, read

COMMITTED: Final = read(Path(__file__).parent / "Pulumi.staging.yaml")
"""A copy of `bootstrap/Pulumi.staging.yaml`, which a user changes."""
BOTH: Final = ("deploy", "preview", "plan", "images", "aws", "gcp")


def variant(*sections: str, **changed: Any) -> StackFile:
    """Return the committed settings with these sections only, some of them with other values."""
    prefix = "gpu-ci-bootstrap:"
    kept = {key: text for key, text in COMMITTED.config.items() if key.removeprefix(prefix) in sections}
    return replace(
        COMMITTED,
        config={
            "pulumi:disable-default-providers": '["*"]',
            **kept,
            **{f"{prefix}{name}": json.dumps(value) for name, value in changed.items()},
        },
    )


def section(name: str) -> dict[str, Any]:
    """Return a committed section."""
    found: dict[str, Any] = json.loads(COMMITTED.config[f"gpu-ci-bootstrap:{name}"])
    return found


@functools.cache
def plan(*sections: str) -> Plan:
    """Return the plan of a variant with these sections."""
    return record(variant(*sections), program=run)
