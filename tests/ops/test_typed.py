"""A fault shows a number as it is typed in the stack file, although the program gets another text."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_ci.stack_file.reading.load import StackFileError
from gpu_ci.stack_file.values.general import IN_QUOTES
from ops.cli.options import ROOT
from ops.plan import recorder, typed
from ops.plan.stack_file import read
from tests.stack_file import stacks

pytestmark = pytest.mark.pure

TEXT = (ROOT / stacks.STAGING).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("before", "after", "fault"),
    [
        ('version: "1.35"', "version: 1.30", 'cluster.version: 1.30 is a number; write it in quotes: "1.30"'),
        ('cuda: "13.0"', "cuda: 13.0", 'host-image.cuda: 13.0 is a number; write it in quotes: "13.0"'),
        ('account: "123456789012"', "account: 098765432109", 'write it in quotes: "098765432109"'),
        ('account: "123456789012"', "account: 1234_5678_9012", '1234_5678_9012 is a number; write it in quotes: "123456'),
        ('account: "123456789012"', "account: 0xdeadbeef", "0xdeadbeef is a number; write it in quotes: digit by digit"),
        ("Team: ml-platform", "Team: 1.10", "stack.tags.Team: 1.10 is not valid; write text; a number, a version, true"),
        ("min: 2\n    max: 4", "min: 0x9\n    max: 4", "system-nodes.min: 0x9 is more than max 4; write at most 4"),
        ("min: 2\n    max: 4", "min: 1e1\n    max: 4", "system-nodes.min: 1e1 is more than max 4; write at most 4"),
    ],
)  # fmt: skip
def test_a_number_is_shown_as_typed(before: str, after: str, fault: str, tmp_path: Path) -> None:
    path = tmp_path / "Pulumi.staging.yaml"
    path.write_text(TEXT.replace(before, after, 1), encoding="utf-8")

    for judge in (typed.settings, recorder.record):
        with pytest.raises(StackFileError) as refused:
            judge(read(path))

        assert fault in str(refused.value)
        assert len(refused.value.faults) == 1


def test_without_the_stack_file_the_program_does_not_guess_the_typed_text() -> None:
    assert stacks.faults(stacks.sections(changes={"cluster/version": 1.3})) == [
        f"cluster.version: 1.3 is a number; {IN_QUOTES}"
    ]
