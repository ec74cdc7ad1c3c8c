#!/bin/bash
# Ends as the run.sh of GitHub's runner does: a signal becomes SIGINT of the listener, and run.sh waits for it.
cd "$(dirname "$0")" || exit 1
trap 'kill -INT "$listener"' INT TERM
python3 listener.py &
listener=$!
wait "$listener"
code=$?
if [ "$code" -gt 128 ]; then
  wait "$listener"
  code=$?
fi
exit "$code"
