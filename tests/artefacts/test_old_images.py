"""The monthly look for machine images with an old base."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest

from gpu_ci.knowledge import pins
from ops.cli.options import ROOT
from ops.pipeline import old_images
from ops.plan import typed
from ops.plan.stack_file import read
from tests.artefacts.fake_github import REPOSITORY, TOKEN, FakeGitHub

pytestmark = pytest.mark.artefacts


def found(path: str) -> dict[str, old_images.Base]:
    file = read(ROOT / path)
    return {one.place: one for one in old_images.bases(typed.settings(file), file.path.name)}


def test_every_dated_base_of_a_stack_is_found() -> None:
    staging, own = found("tests/stacks/staging.yaml"), found("examples/eks-own-image.yaml")

    host = staging["staging.yaml: host-image.source-image"]
    assert (host.value, host.made) == ("ubuntu-2404-noble-amd64-v20261105", date(2026, 11, 5))
    assert host.newest == (
        "gcloud compute images describe-from-family ubuntu-2404-noble-amd64 --project ubuntu-os-cloud"
        " --format 'value(name)'"
    )
    release = staging['gpu_ci/knowledge/pins.py: EKS_AMI_RELEASES["1.35"]']
    assert f"{release.made:%Y%m%d}" == pins.EKS_AMI_RELEASES["1.35"].rpartition("-")[2]
    assert own["eks-own-image.yaml: ec2-image.serial"].made == date(2026, 11, 5)


def test_an_old_base_opens_one_issue_and_a_newer_one_closes_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    today = datetime.now(UTC).date()
    old = old_images.Base(place="a: b", value="v1", made=today - timedelta(days=91), newest="print the newest")
    new = old_images.Base(place="c: d", value="v2", made=today - timedelta(days=90), newest="not needed")
    stated = [old, new]
    monkeypatch.setattr(old_images, "bases", lambda _settings, _file: list(stated))
    with FakeGitHub() as github:
        for name, value in (("REPOSITORY", REPOSITORY), ("TOKEN", TOKEN), ("API_URL", github.api)):
            monkeypatch.setenv(f"GITHUB_{name}", value)

        assert old_images.main([]) == 0
        assert "1 of 2 are old; issue 1 is current." in capsys.readouterr().out
        (issue,) = github.issues
        assert "- `a: b`: `v1`, 91 days old. The newest one:\n\n  ```bash\n  print the newest\n  ```" in issue["body"]
        assert "c: d" not in issue["body"]

        stated.remove(old)
        assert old_images.main([]) == 0
        assert [one["state"] for one in github.issues] == ["closed"]
