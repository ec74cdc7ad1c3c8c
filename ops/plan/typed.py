"""The settings of a stack file, or its faults with every number as it is typed in the file.

The engine passes `1.30` to the program as 1.3, and `010` as 8. A person looks for the text of the file.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Generator
from dataclasses import replace

from gpu_ci.back_ends.stack_file import settings_of
from gpu_ci.stack_file.faults import Fault
from gpu_ci.stack_file.identity import PROJECT
from gpu_ci.stack_file.reading.load import StackFileError
from gpu_ci.stack_file.sections.settings import Settings
from gpu_ci.stack_file.values.general import IN_QUOTES
from ops.plan.stack_file import StackFile


def settings(stack_file: StackFile) -> Settings:
    """Return the settings of a stack file, or raise its faults."""
    with as_typed(stack_file):
        return settings_of(stack_file.config, stack_file.secret_keys, stack_file.name, stack_file.path.name)


@contextlib.contextmanager
def as_typed(stack_file: StackFile) -> Generator[None]:
    """Show the numbers in the faults of the block as they are typed."""
    try:
        yield
    except StackFileError as refused:
        raise StackFileError((_typed(fault, stack_file) for fault in refused.faults), refused.source) from None


def _typed(fault: Fault, stack_file: StackFile) -> Fault:
    """Return a fault with its number as it is typed. A fault shows the number as Python prints it."""
    path = f"{PROJECT}:{fault.path}"
    if path not in stack_file.numbers:
        return fault
    number, text = stack_file.numbers[path]
    problem = re.sub(rf"(?<![\w.]){re.escape(str(number))}(?!\.?\w)", lambda _number: text, fault.problem, count=1)
    if fault.fix != IN_QUOTES:
        return replace(fault, problem=problem)
    digits = text.replace("_", "")
    in_quotes = f'"{digits}"' if re.fullmatch(r"[0-9.]+", digits) else "digit by digit"
    return replace(fault, problem=problem, fix=f"write it in quotes: {in_quotes}")
