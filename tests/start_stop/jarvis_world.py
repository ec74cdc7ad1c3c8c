"""Jarvis Labs and GitHub as local HTTP servers in simulated time, with faults."""

from __future__ import annotations

import json
import re
import threading
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

START: Final = datetime(2026, 11, 22, 8, 0, tzinfo=UTC)
SECRET: Final = "key-of-jarvis"
TOKEN: Final = "token-of-the-app"
CONFIG: Final = re.compile(r"^RUNNER_CONFIG=(\S+)$", re.MULTILINE)


@dataclass(slots=True)
class Fault:
    """A fault of the server for the next requests whose method and path contain `words`."""

    words: str
    status: int = 0
    """The HTTP status; 0 closes the connection without an answer, and -1 leaves it open without one."""
    times: int = 1
    after: bool = False
    """Whether the request has its effect nevertheless."""
    message: str = "try again"


@dataclass(slots=True)
class World:
    """Both services, and the time."""

    now: datetime = START
    instances: list[dict[str, Any]] = field(default_factory=list)
    scripts: dict[int, tuple[str, str]] = field(default_factory=dict)
    runners: dict[int, dict[str, Any]] = field(default_factory=dict)
    runs: list[dict[str, Any]] = field(default_factory=list)
    """Workflow runs, each with its `jobs`."""
    faults: list[Fault] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    bodies: list[str] = field(default_factory=list)
    starting: timedelta = timedelta(seconds=40)
    pausing: timedelta = timedelta(seconds=20)
    boots: bool = True
    """Whether the startup script brings its runner online."""
    new_ids: bool = True
    """Whether a resume changes the id."""
    unlisted: timedelta = timedelta()
    """Time until a created instance is listed."""
    next_id: int = 1000

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        self.now += timedelta(seconds=seconds)

    def add(self, name: str, status: str, **more: Any) -> dict[str, Any]:
        """Add an instance."""
        self.next_id += 1
        made = {
            "machine_id": self.next_id,
            "name": name,
            "status": status,
            "gpu_type": "L4",
            "num_gpus": 1,
            "hdd": 100,
            "template": "pytorch",
            "region": "india-noida-01",
            "listed": self.now,
            "then": None,
            **more,
        }
        self.instances.append(made)
        return made

    def connect(self, config: str) -> None:
        """Bring the runner of a registration online; it is valid once."""
        for runner in self.runners.values():
            if runner["config"] == config and not runner["used"]:
                runner.update(used=True, status="online")

    def named(self, name: str) -> list[str]:
        """Return the states of the instances of a name."""
        self.settle()
        return [one["status"] for one in self.instances if one["name"] == name]

    def settle(self) -> None:
        """Let transitions end whose time is over."""
        for one in self.instances:
            then = one["then"]
            if then is not None and self.now >= then[0]:
                one.update(status=then[1], then=None)
                if then[1] == "Running":
                    script = self.scripts.get(int(one.get("script_id") or 0), ("", ""))[1]
                    found = CONFIG.search(script)
                    if found and self.boots:
                        self.connect(found[1])
                else:
                    for runner in self.runners.values():
                        runner["status"] = "offline"


def _answer(world: World, method: str, path: str, query: dict[str, str], body: bytes) -> tuple[int, Any]:
    """Return the answer of either service."""
    world.settle()
    if path.startswith("/api/"):
        return _github(world, method, path.removeprefix("/api/"), query, body)
    return _shown(world, path, query) if method == "GET" else _changed(world, path, query, body)


def _shown(world: World, path: str, query: dict[str, str]) -> tuple[int, Any]:
    """Return what Jarvis Labs shows."""
    if path == "/users/fetch":
        shown = [one for one in world.instances if one["listed"] <= world.now]
        return 200, {"success": True, "instances": [_row(one) for one in shown]}
    if path.startswith("/users/fetch/"):
        found = [one for one in world.instances if str(one["machine_id"]) == path.rpartition("/")[2]]
        return (200, {"success": True, "instance": _row(found[0])}) if found else (404, {"message": "no such instance"})
    if path == "/misc/server_meta":
        return 200, {"server_meta": []}
    if path == "/misc/status":
        found = [one for one in world.instances if str(one["machine_id"]) == query["machine_id"]]
        return 200, {"status": found[0]["status"]}
    if path == "/scripts/":
        return 200, {
            "script_meta": [{"script_id": id_, "script_name": name} for id_, (name, _) in world.scripts.items()]
        }
    raise AssertionError(path)


def _changed(world: World, path: str, query: dict[str, str], body: bytes) -> tuple[int, Any]:
    """Change what Jarvis Labs has, and return its answer."""
    if path in {"/scripts/add", "/scripts/update"}:
        text = body.split(b"\r\n\r\n", 1)[1].rsplit(b"\r\n--", 1)[0].decode()
        id_ = int(query.get("script_id") or len(world.scripts) + 1)
        world.scripts[id_] = (query.get("name") or world.scripts[id_][0], text)
        return 200, {"success": True}
    if path.endswith("/create"):
        asked = json.loads(body)
        made = world.add(asked["name"], "Creating", script_id=asked["script_id"], hdd=asked["hdd"], asked=asked)
        made["listed"] = world.now + world.unlisted
        made["then"] = (world.now + world.starting, "Running")
        return 200, {"machine_id": made["machine_id"]}
    if path.endswith("/resume"):
        asked = json.loads(body)
        (one,) = (one for one in world.instances if one["machine_id"] == asked["machine_id"])
        if world.new_ids:
            world.next_id += 1
            one["machine_id"] = world.next_id
        one.update(status="Resuming", script_id=asked["script_id"], hdd=asked["hdd"], asked=asked)
        one["then"] = (world.now + world.starting, "Running")
        return 200, {"machine_id": one["machine_id"]}
    assert path == "/misc/pause", path
    (one,) = (one for one in world.instances if str(one["machine_id"]) == query["machine_id"])
    if one["status"] != "Running":
        return 400, {"message": "not running"}
    one.update(status="Pausing", then=(world.now + world.pausing, "Paused"))
    return 200, {"success": True}


def _row(one: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in one.items() if key not in {"listed", "then", "asked", "script_id"}}


def _github(world: World, method: str, path: str, query: dict[str, str], body: bytes) -> tuple[int, Any]:
    """Return the answer of GitHub."""
    _, _, rest = path.partition("/actions/")
    kind, _, number = rest.partition("/")
    if rest == "runners/generate-jitconfig":
        return _registered(world, json.loads(body))
    if rest == "runners":
        return 200, {"runners": list(world.runners.values())}
    if kind == "runners":
        found = world.runners.get(int(number))
        if method == "DELETE":
            world.runners.pop(int(number), None)
        return (200, found) if found else (404, {"message": "Not Found"})
    if kind == "workflows":
        return 200, {"workflow_runs": [one for one in world.runs if one["status"] == query["status"]]}
    (run,) = (one for one in world.runs if str(one["id"]) == number.partition("/")[0])
    return 200, {"jobs": run["jobs"]}


def _registered(world: World, asked: dict[str, Any]) -> tuple[int, Any]:
    if any(one["name"] == asked["name"] for one in world.runners.values()):
        return 409, {"message": "Already exists"}
    world.next_id += 1
    made = {"id": world.next_id, "status": "offline", "busy": False, "used": False, **asked}
    made["config"] = f"config-{world.next_id}"
    world.runners[world.next_id] = made
    return 201, {"runner": made, "encoded_jit_config": made["config"]}


def serve(world: World) -> ThreadingHTTPServer:
    """Start a server for both services on a free port. GitHub is below `/api`."""
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1

        def do(self) -> None:
            """Answer one request."""
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            at = urlsplit(self.path)
            line = f"{self.command} {at.path}"
            expected = TOKEN if at.path.startswith("/api/") else SECRET
            with lock:
                world.requests.append(line)
                world.bodies.append(body.decode(errors="replace"))
                fault = next((one for one in world.faults if one.words in line and one.times), None)
                if fault is not None:
                    fault.times -= 1
                query = {key: values[0] for key, values in parse_qs(at.query).items()}
                if self.headers["Authorization"] != f"Bearer {expected}":
                    code, answer = 401, {"message": "Invalid token"}
                elif fault is None or fault.after:
                    code, answer = _answer(world, self.command, at.path, query, body)
            if fault is not None:
                if fault.status < 1:
                    threading.Event().wait(-fault.status)
                    self.close_connection = True
                    return
                code, answer = fault.status, {"message": fault.message}
            text = b"" if answer is None else json.dumps(answer, default=str).encode()
            self.send_response(code)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_POST = do_DELETE = do  # noqa: N815 - the names that http.server calls

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    return server
