"""Tests of the doctor's chain: order, prerequisites, silence, recordings, and exit codes."""

from __future__ import annotations

import importlib
import json
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ops.cli import main, terminal
from ops.cli.commands.doctor import selected
from ops.doctor import chain, report
from ops.doctor.chain import CHECKS
from ops.doctor.check import Check
from ops.doctor.examination import State, examine
from ops.doctor.finding import Finding, broken, doubtful, works
from ops.doctor.world import recording
from ops.doctor.world.recording import Exchange, Recorder, Recording
from ops.doctor.world.source import Unanswered
from ops.doctor.world.world import World
from ops.outcome import Exit, Stop
from tests.doctor.worlds import NOW, ROOT, world

pytestmark = pytest.mark.pure


def made(name: str, result: str = "works", *, needs: tuple[str, ...] = (), there: bool = True) -> Check:
    """Return a check with a fixed result."""

    def check(_world: World) -> Iterator[Finding]:
        if result == "works":
            yield works("part", "seen")
        elif result == "warns":
            yield doubtful("part", seen="odd", means="maybe", fix="look")
        elif result == "broken":
            yield broken("part", seen="bad", means="it cannot work", fix="repair it")
        elif result == "silent":
            yield works("part", "first")
            raise Unanswered("no answer came", "sign in")
        else:
            pytest.fail(f"{name} was made")

    return Check(name=name, needs=needs, applies=lambda _settings: there, check=check)


def states(*checks: Check) -> dict[str, tuple[str, str]]:
    found = examine(world("tests/stacks/staging.yaml", {}), checks)
    return {link.check: (str(link.state), link.because) for link in found.links}


def test_a_check_whose_prerequisite_failed_names_the_first_failure() -> None:
    never = made("b", "never", needs=("a",)), made("c", "never", needs=("b",))

    assert states(made("a", "broken"), *never, made("d")) == {
        "a": ("error", ""),
        "b": ("not checked", "a"),
        "c": ("not checked", "a"),
        "d": ("ok", ""),
    }


def test_a_warning_does_not_stop_the_chain() -> None:
    assert states(made("a", "warns"), made("b", needs=("a",)))["b"] == ("ok", "")


def test_a_system_that_does_not_respond_stops_its_chain_without_a_fault() -> None:
    assert states(made("a", "silent"), made("b", needs=("a",))) == {
        "a": ("unanswered", "no answer came"),
        "b": ("not checked", "a"),
    }


def test_a_check_that_does_not_apply_is_not_shown_and_stops_nothing() -> None:
    assert states(made("a", "broken", there=False), made("b", needs=("a",))) == {"b": ("ok", "")}


@pytest.mark.parametrize(
    ("results", "code"),
    [
        (("works", "warns"), Exit.GOOD),
        (("works", "broken", "silent"), Exit.FINDING),
        (("works", "silent"), Exit.OUTSIDE),
    ],
)
def test_the_worst_link_decides_the_exit_code(results: tuple[str, ...], code: Exit) -> None:
    checks = [made(f"check-{number}", result) for number, result in enumerate(results)]

    assert examine(world("tests/stacks/staging.yaml", {}), checks).exit is code


def test_the_report_shows_the_observation_the_meaning_and_the_fix() -> None:
    checks = [made("a"), made("b", "broken"), made("c", needs=("b",)), made("d", needs=("c",)), made("e", "silent")]
    console = terminal.out()
    console.width = 100
    with console.capture() as captured:
        report.show(console, examine(world("tests/stacks/staging.yaml", {}), checks))

    assert captured.get().splitlines() == [
        "ok           a  seen",
        "error        b",
        "             part: bad",
        "               it cannot work",
        "               → repair it",
        "             docs/runbook.md#b",
        "unanswered   e  first",
        "             could not ask, because no answer came",
        "             → sign in",
        "             docs/runbook.md#e",
        "not checked  c, d, because b failed",
        "The first broken link is b. 1 of 5 links work, 1 are broken, 1 could not be asked, 2 were not checked.",
    ]


def test_checks_are_listed_after_those_that_they_need() -> None:
    names = [one.name for one in CHECKS]
    early = {one.name: set(one.needs) - set(names[:number]) for number, one in enumerate(CHECKS)}

    assert len(set(names)) == len(names)
    assert {name: needs for name, needs in early.items() if needs} == {}


def test_the_list_contains_every_chapter_of_the_chain() -> None:
    modules = [
        importlib.import_module(found.name) for found in pkgutil.iter_modules(chain.__path__, "ops.doctor.chain.")
    ]
    registered = {one.name for module in modules if hasattr(module, "CHAPTER") for one in module.CHAPTER.checks}

    assert registered == {one.name for one in CHECKS}


def test_only_selects_a_check_and_those_that_it_needs() -> None:
    assert [one.name for one in selected(["eks-cluster"])] == ["aws-account", "eks-cluster"]
    assert selected(()) == CHECKS
    with pytest.raises(Stop, match='--only: no check eks-clusters; did you mean "eks-cluster"'):
        selected(["eks-clusters"])


class Counting:
    """A system that counts its questions."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def ask(self, call: str, /, **arguments: Any) -> Any:
        self.asked.append(call)
        if call == "refused":
            raise Unanswered("it refuses", "ask again")
        return {"call": call, **arguments}


def test_a_recording_gives_the_same_answers_as_the_live_system(tmp_path: Path) -> None:
    live = Counting()
    recorder = Recorder(live)
    for _ in range(2):
        assert recorder.ask("call", name="x") == {"call": "call", "name": "x"}
        with pytest.raises(Unanswered, match="it refuses"):
            recorder.ask("refused")
    assert live.asked == ["call", "refused"]

    stack_file = ROOT / "tests/stacks/staging.yaml"
    recording.write(recording.taken({"aws": recorder}, now=NOW, stack_file=stack_file), tmp_path)
    read = recording.read(tmp_path)
    source = read.sources()["aws"]

    assert (read.now, read.stack_file, read.stack_text) == (NOW, stack_file.name, stack_file.read_text())
    assert source.ask("call", name="x") == {"call": "call", "name": "x"}
    with pytest.raises(Unanswered) as refused:
        source.ask("refused")
    assert (refused.value.reason, refused.value.fix) == ("it refuses", "ask again")
    with pytest.raises(Unanswered, match="the recording has no answer to call"):
        source.ask("call", name="y")


@pytest.mark.parametrize("content", ["", "[]", "{", '{"asked": "yesterday", "stack-file": "x"}', '{"asked": 1}'])
def test_a_folder_that_is_not_a_recording_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "doctor.json").write_text(content)

    with pytest.raises(Stop, match="not a file of a recording") as refused:
        recording.read(tmp_path)
    assert refused.value.code is Exit.WRONG


def test_a_damaged_answer_is_refused(tmp_path: Path) -> None:
    made = Recording(
        now=NOW, stack_file="x.yaml", stack_text="", exchanges={"aws": (Exchange(call="c", arguments={}),)}
    )
    recording.write(made, tmp_path)
    next((tmp_path / "aws").iterdir()).write_text('{"calls": 1}')

    with pytest.raises(Stop, match=r"001-c\.json: not a file of a recording"):
        recording.read(tmp_path)


def test_the_command_reads_a_recording_and_writes_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    identity = {"Account": "999999999999", "Arn": "arn:aws:iam::999999999999:user/me", "UserId": "x"}
    made = Recording(
        now=NOW,
        stack_file="staging.yaml",
        stack_text=(ROOT / "tests/stacks/staging.yaml").read_text(),
        exchanges={"aws": (Exchange(call="sts.get_caller_identity", arguments={}, answer=identity),)},
    )
    recording.write(made, tmp_path / "recorded")

    code = main.run(["doctor", "--offline", str(tmp_path / "recorded"), "--json", str(tmp_path / "found.json")])
    found = json.loads((tmp_path / "found.json").read_text())

    assert code == Exit.FINDING
    assert found["first-broken"] == "aws-account"
    assert found["links"][0]["verdicts"] == [
        {
            "level": "error",
            "subject": "aws.account",
            "seen": "the credentials are arn:aws:iam::999999999999:user/me, in account 999999999999",
            "means": "the stack file states account 123456789012, so nothing of this stack is in reach",
            "fix": "use credentials of account 123456789012: set AWS_PROFILE, or run `aws sso login`",
        }
    ]
    assert "The first broken link is aws-account." in capsys.readouterr().out


def test_every_state_of_a_link_has_a_style() -> None:
    assert set(report._STYLES) == set(State)
