"""The e-mail addresses that alarms go to."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from gpu_ci.stack_file.values.general import Matching

Email = Annotated[
    str,
    Field(max_length=254),
    Matching(
        r"[A-Za-z0-9._%+-]+@([A-Za-z0-9-]+\.)+[A-Za-z]{2,63}", "an e-mail address", "write it as name@example.org"
    ),
]
