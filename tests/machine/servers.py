"""Local servers that speak the APIs which a machine calls: GitHub's, AWS's, Google's, and both metadata servers.

They check what they receive: GitHub the signature and the times of a JWT, AWS the signature of a request. A fault is a
list of answers that replace the next ones of a path.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import ssl
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from email.utils import formatdate
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

INSTANCE: Final = "i-0123456789abcdef0"
ACCESS_KEY: Final = "ASIASECRETACCESSKEY"
SECRET_KEY: Final = "secret/access+key"
SESSION_TOKEN: Final = "secretSessionToken=="
GOOGLE_TOKEN: Final = "ya29.secret-google-token"
INSTALLATION_TOKEN: Final = "ghs_secretinstallation"
REGISTRATION_TOKEN: Final = "AAAAsecretregistration"
JIT_CONFIG: Final = "c2VjcmV0IGppdCBjb25maWc="
METADATA_TOKEN: Final = "secretmetadatatoken=="
RUNNER_ID: Final = 4711

LOCAL: Final = ("127.0.0.1", 0)

Answer = tuple[int, dict[str, str], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """A request."""

    method: str
    host: str
    path: str
    headers: dict[str, str]
    body: str

    @property
    def line(self) -> str:
        """The request in one line."""
        return f"{self.method} {self.host}{self.path}"


@cache
def private_key() -> str:
    """Return the key of a GitHub App, as GitHub writes it."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    kind = serialization.PrivateFormat.TraditionalOpenSSL
    return key.private_bytes(serialization.Encoding.PEM, kind, serialization.NoEncryption()).decode()


def _decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def json_answer(code: int, value: object, **headers: str) -> Answer:
    """Return an answer in JSON."""
    return code, headers, json.dumps(value)


@dataclass(slots=True)
class Clouds:
    """The state of all servers."""

    archive: bytes
    """The runner's archive."""
    key: str | None
    """The App's key in the parameter or the secret; none before someone puts it there."""
    skew: int = 0
    """Seconds that GitHub's clock is ahead."""
    notice: bool = False
    """The cloud wants its spot capacity back."""
    faults: defaultdict[str, list[Answer]] = field(default_factory=lambda: defaultdict(list))
    received: list[Received] = field(default_factory=list)
    status: list[str] = field(default_factory=list)
    metrics: list[dict[str, float]] = field(default_factory=list)
    runners: list[dict[str, object]] = field(default_factory=list)
    jobs: list[dict[str, object]] = field(default_factory=list)
    """Jobs that wait for the runner: a script and an event."""
    results: list[tuple[str, str]] = field(default_factory=list)
    """The result and the output of each job that has ended."""
    old_runner: bool = False
    """Whether GitHub refuses the release of the runner."""
    listening: bool = False

    def lines(self, words: str) -> list[Received]:
        """Return the requests whose line has those words."""
        return [one for one in self.received if words in one.line]

    def answer(self, request: Received) -> Answer:
        """Return the answer to a request."""
        self.received.append(request)
        for words, answers in self.faults.items():
            if words in request.line and answers:
                return answers.pop(0)
        for host, handler in self._handlers():
            if request.host.endswith(host):
                return handler(request)
        return json_answer(404, {"message": f"no host {request.host}"})

    def _handlers(self) -> Iterator[tuple[str, Callable[[Received], Answer]]]:
        yield "api.github.com", self._github
        yield "github.com", lambda _: (200, {}, self.archive.decode("latin-1"))
        yield "pipelines.actions.githubusercontent.com", self._job_service
        yield "nvidia.github.io", lambda _: (200, {}, "a key")
        yield "169.254.169.254", self._metadata
        yield "amazonaws.com", self._aws
        yield "googleapis.com", self._google

    def now(self) -> float:
        """Return GitHub's time."""
        return time.time() + self.skew

    def _github(self, request: Received) -> Answer:
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        if request.method == "HEAD":
            return 200, {"Date": formatdate(self.now(), usegmt=True)}, ""
        if request.path == "/app/installations/7654321/access_tokens":
            problem = self._jwt_problem(token)
            return (
                json_answer(401, {"message": problem}) if problem else json_answer(201, {"token": INSTALLATION_TOKEN})
            )
        if token != INSTALLATION_TOKEN:
            return json_answer(401, {"message": "Bad credentials"})
        scope = "/repos/acme/vision" if request.path.startswith("/repos/") else "/orgs/acme"
        return self._runners(request.method, request.path.removeprefix(f"{scope}/actions/").partition("?")[0])

    def _runners(self, method: str, name: str) -> Answer:
        if method == "POST":
            self.listening = False
        groups = [{"id": 1, "name": "Default"}, {"id": 7, "name": "GPU Team"}]
        answers = {
            f"DELETE runners/{RUNNER_ID}": (204, {}, ""),
            "POST runners/generate-jitconfig": json_answer(
                201, {"runner": {"id": RUNNER_ID}, "encoded_jit_config": JIT_CONFIG}
            ),
            "POST runners/registration-token": json_answer(201, {"token": REGISTRATION_TOKEN}),
            "GET runner-groups": json_answer(200, {"runner_groups": groups}),
            "GET runners": json_answer(200, {"runners": self.runners}),
        }
        return answers.get(f"{method} {name}", json_answer(404, {"message": "Not Found"}))

    def _job_service(self, request: Received) -> Answer:
        """Give the runner its next job, after a wait."""
        if request.path == "/result":
            ended = json.loads(request.body)
            self.results.append((ended["result"], ended["output"]))
            return json_answer(200, None)
        if self.old_runner:
            return json_answer(410, None)
        if not self.listening:
            self.listening = True
            return json_answer(200, "listening")
        deadline = time.monotonic() + 1
        while not self.jobs and time.monotonic() < deadline:
            time.sleep(0.05)
        return json_answer(200, self.jobs.pop(0) if self.jobs else None)

    def _jwt_problem(self, token: str) -> str | None:
        """Return the reason for which GitHub refuses a JWT."""
        if self.key is None:
            return "A JSON web token could not be decoded"
        signed, _, signature = token.rpartition(".")
        loaded = serialization.load_pem_private_key(self.key.encode(), None)
        assert isinstance(loaded, rsa.RSAPrivateKey)
        try:
            loaded.public_key().verify(_decoded(signature), signed.encode(), padding.PKCS1v15(), hashes.SHA256())
        except InvalidSignature:
            return "A JSON web token could not be decoded"
        claims = json.loads(_decoded(signed.partition(".")[2]))
        if claims["iat"] > self.now() + 5:
            return "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued"
        if not self.now() < claims["exp"] <= self.now() + 600:
            return "'Expiration time' claim ('exp') is too far in the future"
        return None if claims["iss"] == "123456" else "Integration not found"

    def _metadata(self, request: Received) -> Answer:
        path = request.path
        if path.startswith("/computeMetadata/v1/"):
            return self._google_metadata(request, path.removeprefix("/computeMetadata/v1/"))
        if path == "/latest/api/token":
            return (200, {}, METADATA_TOKEN) if request.method == "PUT" else (405, {}, "")
        if request.headers.get("x-aws-ec2-metadata-token") != METADATA_TOKEN:
            return 401, {}, ""
        credentials = {"AccessKeyId": ACCESS_KEY, "SecretAccessKey": SECRET_KEY, "Token": SESSION_TOKEN}
        texts = {
            "instance-id": INSTANCE,
            "placement/region": "eu-west-1",
            "iam/security-credentials/": "machine",
            "iam/security-credentials/machine": json.dumps(credentials),
            **({"spot/instance-action": '{"action": "stop"}'} if self.notice else {}),
        }
        name = path.removeprefix("/latest/meta-data/")
        return (200, {}, texts[name]) if name in texts else (404, {}, "")

    def _google_metadata(self, request: Received, name: str) -> Answer:
        if request.headers.get("metadata-flavor") != "Google":
            return 403, {}, ""
        if request.method == "PUT" and name == "instance/guest-attributes/gpu-ci/runner":
            self.status.append(request.body)
            return 200, {}, ""
        texts = {
            "project/project-id": "acme-ci",
            "instance/id": "987654321",
            "instance/zone": "projects/1/zones/us-central1-a",
            "instance/preempted": "TRUE" if self.notice else "FALSE",
            "instance/service-accounts/default/token": json.dumps({"access_token": GOOGLE_TOKEN}),
        }
        return (200, {}, texts[name]) if name in texts else (404, {}, "")

    def _aws(self, request: Received) -> Answer:
        if not signed_by_aws(request):
            return json_answer(403, {"message": "SignatureDoesNotMatch"})
        form = {name: values[0] for name, values in parse_qs(request.body).items()}
        if request.headers.get("x-amz-target") == "AmazonSSM.GetParameter":
            name = json.loads(request.body)["Name"]
            if self.key is None or name != "/gpu-ci-staging/github-app-private-key":
                return json_answer(400, {"__type": "ParameterNotFound"})
            return json_answer(200, {"Parameter": {"Name": name, "Value": self.key}})
        if form.get("Action") == "CreateTags" and form["ResourceId.1"] == INSTANCE:
            self.status.append(form["Tag.1.Value"])
            return 200, {}, "<return>true</return>"
        if form.get("Action") == "PutMetricData" and form["Namespace"] == "gpu-ci":
            members = [f"MetricData.member.{number}" for number in (1, 2, 3)]
            assert {form[f"{one}.Dimensions.member.1.Value"] for one in members} == {INSTANCE}
            self.metrics.append({form[f"{one}.MetricName"]: float(form[f"{one}.Value"]) for one in members})
            return 200, {}, ""
        return json_answer(400, {"message": "InvalidAction"})

    def _google(self, request: Received) -> Answer:
        if request.headers.get("authorization") != f"Bearer {GOOGLE_TOKEN}":
            return json_answer(401, {"error": "UNAUTHENTICATED"})
        secret = "/v1/projects/acme-ci/secrets/gpu-ci-staging-github-app-private-key/versions/latest:access"
        if request.path == secret and self.key is not None:
            return json_answer(200, {"payload": {"data": base64.b64encode(self.key.encode()).decode()}})
        if request.path == "/v3/projects/acme-ci/timeSeries":
            series = json.loads(request.body)["timeSeries"]
            assert {one["resource"]["labels"]["instance_id"] for one in series} == {"987654321"}
            names = [one["metric"]["type"].removeprefix("custom.googleapis.com/gpu-ci/") for one in series]
            values = [one["points"][0]["value"]["doubleValue"] for one in series]
            self.metrics.append(dict(zip(names, values, strict=True)))
            return json_answer(200, {})
        return json_answer(404, {"error": "NOT_FOUND"})


def signed_by_aws(request: Received) -> bool:
    """Return whether the signature is the one that AWS computes (Signature Version 4), over all headers of AWS."""
    text = request.headers.get("authorization", "").removeprefix("AWS4-HMAC-SHA256 ")
    parts = dict(part.strip().split("=", 1) for part in text.split(",") if "=" in part)
    if not parts or request.headers.get("x-amz-security-token") != SESSION_TOKEN:
        return False
    access, _, scope = parts["Credential"].partition("/")
    names = parts["SignedHeaders"].split(";")
    if any(name not in names for name in request.headers if name == "host" or name.startswith("x-amz-")):
        return False
    headers = "".join(f"{name}:{request.headers[name].strip()}\n" for name in names)
    body = hashlib.sha256(request.body.encode()).hexdigest()
    canonical = "\n".join([request.method, request.path, "", headers, parts["SignedHeaders"], body])
    hashed = hashlib.sha256(canonical.encode()).hexdigest()
    signed = "\n".join(["AWS4-HMAC-SHA256", request.headers["x-amz-date"], scope, hashed])
    key = f"AWS4{SECRET_KEY}".encode()
    for part in scope.split("/"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    right = hmac.new(key, signed.encode(), hashlib.sha256).hexdigest()
    return access == ACCESS_KEY and scope.split("/")[1] == "eu-west-1" and parts["Signature"] == right


class Servers:
    """The servers of metadata and of the APIs, the latter with TLS."""

    def __init__(
        self, clouds: Clouds, certificate: Path, metadata: tuple[str, int] = LOCAL, apis: tuple[str, int] = LOCAL
    ) -> None:
        class Handler(BaseHTTPRequestHandler):
            def respond(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
                host = self.headers["Host"].partition(":")[0]
                headers = {name.lower(): value for name, value in self.headers.items()}
                request = Received(method=self.command, host=host, path=self.path, headers=headers, body=body)
                code, extra, text = clouds.answer(request)
                if code == 0:
                    self.close_connection = True
                    return
                self.send_response_only(code)
                data = text.encode("latin-1")
                for name, value in {"Content-Length": str(len(data)), **extra}.items():
                    self.send_header(name, value)
                self.end_headers()
                if self.command != "HEAD":
                    # A machine that ends does not read its answer.
                    with suppress(OSError):
                        self.wfile.write(data)

            do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = respond  # noqa: N815

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                """Write nothing."""

        self._servers = [ThreadingHTTPServer(address, Handler) for address in (metadata, apis)]
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        self._servers[1].socket = context.wrap_socket(self._servers[1].socket, server_side=True)
        self.ports = [server.server_address[1] for server in self._servers]
        for server in self._servers:
            threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self) -> None:
        """End the servers."""
        for server in self._servers:
            server.shutdown()
            server.server_close()
