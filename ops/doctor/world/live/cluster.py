"""The API of Kubernetes through the official client."""

from __future__ import annotations

import base64
import json
import tempfile
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

import boto3
from botocore.exceptions import BotoCoreError
from botocore.signers import RequestSigner
from kubernetes import client
from urllib3.exceptions import HTTPError

from ops.doctor.world.source import Source, Unanswered

_TIMEOUT: Final = (5, 30)
"""Seconds until a connection, and until an answer."""
_TOKEN_SECONDS: Final = 60
_ADMIT: Final = "list the identity in cluster.administrators and run `pulumi up`, or use one that is listed"


class LiveCluster:
    """A cluster."""

    def __init__(self, configuration: client.Configuration) -> None:
        # Of urllib3: no repeated attempts. The client's type of this attribute is too narrow.
        setattr(configuration, "retries", False)  # noqa: B010
        self._host = configuration.host
        self._client = client.ApiClient(configuration)

    def ask(self, call: str, /, **arguments: Any) -> Any:
        """Return the object or the list at a path; the text of a log."""
        try:
            answer = self._call("GET", call, query=arguments)
        except client.ApiException as fault:
            if call.endswith("/log") and fault.status == 400:
                return ""  # The container has not started.
            if fault.status == 404:
                return None
            raise refused(call, fault) from None
        text = answer.data.decode(errors="replace")
        if call.endswith("/log"):
            return text
        try:
            return without_secrets(json.loads(text))
        except ValueError:
            return text

    def _call(
        self, method: str, path: str, *, query: Mapping[str, Any] | None = None, body: Mapping[str, Any] | None = None
    ) -> Any:
        try:
            return self._client.call_api(
                path,
                method,
                query_params=sorted((query or {}).items()),
                body=body,
                header_params={"Accept": "application/json, */*"},
                auth_settings=["BearerToken"],
                _preload_content=False,
                _return_http_data_only=True,
                _request_timeout=_TIMEOUT,
            )
        except (HTTPError, OSError) as fault:
            raise Unanswered(
                f"the API of Kubernetes at {self._host} cannot be reached ({' '.join(str(fault).split())[:200]})",
                "run it from inside the network, or add your address to cluster.endpoint.public",
            ) from None


_C = TypeVar("_C", bound=LiveCluster)


def of_eks(aws: Source, *, name: str, region: str, kind: Callable[[client.Configuration], _C]) -> _C:
    """Connect to a cluster of EKS with a token from the credentials of AWS."""
    answer = aws.ask("eks.describe_cluster", name=name)
    if answer is None or "endpoint" not in answer["cluster"]:
        raise Unanswered(f"EKS has no cluster {name} with an API", "run `pulumi up`")
    cluster = answer["cluster"]
    configuration = client.Configuration()
    configuration.host = cluster["endpoint"]
    # The client reads the authority from a file, and only when it is created.
    with tempfile.NamedTemporaryFile(suffix=".crt") as authority:
        authority.write(base64.b64decode(cluster["certificateAuthority"]["data"]))
        authority.flush()
        configuration.ssl_ca_cert = authority.name
        configuration.api_key = {"authorization": f"Bearer {token(name, region)}"}
        return kind(configuration)


def token(name: str, region: str) -> str:
    """Return a token for a cluster of EKS: a signed request to STS (EKS user guide, 2026)."""
    session = boto3.Session()
    try:
        sts = session.client("sts", region_name=region)
        signer = RequestSigner(
            sts.meta.service_model.service_id, region, "sts", "v4", session.get_credentials(), session.events
        )
        url = signer.generate_presigned_url(
            {
                "method": "GET",
                "url": f"https://sts.{region}.amazonaws.com/?Action=GetCallerIdentity&Version=2011-06-15",
                "body": {},
                "headers": {"x-k8s-aws-id": name},
                "context": {},
            },
            region_name=region,
            expires_in=_TOKEN_SECONDS,
            operation_name="",
        )
    except BotoCoreError as fault:
        raise Unanswered(f"no token for the cluster can be signed ({fault})", "set AWS_PROFILE") from None
    return "k8s-aws-v1." + base64.urlsafe_b64encode(str(url).encode()).decode().rstrip("=")


def without_secrets(answer: Any) -> Any:
    """Replace each value of a Secret by its size and form, so that no key is ever recorded."""
    if isinstance(answer, dict) and answer.get("kind") == "Secret":
        return {**answer, "data": {key: _shape(value) for key, value in (answer.get("data") or {}).items()}}
    if isinstance(answer, dict) and answer.get("kind") == "SecretList":
        return {**answer, "items": [without_secrets({**one, "kind": "Secret"}) for one in answer.get("items", [])]}
    return answer


def _shape(value: str) -> dict[str, Any]:
    content = base64.b64decode(value)
    return {"bytes": len(content), "pem": content.lstrip().startswith(b"-----BEGIN ")}


def refused(call: str, fault: client.ApiException) -> Unanswered:
    """Return the reason and the fix of an error that a cluster answered."""
    message = _message(fault)
    if fault.status == 401:
        return Unanswered(f"the cluster does not know the identity of the credentials ({message})", _ADMIT)
    if fault.status == 403:
        return Unanswered(f"the cluster refuses {call} ({message})", _ADMIT)
    return Unanswered(f"the cluster answered {call} with {fault.status} ({message})", "run it again")


def _message(fault: client.ApiException) -> str:
    try:
        return str(json.loads(fault.body or "")["message"])
    except (ValueError, KeyError, TypeError):
        return str(fault.reason)
