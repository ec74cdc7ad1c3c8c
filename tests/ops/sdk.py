"""The SDK's classes by their type tokens, for tests that hold our tables against them."""

from __future__ import annotations

import importlib


def sdk_class(token: str) -> type:
    """The class that registers a type token."""
    package, path, name = token.split(":")
    module = path.split("/")[0].replace("helm.sh", "helm")
    tail = f".{path.split('/')[1]}" if package == "kubernetes" else ""
    found: type = getattr(importlib.import_module(f"pulumi_{package}.{module}{tail}"), name)
    return found
