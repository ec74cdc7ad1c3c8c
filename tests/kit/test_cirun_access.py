"""`.access.yml` has the form of cirun's reference."""

from __future__ import annotations

import pytest

from gpu_ci.repository.cirun_access import AccessFile, Grant, Policy, render_access

pytestmark = pytest.mark.pure


def test_the_access_file_has_the_documented_form() -> None:
    access = AccessFile(
        policies=(Policy(id="sandbox", repo="cirun-sandbox", teams=("core",), users=("a", "b")),),
        access_control=(Grant(resource="gpu-runner", policies=("sandbox",)),),
    )

    assert (
        render_access(access)
        == """\
version: 1
policies:
- id: sandbox
  repo: cirun-sandbox
  teams:
  - core
  users:
  - a
  - b
  pull_request: false
access_control:
- resource: gpu-runner
  policies:
  - sandbox
"""
    )
