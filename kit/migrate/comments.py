"""The comments of a YAML file: a file that is written anew has none of them, and somebody has to be told.

Owns finding them. A `#` is a comment where no token of the file covers it, which only a scanner knows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import yaml

from kit.migrate.notes import Note

if TYPE_CHECKING:
    from collections.abc import Iterator


def lost(text: str) -> list[Note]:
    """A note for every comment in `text`, which is sound YAML."""
    return [
        Note(f"line {line}", f"comment left behind: {comment}; put it back by hand if it still holds")
        for line, comment in _comments(text)
    ]


def _comments(text: str) -> Iterator[tuple[int, str]]:
    scalars = [token for token in yaml.scan(text, Loader=yaml.SafeLoader) if isinstance(token, yaml.ScalarToken)]
    covered = {at for token in scalars for at in range(token.start_mark.index, token.end_mark.index)}
    begin = 0
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        found = next(
            (
                at
                for at, sign in enumerate(line)
                if sign == "#" and begin + at not in covered and (at == 0 or line[at - 1].isspace())
            ),
            None,
        )
        if found is not None:
            yield number, line[found:].strip()
        begin += len(line)
