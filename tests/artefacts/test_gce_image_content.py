"""The content address of an image, and the one script that a machine is started with."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ami.builder.content_hash import FAMILY_LIMIT, ImageContent, checked_family, image_name
from ami.builder.startup_script import INSTALL_FILES, LIMIT, VERIFY_FILES, startup_script
from tests.artefacts.callers import run_as_called

STARTUP = "gcp:compute/instance:Instance metadataStartupScript"
FOLDER = Path(__file__).parents[2] / "ami" / "gce-gpu-host"
FILES = {name: (FOLDER / name).read_text() for name in INSTALL_FILES}
CONTENT = ImageContent(files={"a": "1"}, options={"B": "2"}, base_image="p/i", disk_gib=50)

pytestmark = pytest.mark.pure

name = st.text(st.characters(codec="ascii", categories=("Lu", "Ll", "Nd")), min_size=1, max_size=4)
content = st.builds(
    ImageContent,
    files=st.dictionaries(name, name, max_size=3),
    options=st.dictionaries(name, name, max_size=3),
    base_image=name,
    disk_gib=st.integers(10, 99),
    location=name,
)


@given(content, content)
@settings(max_examples=80, deadline=None)
def test_two_contents_have_the_same_hash_exactly_if_they_are_equal(one: ImageContent, other: ImageContent) -> None:
    assert (one.hash == other.hash) == (one == other)


def test_the_order_of_files_and_options_does_not_change_the_hash() -> None:
    one = replace(CONTENT, files={"a": "1", "b": "2"}, options={"X": "1", "Y": "2"})
    other = replace(CONTENT, files={"b": "2", "a": "1"}, options={"Y": "2", "X": "1"})

    assert one.hash == other.hash


def test_the_hash_of_a_known_content_is_stable() -> None:
    """Another digest would rebuild every image."""
    assert image_name("gpu-host", CONTENT) == "gpu-host-93c7fd91"


@pytest.mark.parametrize("family", ["", "Gpu", "1gpu", "gpu_host", "gpu-", "gpü", "a" * (FAMILY_LIMIT + 1)])
def test_a_family_name_that_google_cloud_rejects_is_refused(family: str) -> None:
    with pytest.raises(ValueError, match="image family"):
        checked_family(family)


def test_the_longest_family_leaves_room_for_the_names_of_its_machines() -> None:
    assert len(f"{image_name('a' * FAMILY_LIMIT, CONTENT)}-verify") == 63


def test_every_script_belongs_to_the_installation_or_the_verification() -> None:
    there = {path.name for path in FOLDER.iterdir() if path.suffix in {".sh", ".service"}}

    assert there == set(INSTALL_FILES) | set(VERIFY_FILES)
    assert len(startup_script(FILES, {}, home="/opt/gpu-host", run="install.sh")) < LIMIT


def test_the_start_script_writes_every_file_and_runs_the_entry_point(tmp_path: Path) -> None:
    home = tmp_path / "home"
    files = FILES | {"go.sh": '. "$(dirname "$0")/options.env"; printf "%s|%s" "$GPU_NAME" "$ODD"\n'}
    options = {"GPU_NAME": "Tesla T4", "ODD": "$(touch /nothing) `id` 'x'"}
    script = startup_script(files, options, home=str(home), run="go.sh")
    run = run_as_called(STARTUP, script, world=tmp_path, environment={"PATH": "/usr/bin:/bin"})

    assert (run.code, run.err) == (0, "")
    assert run.out == "Tesla T4|$(touch /nothing) `id` 'x'"
    assert {path.name: path.read_text() for path in home.iterdir() if path.name != "options.env"} == files


@pytest.mark.parametrize(
    ("files", "options"),
    [
        ({"a": "no newline"}, {}),
        ({"a": "END_OF_GPU_HOST_FILE\n"}, {}),
        ({}, {"lower": "x"}),
        ({}, {"A": "two\nlines"}),
        ({"a": "x\n" * LIMIT}, {}),
    ],
)
def test_files_and_options_that_the_script_cannot_contain_are_refused(
    files: dict[str, str], options: dict[str, str]
) -> None:
    with pytest.raises(ValueError, match=r"newline|capitals|Google takes"):
        startup_script(files, options, home="/h", run="a")


def test_the_same_files_and_options_always_give_the_same_script() -> None:
    options = {"A": "1", "B": "2"}
    one = startup_script(FILES, options, home="/h", run="install.sh")
    other = startup_script(dict(reversed(FILES.items())), dict(reversed(options.items())), home="/h", run="install.sh")

    assert one == other
