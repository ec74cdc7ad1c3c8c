"""Write the lists of keys that the pinned charts read: `tests/charts/data/NAME.json`, one for each chart.

`python -m tools.chart_keys` downloads the charts with `helm pull`. With `--charts FOLDER` it reads charts from
`FOLDER/NAME` or `FOLDER/NAME-VERSION.tgz` instead. The charts and versions are those of the recorded plans, so a new
version is one line in `gpu_ci/knowledge/pins.py`. It ends with 3 if a chart is missing, and with 2 if a version
differs.

The lists are an approximation from the text of values.yaml and the templates. Review their diff.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from ops.plan import golden
from ops.plan.recorder import record
from ops.plan.stack_file import read

ROOT: Final = Path(__file__).resolve().parent.parent
DATA: Final = ROOT / "tests" / "charts" / "data"
RELEASE: Final = "kubernetes:helm.sh/v3:Release"
_KEY: Final = re.compile(r"^(?P<before>\s*(?:#+\s?)?\s*(?:- )?)(?P<key>[A-Za-z_][\w./-]*):(?=\s|$)")
_VALUE: Final = re.compile(r"\.Values\.([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)")
_INDEXED: Final = re.compile(r"index \$?\.Values((?: \"[^\"]+\")+)")
_WHOLE: Final = re.compile(r"(?:toYaml|with|range(?: [^:}]*:=)?) \$?\.Values\.([\w.]+)")
_KIND: Final = re.compile(r"(?:kindIs|typeIs) \"([^\"]+)\" \(?\$?\.Values\.([\w.]+)")


class Missing(Exception):
    """A chart that is neither in the folder nor can be downloaded."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Source:
    """A chart of a release."""

    name: str
    version: str
    repository: str | None
    """The address of the chart repository; None for an OCI chart."""
    chart: str
    """The chart as the release names it: a name or an `oci://` address."""


def sources() -> list[Source]:
    """Return the charts of every committed stack."""
    releases = (release.inputs for file in golden.stack_files() for release in record(read(file)).of(RELEASE))
    return sorted(
        {
            Source(
                name=release["chart"].rpartition("/")[2],
                version=release["version"],
                repository=(release.get("repositoryOpts") or {}).get("repo"),
                chart=release["chart"],
            )
            for release in releases
        }
    )


def fetch(source: Source, folder: Path | None, work: Path) -> Path:
    """Return the folder of an unpacked chart.

    Raises:
        Missing: the chart is not in the folder, or Helm is not installed or fails.

    """
    if folder is not None:
        if (folder / source.name / "Chart.yaml").is_file():
            return folder / source.name
        archive = folder / f"{source.name}-{source.version}.tgz"
        if not archive.is_file():
            raise Missing(f"{folder} contains neither {source.name}/Chart.yaml nor {archive.name}")
        with tarfile.open(archive) as packed:
            packed.extractall(work, filter="data")
        return work / source.name
    if shutil.which("helm") is None:
        raise Missing("helm is not on PATH: install it, or run `make chart-keys CHARTS=folder` with downloaded charts")
    where = ["--repo", source.repository] if source.repository else []
    pull = ["helm", "pull", source.chart, "--version", source.version, "--untar", "--untardir", str(work), *where]
    finished = subprocess.run(pull, capture_output=True, check=False, text=True)
    if finished.returncode:
        raise Missing(f"helm cannot download {source.name} {source.version}: {finished.stderr.strip()}")
    return work / source.name


def keys_of(folder: Path) -> dict[str, Any]:
    """Return the keys that a chart reads, in the format of `tests/charts/known_keys.py`."""
    chart = yaml.safe_load((folder / "Chart.yaml").read_text(encoding="utf-8"))
    text = (folder / "values.yaml").read_text(encoding="utf-8")
    templates = "\n".join(path.read_text(encoding="utf-8") for path in sorted((folder / "templates").rglob("*.*")))
    stated = yaml.safe_load(text) or {}
    values = set(paths(stated))
    subcharts = {one.get("alias") or one["name"] for one in chart.get("dependencies") or ()}
    conditions = {one["condition"] for one in chart.get("dependencies") or () if "condition" in one}
    references = set(_VALUE.findall(templates)) | conditions | subcharts
    references |= {".".join(re.findall(r"\"([^\"]+)\"", names)) for names in _INDEXED.findall(templates)}
    kinds: dict[str, set[str]] = {}
    for kind, path in _KIND.findall(templates):
        kinds.setdefault(path, set()).add(kind)
    whole = set(_WHOLE.findall(templates))
    return {
        "chart": chart["name"],
        "version": chart["version"],
        "values": sorted(values),
        "template_only": sorted({part for path in references - subcharts for part in _above(path)} - values),
        "commented": sorted(commented(text)),
        "free": sorted(path for path in whole | values if path in whole and not list(paths(_at(stated, path)))),
        "dead": sorted(path for path in values if not any(_related(path, other) for other in references)),
        "types": {path: sorted(found) for path, found in sorted(kinds.items())},
    }


def paths(values: Any, above: str = "") -> Iterator[str]:
    """Yield every key of nested mappings, as a path with dots."""
    if isinstance(values, dict):
        for key, value in values.items():
            path = f"{above}.{key}" if above else str(key)
            yield path
            yield from paths(value, path)


def commented(text: str) -> set[str]:
    """Return the keys that values.yaml shows in comments, below the keys that precede them with less indentation."""
    found: set[str] = set()
    above: list[tuple[int, str]] = []
    for line in text.splitlines():
        match = _KEY.match(line)
        # A word with a capital letter before a colon is prose.
        if match is None or ("#" in match["before"] and match["key"][0].isupper()):
            continue
        before, is_comment = match["before"], "#" in match["before"]
        # `# key` belongs to the column of the number sign, and `#   key` is two columns to the right of it.
        indentation = len(re.sub(r"#+ ?", "", before))
        above = [(column, key) for column, key in above if column < indentation] + [(indentation, match["key"])]
        if is_comment:
            found.add(".".join(key for _, key in above))
    return found


def _above(path: str) -> Iterable[str]:
    parts = path.split(".")
    return (".".join(parts[: count + 1]) for count in range(len(parts)))


def _at(values: Any, path: str) -> Any:
    for key in path.split("."):
        values = values.get(key) if isinstance(values, dict) else None
    return values


def _related(path: str, other: str) -> bool:
    return f"{path}.".startswith(f"{other}.") or f"{other}.".startswith(f"{path}.")


def write(source: Source, folder: Path, data: Path) -> None:
    """Write the lists of a chart and of the charts that it contains."""
    found = keys_of(folder)
    if found["version"] != source.version:
        raise ValueError(f"{folder} has version {found['version']}; the pinned version is {source.version}")
    contained = (keys_of(chart.parent) for chart in sorted((folder / "charts").glob("*/Chart.yaml")))
    for each in (found, *contained):
        (data / f"{each['chart']}.json").write_text(json.dumps(each, indent=1) + "\n", encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the lists of every pinned chart; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--charts", type=Path, help="a folder with charts; without it Helm downloads them")
    folder = parser.parse_args(arguments).charts
    with tempfile.TemporaryDirectory() as work:
        try:
            for source in sources():
                write(source, fetch(source, folder, Path(work)), DATA)
        except Missing as missing:
            sys.stderr.write(f"chart-keys: {missing}\n")
            return 3
        except ValueError as differs:
            sys.stderr.write(f"chart-keys: {differs}\n")
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
