"""Removes secrets from recorded answers and logs: by the names of keys, by the form of values, and by known values.

A key whose name only refers to a secret, such as `secretName`, keeps its value, because checks compare it.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from gpu_ci.stack_file.reading.credentials import CREDENTIAL

REDACTED: Final = "[redacted]"
SHORTEST: Final = 8
"""The length from which a value of a variable counts as a secret. A shorter one would remove ordinary words."""

_WORDS: Final = (
    r"pass(word|wd|phrase)|secret|token|credentials?|authorization|cookie|kube-?config|jit-?config|jwt|signature|"
    r"(private|secret|access|api|account|signing|encryption|master|session|client)-?key|key-?data|"
    r"client-?secret|connection-?string"
)
_SENSITIVE: Final = re.compile(
    rf"(.*[-_.]|.*[a-z])?({_WORDS})(-?(value|data|text|base64))?"
    r"|(.*[-_.])?(pass(word|wd|phrase)|secret|token|jwt)-.+",
    re.IGNORECASE,
)
"""The names of keys that hold a secret. Underscores count as hyphens."""
_PUBLIC: Final = re.compile(
    r".*(secret(-?(name|ref|key-?ref|arn|id|type))|github-?config-?secret|next-?token|continuation-?token|"
    r"token-?(url|uri|type|expiration|endpoint)|access-?key-?id-?status)",
    re.IGNORECASE,
)
"""The names of keys that resemble them and hold a name or an address."""
_PAIRS: Final = (("name", "value"), ("Name", "Value"), ("key", "value"), ("Key", "Value"))
"""The keys of an entry with a name and a value: a variable of a container, a parameter, a tag."""

_JWT: Final = r"\beyJ[\w-]{5,}\.[\w-]{5,}(\.[\w-]*)?"
_PEM: Final = r"-----BEGIN [A-Z0-9 ]*-----.*?(-----END [A-Z0-9 ]*-----|\Z)"
_ACCESS: Final = r"\b(A3T[A-Z0-9]|ABIA|ACCA|AKIA|ASIA)[A-Z0-9]{16}\b"
_BEARER: Final = r"(?<=bearer )\s*[^\s\"']+|(?<=basic )\s*[A-Za-z0-9+/=]{8,}"
_SIGNED: Final = r"(?<=[?&])(X-Amz-(Signature|Security-Token|Credential)|Signature|sig|token|access_token)=[^&\s\"']+"
_USER: Final = r"(?<=://)[^/\s:@\"']+:[^/\s@\"']+(?=@)"
_ASSIGNED: Final = (
    rf"(?i:\b[\w.-]*({_WORDS.replace('-?', '[-_]?')})([-_][\w.-]*)?[\"']?[ \t]*[=:][ \t]*)(?!\[redacted\])"
    r"(?P<value>\"[^\"]{4,}\"|'[^']{4,}'|[^\s\"',;}\]]{4,})"
)
"""An assignment in a log or a script, as in `AWS_SECRET_ACCESS_KEY=…` or `password: …`."""
_ENCRYPTED: Final = re.compile(r"^(\s*(?:secure|encryptionsalt|encryptedkey):[ \t]*)(?![ \t]).+$", re.MULTILINE)
_NOTHING: Final = "v1:cmVkYWN0ZWQ=:cmVkYWN0ZWQ="
"""The form of an encrypted value, without content, so that the stack file stays valid."""
_BASE64: Final = re.compile(r"[A-Za-z0-9+/]+={0,2}")
_FORMS: Final = (
    re.compile(_PEM, re.DOTALL),
    re.compile(_JWT),
    CREDENTIAL,
    re.compile(_ACCESS),
    re.compile(r"\bgh[pousr]_\w{10,}|\bgithub_pat_\w{10,}|\bghs_[\w.-]{10,}|\bAIza[\w-]{30,}|\bya29\.[\w.-]{10,}"),
    re.compile(_BEARER, re.IGNORECASE),
    re.compile(_SIGNED, re.IGNORECASE),
    re.compile(_USER),
)


def is_sensitive(name: str) -> bool:
    """Return True for the name of a key or a variable that holds a secret."""
    plain = name.replace("_", "-")
    return _SENSITIVE.fullmatch(plain) is not None and _PUBLIC.fullmatch(plain) is None


def known_values(environment: Mapping[str, str]) -> frozenset[str]:
    """Return the values of variables that hold secrets."""
    return frozenset(value for name, value in environment.items() if len(value) >= SHORTEST and is_sensitive(name))


def redacted(value: Any, known: Iterable[str] = ()) -> Any:
    """Return a JSON value without secrets.

    Args:
        value: the value.
        known: values that are secrets, in any place.

    """
    # A value that contains another one is replaced first.
    return _value(value, tuple(sorted(known, key=len, reverse=True)))


def _value(value: Any, known: tuple[str, ...]) -> Any:
    if isinstance(value, Mapping):
        return _mapping(value, known)
    if isinstance(value, list | tuple):
        return [_value(one, known) for one in value]
    return _text(value, known) if isinstance(value, str) else value


def _text(value: str, known: tuple[str, ...]) -> str:
    """Return a text without secrets, also where the text is encoded, as files and scripts are."""
    content = _decoded(value)
    if content is not None and (clean := text_without_secrets(content, known)) != content:
        return base64.b64encode(clean.encode()).decode()
    return text_without_secrets(value, known)


def _decoded(value: str) -> str | None:
    """Return the text that a value encodes; None for a value that encodes no text."""
    packed = "".join(value.split())
    if len(packed) < SHORTEST or _BASE64.fullmatch(packed) is None:
        return None
    try:
        return base64.b64decode(packed, validate=True).decode()
    except ValueError:
        return None


def _mapping(value: Mapping[Any, Any], known: tuple[str, ...]) -> dict[str, Any]:
    secret_object = value.get("kind") == "Secret"
    found: dict[str, Any] = {}
    for key, inner in value.items():
        name = str(key)
        if (secret_object and name in {"data", "stringData"}) or is_sensitive(name):
            found[text_without_secrets(name, known)] = _without_texts(inner, known)
        else:
            found[text_without_secrets(name, known)] = _value(inner, known)
    for name, content in _PAIRS:
        if isinstance(value.get(content), str) and is_sensitive(str(value.get(name, ""))):
            found[content] = REDACTED
    return found


def _without_texts(value: Any, known: tuple[str, ...]) -> Any:
    """Replace each text of a secret. Names, sizes and switches stay, because checks compare them."""
    if isinstance(value, Mapping):
        return {
            text_without_secrets(str(key), known): _value(inner, known)
            if key == "name" or _PUBLIC.fullmatch(str(key).replace("_", "-"))
            else _without_texts(inner, known)
            for key, inner in value.items()
        }
    if isinstance(value, list | tuple):
        return [_without_texts(one, known) for one in value]
    return REDACTED if isinstance(value, str) and value else value


def text_without_secrets(text: str, known: Iterable[str] = ()) -> str:
    """Return a text, for example a log, without secrets."""
    for one in known:
        text = text.replace(one, REDACTED)
    for form in _FORMS:
        text = form.sub(REDACTED, text)
    return re.sub(_ASSIGNED, lambda match: f"{match[0][: -len(match['value'])]}{REDACTED}", text)


def stack_file_without_secrets(text: str) -> str:
    """Return a stack file without its encrypted secrets and without the salt and the key that decrypt them.

    A passphrase can be guessed from a salt and an encrypted value.
    """
    return text_without_secrets(_ENCRYPTED.sub(rf"\1{_NOTHING}", text))
