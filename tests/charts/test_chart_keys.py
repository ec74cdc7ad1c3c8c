"""The generator of the chart key lists reads a chart, its comments and its templates."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

import pytest

from tools import chart_keys
from tools.chart_keys import Missing, Source

pytestmark = pytest.mark.pure

SOURCE = Source(name="small", version="1.2.3", repository=None, chart="oci://registry.example/small")
FILES = {
    "Chart.yaml": "name: small\nversion: 1.2.3\ndependencies:\n- {name: nfd, condition: nfd.enabled}\n",
    "values.yaml": """\
image:
  tag: v1
  # digest: sha256:0
resources: {}
#  limits:
#    cpu: 1
unused: 1
nfd:
  enabled: true
""",
    "templates/pod.yaml": """\
image: {{ .Values.image.tag }}{{ .Values.image.registry }}
resources: {{ toYaml .Values.resources }}
{{ if kindIs "bool" .Values.debug }}debug{{ end }}
""",
    "charts/nfd/Chart.yaml": "name: node-feature-discovery\nversion: 0.1.0\n",
    "charts/nfd/values.yaml": "worker: {}\n",
    "charts/nfd/templates/pod.yaml": "{{ .Values.worker }}",
}


@pytest.fixture
def charts(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / "small" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_the_lists_contain_every_key_that_a_chart_reads(charts: Path) -> None:
    assert chart_keys.keys_of(charts / "small") == {
        "chart": "small",
        "version": "1.2.3",
        "values": ["image", "image.tag", "nfd", "nfd.enabled", "resources", "unused"],
        "template_only": ["debug", "image.registry"],
        "commented": ["image.digest", "resources.limits", "resources.limits.cpu"],
        "free": ["resources"],
        "dead": ["unused"],
        "types": {"debug": ["bool"]},
    }


def test_a_chart_and_its_subcharts_are_written(charts: Path, tmp_path: Path) -> None:
    chart_keys.write(SOURCE, charts / "small", tmp_path)

    assert json.loads((tmp_path / "small.json").read_text())["version"] == "1.2.3"
    assert json.loads((tmp_path / "node-feature-discovery.json").read_text())["values"] == ["worker"]


def test_a_chart_of_another_version_is_refused(charts: Path, tmp_path: Path) -> None:
    newer = Source(name="small", version="1.2.4", repository=None, chart="small")

    with pytest.raises(ValueError, match=r"small has version 1\.2\.3; the pinned version is 1\.2\.4"):
        chart_keys.write(newer, charts / "small", tmp_path)


def test_an_archive_is_unpacked(charts: Path, tmp_path: Path) -> None:
    packed = tmp_path / "packed"
    packed.mkdir()
    with tarfile.open(packed / "small-1.2.3.tgz", "w:gz") as archive:
        archive.add(charts / "small", "small")

    assert (chart_keys.fetch(SOURCE, packed, tmp_path / "work") / "Chart.yaml").is_file()


def test_a_missing_chart_is_reported(tmp_path: Path) -> None:
    with pytest.raises(Missing, match=r"contains neither small/Chart\.yaml nor small-1\.2\.3\.tgz"):
        chart_keys.fetch(SOURCE, tmp_path, tmp_path)


def test_without_helm_the_fix_is_reported_and_the_exit_code_is_3(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(chart_keys, "sources", lambda: [SOURCE])
    monkeypatch.setenv("PATH", "")

    assert chart_keys.main([]) == 3
    assert capsys.readouterr().err.startswith("chart-keys: helm is not on PATH: install it, or run `make chart-keys")


@pytest.mark.parametrize("path", sorted(chart_keys.DATA.glob("*.json")), ids=lambda path: path.stem)
def test_the_committed_lists_have_the_format_of_the_generator(path: Path, charts: Path) -> None:
    assert json.loads(path.read_text()).keys() == chart_keys.keys_of(charts / "small").keys()
