"""Old cirun files made today's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import typer
from typer.testing import CliRunner

from kit.cirun import read
from kit.closed import FileError
from ops.cirun_migrate import migrate
from ops.commands.cirun_migrate import main

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.pure

NESTED = """\
gpu-runner:
  labels: [self-hosted, linux, x64, gpu]
  provider:
    name: gcp
    project: gpu-test-runners
    region: us-central1
    zone: us-central1-b
  machine:
    type: n1-standard-8
    gpu:
      type: nvidia-tesla-t4
      count: 1
    image:
      family: rag-bench-gpu-host
      project: gpu-test-runners
    serviceAccount: runner@gpu-test-runners.iam.gserviceaccount.com
    serviceAccountScopes: [cloud-platform]
  setup:
    - name: Pull the image
      run: docker pull image
"""
OF_2022 = """\
runners:
  - name: aws-gpu-runner
    cloud: aws
    instance_type: g4dn.xlarge
    machine_image: ami-067a4ba2816407ee9
    region: eu-north-1
    preemptible: false
    workflow: .github/workflows/test-gpu.yml
    count: 1
    labels:
      - cirun-aws-gpu
"""

app = typer.Typer()
app.command()(main)


def test_the_nested_form_becomes_a_list_of_documented_keys() -> None:
    runner = read(migrate(NESTED).text).runners[0].model_dump(mode="json", exclude_none=True)

    assert runner == {
        "name": "gpu-runner",
        "cloud": "gcp",
        "gpu": "nvidia-tesla-t4",
        "instance_type": "n1-standard-8",
        "machine_image": "projects/gpu-test-runners/global/images/family/rag-bench-gpu-host",
        "region": "us-central1-b",
        "labels": ["cirun-gpu"],
        "extra_config": {
            "project_id": "gpu-test-runners",
            "serviceAccounts": [
                {
                    "email": "runner@gpu-test-runners.iam.gserviceaccount.com",
                    "scopes": ["https://www.googleapis.com/auth/cloud-platform"],
                }
            ],
        },
    }


def test_each_key_that_changed_has_a_note() -> None:
    changed = {note.path: note.change for note in migrate(NESTED).notes}

    assert set(changed) == {
        "file",
        "gpu-runner.labels",
        "gpu-runner.provider.name",
        "gpu-runner.provider.project",
        "gpu-runner.provider.region",
        "gpu-runner.provider.zone",
        "gpu-runner.machine.type",
        "gpu-runner.machine.gpu.type",
        "gpu-runner.machine.image",
        "gpu-runner.serviceAccount",
        "gpu-runner.setup",
    }
    assert 'runs-on: "cirun-gpu--${{ github.run_id }}"' in changed["gpu-runner.labels"]


def test_keys_that_cirun_dropped_go_and_the_rest_stays() -> None:
    migration = migrate(OF_2022)

    assert [note.path for note in sorted(migration.notes)] == ["runners[0].count", "runners[0].workflow"]
    assert read(migration.text).runners[0].model_dump(mode="json", exclude_none=True) == {
        "name": "aws-gpu-runner",
        "cloud": "aws",
        "instance_type": "g4dn.xlarge",
        "machine_image": "ami-067a4ba2816407ee9",
        "region": "eu-north-1",
        "preemptible": False,
        "labels": ["cirun-aws-gpu"],
    }


@pytest.mark.parametrize("old", [NESTED, OF_2022])
def test_a_second_migration_changes_nothing(old: str) -> None:
    new = migrate(old).text

    assert migrate(new).notes == ()
    assert migrate(new).text == new


def test_a_file_of_todays_form_comes_back_with_its_comments() -> None:
    text = "# ours\nrunners:\n  - {name: a, cloud: aws, labels: [cirun-a]}  # kept\n"

    assert migrate(text).text == text


def test_a_map_below_runners_is_read_too() -> None:
    text = "runners:\n  a: {cloud: aws, labels: [cirun-a]}\n"

    assert [runner.name for runner in read(migrate(text).text).runners] == ["a"]


def test_several_gpus_are_said_to_be_lost() -> None:
    notes = migrate(NESTED.replace("count: 1", "count: 2")).notes

    assert "cirun takes no number of GPUs" in next(note.change for note in notes if note.path.endswith("gpu.count"))


def test_a_region_alone_is_no_zone() -> None:
    migration = migrate(NESTED.replace("    zone: us-central1-b\n", ""))

    assert read(migration.text).runners[0].region is None
    assert "state a zone as `region`, for example us-central1-b" in str(migration.notes)


def test_every_key_that_no_form_knows_is_named() -> None:
    text = NESTED.replace("zone: us", "zon: us").replace("  setup:", "  setups:").replace("count: 1", "counts: 1")
    with pytest.raises(FileError) as error:
        migrate(text)

    assert [(fault.path, fault.right) for fault in error.value.faults] == [
        ("gpu-runner.setups", "did you mean `setup`?"),
        ("gpu-runner.provider.zon", "did you mean `zone`?"),
        ("gpu-runner.machine.gpu.counts", "did you mean `count`?"),
    ]


def test_the_command_prints_the_new_file_and_leaves_the_old(tmp_path: Path) -> None:
    old = tmp_path / ".cirun.yml"
    old.write_text(OF_2022)
    result = CliRunner().invoke(app, [str(old)])

    assert result.exit_code == 0
    assert result.stdout == migrate(OF_2022).text
    assert "workflow: dropped" in result.stderr
    assert old.read_text() == OF_2022


def test_the_command_replaces_the_file_where_it_is_told_to(tmp_path: Path) -> None:
    old = tmp_path / ".cirun.yml"
    old.write_text(OF_2022)
    result = CliRunner().invoke(app, [str(old), "--write"])

    assert (result.exit_code, result.stdout) == (0, "")
    assert old.read_text() == migrate(OF_2022).text


@pytest.mark.parametrize("content", [None, b"\xff", b"a: ["])
def test_a_file_that_cannot_be_read_ends_with_2_and_no_traceback(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "old.yml"
    if content is not None:
        file.write_bytes(content)
    result = CliRunner().invoke(app, [str(file)])

    assert result.exit_code == 2
    assert str(file) in result.stderr
