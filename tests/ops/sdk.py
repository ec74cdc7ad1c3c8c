"""The SDK's classes by type token, for tests that compare our tables with them."""

from __future__ import annotations

import importlib
import keyword

from ops.plan.lean_imports import lean_imports


def sdk_class(token: str) -> type:
    """Return the class that registers a type token."""
    package, path, name = token.split(":")
    first, _, version = path.partition("/")
    # A word of Python gets an underscore: pulumi_aws.lambda_.
    module = "" if first == "index" else f".{first.replace('helm.sh', 'helm')}{'_' * keyword.iskeyword(first)}"
    tail = f".{version}" if package == "kubernetes" else ""
    with lean_imports():
        found: type = getattr(importlib.import_module(f"pulumi_{package.replace('-', '_')}{module}{tail}"), name)
    return found
