"""A fake gcloud on its own PATH, for commands in a plan or a state."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from tests.artefacts import gcloud_on_path
from tests.artefacts.callers import Run, run_as_called

ROOT: Final = Path(__file__).resolve().parents[2]
LOOKS: Final = {"list", "describe", "describe-from-family", "get-guest-attributes"}


class FakeGcloud:
    """A project with machines and images, as gcloud reports it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        (folder / "bin").mkdir(parents=True)
        gcloud_on_path.put(folder / "bin")
        (folder / "plan.json").write_text("{}")

    def run(self, command: str, environment: Mapping[str, str]) -> Run:
        """Run a command as Pulumi does, in the project and with the stated variables."""
        surroundings = {
            "PATH": f"{self._folder / 'bin'}:/usr/bin:/bin",
            "FAKE_GCLOUD": str(self._folder),
            "GPU_IMAGE_POLL_SECONDS": "0.01",
        }
        variables = surroundings | dict(environment)
        text = f"command:local:Command {command}"
        return run_as_called(text, command, world=self._folder, folder=ROOT, environment=variables)

    @property
    def images(self) -> dict[str, Any]:
        """The images that there are, by name."""
        images: dict[str, Any] = json.loads((self._folder / "state.json").read_text())["images"]
        return images

    def calls(self) -> list[str]:
        """Return the verbs of the calls since the last time, without read-only calls."""
        file = self._folder / "calls.jsonl"
        asked = [
            [word for word in json.loads(line) if not word.startswith("--")] for line in file.read_text().splitlines()
        ]
        file.unlink()
        return [" ".join(words[2:4]) for words in asked if words[3] not in LOOKS]
