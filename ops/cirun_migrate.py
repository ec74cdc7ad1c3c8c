"""Old cirun files made today's: each key that changed is named, and none is dropped without a word.

Owns two old forms. The nested one (`provider`, `machine`, `setup` below a runner's name) was never cirun's own but
stands in public instructions; the other is cirun's of 2022 and before, with `workflow` and `count`. What today's form
is, `kit.cirun` says; a file that is of today's form already comes back as it was.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from kit.cirun import FILE, LABEL_PREFIX, CirunFile, render
from kit.cirun_extra import GOOGLE_SCOPE
from kit.closed import Fault, FileError, load_yaml, nearest, validated

ADDED_BY_CIRUN: Final = frozenset({"self-hosted", "linux", "x64", "cirun", "cirun.io", "cpu", "aws", "gcp", "azure"})
"""Labels that every runner of cirun's has anyway."""

_DROPPED: Final = {
    "workflow": "dropped: cirun has not read it since July 2022; every workflow that asks for the label is served",
    "count": "dropped: since February 2022 cirun starts one runner for each job",
    "run_only_when_trigger_by": "dropped: cirun does not read it; who may start a runner stands in .access.yml",
    "env": "dropped: cirun has no such key; values for the job belong in the workflow's env",
    "username": "dropped: cirun has no such key; the image decides who runs the job",
    "local_ssd_count": "dropped: cirun attaches no local SSD",
}
_NESTED: Final = ("labels", "provider", "machine", "setup", "serviceAccount", "serviceAccountScopes", *_DROPPED)
_PROVIDER: Final = ("name", "project", "region", "zone")
_MACHINE: Final = ("type", "gpu", "image", "preemptible", "serviceAccount", "serviceAccountScopes")
_GPU: Final = ("type", "count")
_IMAGE: Final = ("family", "name", "project")


@dataclass(frozen=True, slots=True, order=True)
class Note:
    """One thing that changed."""

    path: str
    """Where it stood in the old file."""
    change: str
    """What became of it, and what is left to do by hand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """A file of today's form, and how it came about."""

    text: str
    """The new file."""
    notes: tuple[Note, ...]
    """Every change; none where the file was of today's form already."""


def migrate(text: str, source: str = FILE) -> Migration:
    """Today's form of the file in `text`.

    Raises:
        FileError: it is of none of the forms, or holds keys that none of them knows; all are named.

    """
    document = load_yaml(text, source)
    if not isinstance(document, dict) or not document:
        raise FileError(source, [Fault("", "this is no cirun file", "write a list of runners below `runners:`")])
    work = _Work()
    entries = work.entries(document)
    if work.faults:
        raise FileError(source, work.faults)
    file = validated(CirunFile, {"runners": entries}, source)
    if not work.notes:
        return Migration(text=text, notes=())
    return Migration(text=render(file), notes=tuple(work.notes))


class _Work:
    """Gathers notes and faults while entries are rewritten."""

    def __init__(self) -> None:
        self.notes: list[Note] = []
        self.faults: list[Fault] = []

    def entries(self, document: dict[str, Any]) -> list[Any]:
        """The runners, wherever the old file keeps them."""
        runners = document.get("runners", document)
        if isinstance(runners, list):
            self.known("", document, ("runners",))
            return [self.entry(each, f"runners[{position}]") for position, each in enumerate(runners)]
        root = "runners." if "runners" in document else ""
        self.note(root.rstrip(".") or "file", "a map of runners became a list below `runners`, each with its name")
        found: list[Any] = []
        for name, entry in runners.items():
            if not isinstance(entry, dict):
                self.faults.append(Fault(f"{root}{name}", "this is no runner", "write a map: key: value"))
                continue
            found.append(self.entry({"name": str(name), **entry}, f"{root}{name}"))
        return found

    def entry(self, entry: Any, path: str) -> Any:
        """One runner; what is no map is left to the validation of the whole."""
        if not isinstance(entry, dict):
            return entry
        nested = "provider" in entry or "machine" in entry
        flat = self.nested(entry, path) if nested else {k: v for k, v in entry.items() if k not in _DROPPED}
        for key in entry.keys() & _DROPPED.keys():
            self.note(f"{path}.{key}", _DROPPED[key])
        if nested:
            flat["labels"] = self.labels(entry.get("labels"), path)
        return flat

    def nested(self, entry: dict[str, Any], path: str) -> dict[str, Any]:
        """The nested form, taken apart."""
        self.known(path, entry, ("name", *_NESTED))
        provider = self.part(entry, "provider", path, _PROVIDER)
        machine = self.part(entry, "machine", path, _MACHINE)
        gpu = self.part(machine, "gpu", f"{path}.machine", _GPU)
        image = self.part(machine, "image", f"{path}.machine", _IMAGE)
        extra = self.extra_config(path, provider, {**machine, **entry})
        flat = {
            "name": entry["name"],
            "cloud": self.moved(f"{path}.provider.name", provider.get("name"), "cloud"),
            "gpu": self.moved(f"{path}.machine.gpu.type", gpu.get("type"), "gpu"),
            "instance_type": self.moved(f"{path}.machine.type", machine.get("type"), "instance_type"),
            "machine_image": self.image(f"{path}.machine.image", image),
            "region": self.zone(path, provider),
            "preemptible": self.moved(f"{path}.machine.preemptible", machine.get("preemptible"), "preemptible"),
            "extra_config": extra,
        }
        if gpu.get("count", 1) != 1:
            self.note(
                f"{path}.machine.gpu.count", "dropped: cirun takes no number of GPUs; choose a type that has them"
            )
        if "setup" in entry:
            self.note(
                f"{path}.setup",
                "dropped: cirun runs no steps of yours; put them into the image, or into the workflow's first steps",
            )
        return {key: value for key, value in flat.items() if value not in (None, {})}

    def extra_config(self, path: str, provider: dict[str, Any], machine: dict[str, Any]) -> dict[str, Any]:
        """What went below `extra_config`."""
        extra: dict[str, Any] = {}
        if "project" in provider:
            extra["project_id"] = self.moved(f"{path}.provider.project", provider["project"], "extra_config.project_id")
        if "serviceAccount" in machine:
            scopes = [_scope(str(scope)) for scope in machine.get("serviceAccountScopes") or ["cloud-platform"]]
            extra["serviceAccounts"] = [{"email": machine["serviceAccount"], "scopes": scopes}]
            self.note(f"{path}.serviceAccount", "moved to extra_config.serviceAccounts, with its scopes in full")
        return extra

    def zone(self, path: str, provider: dict[str, Any]) -> object:
        """Cirun's `region`: on Google Cloud that is the zone."""
        zone, region = provider.get("zone"), provider.get("region")
        if provider.get("name") != "gcp":
            return self.moved(f"{path}.provider.region", region, "region")
        if zone is not None:
            if region is not None:
                self.note(f"{path}.provider.region", "dropped: cirun's `region` takes the zone on Google Cloud")
            return self.moved(f"{path}.provider.zone", zone, "region")
        if region is not None:
            self.note(f"{path}.provider.region", f"dropped: state a zone as `region`, for example {region}-b")
        return None

    def image(self, path: str, image: dict[str, Any]) -> str | None:
        """The image as cirun names it."""
        project = image.get("project")
        if "name" in image:
            self.note(path, "became machine_image: PROJECT:NAME")
            return f"{project}:{image['name']}" if project else str(image["name"])
        if "family" in image:
            self.note(
                path,
                "became machine_image; a family works but is in no reference of cirun's: better the image's own name, "
                "PROJECT:NAME",
            )
            where = f"projects/{project}/" if project else ""
            return f"{where}global/images/family/{image['family']}"
        return None

    def labels(self, labels: Any, path: str) -> Any:
        """Labels with cirun's prefix; those that it adds by itself go."""
        if not isinstance(labels, list):
            return labels
        own = [str(label) for label in labels if label not in ADDED_BY_CIRUN] or ["gpu"]
        prefixed = [label if label.startswith(LABEL_PREFIX) else f"{LABEL_PREFIX}{label}" for label in own]
        if prefixed != labels:
            self.note(
                f"{path}.labels",
                f'became {", ".join(prefixed)}: say runs-on: "{prefixed[0]}--${{{{ github.run_id }}}}"',
            )
        return prefixed

    def part(self, parent: dict[str, Any], key: str, path: str, known: tuple[str, ...]) -> dict[str, Any]:
        """A map inside a map, its keys checked."""
        value = parent.get(key, {})
        if not isinstance(value, dict):
            self.faults.append(Fault(f"{path}.{key}", "this is no map", f"its keys are {', '.join(known)}"))
            return {}
        self.known(f"{path}.{key}", value, known)
        return value

    def known(self, path: str, entry: dict[str, Any], names: tuple[str, ...]) -> None:
        """A fault for every key that the old form did not have."""
        dot = f"{path}." if path else ""
        self.faults += [
            Fault(f"{dot}{key}", "unknown key", nearest(str(key), names)) for key in entry if key not in names
        ]

    def moved(self, path: str, value: Any, to: str) -> Any:
        """`value`, with a note of where it went."""
        if value is not None:
            self.note(path, f"moved to {to}")
        return value

    def note(self, path: str, change: str) -> None:
        self.notes.append(Note(path, change))


def _scope(scope: str) -> str:
    """A scope in full: the short names are gcloud's."""
    return scope if scope.startswith("https://") else f"{GOOGLE_SCOPE.rsplit('/', 1)[0]}/{scope}"
