"""Commands and image builds on the local machine. Only the checks of scale sets and of machine images can fail.

Only a changed trigger replaces a command (pulumi-command 1.2).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from components.aws.images.image_content import STATE as IMAGE_STATE
from components.kubernetes.arc_check import COMMAND as CHECK
from ops.fakes.aws import image_builder
from ops.fakes.cloud.kinds import Kind
from ops.fakes.cloud.objects import CloudObject, Objects
from ops.fakes.cloud.request import Created, Request
from ops.fakes.kubernetes import arc


def _command(request: Request) -> Created:
    """Return the answer of a command that prints nothing."""
    return f"{request.name}-{request.hex(7)}", {"stdout": "", "stderr": ""}


def _image(request: Request) -> Created:
    """Return the answer of a pushed image: its first tag and its digest."""
    digest = f"sha256:{request.hex(64)}"
    first = next(iter(request.inputs.get("tags") or ()), f"{request.name}:built")
    return str(first), {"digest": digest, "ref": f"{first}@{digest}", "contextHash": request.hex(64)}


def _create(cloud: Objects, obj: CloudObject) -> str | None:
    if obj.inputs.get("create") == IMAGE_STATE:
        return image_builder.state_problem(cloud, str(obj.inputs["environment"]["IMAGE"]))
    return _run(cloud, str(obj.inputs.get("create")))


def _update(cloud: Objects, _obj: CloudObject, inputs: Mapping[str, Any]) -> str | None:
    return _run(cloud, str(inputs.get("update") or inputs.get("create")))


def _delete(cloud: Objects, obj: CloudObject) -> str | None:
    return _run(cloud, str(obj.inputs.get("delete")))


def _run(cloud: Objects, command: str) -> str | None:
    """Return the error of a command."""
    _, check, words = command.partition(f"{CHECK} ")
    if not check:
        return None
    operation, _, name = words.partition(" ")
    return arc.session_problem(cloud, name) if operation == "listening" else arc.remaining_problem(cloud)


TABLE: Final = (
    Kind(
        type="command:local:Command",
        answer=_command,
        before_create=[_create],
        before_update=[_update],
        before_delete=[_delete],
    ),
    Kind(type="docker-build:index:Image", answer=_image),
)
