"""Rewrite one runner of an old cirun file to the current keys.

There are two old formats of a runner. The nested one has `provider`, `machine` and `setup`. The flat one has the
current keys and some of the nested format: `zone`, `project`, `service_account` and others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kit.cirun import ADDED_BY_CIRUN, LABEL_PREFIX
from kit.cirun_extra import GCP_SCOPE
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
_GCP_ONLY: Final = ("zone", "project", *_ACCOUNT, *_SCOPES)


def rewritten(entry: dict[str, Any], path: str, notes: Notes) -> dict[str, Any]:
    """Return the runner with current keys. Its values are validated later, with the whole file."""
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
    on_gcp = entry.get("cloud") == "gcp"
    moving = {"spot", *(_GCP_ONLY if on_gcp else ())}
    found = {key: value for key, value in entry.items() if key not in DROPPED and key not in moving}
    if "spot" in entry:
        found["preemptible"] = _unless_stated(entry, "spot", "preemptible", entry, path, notes)
    if not on_gcp:
        return found
    if isinstance(entry.get("gpu"), dict):
        found["gpu"] = _gpu(entry, path, notes)
    if isinstance(entry.get("machine_image"), dict):
        found["machine_image"] = _image(entry, "machine_image", path, notes)
    if "zone" in entry:
        if "region" in entry:
            notes.note(f"{path}.region", "dropped: cirun's `region` is the zone on Google Cloud")
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
    entry: dict[str, Any], old: str, new: str, stated: dict[str, Any], path: str, notes: Notes, below: str = ""
) -> Any:
    """Return the value of the old key, unless the new key is stated as well."""
    if new in stated:
        notes.note(f"{path}.{old}", f"dropped: {below}{new} is stated as well")
        return stated[new]
    return notes.moved(f"{path}.{old}", entry[old], f"{below}{new}")


def _accounts(entry: dict[str, Any], path: str, notes: Notes) -> list[dict[str, Any]]:
    """Return the service accounts of the machine."""
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
        notes.note(f"{path}.gpu.count", "dropped: cirun attaches one GPU; choose a machine type with more GPUs")
    return notes.moved(f"{path}.gpu.type", gpu.get("type"), "gpu")


def _zone(provider: dict[str, Any], path: str, notes: Notes) -> Any:
    """Return cirun's `region`, which is the zone on Google Cloud."""
    zone, region = provider.get("zone"), provider.get("region")
    if provider.get("name") != "gcp":
        return notes.moved(f"{path}.provider.region", region, "region")
    if zone is not None:
        if region is not None:
            notes.note(f"{path}.provider.region", "dropped: cirun's `region` is the zone on Google Cloud")
        return notes.moved(f"{path}.provider.zone", zone, "region")
    if region is not None:
        notes.note(f"{path}.provider.region", f"dropped: state a zone as `region`, for example {region}-b")
    return None


def _image(parent: dict[str, Any], key: str, path: str, notes: Notes) -> str | None:
    """Return the image in cirun's notation."""
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
            "became machine_image; a family works, but cirun does not document it; better state PROJECT:NAME",
        )
        where = f"projects/{project}/" if project else ""
        return f"{where}global/images/family/{family}"
    return None


def _labels(stated: Any, path: str, notes: Notes) -> list[str]:
    """Return labels with cirun's prefix, without those that cirun adds automatically."""
    texts = notes.texts(f"{path}.labels", stated)
    own = [label.replace("--", "-") for label in texts if label not in ADDED_BY_CIRUN] or ["gpu"]
    prefixed = [label if label.startswith(LABEL_PREFIX) else f"{LABEL_PREFIX}{label}" for label in own]
    if prefixed != stated:
        notes.note(
            f"{path}.labels",
            f'became {", ".join(prefixed)}: write runs-on: "{prefixed[0]}--${{{{ github.run_id }}}}"',
        )
    return prefixed


def _scope(scope: str) -> str:
    """Return the full name of a scope; only gcloud knows the short names."""
    return scope if scope.startswith("https://") else f"{GCP_SCOPE.rsplit('/', 1)[0]}/{scope}"
