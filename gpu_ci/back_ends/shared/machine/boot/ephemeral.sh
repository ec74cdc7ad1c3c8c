# shellcheck shell=bash
# One registration per job, by a just-in-time configuration. The next job finds nothing of the last one.

GROUP_ID=1

# The API wants the number of the group. That of the default group is 1.
find_group() {
  if [ "${GROUP,,}" != default ] && [ "$GROUP_ID" = 1 ]; then
    github GET "$SCOPE/actions/runner-groups?per_page=100"
    GROUP_ID=$(printf '%s' "$ANSWER" | python3 -c 'import json, sys
print(*[g["id"] for g in json.load(sys.stdin)["runner_groups"] if g["name"].lower() == sys.argv[1].lower()])' "$GROUP")
    [ "$GROUP_ID" ] || give_up "GitHub has no runner group $GROUP for this App"
  fi
}

register() {
  local unique
  fresh_home
  unique=$NAME-$(date +%s)
  find_group
  github POST "$SCOPE/actions/runners/generate-jitconfig" \
    "{\"name\":\"$unique\",\"runner_group_id\":$GROUP_ID,\"labels\":$LABELS,\"work_folder\":\"_work\"}"
  # shellcheck disable=SC2034 # another part reads it
  RUNNER_ID=$(answer runner id)
  say "registered as $unique"
  (umask 077 && printf 'ACTIONS_RUNNER_INPUT_JITCONFIG=%s\n' "$(answer encoded_jit_config)" >"$RUN/job.env")
}

fresh_home() {
  end_processes
  clean_docker
  find "$ROOT/tmp" "$ROOT/var/tmp" "$ROOT/dev/shm" -xdev -user runner -delete
  rm -rf "$ROOT/home/runner" "$APP"
  install -d -o runner -g runner -m 0750 "$ROOT/home/runner" "$APP"
  as_runner tar -xzf - -C "$APP" <"$ARCHIVE"
}

end_processes() {
  local tries
  for tries in 1 2 3 4 5; do
    pkill -KILL -u runner || return 0
    pause "$tries"
  done
  return 1
}
