"""Update one runner of an old cirun file to the current keys.

There are two old formats of a runner. The nested one has `provider` and `machine`. The flat one has the current keys
and some of the nested format: `zone`, `project`, `service_account` and others. All values are plain data. A key
without a known meaning keeps its place and its value.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from gpu_ci.knowledge.nearest import did_you_mean
from gpu_ci.repository.cirun import ADDED_BY_CIRUN, EXTRA_KEYS, GCP_SCOPE, KEYS
from gpu_ci.stack_file.sections.cirun import cirun_label

_DROPPED: Final = {
    "workflow": "dropped: cirun has not read it since July 2022; every workflow that requests the label is served",
    "count": "dropped: since February 2022 cirun starts one runner for each job",
    "run_only_when_trigger_by": "dropped: cirun does not read it; grant access in .access.yml",
    "env": "dropped: cirun has no such key; values for the job belong in the workflow's env",
    "username": "dropped: cirun has no such key; the image decides who runs the job",
    "local_ssd_count": "dropped: cirun attaches no local SSD",
    "setup": "dropped: cirun does not run setup steps; put them into the image or the first steps of the workflow",
}
"""Keys of a runner without a replacement."""
_PARTS: Final = {
    "provider": {"name": "cloud", "project": "project", "region": "region", "zone": "zone"},
    "machine": {
        "type": "instance_type",
        "gpu": "gpu",
        "image": "machine_image",
        "preemptible": "preemptible",
        "serviceAccount": "service_account",
        "serviceAccountScopes": "service_account_scopes",
    },
}
"""The maps of the nested format, and the flat name of each of their keys."""
_ACCOUNT: Final = ("service_account", "serviceAccount")
_SCOPES: Final = ("service_account_scopes", "serviceAccountScopes")


@dataclass(frozen=True, slots=True, order=True)
class Note:
    """One remark about the old file."""

    path: str
    """The place in the old file."""
    text: str
    """The change, and what remains to be done by hand."""
    changed: bool = True
    """False if the place is not changed."""


def updated(entry: dict[str, Any], path: str) -> tuple[dict[str, Any], list[Note]]:
    """Return the runner at `path` of the old file with current keys, and the notes about it."""
    runner = _Runner(entry, path)
    runner.update()
    return runner.values, runner.notes


class _Runner:
    """A runner during its migration."""

    def __init__(self, entry: dict[str, Any], path: str) -> None:
        self.values = dict(entry)
        self.notes: list[Note] = []
        self._path = path
        self._places = {key: f"{path}.{key}" for key in entry}

    def update(self) -> None:
        """Move every known key, drop those without a replacement, and add notes about unknown keys."""
        nested = self._flatten()
        if "spot" in self.values:
            self._take(self.values.pop("spot"), "preemptible", self._places["spot"])
        if self.values.get("cloud") == "gcp":
            self._zone()
            self._extra()
        self._gpu()
        self._image()
        self._labels(nested=nested)
        for key in [key for key in self.values if key in _DROPPED]:
            self._note(key, _DROPPED[key])
            del self.values[key]
        for key, place in self._places.items():
            if key in self.values and place != f"{self._path}.{key}":
                self.notes.append(Note(place, f"moved to {key}"))
        self._unknown()

    def _flatten(self) -> bool:
        """Move the keys of `provider` and `machine` to the runner. Return False if it has neither."""
        parts = [part for part in _PARTS if isinstance(self.values.get(part), dict)]
        for part in parts:
            rest = dict(self.values[part])
            for old, new in _PARTS[part].items():
                if old in rest and (new in KEYS or self.values.get("cloud") == "gcp"):
                    self._take(rest.pop(old), new, f"{self._path}.{part}.{old}")
            for old in rest.keys() & _DROPPED.keys():
                self.notes.append(Note(f"{self._path}.{part}.{old}", _DROPPED[old]))
                del rest[old]
            if rest or not self.values[part]:
                self.values[part] = rest
            else:
                del self.values[part]
        return bool(parts)

    def _take(self, value: Any, new: str, place: str) -> None:
        """Move a value to its current key, unless that key is stated as well."""
        if new in self.values:
            self.notes.append(Note(place, f"dropped: {new} is stated as well"))
        else:
            self.values[new], self._places[new] = value, place

    def _zone(self) -> None:
        """Move `zone` to `region`, which is the zone on Google Cloud."""
        if "zone" in self.values:
            if "region" in self.values:
                self._note("region", "dropped: cirun's `region` is the zone on Google Cloud")
            self.values["region"], self._places["region"] = self.values.pop("zone"), self._places["zone"]

    def _extra(self) -> None:
        """Move the project and the service account to `extra_config`."""
        extra = self.values.get("extra_config") or {}
        if not isinstance(extra, dict):
            return
        extra = dict(extra)
        if "project_id" in extra and "project" in self.values:
            self._note("project", "dropped: extra_config.project_id is stated as well")
            del self.values["project"]
        elif "project" in self.values:
            self._note("project", "moved to extra_config.project_id")
            extra["project_id"] = self.values.pop("project")
        account = next((key for key in _ACCOUNT if key in self.values), None)
        stated_scopes = next((key for key in _SCOPES if key in self.values), None)
        scopes = _texts(self.values[stated_scopes]) if stated_scopes else ["cloud-platform"]
        if account and isinstance(self.values[account], str) and scopes and "serviceAccounts" not in extra:
            self._note(account, "moved to extra_config.serviceAccounts, with its scopes in full")
            extra["serviceAccounts"] = [{"email": self.values.pop(account), "scopes": [_scope(one) for one in scopes]}]
            if stated_scopes:
                del self.values[stated_scopes]
        if extra:
            self.values["extra_config"] = extra

    def _gpu(self) -> None:
        gpu = self.values.get("gpu")
        if not isinstance(gpu, dict):
            return
        if not gpu.keys() <= {"type", "count"} or not isinstance(gpu.get("type"), str):
            self._kept(self._places["gpu"], "cirun needs the name of one GPU")
            return
        if gpu.get("count", 1) != 1:
            text = "dropped: cirun attaches one GPU; choose a machine type with more GPUs"
            self.notes.append(Note(f"{self._places['gpu']}.count", text))
        self.values["gpu"], self._places["gpu"] = gpu["type"], f"{self._places['gpu']}.type"

    def _image(self) -> None:
        """Write the image in cirun's notation. A map with other keys, as for Azure, is not changed."""
        image = self.values.get("machine_image")
        if not isinstance(image, dict) or not image.keys() <= {"family", "name", "project"}:
            return
        project, name, family = (image.get(key) for key in ("project", "name", "family"))
        if not all(isinstance(one, str) for one in image.values()) or not (name or family):
            self._kept(self._places["machine_image"], "cirun needs the name of one image")
            return
        if name:
            self.values["machine_image"] = f"projects/{project}/global/images/{name}" if project else name
            text = f"became machine_image: {self.values['machine_image']}"
        else:
            self.values["machine_image"] = f"{f'projects/{project}/' if project else ''}global/images/family/{family}"
            text = "became machine_image; a family works, but cirun does not document it; better state the image itself"
        self._note("machine_image", text)
        self._places["machine_image"] = f"{self._path}.machine_image"

    def _labels(self, *, nested: bool) -> None:
        """Write labels as a list, and those of the nested format with cirun's prefix, without those that cirun adds."""
        stated = self.values.get("labels")
        place = f"{self._path}.labels"
        if stated is None or stated in ("", []):
            label = _label(str(self.values.get("name") or "gpu"))
            self.values["labels"] = [label]
            self.notes.append(
                Note(place, f"added {label}: cirun starts a runner only for its label; {_runs_on(label)}")
            )
            return
        texts = _texts(stated)
        if texts is None:
            return
        labels = [_label(text) for text in texts if text not in ADDED_BY_CIRUN] or ["cirun-gpu"] if nested else texts
        if labels != stated:
            self.notes.append(Note(place, f"became {', '.join(labels) or 'a list'}: {_runs_on(labels[0])}"))
            self.values["labels"] = labels

    def _unknown(self) -> None:
        for key, value in self.values.items():
            if key in _PARTS and isinstance(value, dict) and value:
                for inner in value:
                    self._kept(f"{self._path}.{key}.{inner}", did_you_mean(str(inner), _PARTS[key]))
            elif key == "extra_config" and isinstance(value, dict):
                for inner in value.keys() - set(EXTRA_KEYS):
                    self._kept(f"{self._path}.extra_config.{inner}", did_you_mean(str(inner), EXTRA_KEYS))
            elif key not in KEYS:
                self._kept(self._places[key], did_you_mean(str(key), KEYS))

    def _note(self, key: str, text: str) -> None:
        self.notes.append(Note(self._places[key], text))

    def _kept(self, place: str, hint: str) -> None:
        self.notes.append(Note(place, f"kept: cirun does not document it; {hint}", changed=False))


def _label(text: str) -> str:
    """Return a label that cirun accepts: with its prefix, and without two hyphens in a row."""
    return re.sub("-{2,}", "-", cirun_label(re.sub(r"[^A-Za-z0-9._-]+", "-", text)))


def _runs_on(label: str) -> str:
    return f'write runs-on: "{label}--${{{{ github.run_id }}}}"'


def _texts(value: object) -> list[str] | None:
    """Return a list of texts, also for a single text; None for another value."""
    texts: list[Any] = value if isinstance(value, list) else [value]
    return texts if all(isinstance(one, str) for one in texts) else None


def _scope(scope: str) -> str:
    """Return the full name of a scope; only gcloud knows the short names."""
    return scope if scope.startswith("https://") else f"{GCP_SCOPE.rsplit('/', 1)[0]}/{scope}"
