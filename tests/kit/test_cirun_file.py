"""`.cirun.yml` to text and back, and what is said about a file that cirun would not read."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu.verdict import Level
from kit.cirun import CirunFile, read, render
from kit.cirun_checks import attempts, judge
from kit.closed import FileError

pytestmark = pytest.mark.pure

PUBLIC = """\
runners:
  - name: aws-gpu-runner
    cloud: aws
    instance_type: g4dn.xlarge
    machine_image: ami-0756bd122da9b2618
    preemptible: [true, false]
    region: eu-west-1
    labels: [cirun-aws-gpu]
  - name: sgkit
    cloud: gcp
    gpu: nvidia-tesla-t4
    instance_type: n1-standard-2
    machine_image: "sgkit-dev:cirun-nvidia-v2"
    region: [us-central1-a, us-central1-b]
    labels: [self-hosted, cirun-gpu]
    extra_config:
      project_id: gpu-test-runners
      baseDisk: {diskType: pd-ssd, diskSizeGb: 100}
      networkInterfaces: [{network: default, nicType: GVNIC, accessConfigs: [{type: ONE_TO_ONE_NAT}]}]
      serviceAccounts: [{email: a@b, scopes: [cloud-platform]}]
    idle:
      schedule: [{day: mon-fri, time: 9-17, timezone: UTC, replicas: 4}]
  - name: azure
    cloud: azure
    instance_type: Standard_NC4as_T4_v3
    machine_image: {publisher: Canonical, offer: UbuntuServer, sku: 18.04-LTS, version: latest}
    labels: [cirun-azure]
    extra_config: {storageProfile: {osDisk: {diskSizeGB: 512}}, enable_public_ip: true}
  - {name: ocean, cloud: digitalocean, instance_type: s-1vcpu-1gb, machine_image: ubuntu-24-04-x64, labels: [cirun-do]}
  - {name: ocean-2, cloud: do, instance_type: s-1vcpu-1gb, machine_image: ubuntu-24-04-x64, labels: [cirun-do]}
  - {name: vast, cloud: vast_ai, instance_type: 1xRTX_4090, region: DE, labels: [cirun-v], extra_config: {disk_space: 50}}
  - {name: own, cloud: on_prem, instance_type: 8vcpu-8gb-75gb, labels: [cirun-o], idle: {replicas: 2}}
"""

text = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), min_size=1, max_size=12)
zone = st.sampled_from(["us-central1-a", "us-central1-b", "europe-west4-c"])
region = st.sampled_from(["eu-west-1", "us-west-2", "us-gov-east-1"])


def one_or_more(each: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return each | st.lists(each, min_size=1, max_size=3)


def stated(required: dict[str, st.SearchStrategy[Any]], **optional: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries(required, optional=optional)


gp3 = stated(
    {"VolumeType": st.just("gp3")},
    DeviceName=st.just("/dev/sda1"),
    VolumeSize=st.integers(8, 500),
    Throughput=st.integers(125, 750),
    VolumeInitializationRate=st.integers(100, 300),
)
gcp_extra = stated(
    {},
    project_id=text,
    baseDisk=stated({}, diskSizeGb=st.integers(1, 999), diskType=text),
    env_vars=st.dictionaries(text, text, max_size=2),
    serviceAccounts=st.lists(stated({"email": text, "scopes": st.lists(text, max_size=2)}), max_size=2),
)
common = {"name": text, "labels": st.lists(text, min_size=1, max_size=3)}
amazon = stated(
    {**common, "cloud": st.just("aws")},
    instance_type=one_or_more(text),
    machine_image=one_or_more(text),
    region=one_or_more(region),
    preemptible=one_or_more(st.booleans()),
    extra_config=stated({}, BlockDeviceMappings=st.lists(gp3, max_size=2), cache=st.booleans()),
    idle=stated({"replicas": st.integers(0, 9)}),
)
google = stated(
    {**common, "cloud": st.just("gcp")},
    gpu=text,
    region=one_or_more(zone),
    preemptible=one_or_more(st.booleans()),
    extra_config=gcp_extra,
    idle=stated({"usage_based": stated({"replicas": st.integers(1, 9), "duration": st.integers(1, 999)})}),
)
files = st.lists(amazon | google, min_size=1, max_size=3).map(
    lambda runners: CirunFile.model_validate_json(json.dumps({"runners": runners}))
)


@given(files)
@settings(max_examples=60, deadline=None)
def test_what_is_rendered_reads_back_as_it_was(file: CirunFile) -> None:
    once = render(file)

    assert read(once) == file
    assert render(read(once)) == once


def test_the_forms_that_public_files_use_are_read() -> None:
    file = read(PUBLIC)

    assert [runner.cloud for runner in file.runners] == [
        "aws",
        "gcp",
        "azure",
        "digitalocean",
        "do",
        "vast_ai",
        "on_prem",
    ]
    assert read(render(file)) == file


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("regions: [us-central1-b]", 'runners[0].regions: unknown key; did you mean "region"?'),
        ("spot: true", "runners[0].spot: unknown key"),
        ("workflow: x.yml", "runners[0].workflow: unknown key; remove it: cirun has not read it since July 2022"),
        ("region: us-central1", '"us-central1" is a region, but cirun needs a zone here; add the letter of a zone'),
        ("region: [us-central1-b, Iowa]", 'runners[0].region[1]: "Iowa" is not a Google Cloud zone'),
        ("preemptible: [true, 1]", "runners[0].preemptible[1]: 1 is not valid; write true or false"),
        ("instance_type: 4", "runners[0].instance_type: 4 is not valid; write text"),
        ("extra_config: {baseDisk: {diskSizeGB: 9}}", 'baseDisk.diskSizeGB: unknown key; did you mean "diskSizeGb"?'),
        ("extra_config: {storageProfile: {}}", "runners[0].extra_config.storageProfile: unknown key"),
        ("idle: {replicas: 1, usage_based: {replicas: 1, duration: 2}}", "stated: usage_based, replicas"),
        ("gpu: a\n    gpu: b", "the key gpu is repeated"),
    ],
)
def test_what_cirun_does_not_read_is_named_with_the_way_out(line: str, fault: str) -> None:
    with pytest.raises(FileError) as error:
        read(f"runners:\n  - name: a\n    cloud: gcp\n    labels: [cirun-a]\n    {line}\n")

    assert fault in str(error.value)


@pytest.mark.parametrize(
    ("disk", "fault"),
    [
        ("{VolumeSize: 75, VolumeType: gp2, Throughput: 400}", "gp2 does not support Throughput"),
        ("{VolumeSize: 75, Iops: 4000}", "gp2 does not support Iops"),
        (
            "{VolumeType: gp3, Throughput: 1000}",
            "1000 MiB/s needs 4000 IOPS, but the volume has 3000; state Iops: 4000",
        ),
        ("{VolumeType: gp3, VolumeSize: 10, Iops: 6000}", "10 GiB of gp3 give at most 5000 IOPS; state VolumeSize: 12"),
        ("{VolumeType: io1, VolumeSize: 10, Iops: 600}", "10 GiB of io1 give at most 500 IOPS"),
    ],
)
def test_a_volume_that_ebs_refuses_is_refused_before_a_job_waits_for_it(disk: str, fault: str) -> None:
    with pytest.raises(FileError) as error:
        read(
            "runners:\n  - {name: a, cloud: aws, labels: [cirun-a], "
            f"extra_config: {{BlockDeviceMappings: [{disk}]}}}}\n"
        )

    assert fault in str(error.value)


@pytest.mark.parametrize("throughput", [400, 750])
def test_a_volume_within_what_gp3_has_anyway_is_accepted(throughput: int) -> None:
    runner = "{name: a, cloud: aws, labels: [cirun-a], extra_config: {cache: true, BlockDeviceMappings: [%s]}}"
    disk = "{DeviceName: /dev/sda1, VolumeType: gp3, VolumeSize: 75, Throughput: " + f"{throughput}}}"

    assert read(f"runners: [{runner % disk}]").runners[0].name == "a"


def test_every_fault_is_reported_at_once() -> None:
    with pytest.raises(FileError) as error:
        read(
            "runners:\n- {name: a, cloud: awz, labels: [x]}\n- {cloud: gcp, labels: [], count: 2}\n- {name: c, labels: [x]}\n"
        )

    assert [fault.path for fault in error.value.faults] == [
        "runners[0].cloud",
        "runners[1].name",
        "runners[1].labels",
        "runners[1].count",
        "runners[2].cloud",
    ]


@pytest.mark.parametrize("broken", ["runners: [", "- a", "", "runners: {}", "a\x00b"])
def test_an_invalid_file_is_refused(broken: str) -> None:
    with pytest.raises(FileError):
        read(broken)


def test_lists_are_tried_in_step_and_single_values_every_time() -> None:
    runner = read(
        "runners: [{name: a, cloud: aws, labels: [cirun-a], instance_type: g4dn.xlarge, "
        "region: [eu-west-1, us-west-2], machine_image: [ami-1, ami-2], preemptible: [true, false]}]"
    ).runners[0]

    assert [(a.instance_type, a.region, a.machine_image, a.preemptible) for a in attempts(runner)] == [
        ("g4dn.xlarge", "eu-west-1", "ami-1", True),
        ("g4dn.xlarge", "us-west-2", "ami-2", False),
    ]


def test_lists_of_different_length_are_reported_and_never_cut() -> None:
    file = read(
        "runners: [{name: a, cloud: gcp, labels: [cirun-a], region: [us-central1-a, us-central1-b], preemptible: [true]}]"
    )

    assert "region has 2, preemptible has 1" in judge(file, ours=False)[0].reason
    assert judge(file, ours=False)[0].level is Level.WARNING
    assert judge(file, ours=True)[0].level is Level.ERROR
    with pytest.raises(ValueError, match="differ in length"):
        attempts(file.runners[0])


@pytest.mark.parametrize(
    ("runner", "subject", "level"),
    [
        ("{name: a, cloud: gcp, region: us-central1-a, labels: [gpu]}", "runners[0].labels[0]", Level.WARNING),
        ("{name: a, cloud: gcp, region: us-central1-a, labels: [cirun-a--b]}", "runners[0].labels[0]", Level.ERROR),
        ("{name: a, cloud: gcp, labels: [cirun-a]}", "runners[0].region", Level.WARNING),
        (
            "{name: a, cloud: aws, labels: [cirun-a], region: [eu-west-1, us-west-2], machine_image: ami-1}",
            "runners[0].machine_image",
            Level.ERROR,
        ),
        (
            "{name: a, cloud: aws, labels: [cirun-a], extra_config: {BlockDeviceMappings: [{VolumeSize: 9}]}}",
            "runners[0].extra_config.BlockDeviceMappings[0]",
            Level.WARNING,
        ),
        ("{name: a, cloud: aws, labels: [cirun-aws-t2-large-ubuntu2204]}", "runners[0].labels[0]", Level.WARNING),
    ],
)
def test_what_is_sound_and_still_goes_wrong_is_judged(runner: str, subject: str, level: Level) -> None:
    verdicts = judge(read(f"runners: [{runner}]"), ours=False)

    assert [(verdict.subject, verdict.level) for verdict in verdicts] == [(subject, level)]


def test_two_runners_of_one_name_are_an_error() -> None:
    same = "{name: a, cloud: aws, labels: [cirun-a]}"

    assert [verdict.subject for verdict in judge(read(f"runners: [{same}, {same}]"), ours=False)] == ["runners[1].name"]
