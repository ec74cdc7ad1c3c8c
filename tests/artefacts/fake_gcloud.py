"""A fake gcloud: machines and images in a folder, and outcomes that a test sets beforehand.

It is on PATH as `gcloud`. The folder `$FAKE_GCLOUD` contains `plan.json` (the outcomes), `state.json` (machines and
images) and `calls.jsonl` (every call). A plan lists the outcome of each machine by purpose (`build`, `verify`): ok,
fail, hang, preempted, terminated, no-capacity, slow, registry. Further keys: `image` (the status of a new image),
`refuse` (calls that fail, with their messages), `hiccup` and `unheard` (the number of times a call fails with 503,
before or after it is done), `quotas` (limits by region, or by `project`), `base` (the base image; null if it does not
exist), `race` (an image that another stack creates first), `lost-at-stop` (machines preempted
when they are stopped) and `attributes: false` (guest attributes are forbidden). With `looks`, a machine that hangs is
deleted after so many checks.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from pathlib import Path
from typing import Any, NoReturn

FOLDER = Path(os.environ["FAKE_GCLOUD"])


def main(arguments: list[str]) -> None:
    plan = json.loads((FOLDER / "plan.json").read_text())
    state_file = FOLDER / "state.json"
    state = json.loads(state_file.read_text()) if state_file.exists() else {"machines": {}, "images": {}, "made": {}}
    with (FOLDER / "calls.jsonl").open("a") as calls:
        calls.write(json.dumps(arguments) + "\n")
    words = [word for word in arguments if not word.startswith("--")][1:]  # The first word is the project.
    flags = dict(flag[2:].split("=", 1) for flag in arguments if flag.startswith("--") and "=" in flag)
    for at, word in enumerate(arguments):
        if word in {"--zone", "--delete-disks"}:
            flags[word[2:]] = arguments[at + 1]
    for refused, message in plan.get("refuse", {}).items():
        if " ".join(words).startswith(refused):
            fail(message)
    verb = " ".join(words[:3])
    try:
        if again(state, plan, "hiccup", verb):
            fail(HICCUP)
        ANSWERS[verb](state, plan, words[3:], flags)
        if again(state, plan, "unheard", verb):
            fail(HICCUP)
    finally:
        state_file.write_text(json.dumps(state))


HICCUP = "HTTPError 503: The service is currently unavailable."


def again(state: Any, plan: Any, kind: str, verb: str) -> bool:
    """Return whether this call fails with 503."""
    done = state.setdefault(kind, {})
    done[verb] = done.get(verb, 0) + 1
    return bool(done[verb] <= plan.get(kind, {}).get(verb, 0))


def fail(message: str) -> NoReturn:
    sys.stderr.write(f"ERROR: (gcloud) {message}\n")
    raise SystemExit(1)


def lost(name: str) -> NoReturn:
    fail(f"Could not fetch resource:\n - The resource '{name}' was not found")


def labels(flags: dict[str, str], key: str = "labels") -> dict[str, str]:
    return dict(pair.split("=") for pair in flags.get(key, "").split(",") if pair)


def matching(things: dict[str, Any], flags: dict[str, str]) -> list[Any]:
    wanted = dict(re.findall(r"labels\.([\w-]+)=([\w-]+)", flags["filter"]))
    account = re.search(r"serviceAccounts\.email=(\S+)", flags["filter"])
    return [
        thing
        for thing in things.values()
        if wanted.items() <= thing["labels"].items() and (account is None or thing.get("account") == account.group(1))
    ]


def machine(state: dict[str, Any], name: str) -> Any:
    found = state["machines"].get(name) or lost(name)
    found["looks"] += 1
    if found["fate"] == "preempted" and found["looks"] > 2:
        del state["machines"][name]
        lost(name)
    if found["fate"] == "hang" and found["looks"] > found["end"]:
        del state["machines"][name]
        lost(name)
    if found["fate"] == "terminated" and found["looks"] > 2:
        found["status"] = "TERMINATED"
    return found


def answer(text: str) -> None:
    sys.stdout.write(f"{text}\n")


def list_machines(state: Any, plan: Any, words: list[str], flags: dict[str, str]) -> None:
    answer(json.dumps(matching(state["machines"], flags)))


def list_images(state: Any, plan: Any, words: list[str], flags: dict[str, str]) -> None:
    answer(json.dumps(matching(state["images"], flags)))


def create_machine(state: Any, plan: Any, words: list[str], flags: dict[str, str]) -> None:
    name = words[0]
    if name in state["machines"]:
        fail(f"The resource 'projects/p/zones/z/instances/{name}' already exists")
    purpose = name.rsplit("-", 1)[1]
    fates = plan.get(purpose, ["ok"])
    made = state["made"].get(purpose, 0)
    fate = fates[min(made, len(fates) - 1)]
    state["made"][purpose] = made + 1
    if fate == "no-capacity":
        fail(f"The zone '{flags['zone']}' does not have enough resources available (ZONE_RESOURCE_POOL_EXHAUSTED)")
    if fate == "slow":
        time.sleep(1.5)
    script = Path(flags["metadata-from-file"].split("=", 1)[1]).read_text()
    found = re.search(r"GPU_HOST_HASH=(\w+)", script)
    state["machines"][name] = {
        "name": name,
        "zone": f"https://www.googleapis.com/compute/v1/projects/p/zones/{flags['zone']}",
        "status": "RUNNING",
        "labels": labels(flags),
        "fate": fate,
        "looks": 0,
        "end": plan.get("looks", 10**6),
        "hash": found.group(1) if found else "",
        "flags": flags,
    }


def describe_machine(state: Any, plan: Any, words: list[str], flags: dict[str, str]) -> None:
    answer(json.dumps({"status": machine(state, words[0])["status"]}))


def word_of(found: Any) -> str:
    if found["looks"] < 3:
        return ""
    failure = "fail:driver:100:packages.sh:60: apt install"
    published = {"ok": f"ok:{found['hash']}", "fail": failure, "terminated": failure}
    return {**published, "registry": "fail:registry:1:the image could not be pulled"}.get(found["fate"], "")


def attributes(state: Any, plan: Any, words: list[str], flags: dict[str, str]) -> None:
    if not plan.get("attributes", True):
        fail("Constraint constraints/compute.disableGuestAttributesAccess violated")
    published = word_of(machine(state, words[0]))
    if not published:
        lost("hostAttributes/gpu-host/status")
    answer(json.dumps([{"namespace": "gpu-host", "key": "status", "value": published}]))


def serial(state: Any, plan: Any, words: list[str], flags: dict[str, str]) -> None:
    answer(f"gpu-host: driver\ngpu-host-report: {word_of(machine(state, words[0]))}\nlast words")


def stop_machine(state: Any, plan: Any, words: list[str], flags: dict[str, str]) -> None:
    if plan.get("lost-at-stop", 0) >= state["made"]["build"]:
        del state["machines"][words[0]]
        lost(words[0])
    state["machines"][words[0]]["status"] = "TERMINATED"


def delete_machine(state: Any, plan: Any, words: list[str], flags: dict[str, str]) -> None:
    if words[0] not in state["machines"]:
        lost(words[0])
    del state["machines"][words[0]]


def create_image(state: Any, plan: Any, words: list[str], flags: dict[str, str]) -> None:
    if state["machines"][flags["source-disk"]]["status"] != "TERMINATED":
        fail("The disk resource is already being used by a running instance")
    if "race" in plan:
        state["images"].setdefault(words[0], {"name": words[0], "creationTimestamp": "2026-11-21", **plan["race"]})
    if words[0] in state["images"]:
        fail(f"The resource 'projects/p/global/images/{words[0]}' already exists")
    state["images"][words[0]] = {
        "name": words[0],
        "status": plan.get("image", "READY"),
        "labels": labels(flags),
        "creationTimestamp": f"2026-11-21T00:00:{len(state['images']):02}",
    }


def describe_image(state: Any, plan: Any, words: list[str], flags: dict[str, str]) -> None:
    if words[0].startswith("https://"):
        answer(json.dumps(plan.get("base", {"status": "READY"}) or lost(words[0])))
        return
    answer(json.dumps(state["images"].get(words[0]) or lost(words[0])))


def delete_image(state: Any, plan: Any, words: list[str], flags: dict[str, str]) -> None:
    if words[0] not in state["images"]:
        lost(words[0])
    del state["images"][words[0]]


def update_image(state: Any, plan: Any, words: list[str], flags: dict[str, str]) -> None:
    image = state["images"][words[0]]
    if "family" in flags:
        image["family"] = flags["family"]
    image["labels"].update(labels(flags, "update-labels"))
    image["labels"].pop(flags.get("remove-labels"), None)


def deprecate_image(state: Any, plan: Any, words: list[str], flags: dict[str, str]) -> None:
    state["images"][words[0]]["deprecated"] = {"state": flags["state"], "replacement": flags.get("replacement")}


def export_image(state: Any, plan: Any, words: list[str], flags: dict[str, str]) -> None:
    state.setdefault("archives", []).append(flags["destination-uri"])


def describe_object(state: Any, plan: Any, words: list[str], flags: dict[str, str]) -> None:
    if words[0] not in state.get("archives", []):
        lost(words[0])


def head_of_family(state: Any, plan: Any, words: list[str], flags: dict[str, str]) -> None:
    alive = [
        image
        for image in state["images"].values()
        if image.get("family") == words[0] and image.get("deprecated", {"state": "ACTIVE"})["state"] == "ACTIVE"
    ]
    answer(json.dumps(max(alive, key=lambda image: image["creationTimestamp"]) if alive else lost(words[0])))


def quotas(state: Any, plan: Any, words: list[str], flags: dict[str, str]) -> None:
    place = words[0] if words else "project"
    limits = plan.get("quotas", {}).get(place, {})
    answer(json.dumps({"name": place, "quotas": [{"metric": key, "limit": limit} for key, limit in limits.items()]}))


ANSWERS = {
    "compute project-info describe": quotas,
    "compute regions describe": quotas,
    "compute instances list": list_machines,
    "compute instances create": create_machine,
    "compute instances describe": describe_machine,
    "compute instances get-guest-attributes": attributes,
    "compute instances get-serial-port-output": serial,
    "compute instances stop": stop_machine,
    "compute instances delete": delete_machine,
    "compute images create": create_image,
    "compute images describe": describe_image,
    "compute images delete": delete_image,
    "compute images update": update_image,
    "compute images deprecate": deprecate_image,
    "compute images list": list_images,
    "compute images describe-from-family": head_of_family,
    "compute images export": export_image,
    "storage objects describe": describe_object,
}

if __name__ == "__main__":
    main(sys.argv[1:])
