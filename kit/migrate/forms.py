"""One runner of an old cirun file, rewritten to the keys of today.

Owns two old forms of a runner. The nested one has `provider`, `machine` and `setup`. The flat one has cirun's own keys
and, beside them, what people took out of the nested form on their way: `zone`, `project`, `service_account` and such.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kit.cirun import ADDED_BY_CIRUN, LABEL_PREFIX
from kit.cirun_extra import GOOGLE_SCOPE
from kit.migrate.notes import DROPPED

if TYPE_CHECKING:
    from kit.migrate.notes import Notes

_NESTED: Final = ("name", "labels", "provider", "machine", "serviceAccount", "serviceAccountScopes", *DROPPED)
_PROVIDER: Final = ("name", "project", "region", "zone")
_MACHINE: Final = ("type", "gpu", "image", "preemptible", "serviceAccount", "serviceAccountScopes")
_GPU: Final = ("type", "count")
_IMAGE: Final = ("family", "name", "project")
_ACCOUNT: Final = ("serviceAccount", "service_account")
_SCOPES: Final = ("serviceAccountScopes", "service_account_scopes")
_GOOGLE_ONLY: Final = ("zone", "project", *_ACCOUNT, *_SCOPES)


def rewritten(entry: dict[str, Any], path: str, notes: Notes) -> dict[str, Any]:
    """The runner as cirun reads it today; what is wrong with it still is left to the validation of the whole."""
    old = _nested if "provider" in entry or "machine" in entry else _flat
    found = old(entry, path, notes)
    notes.dropped(path, entry)
    return {key: value for key, value in found.items() if value is not None}


def _nested(entry: dict[str, Any], path: str, notes: Notes) -> dict[str, Any]:
    notes.known(path, entry, _NESTED)
    provider = notes.part(entry, "provider", path, _PROVIDER)
    machine = notes.part(entry, "machine", path, _MACHINE)
    extra: dict[str, Any] = {}
    if "project" in provider:
        extra["project_id"] = notes.moved(f"{path}.provider.project", provider["project"], "extra_config.project_id")
    accounts = _accounts({**machine, **entry}, path, notes)
    if accounts:
        extra["serviceAccounts"] = accounts
    return {
        "name": entry.get("name"),
        "cloud": notes.moved(f"{path}.provider.name", provider.get("name"), "cloud"),
        "gpu": _gpu(machine, f"{path}.machine", notes),
        "instance_type": notes.moved(f"{path}.machine.type", machine.get("type"), "instance_type"),
        "machine_image": _image(machine, "image", f"{path}.machine", notes),
        "region": _zone(provider, path, notes),
        "preemptible": notes.moved(f"{path}.machine.preemptible", machine.get("preemptible"), "preemptible"),
        "labels": _labels(entry.get("labels"), path, notes),
        "extra_config": extra or None,
    }


def _flat(entry: dict[str, Any], path: str, notes: Notes) -> dict[str, Any]:
    google = entry.get("cloud") == "gcp"
    moving = {"spot", *(_GOOGLE_ONLY if google else ())}
    found = {key: value for key, value in entry.items() if key not in DROPPED and key not in moving}
    if "spot" in entry:
        found["preemptible"] = _unless_stated(entry, "spot", "preemptible", entry, path, notes)
    if not google:
        return found
    if isinstance(entry.get("gpu"), dict):
        found["gpu"] = _gpu(entry, path, notes)
    if isinstance(entry.get("machine_image"), dict):
        found["machine_image"] = _image(entry, "machine_image", path, notes)
    if "zone" in entry:
        if "region" in entry:
            notes.note(f"{path}.region", "dropped: cirun's `region` takes the zone on Google Cloud")
        found["region"] = notes.moved(f"{path}.zone", entry["zone"], "region")
    stated = entry.get("extra_config")
    if isinstance(stated, dict | None):
        extra = dict(stated or {})
        if "project" in entry:
            extra["project_id"] = _unless_stated(entry, "project", "project_id", extra, path, notes, "extra_config.")
        accounts = _accounts(entry, path, notes)
        extra |= {"serviceAccounts": accounts} if accounts else {}
        found["extra_config"] = extra or None
    return found


def _unless_stated(
    entry: dict[str, Any], old: str, new: str, beside: dict[str, Any], path: str, notes: Notes, below: str = ""
) -> Any:
    """The value under its old name, or the one that today's name has already."""
    if new in beside:
        notes.note(f"{path}.{old}", f"dropped: {below}{new} is stated as well")
        return beside[new]
    return notes.moved(f"{path}.{old}", entry[old], f"{below}{new}")


def _accounts(entry: dict[str, Any], path: str, notes: Notes) -> list[dict[str, Any]]:
    """Who the machine is at Google."""
    key = next((name for name in _ACCOUNT if name in entry), None)
    email = notes.text(f"{path}.{key}", entry[key]) if key is not None else None
    if email is None:
        return []
    stated = next((name for name in _SCOPES if name in entry), None)
    scopes = notes.texts(f"{path}.{stated}", entry[stated]) if stated is not None else []
    notes.note(f"{path}.{key}", "moved to extra_config.serviceAccounts, with its scopes in full")
    return [{"email": email, "scopes": [_scope(scope) for scope in scopes or ["cloud-platform"]]}]


def _gpu(parent: dict[str, Any], path: str, notes: Notes) -> Any:
    gpu = notes.part(parent, "gpu", path, _GPU)
    if gpu.get("count", 1) != 1:
        notes.note(f"{path}.gpu.count", "dropped: cirun takes no number of GPUs; choose a type that has them")
    return notes.moved(f"{path}.gpu.type", gpu.get("type"), "gpu")


def _zone(provider: dict[str, Any], path: str, notes: Notes) -> Any:
    """Cirun's `region`: on Google Cloud that is the zone."""
    zone, region = provider.get("zone"), provider.get("region")
    if provider.get("name") != "gcp":
        return notes.moved(f"{path}.provider.region", region, "region")
    if zone is not None:
        if region is not None:
            notes.note(f"{path}.provider.region", "dropped: cirun's `region` takes the zone on Google Cloud")
        return notes.moved(f"{path}.provider.zone", zone, "region")
    if region is not None:
        notes.note(f"{path}.provider.region", f"dropped: state a zone as `region`, for example {region}-b")
    return None


def _image(parent: dict[str, Any], key: str, path: str, notes: Notes) -> str | None:
    """The image as cirun names it."""
    image = notes.part(parent, key, path, _IMAGE)
    project, name, family = (
        notes.text(f"{path}.{key}.{part}", image.get(part)) for part in ("project", "name", "family")
    )
    if name is not None:
        notes.note(f"{path}.{key}", "became machine_image: PROJECT:NAME")
        return f"{project}:{name}" if project else name
    if family is not None:
        notes.note(
            f"{path}.{key}",
            "became machine_image; a family works but is in no reference of cirun's: better the image's own name, "
            "PROJECT:NAME",
        )
        where = f"projects/{project}/" if project else ""
        return f"{where}global/images/family/{family}"
    return None


def _labels(stated: Any, path: str, notes: Notes) -> list[str]:
    """Labels with cirun's prefix; those that it adds by itself go."""
    texts = notes.texts(f"{path}.labels", stated)
    own = [label.replace("--", "-") for label in texts if label not in ADDED_BY_CIRUN] or ["gpu"]
    prefixed = [label if label.startswith(LABEL_PREFIX) else f"{LABEL_PREFIX}{label}" for label in own]
    if prefixed != stated:
        notes.note(
            f"{path}.labels",
            f'became {", ".join(prefixed)}: say runs-on: "{prefixed[0]}--${{{{ github.run_id }}}}"',
        )
    return prefixed


def _scope(scope: str) -> str:
    """A scope in full: the short names are gcloud's."""
    return scope if scope.startswith("https://") else f"{GOOGLE_SCOPE.rsplit('/', 1)[0]}/{scope}"
