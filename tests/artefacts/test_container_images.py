"""The container images in docker/: linters of every Dockerfile and script, their pins, and their scripts with fake commands."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from gpu_ci.knowledge.software.frameworks import TORCH, torch
from gpu_ci.knowledge.software.runner_releases import NEWEST
from gpu_ci.knowledge.software.versions import dotted
from gpu_ci.repository.actions import UV
from tests.artefacts.fake_commands import FakeCommands, Run
from tests.artefacts.linters import linter

pytestmark = pytest.mark.artefacts

ROOT: Final = Path(__file__).parents[2]
DOCKERFILES: Final = sorted((ROOT / "docker").glob("*/Dockerfile"))
LOCKS: Final = sorted((ROOT / "docker" / "pytorch" / "locks").glob("*.txt"))
PYTORCH: Final = ROOT / "docker" / "pytorch" / "Dockerfile"
RUNNER: Final = ROOT / "docker" / "runner-gpu"
INSTALL: Final = "docker/pytorch/install-packages"
T4: Final = "Tesla T4, 580.173.02, 15360 MiB"
WORDS: Final = {
    "runner-gpu": ("runtime", "12.9", "1"),
    "pytorch": ("development", "2.14.1-cuda13.0"),
    "gpu-tests": (),
}
"""The arguments of each image's check."""

each_dockerfile = pytest.mark.parametrize("path", DOCKERFILES, ids=lambda path: path.parent.name)


def arguments(path: Path) -> dict[str, str]:
    """Return the defaults of a Dockerfile's arguments."""
    return dict(re.findall(r"^ARG (\w+)=(\S+)$", path.read_text(), re.MULTILINE))


@each_dockerfile
def test_every_base_is_an_argument_with_an_exact_version(path: Path) -> None:
    bases = [name for name in re.findall(r"^FROM (\S+)", path.read_text(), re.MULTILINE) if not name.islower()]
    pins = [value for name, value in arguments(path).items() if name.endswith("_IMAGE")]

    assert {name for name in bases if not re.fullmatch(r"\$\{\w+_IMAGE\}", name)} == set()
    assert [pin for pin in pins if not re.search(r":\d+\.\d+", pin)] == []
    assert "latest" not in path.read_text()


@each_dockerfile
def test_the_last_user_is_not_root(path: Path) -> None:
    assert re.findall(r"^USER (\S+)$", path.read_text(), re.MULTILINE)[-1] == "1001"


@each_dockerfile
def test_the_context_has_only_the_files_that_are_copied(path: Path) -> None:
    first, *allowed = (path.parent / ".dockerignore").read_text().split()
    copied = re.findall(r"^COPY (?:--chmod=\d+ )?([\w-]+) ", path.read_text(), re.MULTILINE)
    bound = re.findall(r"source=([\w.-]+)", path.read_text())

    assert first == "*"
    assert [name for name in allowed if not list(path.parent.glob(name.removeprefix("!")))] == []
    assert [name for name in (*copied, *bound) if not any(line.startswith(f"!{name}") for line in allowed)] == []


def test_an_image_has_the_same_pin_everywhere() -> None:
    pins: dict[str, set[str]] = {}
    for path in DOCKERFILES:
        for value in (value for name, value in arguments(path).items() if name.endswith("_IMAGE")):
            name, _, tag = value.partition(":")
            pins.setdefault(name, set()).add(tag.partition("@")[0])

    assert {name: tags for name, tags in pins.items() if len(tags) > 1} == {}
    assert pins["ghcr.io/astral-sh/uv"] == {UV}


@each_dockerfile
def test_renovate_sees_every_base(path: Path) -> None:
    """Its manager for Dockerfiles reads the arguments that a FROM names."""
    named = re.findall(r"^FROM \$\{(\w+)\}", path.read_text(), re.MULTILINE)

    assert {name for name in arguments(path) if name.endswith("_IMAGE")} == set(named)


def test_renovate_updates_the_bases_and_the_locks_of_images() -> None:
    lines = (ROOT / ".github/renovate.json5").read_text().splitlines()
    settings: Any = yaml.safe_load("\n".join(line for line in lines if not line.lstrip().startswith("//")))
    patterns = [pattern.strip("/") for pattern in settings["pip-compile"]["managerFilePatterns"]]
    locks = [path.relative_to(ROOT).as_posix() for path in [*LOCKS, *(ROOT / "docker").glob("*/requirements.txt")]]

    assert "dockerfile" in settings["enabledManagers"]
    assert "docker:pinDigests" in settings["extends"]
    assert [lock for lock in locks if not any(re.fullmatch(pattern, lock) for pattern in patterns)] == []
    assert [lock for lock in locks if "uv pip compile" not in (ROOT / lock).read_text()[:200]] == []


def test_the_runner_is_the_newest_known_release_by_digest() -> None:
    pin = arguments(RUNNER / "Dockerfile")["RUNNER_IMAGE"]

    assert re.fullmatch(rf"ghcr\.io/actions/actions-runner:{re.escape(NEWEST)}@sha256:[0-9a-f]{{64}}", pin)


@pytest.mark.parametrize("path", LOCKS, ids=lambda path: path.stem)
def test_a_lock_is_a_known_build_of_torch_with_a_hash_for_every_package(path: Path) -> None:
    version, _, cuda = path.stem.partition("-cuda")
    entries = re.findall(r"^(\S+==\S+) \\\n    --hash=sha256:", path.read_text(), re.MULTILINE)
    packages = dict(entry.split("==") for entry in entries)

    assert packages["torch"] == version
    assert path.with_suffix(".in").read_text() == f"torch=={version}\n"
    assert len(entries) == len(re.findall(r"^\w", path.read_text(), re.MULTILINE))
    assert dotted(torch(version).cuda) == cuda
    assert packages["cuda-toolkit"].startswith(f"{cuda}.")
    assert torch(version) in TORCH.values()


def test_the_default_of_the_pytorch_image_is_a_lock() -> None:
    assert arguments(ROOT / "docker" / "pytorch" / "Dockerfile")["TORCH"] in [path.stem for path in LOCKS]


def test_uv_compiles_bytecode_and_copies_from_its_cache() -> None:
    """A cache mount is another file system, so that links to it would not be part of the image."""
    text = PYTORCH.read_text()

    assert "UV_LINK_MODE=copy" in text
    assert "UV_COMPILE_BYTECODE=1" in text
    assert text.count("--mount=type=cache,target=/root/.cache/uv") == 2


def test_only_the_image_for_development_has_uv() -> None:
    stages = re.split(r"^FROM ", PYTORCH.read_text(), flags=re.MULTILINE)[1:]
    with_uv = {stage.splitlines()[0].split()[-1]: "COPY --from=uv" in stage for stage in stages}

    assert {name: with_uv[name] for name in ("runtime", "development")} == {"runtime": False, "development": True}


class Box:
    """The inside of an image, with fakes of its tools and the real compilers of this machine."""

    def __init__(self, folder: Path) -> None:
        self.home, self.root = folder / "home", folder / "local"
        self.home.mkdir()
        (self.root / "cuda-12.9").mkdir(parents=True)
        (self.root / "bin").mkdir()
        (self.root / "smoke").symlink_to(ROOT / "docker" / "gpu-tests" / "tests")
        (self.root / "bin" / "python").write_text(f'#!/bin/bash\nexec {sys.executable} "$@"\n')
        (self.root / "bin" / "python").chmod(0o755)
        (self.home / "run.sh").touch(mode=0o755)
        self.stubs = FakeCommands(folder)
        for tool in ("ccache", "cmake", "curl", "git", "git-lfs", "jq", "ninja", "python3", "python3.12", "uv"):
            self.stubs.add(tool, f"echo {tool} 1.0")
        for name, real in (("gcc", "gcc"), ("cc", "gcc"), ("g++", "g++")):
            self.stubs.add(name, f'PATH={os.environ["PATH"]} exec {linter(real)} "$@"')
        self.stubs.add("make", f'exec {linter("make")} "$@"')
        self.stubs.add("python", "cat >/dev/null")
        self.stubs.add("nproc", "echo 4")
        self.stubs.add("awk", "echo 15.5 GiB")
        self.stubs.add("df", "echo Avail; echo 40G")
        self.stubs.add("id", "echo 1001")
        self.stubs.add("ldconfig", "echo '\tlibcudnn.so.9 (libc6,x86-64) => /usr/lib/libcudnn.so.9'")
        self.stubs.add("nvidia-smi", f"echo '{T4}'")

    def check(self, *words: str, image: str = "runner-gpu") -> Run:
        """Run the script of an image with the arguments."""
        environment = {
            "HOME": str(self.home),
            "RUNNER_HOME": str(self.home),
            "CUDA_ROOT": str(self.root),
            "SMOKE": str(self.root),
            "CERTIFICATES": __file__,
        }
        path = f"docker/{image}/check-image"
        return self.stubs.run_as_called(path, (ROOT / path).read_text(), *words, environment=environment)


@pytest.fixture
def box(open_path: Path) -> Box:
    return Box(open_path)


@pytest.mark.parametrize(
    ("image", "last"),
    [
        ("runner-gpu", "The image is a runtime image of CUDA 12.9.\n"),
        ("pytorch", "The image is a development image of torch 2.14.1-cuda13.0.\n"),
        ("gpu-tests", "The image is good. Its GPU tests need a GPU.\n"),
    ],
)
def test_a_good_image_passes_and_lists_its_tools(box: Box, image: str, last: str) -> None:
    run = box.check(*WORDS[image], image=image)

    assert (run.code, run.err) == (0, "")
    assert "uv 1.0\n" in run.out
    assert run.out.endswith(last)


@pytest.mark.parametrize("image", WORDS)
@pytest.mark.parametrize(
    ("compiler", "broken", "message"),
    [
        ("gcc", "--sysroot=/nonexistent", "stdlib.h: No such file"),
        ("g++", "-nostdinc++", "vector: No such file"),
        ("g++", "-B/nonexistent -nostartfiles", "fails"),
        ("g++", "", "g++"),
    ],
)
def test_an_image_must_compile_c_and_c_plus_plus(
    box: Box, image: str, compiler: str, broken: str, message: str
) -> None:
    """Break the real compiler as a missing package does: libc6-dev, libstdc++-dev, crt1.o, g++."""
    for name in {compiler, "cc"} if compiler == "gcc" else {compiler}:
        (box.stubs.path / name).unlink()
        if broken:
            box.stubs.add(name, f'PATH={os.environ["PATH"]} exec {linter(compiler)} {broken} "$@"')
    run = box.check(*WORDS[image], image=image)

    assert run.code == 1
    assert message in run.err


@pytest.mark.parametrize("image", WORDS)
def test_the_last_step_of_every_target_checks_the_image(image: str) -> None:
    stages = re.split(r"^FROM ", (ROOT / "docker" / image / "Dockerfile").read_text(), flags=re.MULTILINE)[1:]
    last = [re.findall(r"^(?:RUN|COPY|ADD) .*", stage, re.MULTILINE)[-1] for stage in stages if "\nUSER 1001" in stage]
    last += re.findall(r"^RUN .*", stages[-1], re.MULTILINE)[-1:]

    assert last != []
    assert [step for step in last if not step.startswith("RUN check-image")] == []


def test_devel_needs_the_compiler_of_the_stated_version_and_compiles_cuda(box: Box) -> None:
    """Compile the program as C++ after the parts of CUDA that only nvcc knows are defined."""
    missing = box.check("devel", "12.9")
    cuda = f"-D__global__= -DCUDNN_MAJOR=9 -DCUBLAS_STATUS_SUCCESS=0 -x c++ -I{box.root}"
    compiles = f'PATH={os.environ["PATH"]} exec {linter("g++")} {cuda} "$@"'
    for version in ("13.0", "12.9"):
        version_or = f'[ "$1" != --version ] || {{ echo "release {version}, V"; exit; }}\n'
        box.stubs.add("nvcc", version_or + compiles)
        last = box.check("devel", "12.9")
        assert (last.code, f"not that of CUDA 12.9: release {version}" in last.err) == (1, version == "13.0")
    for header in ("cublas_v2.h", "cudnn.h"):
        assert "cublas_v2.h: No such file" in last.err
        (box.root / header).touch()

    assert (missing.code, box.check("devel", "12.9").code) == (1, 0)


@pytest.mark.parametrize(
    ("image", "command", "body", "message"),
    [
        ("runner-gpu", "sudo", "", "sudo is installed, so a job can become root"),
        ("runner-gpu", "nvcc", "", "nvcc is in the target runtime"),
        ("runner-gpu", "id", "echo 0", "the user has the id 0, but the volumes of a runner belong to 1001"),
        ("runner-gpu", "ldconfig", "echo nothing", "cuDNN 9 is missing"),
        ("runner-gpu", "git-lfs", "echo broken; exit 1", "git-lfs fails: broken"),
        ("runner-gpu", "nvidia-smi", "echo No devices were found; exit 6", "nvidia-smi fails: No devices were found"),
        ("runner-gpu", "nvidia-smi", f"echo '{T4}'; echo '{T4}'", "2 GPUs respond, not 1"),
        ("runner-gpu", "nvidia-smi", "true", "0 GPUs respond, not 1"),
        ("pytorch", "id", "echo 0", "the user has the id 0, not 1001"),
        ("pytorch", "python", f'exec {sys.executable} -S "$@"', "No module named 'torch'"),
        ("pytorch", "git", "exit 1", "git is missing"),
        ("pytorch", "uv", "exit 1", "uv is missing"),
        ("gpu-tests", "python3.12", "exit 127", "python3.12 is missing"),
        ("gpu-tests", "git", 'echo; [ "$1" != config ]', "git refuses the repository of another user in /workspace"),
        ("gpu-tests", "uv", '[ "$1" != venv ]', "uv finds no Python 3.12"),
        ("gpu-tests", "../local/bin/python", "exit 2", "the smoke test cannot be imported"),
    ],
)
def test_a_fault_of_the_image_is_reported(box: Box, image: str, command: str, body: str, message: str) -> None:
    box.stubs.add(command, body)
    run = box.check(*WORDS[image], image=image)

    assert run.code == 1
    assert message in run.err


def test_every_missing_part_is_reported_at_once(box: Box) -> None:
    (box.home / "run.sh").unlink()
    (box.stubs.path / "cmake").unlink()
    run = box.check("runtime", "13.0")

    assert run.code == 1
    assert [line.partition(": ")[2].split()[0] for line in run.err.splitlines()] == [
        str(box.home / "run.sh"),
        "cmake",
        "CUDA",
    ]


@pytest.mark.parametrize("words", [(), ("runtime",), ("base", "12.9"), ("runtime", "12"), ("runtime", "12.9", "all")])
def test_wrong_arguments_are_refused(box: Box, words: tuple[str, ...]) -> None:
    run = box.check(*words)

    assert run.code == 2
    assert run.err.startswith("usage: check-image")


@pytest.mark.parametrize(
    ("managers", "calls"),
    [
        (("apt-get", "apk"), ["apt-get update", "apt-get install --yes --no-install-recommends g++ gcc libc6-dev git"]),
        (("apk",), ["apk add --no-cache build-base git"]),
    ],
)
def test_packages_come_from_the_package_manager_of_the_base(
    tmp_path: Path, managers: tuple[str, ...], calls: list[str]
) -> None:
    stubs = FakeCommands(tmp_path)
    for name in managers:
        stubs.add(name)
    lists = {"APT_LISTS": str(tmp_path / "lists")}
    run = stubs.run_as_called(INSTALL, (ROOT / INSTALL).read_text(), "git", environment=lists)

    assert run.code == 0
    assert stubs.calls() == calls


def test_a_base_without_a_known_package_manager_is_refused(tmp_path: Path) -> None:
    script, stubs = (ROOT / INSTALL).read_text(), FakeCommands(tmp_path)

    assert stubs.run_as_called(INSTALL, script, "gcc").code == 1
    assert stubs.run_as_called(INSTALL, script).code == 2
