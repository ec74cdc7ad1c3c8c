"""Tests of the live clients of GitHub, Google Cloud, registries and Jarvis Labs, against local servers that can fail."""

from __future__ import annotations

from collections.abc import Generator
from types import SimpleNamespace
from typing import Any

import boto3
import httpx
import pytest
from jarvislabs.exceptions import APIError, AuthError
from moto import mock_aws

from ops.doctor.world.live.aws import LiveAws
from ops.doctor.world.live.github import LiveGitHub, api_of, token
from ops.doctor.world.live.google_cloud import LiveGoogleCloud
from ops.doctor.world.live.jarvis import LiveJarvis
from ops.doctor.world.live.registry import LiveRegistry
from ops.doctor.world.recording import Recorder
from ops.doctor.world.source import Source, Unanswered
from tests.doctor.http_server import Answer, Server, serving

pytestmark = pytest.mark.pure


@pytest.fixture
def server() -> Generator[Server]:
    with serving() as running:
        yield running


def refusal(source: Source, call: str, **arguments: Any) -> tuple[str, str]:
    """Return the reason and the fix of a question without an answer."""
    with pytest.raises(Unanswered) as refused:
        source.ask(call, **arguments)
    return refused.value.reason, refused.value.fix


def test_github_answers_with_all_pages(server: Server) -> None:
    following = {"Link": f'<{server.url}/runners?page=2>; rel="next"'}
    server.answers["GET /runners?per_page=100&state=x"] = Answer(
        body={"total_count": 2, "runners": [1]}, headers=following, token="t0k"
    )
    server.answers["GET /runners?page=2"] = Answer(body={"total_count": 2, "runners": [2]}, token="t0k")

    assert LiveGitHub(server.url, "t0k").ask("/runners", state="x") == {"total_count": 2, "runners": [1, 2]}


def test_the_end_of_a_github_log_is_read_without_the_token(server: Server) -> None:
    with serving() as storage:
        storage.answers["GET /blob"] = Answer(body="start\n" + "x" * 600_000 + "\nend")
        moved = Answer(status=302, headers={"Location": f"{storage.url.replace('127.0.0.1', 'localhost')}/blob"})
        server.answers["GET /jobs/1/logs"] = moved

        found = LiveGitHub(server.url, "t0k").ask("/jobs/1/logs")

    assert len(found) == 500_000
    assert found.endswith("\nend")


def test_an_unknown_resource_of_github_is_none(server: Server) -> None:
    assert LiveGitHub(server.url, "").ask("/nothing") is None


NEEDED = {"X-Accepted-GitHub-Permissions": "administration=read"}


@pytest.mark.parametrize(
    ("answer", "given", "reason", "fix"),
    [
        (
            Answer(status=401, body={"message": "Bad credentials"}),
            "t0k",
            "GitHub answered /x with 401 (Bad credentials)",
            "give the token the permission to read it, or use another one",
        ),
        (
            Answer(status=401, body={"message": "Requires authentication"}),
            "",
            "GitHub answered /x with 401 (Requires authentication)",
            "set GITHUB_TOKEN, for example to the output of `gh auth token`",
        ),
        (
            Answer(status=403, body={"message": "Resource not accessible"}, headers=NEEDED),
            "t0k",
            "GitHub answered /x with 403 (Resource not accessible)",
            "give the token the permission administration: read",
        ),
        (
            Answer(status=403, body={"message": "rate limit"}, headers={"X-RateLimit-Remaining": "0", **NEEDED}),
            "t0k",
            "GitHub answered /x with 403 (rate limit)",
            "wait an hour, or use a token",
        ),
        (
            Answer(status=429, body={"message": "too many"}),
            "t0k",
            "GitHub answered /x with 429 (too many)",
            "wait an hour, or use a token",
        ),
        (Answer(status=502, body="<html>"), "t0k", "GitHub answered /x with 502 (Bad Gateway)", "run it again"),
    ],
)
def test_a_refusal_of_github_is_explained(server: Server, answer: Answer, given: str, reason: str, fix: str) -> None:
    server.answers["GET /x"] = answer

    assert refusal(LiveGitHub(server.url, given), "/x") == (reason, fix)


def test_an_unreachable_github_is_reported(server: Server) -> None:
    server.answers["GET /x"] = Answer(body={}, seconds=1)
    slow = LiveGitHub(server.url, "")
    slow._client.timeout = httpx.Timeout(0.1)

    assert refusal(slow, "/x")[0].startswith("GitHub cannot be reached (")
    assert refusal(LiveGitHub("http://127.0.0.1:1", ""), "/x")[0].startswith("GitHub cannot be reached (")


def test_the_api_of_an_enterprise_server_is_below_its_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_TOKEN", raising=False)
    monkeypatch.setenv("GH_TOKEN", "second")

    assert api_of("https://github.com/acme") == "https://api.github.com"
    assert api_of("https://git.example.org/acme") == "https://git.example.org/api/v3"
    assert token() == "second"


def test_google_cloud_answers_with_all_pages(server: Server) -> None:
    server.answers["GET /list"] = Answer(body={"items": [1], "nextPageToken": "a"}, token="t0k")
    server.answers["GET /list?pageToken=a"] = Answer(body={"items": [2]}, token="t0k")

    assert LiveGoogleCloud("t0k").ask(f"{server.url}/list")["items"] == [1, 2]


def test_google_cloud_stops_after_ten_pages(server: Server) -> None:
    server.answers["GET /list"] = Answer(body={"items": [1], "nextPageToken": "a"})

    assert len(LiveGoogleCloud("t0k").ask(f"{server.url}/list")["items"]) == 11


def test_a_request_with_a_body_is_a_post(server: Server) -> None:
    server.answers["POST /p:testIamPermissions"] = Answer(body={"permissions": ["a"]})

    answer = LiveGoogleCloud("t0k").ask(f"{server.url}/p:testIamPermissions", body={"permissions": ["a", "b"]})

    assert answer == {"permissions": ["a"]}
    assert server.requests == [("POST /p:testIamPermissions", '{"permissions":["a","b"]}')]


@pytest.mark.parametrize(
    ("status", "fix"),
    [
        (401, "run `gcloud auth application-default login`"),
        (403, "grant the permission that the message names, and run it again"),
    ],
)
def test_a_refusal_of_google_cloud_is_explained(server: Server, status: int, fix: str) -> None:
    server.answers["GET /x"] = Answer(status=status, body={"error": {"message": "denied"}})

    assert refusal(LiveGoogleCloud("t0k"), f"{server.url}/x") == (
        f"Google Cloud answered {server.url}/x with {status} (denied)",
        fix,
    )


def test_an_unknown_resource_of_google_cloud_is_none(server: Server) -> None:
    assert LiveGoogleCloud("t0k").ask(f"{server.url}/nothing") is None


def test_missing_credentials_of_google_cloud_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", "/no/such/file.json")

    reason, fix = refusal(LiveGoogleCloud(), "http://127.0.0.1:1/x")

    assert reason.startswith("there are no credentials of Google Cloud (")
    assert fix == "run `gcloud auth application-default login`"


def image(server: Server, reference: str = "1.0") -> dict[str, str]:
    """Return the arguments of a question about an image."""
    return {"host": server.url.removeprefix("http://"), "repository": "acme/runner", "reference": reference}


def test_a_registry_that_requires_a_token_issues_an_anonymous_token(server: Server) -> None:
    challenge = {"WWW-Authenticate": f'Bearer realm="{server.url}/token",service="registry",scope="x"'}
    digest = {"Docker-Content-Digest": "sha256:1", **challenge}
    server.answers["HEAD /v2/acme/runner/manifests/1.0"] = Answer(headers=digest, token="anonymous")
    server.answers["GET /token?service=registry&scope=repository%3Aacme%2Frunner%3Apull"] = Answer(
        body={"token": "anonymous"}
    )

    assert LiveRegistry("http").ask("manifest", **image(server)) == {"digest": "sha256:1"}


def test_an_image_that_a_registry_does_not_have_is_none(server: Server) -> None:
    assert LiveRegistry("http").ask("manifest", **image(server)) is None


def test_a_private_image_is_reported(server: Server) -> None:
    server.answers["HEAD /v2/acme/runner/manifests/1.0"] = Answer(token="secret")

    reason, fix = refusal(LiveRegistry("http"), "manifest", **image(server))

    assert reason.endswith("answered manifest with 401 (Unauthorized)")
    assert fix == "the image is private: check that the machines have credentials for this registry"


def test_a_registry_that_cannot_be_reached_is_reported() -> None:
    asked = {"host": "127.0.0.1:1", "repository": "a", "reference": "1"}

    assert refusal(LiveRegistry("http"), "manifest", **asked)[0].startswith("127.0.0.1:1 cannot be reached (")


def account(answer: Any) -> LiveJarvis:
    """Return an account of Jarvis Labs with instances, or with a fault."""

    def listed() -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    client: Any = SimpleNamespace(instances=SimpleNamespace(list=listed))
    return LiveJarvis({}, client)


def test_the_instances_of_jarvis_labs_are_listed() -> None:
    one = SimpleNamespace(machine_id=1, name="ci", status="Paused", gpu_type="L4", num_gpus=1, token="secret")

    assert account([one]).ask("instances.list") == [
        {"machine_id": 1, "name": "ci", "status": "Paused", "gpu_type": "L4", "num_gpus": 1}
    ]


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (AuthError("no"), "Jarvis Labs refuses the API key"),
        (APIError(500, "broken"), "Jarvis Labs did not answer instances.list ("),
    ],
)
def test_a_refusal_of_jarvis_labs_is_explained(fault: Exception, reason: str) -> None:
    assert refusal(account(fault), "instances.list")[0].startswith(reason)


def test_without_a_key_no_request_is_sent_to_jarvis_labs() -> None:
    with pytest.raises(Unanswered, match="there is no API key of Jarvis Labs in the environment"):
        LiveJarvis({})


def test_the_last_use_of_a_key_is_part_of_the_answer_and_its_id_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    with mock_aws():
        iam: Any = boto3.client("iam", region_name="us-east-1")
        iam.create_user(UserName="cirun")
        id_ = iam.create_access_key(UserName="cirun")["AccessKey"]["AccessKeyId"]
        recorder = Recorder(LiveAws("us-east-1"))

        (key,) = recorder.ask("iam.list_access_keys", UserName="cirun")["AccessKeyMetadata"]

    assert (key["Status"], key["AccessKeyId"]) == ("Active", "[redacted]")
    assert "ServiceName" in key
    assert id_ not in str(recorder.exchanges)
