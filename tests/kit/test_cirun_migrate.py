"""Old cirun files are updated to the current format."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_ci.knowledge.verdict import Level
from gpu_ci.repository.cirun import read
from gpu_ci.repository.cirun_checks import judge
from gpu_ci.repository.documents import FileError
from ops.cli import main as cli
from ops.kit.migrate.migrate import migrate

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


def test_the_nested_form_becomes_a_list_of_documented_keys() -> None:
    (runner,) = read(migrate(NESTED).text)

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
    changed = {note.path: note.text for note in migrate(NESTED).notes}

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
        "gpu-runner.machine.serviceAccount",
        "gpu-runner.setup",
    }
    assert 'runs-on: "cirun-gpu--${{ github.run_id }}"' in changed["gpu-runner.labels"]


def test_keys_that_cirun_does_not_read_are_removed() -> None:
    migration = migrate(OF_2022)

    assert [note.path for note in sorted(migration.notes)] == ["runners[0].count", "runners[0].workflow"]
    assert read(migration.text)[0] == {
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


def test_a_current_file_keeps_its_comments() -> None:
    text = "# ours\nrunners:\n  - {name: a, cloud: aws, labels: [cirun-a]}  # kept\n"

    assert migrate(text).text == text


def test_a_map_of_runners_is_read() -> None:
    text = "runners:\n  a: {cloud: aws, labels: [cirun-a]}\n"

    assert [runner["name"] for runner in read(migrate(text).text)] == ["a"]


def test_a_gpu_count_above_1_gets_a_note() -> None:
    notes = migrate(NESTED.replace("count: 1", "count: 2")).notes

    assert "cirun attaches one GPU" in next(note.text for note in notes if note.path.endswith("gpu.count"))


def test_a_region_without_a_zone_is_an_error() -> None:
    migration = migrate(NESTED.replace("    zone: us-central1-b\n", ""))

    assert [(verdict.subject, verdict.reason) for verdict in judge(migration.runners, ours=False)] == [
        ("runners[0].region", '"us-central1" is not a Google Cloud zone')
    ]


def test_unknown_keys_are_kept_with_a_note() -> None:
    text = NESTED.replace("zone: us", "zon: us").replace("  setup:", "  setups:").replace("count: 1", "counts: 1")
    migration = migrate(text)
    (runner,) = migration.runners
    kept = {note.path: note.text for note in migration.notes if not note.changed}

    assert (runner["provider"], runner["gpu"]) == ({"zon": "us-central1-b"}, {"type": "nvidia-tesla-t4", "counts": 1})
    assert runner["setups"] == [{"name": "Pull the image", "run": "docker pull image"}]
    assert set(kept) == {"gpu-runner.setups", "gpu-runner.provider.zon", "gpu-runner.machine.gpu"}
    assert kept["gpu-runner.provider.zon"] == 'kept: cirun does not document it; did you mean "zone"?'


def test_unknown_keys_of_extra_config_are_kept_with_a_note() -> None:
    text = """\
runners:
- name: a
  cloud: gcp
  count: 1
  labels: [cirun-a]
  extra_config: {licenseType: Windows_Server, enableNestedVirtualization: true, baseDisc: {diskSizeGb: 50}}
"""
    migration = migrate(text)
    kept = {note.path: note.text for note in migration.notes if not note.changed}

    assert migration.runners[0]["extra_config"] == yaml.safe_load(text)["runners"][0]["extra_config"]
    assert set(kept) == {
        f"runners[0].extra_config.{key}" for key in ("licenseType", "enableNestedVirtualization", "baseDisc")
    }
    assert kept["runners[0].extra_config.baseDisc"] == 'kept: cirun does not document it; did you mean "baseDisk"?'


def test_a_user_name_of_the_machine_is_dropped_with_a_note() -> None:
    migration = migrate(NESTED.replace("    type: n1-standard-8\n", "    type: n1-standard-8\n    username: runner\n"))
    notes = {note.path: note.text for note in migration.notes}

    assert "machine" not in migration.runners[0]
    assert notes["gpu-runner.machine.username"].startswith("dropped: cirun has no such key; the image decides")


@pytest.mark.parametrize(
    ("labels", "became", "note"),
    [
        ("", ["cirun-Big-GPU"], "added cirun-Big-GPU: cirun starts a runner only for its label"),
        ("labels:", ["cirun-Big-GPU"], "added cirun-Big-GPU"),
        ("labels: []", ["cirun-Big-GPU"], "added cirun-Big-GPU"),
        ("labels: cirun-a", ["cirun-a"], 'became cirun-a: write runs-on: "cirun-a--${{ github.run_id }}"'),
    ],
)
def test_a_runner_without_a_list_of_labels_gets_one(labels: str, became: list[str], note: str) -> None:
    migration = migrate(f"runners:\n- name: Big GPU\n  cloud: gcp\n  region: us-central1-b\n  {labels}\n")
    notes = {each.path: each.text for each in migration.notes}

    assert migration.runners[0]["labels"] == became
    assert notes["runners[0].labels"].startswith(note)
    assert judge(migration.runners, ours=False) == ()
    assert migrate(migration.text).notes == ()


@pytest.mark.parametrize(
    ("cloud", "gpu", "stated", "fix"),
    [
        ("gcp", "true", "not true", "write the accelerator type, for example gpu: nvidia-tesla-t4"),
        ("gcp", "1", "not 1", "write the accelerator type, for example gpu: nvidia-tesla-t4"),
        ("aws", "yes", "not true", "remove it: the instance type has the GPU"),
    ],
)
def test_a_gpu_without_a_name_gets_advice_for_its_cloud(cloud: str, gpu: str, stated: str, fix: str) -> None:
    place = {"gcp": "us-central1-b", "aws": "us-west-2"}[cloud]
    text = f"runners:\n- {{name: a, cloud: {cloud}, region: {place}, gpu: {gpu}, labels: [cirun-a]}}\n"
    (verdict,) = judge(migrate(text).runners, ours=False)

    assert (verdict.subject, verdict.level) == ("runners[0].gpu", Level.WARNING)
    assert stated in verdict.reason
    assert verdict.fix.startswith(fix)


def test_the_key_on_is_not_converted_to_a_boolean() -> None:
    """In YAML 1.1 it is a boolean."""
    migration = migrate("on: push\nrunners:\n- {name: a, cloud: aws, count: 1, labels: [cirun-a], on: push, yes: 1}\n")

    assert [note.path for note in migration.notes if not note.changed] == ["runners[0].on", "runners[0].yes", "on"]
    assert not {"true", "True"} & set(migration.text.replace(":", " ").split())


def test_keys_that_this_project_does_not_write_are_kept() -> None:
    text = """\
version: 2
runners:
- name: a
  cloud: azure
  count: 1
  machine_image: {publisher: Canonical, offer: UbuntuServer}
  labels: [cirun-a]
  idle: {replicas: 2}
  new_key: [1, 2.5, null]
  extra_config: {storageProfile: {osDisk: {diskSizeGB: 512}}}
"""
    migration = migrate(text)
    old, new = yaml.safe_load(text), yaml.safe_load(migration.text)
    del old["runners"][0]["count"]

    assert new == old
    assert [(note.path, note.changed) for note in migration.notes] == [
        ("runners[0].count", True),
        ("runners[0].new_key", False),
        ("version", False),
    ]


def test_an_unknown_key_alone_does_not_change_the_file() -> None:
    text = "runners: [{name: a, cloud: aws, labels: [cirun-a], zone: eu-west-1a}]  # kept\n"
    migration = migrate(text)

    assert (migration.changed, migration.text) == (False, text)
    assert [note.path for note in migration.notes] == ["runners[0].zone"]


@pytest.mark.parametrize(
    ("old", "new", "path"),
    [
        ("serviceAccountScopes: [cloud-platform]", "serviceAccountScopes: 5", "machine.serviceAccountScopes"),
        (
            "serviceAccount: runner@gpu-test-runners.iam.gserviceaccount.com",
            "serviceAccount: [a]",
            "machine.serviceAccount",
        ),
        ("family: rag-bench-gpu-host", "family: 3", "machine.image"),
    ],
)
def test_a_value_that_cannot_be_converted_is_kept(old: str, new: str, path: str) -> None:
    kept = [note.path for note in migrate(NESTED.replace(old, new)).notes if not note.changed]

    assert f"gpu-runner.{path}" in kept


FLAT = """\
runners:
  gpu-runner:  # T4
    cloud: gcp
    gpu: {type: nvidia-tesla-t4, count: 2}
    instance_type: n1-standard-4
    machine_image: {name: gpu-host, project: images}
    zone: us-central1-b
    project: gpu-test-runners
    service_account: runner@gpu-test-runners.iam.gserviceaccount.com
    spot: true
    env: {A: "#1"}
    # pulls the image
    setup: [docker pull image]
    labels: [cirun-gpu]
"""


def test_nested_keys_in_a_flat_runner_are_read() -> None:
    migration = migrate(FLAT)

    assert read(migration.text)[0] == {
        "name": "gpu-runner",
        "cloud": "gcp",
        "gpu": "nvidia-tesla-t4",
        "instance_type": "n1-standard-4",
        "machine_image": "projects/images/global/images/gpu-host",
        "region": "us-central1-b",
        "preemptible": True,
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
    assert {note.path.removeprefix("runners.gpu-runner.") for note in migration.notes} == {
        "runners", "gpu.count", "gpu.type", "machine_image", "zone", "project", "service_account", "spot", "env", "setup",
        "line 2", "line 12",
    }  # fmt: skip


def test_a_stated_current_key_overrides_an_old_key() -> None:
    text = FLAT.replace(
        "    spot: true\n", "    spot: true\n    preemptible: false\n    region: us-central1\n"
    ).replace("    # pulls", "    extra_config: {project_id: other}\n    # pulls")
    migration = migrate(text)
    (runner,) = read(migration.text)
    notes = {note.path: note.text for note in migration.notes}

    assert (runner["preemptible"], runner["region"]) == (False, "us-central1-b")
    assert runner["extra_config"]["project_id"] == "other"
    assert notes["runners.gpu-runner.spot"] == "dropped: preemptible is stated as well"
    assert notes["runners.gpu-runner.project"] == "dropped: extra_config.project_id is stated as well"
    assert notes["runners.gpu-runner.region"].startswith("dropped: cirun's `region` is the zone")


def test_every_removed_comment_gets_a_note() -> None:
    lost = [note for note in migrate(FLAT).notes if note.path.startswith("line")]

    assert [(note.path, note.text.partition(";")[0]) for note in lost] == [
        ("line 2", "comment removed: # T4"),
        ("line 12", "comment removed: # pulls the image"),
    ]


def test_a_hash_in_a_text_is_not_a_comment() -> None:
    text = OF_2022.replace("test-gpu.yml", "test#gpu.yml").replace(
        "  - name: aws", "  - name: 'a #1'\n    gpu: |\n      # b\n#"
    )
    text = text.replace("#-gpu-runner\n", "")

    assert [note.path for note in migrate(text).notes] == ["runners[0].workflow", "runners[0].count"]


def test_two_hyphens_in_a_label_become_one() -> None:
    migration = migrate(NESTED.replace("x64, gpu]", "x64, gpu--big]"))

    assert migration.runners[0]["labels"] == ["cirun-gpu-big"]


def test_notes_are_in_the_order_of_the_file() -> None:
    dropped = "".join(f"    {key}: x\n" for key in ("username", "env", "count", "workflow", "local_ssd_count"))
    notes = migrate(f"runners:\n  - name: a\n    cloud: aws\n    labels: [cirun-a]\n{dropped}").notes

    assert [note.path.rpartition(".")[2] for note in notes] == [
        "username",
        "env",
        "count",
        "workflow",
        "local_ssd_count",
    ]


NESTED_KEYS = ("labels", "provider", "machine", "serviceAccount", "setup", "type", "gpu", "image", "project", "region")
FLAT_KEYS = ("cloud", "machine_image", "extra_config", "spot", "preemptible", "service_account")
_KEYS = st.sampled_from(["name", "serviceAccountScopes", "count", "family", "zone", *NESTED_KEYS, *FLAT_KEYS])
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["gcp", "aws", "us-central1-b", "cirun-a", "x--y"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS | st.integers(0, 2), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=150)
@given(
    _VALUES
    | st.dictionaries(st.just("runners"), _VALUES, min_size=1)
    | st.dictionaries(
        st.just("a"),
        st.fixed_dictionaries({"provider": _VALUES, "machine": _VALUES, "labels": _VALUES, "serviceAccount": _VALUES}),
        min_size=1,
    )
)
def test_any_document_is_migrated_or_refused(document: object) -> None:
    try:
        migration = migrate(yaml.safe_dump(document))
    except FileError:
        return
    judge(migration.runners, ours=False)

    assert not migrate(migration.text).changed


@pytest.mark.parametrize(
    "text",
    [
        "runners:\n",
        "runners: 3\n",
        "[" * 3000 + "]" * 3000,
        "a: &a [*a]\n",
        "a: !!binary aGk=\n",
        "a: !!int x\n",
        "a: !!set {b}\n",
        "? [a]\n: b\n",
        "a: !!bool x\n",
        "runners: []\n",
        "runners: [a]\n",
        "version: 1\n",
    ],
)
def test_an_invalid_file_is_refused_with_problem_and_fix(text: str) -> None:
    with pytest.raises(FileError) as error:
        migrate(text)

    assert all(fault.problem and fault.fix for fault in error.value.faults)


def run(*words: str | Path) -> int:
    return cli.run(["cirun-migrate", *map(str, words)])


def test_the_command_prints_the_new_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = tmp_path / ".cirun.yml"
    old.write_text(OF_2022)
    code = run(old)
    output = capsys.readouterr()

    assert (code, output.out) == (0, migrate(OF_2022).text)
    assert "workflow: dropped" in output.err
    assert old.read_text() == OF_2022


def test_write_replaces_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = tmp_path / ".cirun.yml"
    old.write_text(OF_2022)
    code = run(old, "--write")

    assert (code, capsys.readouterr().out) == (0, "")
    assert old.read_text() == migrate(OF_2022).text


@pytest.mark.parametrize("content", [None, b"\xff", b"a: ["])
def test_a_file_that_cannot_be_read_exits_with_2(
    tmp_path: Path, content: bytes | None, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "old.yml"
    if content is not None:
        file.write_bytes(content)

    assert run(file) == 2
    assert str(file) in capsys.readouterr().err


BY_HAND = """\
# ours
runners:
  - name: a
    cloud: aws
    instance_type: [g4dn.xlarge, g5.xlarge]
    region: [eu-west-1, eu-north-1, us-east-1]
    machine_image: ami-067a4ba2816407ee9
    labels: [self-hosted, gpu]
"""


@pytest.mark.parametrize("words", [(), ("--check",), ("--write",)])
def test_a_current_file_is_checked_and_unchanged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    file = tmp_path / ".cirun.yml"
    file.write_text(BY_HAND)
    code = run(file, *words)
    output = capsys.readouterr()

    assert (code, output.out) == (1, "" if words else BY_HAND)
    assert [line.partition(":")[0] for line in output.err.splitlines()[1:]] == [
        "warning runners[0].labels[1]",
        "warning runners[0]",
        "error runners[0].machine_image",
    ]
    assert file.read_text() == BY_HAND


def test_a_minor_problem_exits_with_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / ".cirun.yml"
    file.write_text(BY_HAND.replace("[eu-west-1, eu-north-1, us-east-1]", "eu-west-1"))

    assert run(file, "--check") == 0
    assert capsys.readouterr().err.count("warning") == 1


def test_check_of_an_old_format_exits_with_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / ".cirun.yml"
    file.write_text(OF_2022)

    assert run(file, "--check") == 1
    assert run(file, "--check", "--write") == 2
    assert "exclude each other" in capsys.readouterr().err
    assert file.read_text() == OF_2022


def test_a_file_that_cannot_be_replaced_exits_with_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_words: object, **_more: object) -> int:
        raise PermissionError(13, "Permission denied")

    file = tmp_path / ".cirun.yml"
    file.write_text(OF_2022)
    monkeypatch.setattr(type(file), "write_text", refuse)

    assert run(file, "--write") == 2
    assert "cannot be written" in capsys.readouterr().err
