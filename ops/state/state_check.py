"""Read an exported state and report what stops or endangers the next update.

The file comes from `pulumi stack export`, in which secrets are encrypted and marked.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from gpu_ci.stack_file.faults import Fault
from ops.doctor.world.redaction import redacted
from ops.fakes.protocol.wire import SECRET_SIGNATURE, SIGNATURE
from ops.outcome import Exit, Stop
from ops.plan.model import PROVIDER_TYPE, STACK_TYPE
from ops.state.state_repair import CREATING

_STRONG: Final = ("cloud",)
"""The kinds of secrets providers that keep the key outside: AWS KMS, Cloud KMS, Azure Key Vault, HashiCorp Vault."""
_PENDING: Final = {
    "updating": (
        "an interrupted update was changing it, so the state may hold old values",
        "run `pulumi refresh`, which reads it, and then `pulumi up`",
    ),
    "deleting": (
        "an interrupted update was deleting it, so it may not exist any more",
        "run `pulumi refresh`, which removes it from the state if the cloud does not have it, and then `pulumi up`",
    ),
    "importing": ("an interrupted import left it half known", "run `pulumi refresh`, and import it again"),
    "reading": ("an interrupted update was reading it", "run `pulumi refresh`"),
}
"""A pending operation to its meaning and its fix (Pulumi documentation, "Interrupted updates", 2026)."""
_NAMES: Final = ("name", "nodeGroupName", "addonName", "metadata.name")
"""The inputs that name a resource in its cloud, in this order."""
_REGISTRY: Final = "https://www.pulumi.com/registry/packages"


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """An exported state."""

    stack: str
    """The name of the stack; empty where the state has no resources."""
    resources: tuple[Mapping[str, Any], ...]
    pending: tuple[Mapping[str, Any], ...]
    secrets_provider: str
    """`passphrase`, `service`, `cloud`, or empty."""
    document: Mapping[str, Any] = field(default_factory=dict)
    """The whole file."""


def read(path: Path) -> State:
    """Read a file of `pulumi stack export`.

    Raises:
        Stop: the file cannot be read, or is no exported state.

    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise Stop(
            Exit.WRONG, f"{path} cannot be read ({error.strerror}); write it with `pulumi stack export`"
        ) from None
    except ValueError:
        raise Stop(Exit.WRONG, f"{path} is not JSON; write it with `pulumi stack export --file {path}`") from None
    deployment = document.get("deployment") if isinstance(document, dict) else None
    if not isinstance(deployment, dict):
        raise Stop(Exit.WRONG, f"{path} has no deployment; write it with `pulumi stack export --file {path}`")
    resources = tuple(deployment.get("resources") or ())
    urns = [str(row.get("urn", "")) for row in resources]
    return State(
        stack=urns[0].split("::")[0].rpartition(":")[2] if urns else "",
        resources=resources,
        pending=tuple(deployment.get("pending_operations") or ()),
        secrets_provider=str((deployment.get("secrets_providers") or {}).get("type", "")),
        document=document,
    )


def faults(state: State, planned: frozenset[str] | None) -> Iterator[Fault]:
    """Yield what is wrong with a state.

    Args:
        state: the state.
        planned: the URNs that the program registers today; None if the stack file is not known.

    """
    for operation in state.pending:
        yield _interrupted(str(operation.get("type")), operation.get("resource") or {})
    for row in state.resources:
        yield from _resource(row)
    if planned is not None:
        yield from _unknown(state, planned)


def note(state: State) -> str:
    """Return a sentence if the key of the secrets is not in a key service; else an empty text."""
    if not state.resources or state.secrets_provider in _STRONG:
        return ""
    return (
        f"The key of the secrets is not in a key service (provider: {state.secrets_provider or 'none'}). "
        "`make bootstrap` creates one and prints its URL for `pulumi stack change-secrets-provider`."
    )


def _interrupted(operation: str, row: Mapping[str, Any]) -> Fault:
    if operation != CREATING:
        problem, fix = _PENDING.get(operation, ("an interrupted update left it", "run `pulumi refresh`"))
        return Fault(_short(row), problem, fix)
    name = next((value for value in (_at(row.get("inputs"), path) for path in _NAMES) if isinstance(value, str)), "")
    urn, where = row.get("urn", ""), f" (name: {name})" if name else ""
    return Fault(
        _short(row),
        "an interrupted update was creating it, so it may exist without being in the state",
        f"look for it in the cloud{where}; then run this command again with `--repair FILE` and `--exists '{urn}=ID'`, "
        f"or with `--absent '{urn}'`. {_page(str(row.get('type', '')))} has the form of the ID",
    )


def _page(type_: str) -> str:
    """Return the page of a resource type that describes its import."""
    package, _, rest = type_.partition(":")
    module, _, token = rest.rpartition(":")
    return f"{_REGISTRY}/{package}/api-docs/{module.partition('/')[0]}/{token.lower()}/#import"


def _at(value: Any, path: str) -> Any:
    for key in path.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _resource(row: Mapping[str, Any]) -> Iterator[Fault]:
    name = _short(row)
    shown = [path for bag in ("inputs", "outputs") for path in _plaintext(row.get(bag), bag)]
    if shown:
        more = f" and {len(shown) - 3} more" if len(shown) > 3 else ""
        yield Fault(
            name,
            f"the state contains a secret in plain text: {', '.join(shown[:3])}{more}",
            "replace the secret at its service, mark the input as secret in the program, and run `pulumi up`; old "
            "versions of the state in the bucket still have the old value",
        )
    if _revealed(row.get("inputs")) or _revealed(row.get("outputs")):
        yield Fault(
            name,
            "the file was exported with --show-secrets, so everyone who reads it knows the secrets",
            "delete the file and every copy of it, and export without the option",
        )
    if row.get("delete"):
        yield Fault(
            name,
            "it was replaced, and the old one is not deleted yet",
            "run `pulumi up`, which tries again; if the cloud refuses, its message names what still uses it",
        )
    if row.get("initErrors"):
        yield Fault(
            name,
            f"it exists, but was never ready: {'; '.join(str(one) for one in row['initErrors'])}",
            "remove the cause, and run `pulumi up`",
        )


def _unknown(state: State, planned: frozenset[str]) -> Iterator[Fault]:
    aliased = {str(alias) for row in state.resources for alias in row.get("aliases") or ()}
    for row in state.resources:
        urn, type_ = str(row.get("urn")), str(row.get("type"))
        if urn not in planned and not row.get("delete") and type_ != STACK_TYPE and urn not in aliased:
            what = "provider" if type_.startswith(PROVIDER_TYPE) else "resource" if row.get("custom") else "component"
            yield Fault(
                _short(row),
                f"the program does not know this {what}, so the next `pulumi up` deletes it",
                "restore its section in the stack file, or keep it in the cloud with `pulumi state delete`",
            )


def _plaintext(value: object, path: str) -> Iterator[str]:
    """Yield the paths of text that has the form or the name of a secret and is not marked as one."""
    if isinstance(value, dict):
        if value.get(SIGNATURE) == SECRET_SIGNATURE:
            return
        for key, item in value.items():
            if isinstance(item, str):
                if item and redacted({key: item}) != {key: item}:
                    yield f"{path}.{key}"
            else:
                yield from _plaintext(item, f"{path}.{key}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            if isinstance(item, str):
                if item and redacted(item) != item:
                    yield f"{path}[{index}]"
            else:
                yield from _plaintext(item, f"{path}[{index}]")


def _revealed(value: object) -> bool:
    """Return whether a marked secret has its text next to the mark."""
    if isinstance(value, dict):
        if value.get(SIGNATURE) == SECRET_SIGNATURE:
            return "plaintext" in value
        return any(_revealed(item) for item in value.values())
    return isinstance(value, list) and any(_revealed(item) for item in value)


def _short(row: Mapping[str, Any]) -> str:
    """Return the type and the name of a resource."""
    return f"{row.get('type', '')} {str(row.get('urn', '')).rpartition('::')[2]}".strip()
