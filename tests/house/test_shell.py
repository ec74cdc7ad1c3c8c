"""Shell in scripts, documents, templates, workflows and Dockerfiles: pipes, checks and calls of apt-get."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.artefacts.linters import linter

ROOT: Final = Path(__file__).resolve().parents[2]
FILES: Final = [
    path
    for name in subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True).splitlines()
    if (path := ROOT / name).suffix in {"", ".sh", ".j2", ".yml", ".yaml"}
    and path.is_file()
    and not name.startswith(("docs/", "examples/", "ops/doctor/log/", "tests/"))
]
IMAGES: Final = [path for path in FILES if path.is_relative_to(ROOT / "ami") or path.is_relative_to(ROOT / "docker")]
ENDS_EARLY: Final = re.compile(
    r"\|\s*(grep\s+(-\S+\s+)*(-\w*[qm]|--quiet|--max-count)|head\b|sed\s+\S*\dq|awk\s[^|]*\bexit\b)"
)
"""A reader that ends before its input does: the writer fails with SIGPIPE, and with pipefail the whole pipe."""
CHECK: Final = re.compile(r"\s*(\[{1,2}|test|grep\s+(-\S+\s+)*(-\w*q\w*|--quiet))\s")
APT: Final = re.compile(r"(?<![\w/-])apt-get(?= )(?! \$1 failed| \$\*)")


def lines(path: Path) -> Iterator[tuple[str, str, str]]:
    """Yield the place, the line and the next one, without comments."""
    found = [(number, line) for number, line in enumerate(path.read_text().splitlines(), 1) if line.strip()]
    found = [(number, line) for number, line in found if not line.lstrip().startswith("#")]
    for (number, line), (_, after) in zip(found, [*found[1:], (0, "")], strict=True):
        yield f"{path.relative_to(ROOT)}:{number}", line, after


def ends_early(line: str) -> bool:
    return ENDS_EARLY.search(line) is not None


def silent(line: str, after: str) -> bool:
    """Return whether a line ends the script without a message; the last line of a function is its result."""
    goes_on = re.search(r"\|\||&&|; (then|do)$|\\$", line) or after.strip() == "}"
    return CHECK.match(line) is not None and not goes_on


@pytest.mark.artefacts
def test_the_scripts_pass_shellcheck() -> None:
    scripts = [path for path in FILES if path.suffix == ".sh" or (path.suffix == "" and path.read_text()[:2] == "#!")]
    command = [linter("shellcheck"), "--external-sources", *(str(path.relative_to(ROOT)) for path in scripts)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    assert (len(scripts) > 20, ended.stdout) == (True, "")


@pytest.mark.pure
def test_no_pipe_has_a_reader_that_ends_early() -> None:
    assert [place for path in FILES for place, line, _ in lines(path) if ends_early(line)] == []


@pytest.mark.pure
def test_every_check_of_an_image_has_a_message() -> None:
    assert [place for path in IMAGES for place, line, after in lines(path) if silent(line, after)] == []


@pytest.mark.pure
def test_machine_images_call_apt_get_in_one_place() -> None:
    calls = [place.partition(":")[0] for path in IMAGES for place, line, _ in lines(path) if APT.search(line)]

    assert [name for name in calls if name.startswith("ami/")] == ["ami/ec2-gpu/build.yaml", "ami/gce-gpu-host/lib.sh"]


@pytest.mark.pure
def test_a_reader_that_ends_early_is_found() -> None:
    pipes = (
        "ldconfig -p | grep -q a",
        "a | grep -F --quiet b",
        'x=$("$tool" | head -n 1)',
        "a | sed 1q",
        "a|grep -m1 b",
    )

    assert [line for line in (*pipes, "ps | grep root | tail -n 1") if ends_early(line)] == list(pipes)


@pytest.mark.pure
def test_a_check_without_a_message_is_found() -> None:
    checks = ("  test -x /usr/bin/nodeadm", '[ "$a" = b ]', "  [[ $a == b ]]", "grep -qx a file")

    assert [line for line in (*checks, "test a || die 'a is missing'") if silent(line, "next")] == list(checks)
    assert not silent(checks[0], "}")
