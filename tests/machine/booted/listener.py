"""A runner: it asks for jobs, and runs each between the two hooks, as GitHub's runner does."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

CREDENTIAL = os.environ.pop("ACTIONS_RUNNER_INPUT_JITCONFIG", "")
PROCESS = subprocess.Popen[bytes]
running: list[PROCESS] = []
stopped: list[int] = []


def say(text: str) -> None:
    """Write a line to the log of the runner."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def call(path: str, body: object = None) -> object:
    """Call the service of jobs."""
    request = urllib.request.Request(
        f"https://pipelines.actions.githubusercontent.com/{path}",
        json.dumps(body).encode(),
        {"X-Credential": CREDENTIAL},
    )
    with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310 - the address is in the line above
        return json.load(answer)


def stop(number: int, _: object) -> None:
    """Cancel the running step, as a cancelled job does."""
    stopped.append(number)
    if not running:
        sys.exit(0)
    os.killpg(running[0].pid, signal.SIGINT)


def run(*command: str) -> int:
    """Run a command of a job; GitHub's runner starts a hook with these options of Bash."""
    with Path("output").open("ab") as output:
        process = subprocess.Popen(
            ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", *command],
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
        running[:] = [process]
        code = process.wait()
        running.clear()
    return code


def job(work: dict[str, object]) -> str:
    """Run a job and return its result."""
    Path("event.json").write_text(json.dumps(work["event"]))
    Path("step.sh").write_text(str(work["script"]))
    os.environ |= {"GITHUB_EVENT_PATH": str(Path("event.json").resolve()), "GITHUB_REPOSITORY": "acme/vision"}
    started, completed = (os.environ[f"ACTIONS_RUNNER_HOOK_JOB_{when}"] for when in ("STARTED", "COMPLETED"))
    codes = [run(started)]
    # The name of the worker is in the arguments, by which the machine finds a job.
    codes += [run("-c", "exec -a Runner.Worker bash -e step.sh")] if codes == [0] else []
    codes.append(run(completed))
    if stopped:
        return "Canceled"
    return "Succeeded" if not any(codes) else "Failed"


signal.signal(signal.SIGINT, stop)
while not stopped:
    try:
        work = call("message")
    except urllib.error.HTTPError as error:
        if error.code == 410:
            say("Runner version v2.337.0 is deprecated and cannot receive messages.")
            sys.exit(7)
        sys.exit(1)
    if work == "listening":
        say(f"{time.strftime('%F %TZ', time.gmtime())}: Listening for Jobs")
    elif isinstance(work, dict):
        say(f"{time.strftime('%F %TZ', time.gmtime())}: Running job: test")
        result = job(work)
        call("result", {"result": result, "output": Path("output").read_text(errors="replace")})
        if CREDENTIAL:
            break
