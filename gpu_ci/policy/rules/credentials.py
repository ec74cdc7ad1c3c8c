"""Rules about static credentials: no resource creates one, and none contains one, encoded or not."""

from __future__ import annotations

import base64
import binascii
import re
import zlib
from typing import TYPE_CHECKING, Any, Final

from gpu_ci.policy.inputs import Inputs, each, leaves, part

if TYPE_CHECKING:
    from collections.abc import Iterator

_CREDENTIALS: Final = {
    "an AWS access key": re.compile(r"\b(AKIA|ASIA)[A-Z0-9]{16}\b"),
    "an AWS secret key": re.compile(r"(?i)aws_?secret_?(access_?)?key\W{1,4}[A-Za-z0-9/+=]{40}\b"),
    "a GitHub token": re.compile(r"\b(gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,})"),
    "a GitLab token": re.compile(r"\bglpat-[A-Za-z0-9_-]{20,}"),
    "a Google API key": re.compile(r"\bAIza[A-Za-z0-9_-]{35}"),
    "a Google service account key": re.compile(r'"private_key_id"'),
    "a Hugging Face token": re.compile(r"\bhf_[A-Za-z0-9]{30,}"),
    "a private key": re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY( BLOCK)?-----"),
    "a Pulumi token": re.compile(r"\bpul-[0-9a-f]{40}\b"),
    "a Slack token": re.compile(r"\bxox[abprs]-[A-Za-z0-9-]{10,}"),
    "an npm token": re.compile(r"\bnpm_[A-Za-z0-9]{36}\b"),
    "a Docker token": re.compile(r"\bdckr_pat_[A-Za-z0-9_-]{20,}"),
    "a password in an address": re.compile(r"\b[a-z][a-z0-9+]*://[^/\s:@$<{]+:[^/\s:@$<{]+@[\w.-]+"),
}
_MAKERS: Final = {
    "aws:iam/accessKey:AccessKey": "a workload uses Pod Identity, a pipeline GitHub's OIDC",
    "aws:iam/serviceSpecificCredential:ServiceSpecificCredential": "use a role",
    "aws:iam/userLoginProfile:UserLoginProfile": "people sign in through the identity provider of the organisation",
    "gcp:apikeys/key:Key": "use a service account",
    "gcp:projects/apiKey:ApiKey": "use a service account",
    "gcp:serviceaccount/key:Key": "a workload uses its service account, a pipeline Workload Identity Federation",
    "gcp:storage/hmacKey:HmacKey": "use a service account",
}
_SSH_KEYS: Final = {
    "aws:ec2/keyPair:KeyPair": "use AWS Systems Manager for a shell",
    "tls:index/privateKey:PrivateKey": "its private key is in the state; use AWS Systems Manager for a shell",
    "gcp:compute/projectMetadataItem:ProjectMetadataItem": "",
}
_BASE64: Final = re.compile(r"[A-Za-z0-9+/_-]{24,}={0,2}(?:\s*\n\s*[A-Za-z0-9+/_-]+={0,2})*")
_LAYERS: Final = 3
"""Encodings inside each other that are undone, for example base64 of gzip of a document with base64."""
_LARGEST: Final = 1_000_000
_SECRET_NAME: Final = re.compile(
    r"(?i)(^|_)(token|secret|password|passwd|passphrase|api_?key|private_?key|access_?key|credentials?)(_base64|_b64)?$"
)
_NO_SECRET: Final = re.compile(r"(|true|false|\d+|/.*|\$\{?[\w(].*|\$\(.*\))")
"""Values of such variables that are switches, paths or references."""


def no_static_credential(type_: str, _name: str, inputs: Inputs) -> Iterator[str]:
    """No resource creates or contains a key that does not expire."""
    if type_ in _MAKERS:
        yield f"it creates a key that does not expire; {_MAKERS[type_]}"
    if _SSH_KEYS.get(type_):
        yield f"it creates a key for SSH; {_SSH_KEYS[type_]}"
    if type_ == "pulumi:providers:aws" and (part(inputs, "accessKey") or part(inputs, "secretKey")):
        yield "the provider has a static key; remove it, so that it uses the credentials of the environment"
    if type_ == "pulumi:providers:gcp" and part(inputs, "credentials"):
        yield "the provider has a static key; remove it, so that it uses the credentials of the environment"
    if type_ == "pulumi:providers:github" and part(inputs, "token"):
        yield "the provider has a token, which is then in the state; remove it, so that it reads GITHUB_TOKEN"
    # A credential that must be in the cluster belongs into a Kubernetes Secret.
    searched = {} if type_ == "kubernetes:core/v1:Secret" else inputs
    for path, value in leaves(searched):
        if isinstance(value, str):
            for what in _found(value):
                yield f"{path} contains {what}; revoke it, and refer to a secret"


def _found(text: str) -> list[str]:
    readable = list(_decoded(text, _LAYERS))
    return [what for what, pattern in _CREDENTIALS.items() if any(pattern.search(one) for one in readable)]


def _decoded(text: str, layers: int) -> Iterator[str]:
    """Yield a text and every text that is encoded in it."""
    yield text
    if not layers:
        return
    for found in _BASE64.finditer(text):
        # A wrapped text is decoded as a whole. Where other lines follow it, each line is a text of its own.
        for encoded in {"".join(found.group().split()), *found.group().split()}:
            inner = _inside(encoded)
            if inner is not None:
                yield from _decoded(inner, layers - 1)


def _inside(encoded: str) -> str | None:
    """Return the text in base64, which may also be compressed; None for anything else."""
    try:
        data = base64.b64decode(encoded.translate(str.maketrans("-_", "+/")) + "=" * (-len(encoded) % 4), validate=True)
        if data[:2] == b"\x1f\x8b":
            data = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(data, _LARGEST)
        return data.decode()
    except (binascii.Error, ValueError, zlib.error):
        return None


_VARIABLES: Final = frozenset({"env", "envs", "envVars", "environmentVariables", "extraEnv", "extraEnvs", "variables"})
"""Keys of lists and maps of variables."""


def no_secret_in_a_variable(type_: str, _name: str, inputs: Inputs) -> Iterator[str]:
    """No container gets a secret as a literal value, which everyone who can read its definition can read."""
    if type_ == "kubernetes:core/v1:Secret":
        return
    for path, entry in _variables(inputs, ""):
        name, value = part(entry, "name"), part(entry, "value")
        if (
            isinstance(name, str)
            and _SECRET_NAME.search(name)
            and isinstance(value, str)
            and not _NO_SECRET.fullmatch(value)
        ):
            yield f"{path} states the value of {name}; refer to a Secret with valueFrom.secretKeyRef"
    data = part(inputs, "data") if type_ == "kubernetes:core/v1:ConfigMap" else None
    for key, value in data.items() if isinstance(data, dict) else ():
        if _SECRET_NAME.search(key.replace("-", "_")) and not _NO_SECRET.fullmatch(str(value)):
            yield f"data.{key} is a secret, and a ConfigMap is none; use a Secret"
    if type_ == "aws:ssm/parameter:Parameter" and part(inputs, "type") != "SecureString":
        name = str(part(inputs, "name"))
        if _SECRET_NAME.search(name.replace("/", "_").replace("-", "_")):
            yield f"type of {name} is {part(inputs, 'type')}; use SecureString"


def _variables(value: Any, path: str) -> Iterator[tuple[str, Inputs]]:
    """Yield each environment variable, from lists of pods and from maps of charts."""
    if isinstance(value, dict):
        for key, inside in value.items():
            here = f"{path}{key}"
            if key in _VARIABLES:
                if isinstance(inside, dict):
                    yield from ((here, {"name": name, "value": one}) for name, one in inside.items())
                yield from ((here, entry) for entry in each({"entries": inside}, "entries"))
            else:
                yield from _variables(inside, f"{here}.")
    elif isinstance(value, (list, tuple)):
        for index, inside in enumerate(value):
            yield from _variables(inside, f"{path}{index}.")
