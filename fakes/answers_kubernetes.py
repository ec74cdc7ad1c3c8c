"""What a Kubernetes API server and Helm compute beside the inputs, and what a command on this machine prints.

Objects of the API are all answered in one way, which is the API's own: an id of namespace and name, and metadata
that the server completes.
"""

from __future__ import annotations

from typing import Any, Final

from fakes.answers_asked import CREATED_AT, Asked, Made, Maker


def make_object(asked: Asked) -> Made:
    """Any object of the API."""
    metadata: dict[str, Any] = dict(asked.inputs.get("metadata") or {})
    metadata.setdefault("name", f"{asked.name}-{asked.hex(8)}")
    metadata |= {"uid": asked.uuid(), "resourceVersion": "1", "creationTimestamp": CREATED_AT}
    namespace = metadata.get("namespace")
    id_ = f"{namespace}/{metadata['name']}" if namespace else metadata["name"]
    return str(id_), {"metadata": metadata}


def _release(asked: Asked) -> Made:
    """A Helm release: its name, and that it is deployed."""
    name = asked.physical()
    namespace = asked.inputs.get("namespace", "default")
    status = {
        "name": name,
        "namespace": namespace,
        "chart": asked.inputs.get("chart", ""),
        "version": asked.inputs.get("version", ""),
        "revision": 1,
        "status": "deployed",
    }
    return f"{namespace}/{name}", {"name": name, "namespace": namespace, "status": status}


def _command(asked: Asked) -> Made:
    """A command that ran and said nothing."""
    return f"{asked.name}-{asked.hex(7)}", {"stdout": "", "stderr": ""}


def _image(asked: Asked) -> Made:
    """An image that was built here and pushed: known by its first tag and its digest."""
    digest = f"sha256:{asked.hex(64)}"
    first = next(iter(asked.inputs.get("tags") or ()), f"{asked.name}:built")
    return str(first), {"digest": digest, "ref": f"{first}@{digest}", "contextHash": asked.hex(64)}


MAKERS: Final[dict[str, Maker]] = {
    "command:local:Command": _command,
    "command:remote:Command": _command,
    "docker-build:index:Image": _image,
    "kubernetes:helm.sh/v3:Release": _release,
}
"""How each type is answered that is not an object of the API."""
