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
  delete "$ROOT/home/runner" "$APP"
  delete_files
  install -d -o runner -g runner -m 0750 "$ROOT/home/runner" "$APP"
  as_runner tar -xzf - -C "$APP" <"$ARCHIVE"
}

# A container can give files to root and make them immutable. What stays is logged, and the machine goes on.
delete() {
  rm -rf --one-file-system -- "$@" 2>/dev/null && return
  chattr -R -f -ia -- "$@" || true
  rm -rf --one-file-system -- "$@" || say "cannot delete $*"
}

# What the user has put into folders that everyone may write to, on the disk and in memory. Other files of the user come
# with the image.
delete_files() {
  local places path of=('(' -user runner -o -group runner ')')
  readarray -t places < <(findmnt --raw --noheadings --types tmpfs,mqueue --output TARGET)
  while IFS= read -r -d '' path; do
    delete "$path"
  done < <(
    find "$ROOT/" "${places[@]}" -xdev '(' -path "$ROOT/usr" -o -path "$ROOT/var/lib/docker" -o -path "$ROOT/var/lib/containerd" ')' \
      -prune -o -type d -perm -0002 -exec find {} -mindepth 1 -maxdepth 1 "${of[@]}" -print0 ';' 2>/dev/null
    find "$ROOT/var/spool" "$ROOT/var/mail" "${of[@]}" -print0 2>/dev/null
    files_of_containers
  )
}

end_processes() {
  local tries
  for tries in 1 2 3 4 5; do
    pkill -KILL -u runner || return 0
    pause "$tries"
  done
  return 1
}
