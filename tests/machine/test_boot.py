"""Tests of single commands of a machine's program against servers that speak the APIs."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from gpu_ci.back_ends.shared.machine.user_data import program, settings, units
from tests.artefacts.fake_commands import FakeCommands, Run
from tests.machine.boots import CLOUDS, Cloud, boot_args
from tests.machine.servers import (
    ACCESS_KEY,
    GOOGLE_TOKEN,
    INSTALLATION_TOKEN,
    METADATA_TOKEN,
    SECRET_KEY,
    SESSION_TOKEN,
    Answer,
    Clouds,
    Servers,
    json_answer,
    private_key,
)

pytestmark = pytest.mark.artefacts

LOGGED: Final = ("base64", "curl", "cut", "date", "openssl", "pgrep", "python3", "sed", "systemctl", "tr")
"""Commands that run with a log of their arguments."""
SECRETS: Final = (
    *(ACCESS_KEY, SECRET_KEY, SESSION_TOKEN, GOOGLE_TOKEN, METADATA_TOKEN, INSTALLATION_TOKEN),
    *("PRIVATE KEY", "eyJhbGci"),
)
JITCONFIG: Final = ("github", "POST", "orgs/acme/actions/runners/generate-jitconfig", "{}")


class Program:
    """The program of a machine below a folder; waits are short, and the commands of a GPU are fake."""

    def __init__(self, folder: Path, certificate: Path, *words: Any, **options: Any) -> None:
        self.clouds = Clouds(archive=b"", key=private_key())
        self.servers = Servers(self.clouds, certificate)
        plain, tls = self.servers.ports
        (folder / ".curlrc").write_text(
            f'connect-to = "169.254.169.254:80:127.0.0.1:{plain}"\nconnect-to = "::127.0.0.1:{tls}"\ninsecure\n'
        )
        self.root = folder / "root"
        for path in ("etc", "proc", "run", "var/lib"):
            (self.root / path).mkdir(parents=True)
        args = boot_args(*words, idle_stop_minutes=0, **options)
        (self.root / "etc/gpu-ci.conf").write_text(settings(args), encoding="utf-8")
        (self.root / "proc/uptime").write_text("100.25 1.0\n", encoding="utf-8")
        self.commands, self.home = FakeCommands(folder), folder
        self.file = folder / "gpu-ci"
        self.file.write_text(program(args).replace("\nROOT=\n", f"\nROOT={self.root}\n"), encoding="utf-8")
        for name in LOGGED:
            real = sys.executable if name == "python3" else shutil.which(name)
            assert real, name
            self.commands.add(name, f'exec {real} "$@"')
        self.commands.add("sleep", "exec /bin/sleep 0.02")
        self.commands.add("nvidia-smi", "echo 37")

    def call(self, *words: str) -> Run:
        """Run one command of the program."""
        return self.commands.run(
            ["/bin/bash", str(self.file), *words], {"CURL_HOME": str(self.home), "LC_ALL": "C.UTF-8"}
        )

    def sleeps(self) -> list[str]:
        """Return the waits."""
        return [call for call in self.commands.calls() if call.startswith("sleep ")]


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a certificate with its key."""
    file = tmp_path_factory.mktemp("tls") / "both.pem"
    words = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-days", "1"]
    subprocess.run([*words, "-keyout", str(file), "-out", f"{file}.crt"], check=True, capture_output=True)
    file.write_text(file.read_text() + file.with_name("both.pem.crt").read_text())
    return file


@pytest.fixture
def make(tmp_path: Path, certificate: Path) -> Iterator[Callable[..., Program]]:
    """Return a function that prepares the program of a machine."""
    made: list[Program] = []

    def prepare(*words: Any, **options: Any) -> Program:
        made.append(Program(tmp_path, certificate, *words, **options))
        return made[-1]

    yield prepare
    for one in made:
        one.servers.close()


Make = Callable[..., Program]


@pytest.mark.parametrize(
    ("fault", "status", "sleep"),
    [
        (json_answer(502, {}), "waiting: GitHub answers 502: ", "sleep 10"),
        ((0, {}, ""), "waiting: GitHub answers 000: ", "sleep 10"),
        (json_answer(429, {"message": "slow"}, **{"Retry-After": "77"}), "waiting: GitHub answers 429: slow", "77"),
        (json_answer(403, {"message": "rate"}, **{"Retry-After": "60"}), "waiting: GitHub answers 403: rate", "60"),
    ],
)
def test_a_failed_request_is_repeated(make: Make, fault: Answer, status: str, sleep: str) -> None:
    one = make()
    one.clouds.faults["generate-jitconfig"] = [fault, fault]
    run = one.call(*JITCONFIG)

    assert run.code == 0
    assert one.clouds.status[0].startswith(status.strip())
    assert any(call.endswith(sleep) for call in one.sleeps())


def test_an_expired_token_is_replaced(make: Make) -> None:
    one = make()
    one.clouds.faults["generate-jitconfig"] = [json_answer(401, {"message": "Bad credentials"})]

    assert one.call(*JITCONFIG).code == 0
    assert len(one.clouds.lines("access_tokens")) == 2


@pytest.mark.parametrize("skew", [-7200, 7200])
def test_the_time_of_github_is_used_if_the_clock_is_wrong(make: Make, skew: int) -> None:
    one = make()
    one.clouds.skew = skew
    run = one.call(*JITCONFIG)

    assert (run.code, one.clouds.status) == (0, [])
    assert f"the clock is off by {-skew // 100}" in run.err


def test_the_runner_group_is_found_by_its_name(make: Make) -> None:
    one = make(runner_group="gpu team")
    run = one.call("eval", "find_group; find_group; echo $GROUP_ID")

    assert (run.out, len(one.clouds.lines("runner-groups"))) == ("7\n", 1)


def test_an_unknown_runner_group_fails_clearly(make: Make) -> None:
    one = make(runner_group="they're")

    assert one.call("find_group").code == 77
    assert one.clouds.status == ["failed: GitHub has no runner group they re for this App"]


def test_a_registration_is_deleted_although_a_token_is_old_and_a_request_fails(make: Make) -> None:
    one = make()
    one.clouds.faults["DELETE"] = [json_answer(401, {}), json_answer(502, {})]
    run = one.call("eval", "TOKEN=old RUNNER_ID=4711; deregister")

    assert (run.code, len(one.clouds.lines("DELETE"))) == (0, 3)
    assert "stays registered" not in run.err


def test_a_stop_does_not_wait_for_github(make: Make) -> None:
    one = make()
    one.clouds.faults["DELETE"] = [json_answer(502, {})] * 9
    run = one.call("eval", "RUNNER_ID=4711; deregister")

    assert (run.code, len(one.clouds.lines("DELETE"))) == (0, 3)
    assert "runner 4711 stays registered" in run.err


def test_a_status_is_published_once_and_repeated_after_a_failure(make: Make) -> None:
    one = make()
    one.clouds.faults["POST ec2.eu-west-1"] = [json_answer(503, {})]
    texts = [one.call("status", "online").err for _ in range(3)]

    assert ["cannot be published" in text for text in texts] == [True, False, False]
    assert one.clouds.status == ["online"]


@pytest.mark.parametrize("cloud", CLOUDS)
def test_metrics_are_published_each_minute(make: Make, cloud: Cloud) -> None:
    one = make(cloud)
    one.call("status", "online")
    one.call("watch")

    assert one.clouds.metrics == [{"RunnerOnline": 1.0, "RunnerBusy": 0.0, "GpuUtilization": 37.0}]


@pytest.mark.parametrize(
    ("answer", "use"), [("exit 9", 0.0), ("echo 12; echo 'WARNING: infoROM is corrupted'; exit 14", 12.0)]
)
def test_metrics_of_a_damaged_gpu_are_published(make: Make, answer: str, use: float) -> None:
    one = make()
    one.commands.add("nvidia-smi", answer)
    one.call("watch")

    assert one.clouds.metrics == [{"RunnerOnline": 0.0, "RunnerBusy": 0.0, "GpuUtilization": use}]


@pytest.mark.parametrize("cloud", CLOUDS)
def test_no_secret_is_in_arguments_output_or_files(make: Make, cloud: Cloud) -> None:
    one = make(cloud)
    one.clouds.faults["generate-jitconfig"] = [json_answer(500, {"message": "down"})]
    one.clouds.faults["access_tokens"] = [json_answer(401, {"message": "expired"})]
    runs = [one.call(*JITCONFIG), one.call("status", "online"), one.call("watch")]
    places = {path: path.read_text(encoding="latin-1") for path in one.root.rglob("*") if path.is_file()}
    texts = [*one.commands.calls(), *(run.out + run.err for run in runs), *places.values()]

    assert [run.code for run in runs] == [0, 0, 0]
    assert [secret for text in texts for secret in SECRETS if secret in text] == []


def test_check_names_units_that_exist() -> None:
    args = boot_args()
    named = set(re.findall(r"gpu-ci[a-z-]*\.(?:service|timer)", program(args)))

    assert named - set(units(args)) == set()


def test_the_model_of_the_check_is_that_of_the_script_in_repositories() -> None:
    template = Path("gpu_ci/repository/templates/check_ort_cuda.py.j2").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    exec(template[template.index("def field") : template.index("def installed")], names)  # noqa: S102

    assert f'bytes.fromhex("{names["model"]().hex()}")' in program(boot_args())
    assert json.dumps("CUDAExecutionProvider") in program(boot_args())
