"""Tests of the checks of cirun: its file, its App and its keys."""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import Any, Final

import pytest

from ops.doctor.chain.machines import IAM, cirun_key
from ops.doctor.chain.repositories import cirun_file
from ops.doctor.world.world import World
from tests.doctor.worlds import Question, asked, lines, world

pytestmark = pytest.mark.pure

GCP: Final = "examples/cirun-gcp.yaml"
AWS: Final = "examples/cirun-aws.yaml"
REPOSITORY: Final = "example-org/vision"
GOOD: Final = """runners:
  - name: gpu
    cloud: gcp
    gpu: nvidia-tesla-t4
    instance_type: n1-standard-4
    machine_image: projects/p/global/images/i
    region: us-central1-b
    labels: [cirun-gcp-gpu]
"""


def file_of(repository: str, name: str, text: str | None) -> dict[Question, Any]:
    """Return a file of a repository."""
    answer = None if text is None else {"encoding": "base64", "content": base64.encodebytes(text.encode()).decode()}
    return {asked("github", f"/repos/{repository}/contents/{name}"): answer}


def of(own: str | None, shared: str | None = None) -> World:
    """Return a world with cirun's file in the repository, or in the organisation."""
    answers = file_of(REPOSITORY, ".cirun.yml", own) | file_of("example-org/.cirun", ".cirun.global.yml", shared)
    return replace(world(GCP, answers), repository=REPOSITORY)


@pytest.mark.parametrize(
    ("own", "shared", "line"),
    [
        (GOOD, None, "ok | example-org/vision: .cirun.yml | the file is valid"),
        (None, GOOD, "ok | example-org/.cirun: .cirun.global.yml | the file is valid"),
        (
            None,
            None,
            (
                "error | example-org/vision: .cirun.yml | the default branch has no .cirun.yml, and the organisation has no "
                ".cirun/.cirun.global.yml | cirun starts nothing for this repository; GitHub only shows that no runner matches | "
                "run `make kit OUT=../REPOSITORY`, and commit the file to the default branch"
            ),
        ),
        (
            GOOD.replace("us-central1-b", "us-central1"),
            None,
            (
                'error | example-org/vision: .cirun.yml: runners[0].region | "us-central1" is not a Google Cloud zone | cirun may '
                "start nothing for this entry | write it as us-central1-b"
            ),
        ),
        (
            GOOD.replace("cirun-gcp-gpu", "gpu"),
            None,
            (
                "warning | example-org/vision: .cirun.yml: runners[0].labels[0] | cirun's reference requires labels to begin with "
                'cirun-, and "gpu" does not | cirun may start nothing for this entry | write cirun-gpu, here and in the '
                "workflow's runs-on"
            ),
        ),
    ],
)
def test_the_file_of_cirun_is_explained(own: str | None, shared: str | None, line: str) -> None:
    assert lines(list(cirun_file.check(of(own, shared)))) == [line]


@pytest.mark.parametrize("text", ["runners: [", "gpu-runner:\n  labels: [a]\n", "[]", ""])
def test_a_file_that_cannot_be_read_is_found(text: str) -> None:
    (line,) = lines(list(cirun_file.check(of(text))))

    assert line.startswith("error | example-org/vision: .cirun.yml | the file cannot be read: ")


@pytest.mark.parametrize(
    ("app", "levels"),
    [
        ({"app_slug": "cirun-application"}, []),
        ({"app_slug": "other"}, ["error"]),
        ({"app_slug": "cirun", "suspended_at": "2026-01-01"}, ["error"]),
    ],
)
def test_the_app_of_cirun_is_looked_up_in_the_organisation(app: dict[str, Any], levels: list[str]) -> None:
    staging = "tests/stacks/staging.yaml"
    answers: dict[Question, Any] = {
        asked("github", "/orgs/example-org/installations"): {"installations": [app]},
        **file_of("example-org/.cirun", ".cirun.global.yml", None),
    }

    assert [str(one.level) for one in cirun_file.check(world(staging, answers))] == levels


def on_aws(keys: list[dict[str, Any]] | None) -> World:
    """Return a world with these keys of cirun's user."""
    answer = None if keys is None else {"AccessKeyMetadata": keys}
    return world(AWS, {asked("aws", "iam.list_access_keys", UserName="gpu-ci-cirun-aws-cirun"): answer})


NEW: Final = {
    "Status": "Active",
    "CreateDate": "2026-11-01T00:00:00+00:00",
    "LastUsedDate": "2026-11-19T00:00:00+00:00",
}


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        ([NEW], "ok | cirun.aws | a key of gpu-ci-cirun-aws-cirun is in use"),
        (
            None,
            "error | cirun.aws | the account has no user gpu-ci-cirun-aws-cirun | cirun has no access to AWS | run `pulumi up`",
        ),
        (
            [{**NEW, "Status": "Inactive"}],
            (
                "error | cirun.aws | the user gpu-ci-cirun-aws-cirun has no active key | cirun cannot start machines; it accepts "
                "only a key that is pasted into its dashboard | run `aws iam create-access-key --user-name "
                "gpu-ci-cirun-aws-cirun`, paste the key at https://cirun.io under Cloud, and delete the file"
            ),
        ),
        (
            [{"Status": "Active", "CreateDate": "2026-11-01T00:00:00+00:00"}],
            (
                "warning | cirun.aws | no key of gpu-ci-cirun-aws-cirun was ever used | the key was not pasted into cirun's "
                "dashboard, or no job has requested a runner yet | paste it at https://cirun.io under Cloud, AWS"
            ),
        ),
        (
            [{**NEW, "CreateDate": "2026-01-01T00:00:00+00:00"}],
            (
                "warning | cirun.aws | a key of gpu-ci-cirun-aws-cirun is 323 days old | it never expires, and any system that has "
                "it can start machines | create another key, paste it into cirun's dashboard, and delete the old one"
            ),
        ),
    ],
)
def test_the_key_of_cirun_on_aws_is_explained(keys: list[dict[str, Any]] | None, line: str) -> None:
    assert lines(list(cirun_key.check(on_aws(keys)))) == [line]


ACCOUNT: Final = "gpu-ci-cirun-gcp-cirun@gpu-test-runners.iam.gserviceaccount.com"


@pytest.mark.parametrize(
    ("account", "keys", "level", "seen"),
    [
        ({}, [{"validAfterTime": "2026-11-01T00:00:00Z"}], "ok", f"{ACCOUNT} has a key"),
        ({}, [], "error", f"{ACCOUNT} has no key"),
        ({}, [{"validAfterTime": "2026-11-01T00:00:00Z", "disabled": True}], "error", f"{ACCOUNT} has no key"),
        ({}, [{"validAfterTime": "2026-01-01T00:00:00Z"}], "warning", f"a key of {ACCOUNT} is 323 days old"),
        ({"disabled": True}, [], "error", f"the service account {ACCOUNT} is disabled"),
        (None, [], "error", f"the project has no service account {ACCOUNT}"),
    ],
)
def test_the_key_of_cirun_on_google_cloud_is_explained(account: Any, keys: list[Any], level: str, seen: str) -> None:
    place = f"{IAM}/projects/gpu-test-runners/serviceAccounts/{ACCOUNT}"
    answers: dict[Question, Any] = {
        asked("google", place): account,
        asked("google", f"{place}/keys", keyTypes="USER_MANAGED"): {"keys": keys},
    }

    (finding,) = cirun_key.check(world(GCP, answers))

    assert (finding.level, finding.seen) == (level, seen)
