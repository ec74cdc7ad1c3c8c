"""Refuse a stack that has errors, and log the warnings of one that has none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pulumi

from gpu_ci.knowledge.verdict import Level, Verdict


class Refused(pulumi.RunError):
    """The stack file asks for something that cannot work. Pulumi prints the message without a traceback."""

    def __init__(self, verdicts: Sequence[Verdict]) -> None:
        self.verdicts = tuple(verdicts)
        errors = [verdict for verdict in verdicts if verdict.level is Level.ERROR]
        count = "1 error" if len(errors) == 1 else f"{len(errors)} errors"
        super().__init__("\n".join([f"{count}; no resource was created:", *(f"  {error}" for error in errors)]))


def refuse(verdicts: Sequence[Verdict]) -> None:
    """Stop before the first resource if any verdict is an error.

    Raises:
        Refused: at least one verdict is an error.

    """
    if any(verdict.level is Level.ERROR for verdict in verdicts):
        raise Refused(verdicts)


def warn(verdicts: Sequence[Verdict], resources: Mapping[str, pulumi.Resource]) -> None:
    """Log each warning on the resource with the longest path that the subject begins with."""
    for verdict in verdicts:
        if verdict.level is Level.WARNING:
            owners = [path for path in resources if f"{verdict.subject}.".startswith(f"{path}.")]
            pulumi.log.warn(str(verdict), resources[max(owners, key=len)] if owners else None)
