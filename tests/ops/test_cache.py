"""Where things are kept, and what a program does not get to see."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from ops import cache
from ops.plan.isolation import hidden_environment

pytestmark = pytest.mark.pure


def test_the_cache_is_where_the_user_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")

    assert cache.folder() == Path("/somewhere/gpu-ci")


def test_without_a_word_it_is_in_the_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", "/home/me")

    assert cache.folder() == Path("/home/me/.cache/gpu-ci")


def test_a_user_without_a_home_has_a_cache_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a container does that runs under a number which no passwd file names."""

    def nowhere() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", nowhere)

    assert cache.folder() == Path(tempfile.gettempdir()) / f"gpu-ci-{os.getuid()}"


@pytest.mark.parametrize("name", ["AWS_REGION", "DOCKER_HOST", "BUILDX_BUILDER", "GOOGLE_PROJECT", "KUBECONFIG"])
def test_a_program_does_not_see_what_a_provider_would_fill_in(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "mine")
    with hidden_environment():
        inside = os.environ.get(name)

    assert (inside, os.environ[name]) == (None, "mine")
