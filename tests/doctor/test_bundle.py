"""Tests of the support bundle: the same results offline, and no secret in any of its files."""

from __future__ import annotations

import base64
import io
import json
import re
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ops.cli import main
from ops.doctor.world import bundle, live
from ops.doctor.world.recording import Exchange, Recording
from ops.doctor.world.source import Source, Unanswered
from ops.outcome import Exit, Stop
from ops.plan import typed
from ops.plan.stack_file import read
from tests.doctor.test_redaction import planted
from tests.doctor.worlds import NOW, ROOT

pytestmark = pytest.mark.pure

TOKEN: Final = "ghp_" + "A1b2" * 9
PASSWORD: Final = "correct-horse-battery"
VM: Final = "examples/vm-aws.yaml"
LOG: Final = f"2026-11-20T10:00:00.1Z + curl -H 'Authorization: Bearer {TOKEN}'\nE CUDA out of memory. {TOKEN}\n"


class Answering:
    """A live system with some answers, which contain secrets. It refuses all other questions."""

    def __init__(self, answers: Mapping[str, Any]) -> None:
        self._answers = answers

    def ask(self, call: str, /, **arguments: Any) -> Any:
        """Return the answer to a call with any arguments."""
        if call not in self._answers:
            raise Unanswered(f"nothing answers {call} with {PASSWORD}", "sign in")
        return self._answers[call]


def instance() -> dict[str, Any]:
    """Return a machine that publishes a text with a secret."""
    tags = [{"Key": "gpu-ci-runner", "Value": f"waiting: GitHub answers 401 to the App: {TOKEN}"}]
    environment = [{"name": "DB_PASSWORD", "value": PASSWORD}]
    return {"InstanceId": "i-1", "State": {"Name": "running"}, "Tags": tags, "Environment": environment}


def systems() -> dict[str, Source]:
    """Return live systems whose answers contain secrets."""
    workflow = base64.encodebytes(f"env:\n  API_KEY: {PASSWORD}\n".encode()).decode()
    return {
        "aws": Answering(
            {
                "sts.get_caller_identity": {"Account": "123456789012", "Arn": "arn:aws:iam::123456789012:user/me"},
                "ec2.describe_instances": {"Reservations": [{"Instances": [instance()]}]},
            }
        ),
        "cluster": Answering({}),
        "github": Answering(
            {
                "/rate_limit": {"resources": {"core": {"limit": 5000, "remaining": 1}}, "token": TOKEN},
                "/repos/example-org/vision": {"private": True, "temp_clone_token": PASSWORD},
                "/repos/example-org/vision/contents/.cirun.yml": {"encoding": "base64", "content": workflow},
                "/repos/example-org/vision/actions/variables": {
                    "variables": [{"name": "DEPLOY_TOKEN", "value": PASSWORD}]
                },
                "/repos/example-org/vision/actions/organization-variables": {"variables": []},
            }
        ),
        "google": Answering({}),
        "registry": Answering({}),
        "jarvis": Answering({}),
    }


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, dict[str, Any], int]:
    """Write a bundle with the command; return it with the result and the exit code."""
    monkeypatch.setattr(live, "systems", lambda _stack: systems())
    monkeypatch.setenv("MY_PASSWORD", PASSWORD)
    (tmp_path / "job.log").write_text(LOG)
    path, result = tmp_path / "new" / "bundle.tar.gz", tmp_path / "result.json"
    words = ["doctor", "--file", str(ROOT / VM), "--log", str(tmp_path / "job.log"), "--json", str(result)]

    code = main.run([*words, "--bundle", str(path)])

    return path, json.loads(result.read_text()), code


def files(path: Path) -> dict[str, str]:
    """Return the files of a bundle by their paths."""
    with tarfile.open(path) as archive:
        read = {member.name: archive.extractfile(member) for member in archive.getmembers() if member.isfile()}
        return {name: file.read().decode() for name, file in read.items() if file is not None}


def test_a_bundle_gives_the_same_results_offline(written: tuple[Path, dict[str, Any], int], tmp_path: Path) -> None:
    path, result, code = written

    again = main.run(["doctor", "--offline", str(path), "--json", str(tmp_path / "again.json")])

    assert (json.loads((tmp_path / "again.json").read_text()), again) == (result, code)
    assert code == Exit.FINDING
    states = {link["check"]: link["state"] for link in result["links"]}
    assert {name: states[name] for name in ("aws-account", "machine", "runner-online", "repository-settings", "job-log")} == {
        "aws-account": "ok", "machine": "error", "runner-online": "not checked", "repository-settings": "ok",
        "job-log": "error",
    }  # fmt: skip
    assert states["queued-jobs"] == "unanswered"


def test_an_unpacked_bundle_gives_the_same_results(written: tuple[Path, dict[str, Any], int], tmp_path: Path) -> None:
    path, result, _ = written
    with tarfile.open(path) as archive:
        archive.extractall(tmp_path / "unpacked", filter="data")

    main.run(
        ["doctor", "--offline", str(tmp_path / "unpacked" / "gpu-ci-doctor"), "--json", str(tmp_path / "again.json")]
    )

    assert json.loads((tmp_path / "again.json").read_text()) == result


def test_a_bundle_has_the_results_the_plan_and_the_versions(written: tuple[Path, dict[str, Any], int]) -> None:
    path, result, _ = written
    found = files(path)

    assert json.loads(found["gpu-ci-doctor/result.json"]) == result
    assert {"level", "subject", "seen", "means", "fix"} == set(json.loads(found["gpu-ci-doctor/plan.json"])[0])
    assert json.loads(found["gpu-ci-doctor/versions.json"])["pulumi"].startswith("3.")


def test_no_file_of_a_bundle_has_a_secret_of_an_answer(written: tuple[Path, dict[str, Any], int]) -> None:
    path, result, _ = written
    texts = [json.dumps(result), *files(path).values()]
    encoded = [part for text in texts for part in re.findall(r"[A-Za-z0-9+/]{24,}={0,2}", text)]
    texts += [base64.b64decode(part[: len(part) // 4 * 4]).decode(errors="replace") for part in encoded]

    assert [text for text in texts if TOKEN in text or PASSWORD in text] == []


def test_the_names_of_users_are_not_in_the_archive(written: tuple[Path, dict[str, Any], int]) -> None:
    with tarfile.open(written[0]) as archive:
        assert {(member.uid, member.uname) for member in archive.getmembers()} == {(0, "")}


def test_a_stack_file_in_a_bundle_has_no_encrypted_value(tmp_path: Path) -> None:
    text = (ROOT / "examples" / "eks-arc.yaml").read_text()
    recording = Recording(now=NOW, stack_file="Pulumi.x.yaml", stack_text=f"encryptionsalt: v1:abc=:v1:def\n{text}")

    bundle.save(tmp_path / "x.tar.gz", recording, {})
    found = files(tmp_path / "x.tar.gz")["gpu-ci-doctor/Pulumi.x.yaml"]

    assert "mS0tT3Vyc0lz" not in found
    assert re.findall("v1:.*", found) == ["v1:cmVkYWN0ZWQ=:cmVkYWN0ZWQ="] * 2
    with bundle.opened(tmp_path / "x.tar.gz") as folder:
        assert typed.settings(read(folder / "Pulumi.x.yaml")).runners


@given(st.lists(planted(), min_size=1, max_size=4), st.sampled_from(["answer", "arguments", "unanswered", "extra"]))
@settings(max_examples=40, deadline=None)
def test_no_planted_secret_is_in_any_file(cases: list[tuple[Any, str]], place: str) -> None:
    exchanges = [_planted(place, number, value, secret) for number, (value, secret) in enumerate(cases)]
    recording = Recording(
        now=NOW, stack_file="x.yaml", stack_text="config: {}\n", exchanges={"github": tuple(exchanges)}
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "x.tar.gz")
        bundle.save(path, recording, {"result.json": [value for value, _ in cases] if place == "extra" else []})
        found = files(path)

    texts = [text.replace("\\n", "\n") for text in found.values()]
    assert [secret for _, secret in cases for text in texts for part in _parts(secret) if part in text] == []


def _planted(place: str, number: int, value: Any, secret: str) -> Exchange:
    """Return a question with a secret in one of its places."""
    if place == "unanswered":
        text = f"it refuses token: {secret}"
        return Exchange(call=f"/{number}", arguments={}, unanswered=text, fix=text)
    if place == "arguments":
        return Exchange(call=f"/{number}", arguments={"body": value}, answer={})
    return Exchange(call=f"/{number}", arguments={}, answer=value if place == "answer" else None)


def _parts(secret: str) -> Iterator[str]:
    """Yield the secret, and the lines of a key in PEM form."""
    yield secret
    yield from secret.split("\n")[1:-1]


def packed(names: Mapping[str, bytes]) -> bytes:
    """Return an archive with these files."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as archive:
        for name, text in names.items():
            member = tarfile.TarInfo(name)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text))
    return content.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no archive",
        packed({"a/doctor.json": b"{}"})[:40],
        packed({"../../escaped": b"x"}),
        packed({"a/doctor.json": b"{}"}),
        packed({}),
    ],
    ids=["empty", "text", "cut", "outside", "nothing", "no files"],
)
def test_a_file_that_is_not_a_bundle_is_refused(
    tmp_path: Path, content: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.tar.gz"
    path.write_bytes(content)

    assert main.run(["doctor", "--offline", str(path)]) == Exit.WRONG
    assert "Traceback" not in capsys.readouterr().err


def test_a_bundle_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    recording = Recording(now=NOW, stack_file="x.yaml", stack_text="")

    with pytest.raises(Stop, match="name another file with --bundle"):
        bundle.save(tmp_path / "file" / "x.tar.gz", recording, {})


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--repo", "vision"], "--repo: vision is not a repository with its owner; write OWNER/NAME"),
        (["--offline", ".", "--log", "x"], "--offline excludes --bundle, --log and --repo"),
        (["--log", "no-such-file.log", "--only", "job-log"], "name a text file with --log"),
        (
            ["--offline", "no-such-file"],
            "no-such-file is not a bundle (No such file or directory); name a file or a folder",
        ),
    ],
)
def test_a_wrong_argument_is_refused(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "systems", lambda _stack: systems())

    assert main.run(["doctor", "--file", str(ROOT / VM), *words]) == Exit.WRONG
    assert message in capsys.readouterr().err
