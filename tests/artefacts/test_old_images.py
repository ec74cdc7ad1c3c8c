"""The monthly look for machine images with an old base."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from gpu_ci.knowledge import pins
from ops.cli.options import ROOT
from ops.pipeline import old_images
from ops.plan import typed
from ops.plan.stack_file import read

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


def test_only_an_old_base_is_in_the_issue(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    today = datetime.now(UTC).date()
    old = old_images.Base(place="a: b", value="v1", made=today - timedelta(days=91), newest="print the newest")
    new = old_images.Base(place="c: d", value="v2", made=today - timedelta(days=90), newest="not needed")
    stated, text = [old, new], tmp_path / "out/text.md"
    monkeypatch.setattr(old_images, "bases", lambda _settings, _file: list(stated))

    assert old_images.main(["--text", str(text)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "1 of 2 are old."
    assert "- `a: b`: `v1`, 91 days old. The newest one:\n\n  ```bash\n  print the newest\n  ```" in text.read_text()
    assert "c: d" not in text.read_text()

    stated.remove(old)
    assert old_images.main(["--text", str(text)]) == 0
    assert not text.exists()
