"""The upgrade law: a new version of the program replaces and deletes nothing that the stack file did not ask for.

For each committed stack file, `tests/upgrade/` holds the state that the previous release left on the fake clouds, with
the configuration it was made from. `replay` previews today's program, with that configuration, over that state.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from ops.engine.engine import Engine
from ops.engine.events import Outcome, Step
from ops.engine.pulumi_cli import Found
from ops.plan.model import PROVIDER_TYPE
from ops.plan.recorder import record
from ops.plan.stack_file import StackFile, placeholder_secret

_ROOT: Final = Path(__file__).resolve().parents[2]
FOLDER: Final = _ROOT / "tests" / "upgrade"
_KEPT: Final = (
    *("urn", "type", "custom", "id", "parent", "provider", "dependencies", "inputs"),
    *("protect", "retainOnDelete", "deletedWith", "ignoreChanges", "additionalSecretOutputs"),
)
"""The fields of a resource in the state that an update reads; the others are times and derived values."""


_IMAGE_GRANT: Final = "gcp:compute/imageIamMember:ImageIamMember"
"""A grant on one host image. A change of the installer builds a new image, and the grant moves to it."""


def stack_files() -> tuple[Path, ...]:
    """Return every committed stack file whose state is recorded."""
    return tuple(sorted([*_ROOT.glob("Pulumi.*.yaml"), *_ROOT.glob("examples/*.yaml")]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """The state of one stack at a release."""

    release: str
    stack_file: StackFile
    """The configuration of that release; secrets hold today's fake values."""
    resources: tuple[Mapping[str, Any], ...]
    """The resources as the engine exports them, with secrets in plain text."""

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read one recorded state."""
        text = path.read_text(encoding="utf-8")
        for key in json.loads(text)["secrets"]:
            text = text.replace(_placeholder(key), _escaped(placeholder_secret(key)))
        data = json.loads(text)
        config = {key: value if isinstance(value, str) else _line(value) for key, value in data["config"].items()}
        config |= {key: placeholder_secret(key) for key in data["secrets"]}
        return cls(
            release=data["release"],
            stack_file=StackFile(name=data["stack"], path=path, config=config, secret_keys=frozenset(data["secrets"])),
            resources=tuple(_with_outputs(row) for row in data["resources"]),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """The changes of one stack by an upgrade."""

    recorded: Recorded
    outcome: Outcome

    def steps(self, *operations: str) -> tuple[Step, ...]:
        """Return the steps of some operations, in the engine's order."""
        return tuple(step for step in self.outcome.steps if step.op in operations)

    @property
    def created(self) -> tuple[Step, ...]:
        """The resources that are new."""
        return self.steps("create")

    @property
    def updated(self) -> tuple[Step, ...]:
        """The resources that are updated in place, and the grants that move to a new host image."""
        return (*self.steps("update"), *(step for step in self.steps("replace") if _moves_to_a_new_image(step)))

    @property
    def replaced(self) -> tuple[Step, ...]:
        """The resources that are replaced."""
        return tuple(step for step in self.steps("replace") if not _moves_to_a_new_image(step))

    @property
    def deleted(self) -> tuple[Step, ...]:
        """The resources that are deleted."""
        return self.steps("delete")

    @property
    def ok(self) -> bool:
        """Return True if the preview succeeds and replaces and deletes nothing."""
        return self.outcome.ok and not self.replaced and not self.deleted

    def to_data(self) -> dict[str, Any]:
        """Return the replay as plain data."""
        return {
            "stack": self.recorded.stack_file.name,
            "release": self.recorded.release,
            "ok": self.ok,
            "fault": self.outcome.fault,
            "unchanged": len(self.steps("same")),
            "created": [step.urn for step in self.created],
            "updated": {step.urn: sorted(step.changed) for step in self.updated},
            "replaced": {step.urn: sorted(step.changed) for step in self.replaced},
            "deleted": [step.urn for step in self.deleted],
        }


def _moves_to_a_new_image(step: Step) -> bool:
    return step.type == _IMAGE_GRANT and set(step.changed) == {"image"}


def recorded() -> tuple[Recorded, ...]:
    """Return the recorded state of every stack."""
    return tuple(Recorded.read(path) for path in sorted(FOLDER.glob("*.json")))


def replay(cli: Found, state: Recorded, program: Callable[[], None] | None = None) -> Replay:
    """Preview the program over a recorded state.

    Raises:
        EngineNotReadyError: the engine could not be set up.

    """
    with Engine(cli, state.stack_file, program) as engine:
        engine.load(state.resources)
        return Replay(recorded=state, outcome=engine.preview())


def snapshot(cli: Found, stack_file: StackFile, release: str, program: Callable[[], None] | None = None) -> str:
    """Run `up` on empty fake clouds and return the state as the text of a recorded state.

    Raises:
        EngineNotReadyError: the engine could not be set up, or the update failed.

    """
    order = record(stack_file, program=program).urns
    with Engine(cli, stack_file, program) as engine:
        resources = engine.make_and_export()
    return compact(stack_file, release, sorted(resources, key=lambda row: order.index(row["urn"])))


def compact(stack_file: StackFile, release: str, resources: list[dict[str, Any]]) -> str:
    """Return the text of a recorded state: one line for each resource, no times, random ids or values of secrets."""
    head = {
        "release": release,
        "stack": stack_file.name,
        "secrets": sorted(stack_file.secret_keys),
        "config": {
            key: json.loads(text) if text.startswith(("{", "[")) else text
            for key, text in sorted(stack_file.config.items())
            if key not in stack_file.secret_keys
        },
    }
    lines = ",\n".join(_line(_without_outputs(row)) for row in resources)
    text = f'{json.dumps(head, indent=1, ensure_ascii=False)[:-2]},\n "resources": [\n{lines}\n]\n}}\n'
    for row in resources:
        # The engine gives a provider a random id.
        if row["type"].startswith(PROVIDER_TYPE):
            text = text.replace(row["id"], str(uuid.uuid5(uuid.NAMESPACE_URL, row["urn"])))
    for key in stack_file.secret_keys:
        text = text.replace(_escaped(stack_file.config[key]), _placeholder(key))
    return text


def _without_outputs(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a resource with only those outputs that are not its inputs."""
    inputs, outputs = row.get("inputs") or {}, row.get("outputs") or {}
    kept = {key: row[key] for key in _KEPT if row.get(key)}
    if row["custom"]:
        kept["computed"] = {key: value for key, value in outputs.items() if inputs.get(key) != value}
    return kept


def _with_outputs(row: Mapping[str, Any]) -> dict[str, Any]:
    full: dict[str, Any] = {"custom": False, **row}
    computed: Mapping[str, Any] = full.pop("computed", {})
    inputs = {key: value for key, value in row.get("inputs", {}).items() if key != "__internal"}
    return {**full, "outputs": {**inputs, **computed}}


def _line(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _placeholder(key: str) -> str:
    return f"${{{key}}}"


def _escaped(secret: str) -> str:
    """Return a secret as it appears in a state, which holds it as JSON text inside JSON text."""
    return json.dumps(json.dumps(secret, ensure_ascii=False)[1:-1], ensure_ascii=False)[1:-1]
