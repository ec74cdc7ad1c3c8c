# shellcheck shell=bash
# The stages that make the host a runner's: its users, its fast disk, its tools. Sourced by install.sh.

stage_user() {
  local user group
  for user in $(docker_users); do
    if ! getent passwd "$user" >/dev/null; then
      useradd --create-home --shell /bin/bash "$user"
    fi
    usermod --append --groups docker "$user"
    for group in $(id -nG "$user"); do
      case $group in
        sudo | adm | google-sudoers | lxd) die "$user is in $group, and could become root by it" ;;
      esac
    done
  done
}

stage_local_ssd() {
  if [ "$LOCAL_SSD" = 0 ]; then
    say 'no local SSD is wanted'
    return
  fi
  install -D --mode 0644 "$HERE/gpu-host-local-ssd.service" "$ROOT/etc/systemd/system/gpu-host-local-ssd.service"
  systemctl daemon-reload
  systemctl enable gpu-host-local-ssd.service
}

stage_uv() {
  local wanted
  wanted=$(mktemp)
  printf 'uv==%s --hash=sha256:%s\n' "$UV_VERSION" "$UV_SHA256" >"$wanted"
  python3 -m venv "$ROOT/opt/uv"
  "$ROOT/opt/uv/bin/pip" install --require-hashes --only-binary :all: --no-deps --requirement "$wanted"
  rm "$wanted"
  install -d "$ROOT/usr/local/bin"
  ln -sfn /opt/uv/bin/uv "$ROOT/usr/local/bin/uv"
  ln -sfn /opt/uv/bin/uvx "$ROOT/usr/local/bin/uvx"
}
