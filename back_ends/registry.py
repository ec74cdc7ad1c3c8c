"""The back ends by the name of their package."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Final

from back_ends import NAMES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from back_ends.protocol import BackEnd

BACK_ENDS: Final[Mapping[str, BackEnd]] = {
    name: importlib.import_module(f"back_ends.{name}.back_end").BACK_END for name in NAMES
}
"""Every back end that `back_ends.NAMES` lists, in its order."""
