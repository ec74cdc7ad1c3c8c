"""Tests of the live systems: AWS against moto, Kubernetes and the token of EKS against a local HTTP server."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import boto3
import pytest
from botocore.exceptions import ClientError, EndpointConnectionError, NoCredentialsError
from kubernetes import client
from moto import mock_aws

from ops.doctor.world import live
from ops.doctor.world.live import aws as live_aws
from ops.doctor.world.live.aws import LiveAws
from ops.doctor.world.live.cluster import LiveCluster, of_eks, token
from ops.doctor.world.source import Unanswered
from tests.doctor.worlds import world

pytestmark = pytest.mark.pure


@pytest.fixture(autouse=True)
def _credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": "/nowhere",
        "AWS_SHARED_CREDENTIALS_FILE": "/nowhere",
    }.items():
        monkeypatch.setenv(name, value)


def test_aws_answers_with_plain_data() -> None:
    with mock_aws():
        cloud = LiveAws("us-west-2")
        identity = cloud.ask("sts.get_caller_identity")
        boto3.client("iam").create_role(RoleName="deploy", AssumeRolePolicyDocument="{}")
        role = cloud.ask("iam.get_role", RoleName="deploy")

    assert identity["Account"] == "123456789012"
    assert "ResponseMetadata" not in identity
    assert json.loads(json.dumps(role))["Role"]["CreateDate"].endswith("+00:00")


def test_aws_answers_with_all_pages() -> None:
    with mock_aws():
        iam = boto3.client("iam")
        for number in range(7):
            iam.create_role(RoleName=f"role-{number}", AssumeRolePolicyDocument="{}")
        pages = LiveAws("us-west-2").ask("iam.list_roles", PaginationConfig={"PageSize": 2})

    assert sorted(one["RoleName"] for one in pages["Roles"]) == [f"role-{number}" for number in range(7)]


def test_a_question_to_aws_goes_to_its_region() -> None:
    with mock_aws():
        cloud = LiveAws("us-west-2")
        zones = [
            cloud.ask("ec2.describe_availability_zones", **region)["AvailabilityZones"][0]["RegionName"]
            for region in ({}, {"region": "eu-west-1"})
        ]

    assert zones == ["us-west-2", "eu-west-1"]


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        ("iam.get_role", {"RoleName": "none"}),
        ("eks.describe_cluster", {"name": "none"}),
        ("ssm.get_parameter", {"Name": "none"}),
        ("ec2.describe_instances", {"InstanceIds": ["i-00000000000000000"]}),
    ],
)
def test_an_object_that_does_not_exist_is_an_answer(call: str, arguments: dict[str, Any]) -> None:
    with mock_aws():
        assert LiveAws("us-west-2").ask(call, **arguments) is None


def failing(fault: Exception) -> Callable[..., Any]:
    """Return a function in place of a request, which fails."""

    def fail(*_arguments: Any, **_more: Any) -> Any:
        raise fault

    return fail


def refused(code: str, message: str = "no") -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": message}}, "GetCallerIdentity")


@pytest.mark.parametrize(
    ("fault", "reason", "fix"),
    [
        (NoCredentialsError(), "there are no credentials of AWS", "set AWS_PROFILE, or run `aws sso login`"),
        (
            refused("ExpiredToken", "The security token is expired"),
            "the credentials of AWS are not valid (ExpiredToken: The security token is expired)",
            "set AWS_PROFILE, or run `aws sso login`",
        ),
        (
            refused("AccessDenied", "User: me is not authorized"),
            "AWS refuses sts.get_caller_identity (User: me is not authorized)",
            "grant sts.get_caller_identity to the identity that runs the doctor",
        ),
        (
            refused("ThrottlingException", "Rate exceeded"),
            "sts.get_caller_identity failed (ThrottlingException: Rate exceeded)",
            "run it again; if it fails again, read the message",
        ),
        (
            EndpointConnectionError(endpoint_url="https://sts.example"),
            'AWS cannot be reached (Could not connect to the endpoint URL: "https://sts.example")',
            "check the network and the region, and run it again",
        ),
    ],
)
def test_a_fault_of_aws_is_a_reason_with_a_fix(
    monkeypatch: pytest.MonkeyPatch, fault: Exception, reason: str, fix: str
) -> None:
    monkeypatch.setattr(LiveAws, "_answer", failing(fault))

    with pytest.raises(Unanswered) as unanswered:
        LiveAws("us-west-2").ask("sts.get_caller_identity")
    assert (unanswered.value.reason, unanswered.value.fix) == (reason, fix)


def test_a_profile_that_does_not_exist_is_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_PROFILE", "unknown")

    with pytest.raises(Unanswered, match="The config profile"):
        LiveAws("us-west-2").ask("sts.get_caller_identity")


SECRET = {
    "kind": "Secret",
    "metadata": {"name": "github-app"},
    "data": {
        "github_app_id": base64.b64encode(b"412345").decode(),
        "github_app_private_key": base64.b64encode(b"-----BEGIN RSA PRIVATE KEY-----\nx\n").decode(),
    },
}
NODES = {"kind": "NodeList", "items": [{"metadata": {"name": "one"}}]}
FORBIDDEN = {"kind": "Status", "message": "nodes is forbidden: User me cannot list resource"}


class Api(BaseHTTPRequestHandler):
    """An API of Kubernetes with a few answers. It remembers the requests."""

    asked: list[tuple[str, dict[str, list[str]], str]]

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        type(self).asked.append((url.path, parse_qs(url.query), self.headers.get("Authorization", "")))
        status, content = {
            "/api/v1/nodes": (200, json.dumps(NODES)),
            "/api/v1/namespaces/a/secrets/github-app": (200, json.dumps(SECRET)),
            "/api/v1/namespaces/a/secrets": (
                200,
                json.dumps({"kind": "SecretList", "items": [{"data": SECRET["data"]}]}),
            ),
            "/api/v1/namespaces/a/pods/b/log": (200, "first line\n{not json\n"),
            "/api/v1/namespaces/a/pods/starts/log": (400, json.dumps({"message": "container is waiting to start"})),
            "/unknown-identity": (401, json.dumps({"message": "Unauthorized"})),
            "/forbidden": (403, json.dumps(FORBIDDEN)),
            "/broken": (500, "<html>"),
        }.get(url.path, (404, json.dumps({"message": "not found"})))
        self.send_response(status)
        self.end_headers()
        self.wfile.write(content.encode())

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name in the base class
        """Print nothing."""


@pytest.fixture
def api() -> Iterator[str]:
    Api.asked = []
    with ThreadingHTTPServer(("127.0.0.1", 0), Api) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def cluster(host: str) -> LiveCluster:
    configuration = client.Configuration()
    configuration.host = host
    configuration.api_key = {"authorization": "Bearer token"}
    return LiveCluster(configuration)


def test_the_cluster_answers_with_the_objects_of_a_path(api: str) -> None:
    assert cluster(api).ask("/api/v1/nodes", labelSelector="a=b") == NODES
    assert Api.asked == [("/api/v1/nodes", {"labelSelector": ["a=b"]}, "Bearer token")]


def test_the_log_of_a_waiting_container_is_an_empty_text(api: str) -> None:
    assert (
        cluster(api).ask("/api/v1/namespaces/a/pods/b/log", container="c", tailLines="9") == "first line\n{not json\n"
    )
    assert cluster(api).ask("/api/v1/namespaces/a/pods/starts/log") == ""


def test_a_secret_is_only_described(api: str) -> None:
    described = {
        "github_app_id": {"bytes": 6, "pem": False},
        "github_app_private_key": {"bytes": 34, "pem": True},
    }

    assert cluster(api).ask("/api/v1/namespaces/a/secrets/github-app")["data"] == described
    assert cluster(api).ask("/api/v1/namespaces/a/secrets")["items"][0]["data"] == described


def test_an_object_of_the_cluster_that_does_not_exist_is_an_answer(api: str) -> None:
    assert cluster(api).ask("/apis/actions.github.com/v1alpha1/namespaces/a/autoscalingrunnersets") is None


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/unknown-identity", "the cluster does not know the identity of the credentials (Unauthorized)"),
        ("/forbidden", f"the cluster refuses /forbidden ({FORBIDDEN['message']})"),
        ("/broken", "the cluster answered /broken with 500 (Internal Server Error)"),
    ],
)
def test_a_refusal_of_the_cluster_is_a_reason(api: str, path: str, reason: str) -> None:
    with pytest.raises(Unanswered) as unanswered:
        cluster(api).ask(path)
    assert unanswered.value.reason == reason


def test_a_cluster_that_cannot_be_reached_names_the_range_to_change() -> None:
    with pytest.raises(
        Unanswered, match=r"the API of Kubernetes at http://127\.0\.0\.1:1 cannot be reached"
    ) as unanswered:
        cluster("http://127.0.0.1:1").ask("/version")
    assert unanswered.value.fix == "run it from inside the network, or add your address to cluster.endpoint.public"


def test_a_token_of_eks_is_a_signed_request_for_the_identity() -> None:
    given = token("gpu-ci-staging", "us-west-2")
    prefix, _, encoded = given.partition(".")
    url = urlsplit(base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)).decode())
    query = parse_qs(url.query)

    assert prefix == "k8s-aws-v1"
    assert url.netloc == "sts.us-west-2.amazonaws.com"
    assert (query["Action"], query["X-Amz-SignedHeaders"]) == (["GetCallerIdentity"], ["host;x-k8s-aws-id"])


def test_a_token_needs_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")

    with pytest.raises(Unanswered, match="no token for the cluster can be signed"):
        token("gpu-ci-staging", "us-west-2")


class Described:
    """AWS with one answer."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def ask(self, call: str, /, **arguments: Any) -> Any:
        assert (call, arguments) == ("eks.describe_cluster", {"name": "gpu-ci-staging"})
        return self.answer


def test_a_question_to_a_cluster_of_eks_goes_to_its_endpoint(api: str) -> None:
    described = {"cluster": {"endpoint": api, "certificateAuthority": {"data": base64.b64encode(b"x").decode()}}}

    assert (
        of_eks(Described(described), name="gpu-ci-staging", region="us-west-2", kind=LiveCluster).ask("/api/v1/nodes")
        == NODES
    )
    assert Api.asked[0][2].startswith("Bearer k8s-aws-v1.")


@pytest.mark.parametrize("answer", [None, {"cluster": {"status": "CREATING"}}])
def test_a_cluster_without_an_endpoint_is_a_reason(answer: Any) -> None:
    with pytest.raises(Unanswered, match="EKS has no cluster gpu-ci-staging with an API"):
        of_eks(Described(answer), name="gpu-ci-staging", region="us-west-2", kind=LiveCluster)


def test_a_client_that_is_not_installed_names_the_fix(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_region: str) -> Any:
        raise ImportError(name="boto3")

    monkeypatch.setattr(live_aws, "LiveAws", missing)
    systems = live.systems(world("tests/stacks/staging.yaml", {}).stack)

    with pytest.raises(Unanswered, match="the Python package boto3 is not installed") as unanswered:
        systems["aws"].ask("sts.get_caller_identity")
    assert unanswered.value.fix == "run `make doctor`, which installs requirements/doctor.txt"
