# shellcheck shell=bash
# Docker for jobs: the user joins its group, and its data is part of the disk that is cleaned.

join_docker() {
  step 'let the user runner use Docker'
  docker info >/dev/null
  usermod --append --groups docker runner
}

clean_docker() {
  # Images stay, as a cache.
  docker ps --all --quiet | xargs --no-run-if-empty docker rm --force >/dev/null
  docker volume prune --all --force >/dev/null
  [ "${1:-}" != all ] || docker system prune --all --force --volumes
}
