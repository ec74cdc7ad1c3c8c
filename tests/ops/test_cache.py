"""The cache folder, and the environment of a program."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from ops import cache
from ops.plan.isolation import hidden_environment

pytestmark = pytest.mark.pure


def test_xdg_cache_home_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")

    assert cache.folder() == Path("/somewhere/gpu-ci")


def test_the_default_cache_is_in_the_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", "/home/me")

    assert cache.folder() == Path("/home/me/.cache/gpu-ci")


def test_a_user_without_a_home_has_a_temporary_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as a container whose user has no entry in the passwd file."""

    def nowhere() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", nowhere)

    assert cache.folder() == Path(tempfile.gettempdir()) / f"gpu-ci-{os.getuid()}"


@pytest.mark.parametrize("name", ["AWS_REGION", "DOCKER_HOST", "BUILDX_BUILDER", "GOOGLE_PROJECT", "KUBECONFIG"])
def test_variables_of_the_providers_are_hidden(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "mine")
    with hidden_environment():
        inside = os.environ.get(name)

    assert (inside, os.environ[name]) == (None, "mine")
