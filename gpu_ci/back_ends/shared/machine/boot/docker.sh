# shellcheck shell=bash
# Docker for jobs: the user joins its group, and its data is part of the disk that is cleaned.

join_docker() {
  step 'let the user runner use Docker'
  docker info >/dev/null
  usermod --append --groups docker runner
  touch "$RUN/prepared"
}

clean_docker() {
  # Images stay, as a cache.
  docker ps --all --quiet | xargs --no-run-if-empty docker rm --force >/dev/null
  docker volume prune --all --force >/dev/null
  [ "${1:-}" != all ] || docker system prune --all --force --volumes
}

# What containers have written to temporary folders as root. systemd and snap create their own folders there.
files_of_containers() {
  find "$ROOT/tmp" "$ROOT/var/tmp" "$ROOT/dev/shm" -mindepth 1 -maxdepth 1 -cnewer "$RUN/prepared" \
    ! -name 'systemd-private-*' ! -name 'snap*' -print0
}
