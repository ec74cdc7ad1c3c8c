"""A support bundle: one archive with the recorded answers, the results, the plan and the versions, without secrets."""

from __future__ import annotations

import io
import json
import platform
import tarfile
import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from ops.doctor.world.recording import Recording, write
from ops.doctor.world.redaction import redacted, stack_file_without_secrets
from ops.outcome import Exit, Stop

RESULT: Final = "result.json"
PLAN: Final = "plan.json"
VERSIONS: Final = "versions.json"
_PACKAGES: Final = (
    "pulumi",
    "pulumi-aws",
    "pulumi-gcp",
    "pulumi-kubernetes",
    "pulumi-github",
    "pydantic",
    "boto3",
    "kubernetes",
)
_LARGEST: Final = 200 * 1024 * 1024
"""Bytes of an unpacked bundle that are read at most."""


def versions() -> dict[str, str]:
    """Return the versions of this program, its packages and its platform."""
    found = {"python": platform.python_version(), "platform": platform.platform(terse=True)}
    for name in _PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "not installed"
    return found


def save(path: Path, recording: Recording, extra: Mapping[str, Any], known: frozenset[str] = frozenset()) -> None:
    """Write a bundle.

    Args:
        path: the archive.
        recording: the answers. They are cleaned again, also where the recorder has cleaned them.
        extra: the name of a file to its content as JSON.
        known: values that are secrets, in any place.

    """
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "gpu-ci-doctor")
        write(recording.cleaned(lambda value: redacted(value, known), stack_file_without_secrets), root)
        for name, content in {**extra, VERSIONS: versions()}.items():
            text = json.dumps(redacted(content, known), indent=1, sort_keys=True, ensure_ascii=False)
            (root / name).write_text(f"{text}\n", encoding="utf-8")
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w:gz") as archive:
            for file in sorted(root.rglob("*")):
                archive.add(file, file.relative_to(root.parent).as_posix(), recursive=False, filter=_anonymous)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(packed.getvalue())
    except OSError as fault:
        raise Stop(
            Exit.WRONG, f"{path} cannot be written ({fault.strerror}); name another file with --bundle"
        ) from None


def _anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Remove the name of the user from an entry."""
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


@contextmanager
def opened(path: Path) -> Generator[Path]:
    """Yield the folder of a recording: the folder itself, or the content of a bundle until the block ends."""
    if path.is_dir():
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        try:
            with tarfile.open(path) as archive:
                if sum(member.size for member in archive.getmembers()) > _LARGEST:
                    raise Stop(Exit.WRONG, f"{path} is larger than 200 MiB; name a bundle that the doctor wrote")
                archive.extractall(folder, filter="data")
        except (OSError, EOFError, tarfile.TarError) as fault:
            reason = getattr(fault, "strerror", None) or fault
            wrong = f"{path} is not a bundle ({reason}); name a file or a folder that `make doctor BUNDLE=…` wrote"
            raise Stop(Exit.WRONG, wrong) from None
        entries = list(Path(folder).iterdir())
        yield entries[0] if len(entries) == 1 and entries[0].is_dir() else Path(folder)
