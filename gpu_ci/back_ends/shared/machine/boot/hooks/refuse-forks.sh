#!/bin/bash
# Refuses a job of a pull request from a fork. The runner calls it before the first step of each job, and a job cannot
# change it: it belongs to root.
exec python3 -c '
import json, os, sys

with open(os.environ["GITHUB_EVENT_PATH"], encoding="utf-8") as event:
    pull = json.load(event).get("pull_request")
if pull:
    # A fork that was deleted has no repository.
    head = (pull["head"]["repo"] or {}).get("full_name", "")
    if head.lower() != os.environ["GITHUB_REPOSITORY"].lower():
        sys.exit("This machine runs no jobs of pull requests from forks.")
'
