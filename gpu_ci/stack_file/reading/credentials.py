"""Keys of other namespaces and credentials in a stack file: secrets are encrypted, and only this program's are read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from gpu_ci.stack_file.faults import Fault
from gpu_ci.stack_file.identity import PROJECT
from gpu_ci.stack_file.sections.settings import GITHUB_APP_PRIVATE_KEY

CREDENTIAL: Final = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----|\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_\w{20,}|\bA(?:KIA|SIA)[A-Z0-9]{16}\b"
    r"|\bAIza[\w-]{35}|\bya29\.[\w-]{20,}|\bpul-[0-9a-f]{40}\b|\bhf_[A-Za-z]{30,}|\bdckr_pat_[\w-]{20,}|\bxox[abeprs]-\w{10,}"
)
"""The forms of keys and tokens of GitHub, AWS, Google, Pulumi, Hugging Face, Docker and Slack."""
_NAMES: Final = re.compile(
    r"token|secret|password|passphrase|credential|kubeconfig|(private|access|api)[-_]?key", re.IGNORECASE
)
"""Parts of names of keys that hold a credential."""
_PROVIDERS: Final = ("aws", "aws-native", "gcp", "google-native", "kubernetes", "docker", "docker-build", "github")
_DECIDED: Final = {"aws:region": ("aws", "region"), "gcp:project": ("gcp", "project"), "gcp:region": ("gcp", "region")}
"""Keys of providers, and the setting of this program that decides instead."""
_PLUGINS: Final = "pulumi:disable-default-providers"
_PEM: Final = re.compile(r"\s*-----BEGIN ([A-Z]+ )?PRIVATE KEY-----.+-----END ([A-Z]+ )?PRIVATE KEY-----\s*", re.DOTALL)


def credential_faults(config: Mapping[str, str], secret_keys: frozenset[str]) -> Iterator[Fault]:
    """Yield the faults of the App's key, and of keys in other namespaces, which belong to other programs."""
    own = f"{PROJECT}:{GITHUB_APP_PRIVATE_KEY}"
    if own in secret_keys and _PEM.fullmatch(config[own]) is None:
        fix = f"run: pulumi config set --secret {own} < key.pem"
        yield Fault(GITHUB_APP_PRIVATE_KEY, "is not a private key in PEM form", fix)
    for key, text in config.items():
        namespace, _, name = key.partition(":")
        if namespace == PROJECT:
            continue
        named = _NAMES.search(name) is not None
        if key not in secret_keys and (named or CREDENTIAL.search(text)):
            yield Fault(key, "contains a credential in plain text", "revoke it, and remove it")
        elif named and namespace.lower() in _PROVIDERS:
            yield Fault(key, "has no effect: the program configures its providers itself", "remove it")
        if key == _PLUGINS and text.replace(" ", "") != json.dumps(["*"]):
            yield Fault(key, "other providers would use credentials that no section states", 'write ["*"]')


def contradiction_faults(config: Mapping[str, str], settings: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield a fault for each key of a provider that states another value than the section that decides.

    Args:
        config: all keys, with their namespaces.
        settings: the sections, as plain values.

    """
    for key, (section, name) in _DECIDED.items():
        decided = settings.get(section)
        if key in config and isinstance(decided, Mapping) and decided.get(name) not in (None, config[key]):
            problem = f"has no effect: {section}.{name} decides, and it is {decided[name]}"
            yield Fault(key, problem, "remove it")
