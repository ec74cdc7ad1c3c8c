"""Releases of GitHub's runner: the oldest that registers, and the checksums of the archives that are known."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

LEAST: Final = (2, 329, 0)
"""The oldest release that GitHub registers (GitHub, "Self-hosted runner minimum version enforcement", complete since
25 September 2026)."""

CHECKSUMS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "2.337.0": "70920811a4f8ad4328818682bca5c6469c1c942fab52448868071d0063816613",
        "2.335.1": "4ef2f25285f0ae4477f1fe1e346db76d2f3ebf03824e2ddd1973a2819bf6c8cf",
        "2.331.0": "5fcc01bd546ba5c3f1291c2803658ebd3cedb3836489eda3be357d41bfcf28a7",
        "2.329.0": "194f1e1e4bd02f80b7e9633fc546084d8d4e19f3928a324d512ea53430102e1d",
    }
)
"""SHA-256 of `actions-runner-linux-x64-VERSION.tar.gz`, newest first (the notes of each release of actions/runner)."""

NEWEST: Final = next(iter(CHECKSUMS))
"""The release that machines install. It updates itself when GitHub asks for a newer one."""
