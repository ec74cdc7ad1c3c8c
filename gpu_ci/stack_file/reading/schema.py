"""The JSON schema of the stack file, generated from the types for completion in an editor."""

from __future__ import annotations

from typing import Any

from gpu_ci.stack_file.identity import PROJECT
from gpu_ci.stack_file.sections.settings import SECRETS, Settings


def stack_schema(kind: type[Settings]) -> dict[str, Any]:
    """Return the JSON schema (draft 2020-12) of `Pulumi.<stack>.yaml`."""
    model = kind.model_json_schema(by_alias=True, ref_template="#/$defs/{model}")
    _close(model)
    definitions = model.pop("$defs")
    secure = {"type": "object", "required": ["secure"], "properties": {"secure": {"type": "string"}}}
    sections = {f"{PROJECT}:{name}": section for name, section in model["properties"].items()}
    secrets = {f"{PROJECT}:{name}": secure for name in SECRETS}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A gpu-ci stack",
        "type": "object",
        "required": ["config"],
        "properties": {
            "config": {
                "type": "object",
                "properties": {**sections, **secrets, "pulumi:disable-default-providers": {"const": ["*"]}},
                "required": [f"{PROJECT}:{name}" for name in model["required"]],
                "additionalProperties": False,
            },
            "encryptionsalt": {"type": "string"},
            "secretsprovider": {"type": "string"},
            "encryptedkey": {"type": "string"},
        },
        "additionalProperties": False,
        "$defs": definitions,
    }


def _close(schema: Any) -> None:
    """Reject keys that do not match the pattern of their map; the pattern alone does not reject them."""
    if isinstance(schema, dict):
        if "patternProperties" in schema:
            schema["additionalProperties"] = False
        for inner in schema.values():
            _close(inner)
    elif isinstance(schema, list):
        for inner in schema:
            _close(inner)
