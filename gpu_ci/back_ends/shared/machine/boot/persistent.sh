# shellcheck shell=bash
# One registration from a start to the next stop. Files of a job stay for the next one.

register() {
  local option=() token
  if [ ! -e "$APP/config.sh" ]; then
    install -d -o runner -g runner -m 0750 "$APP"
    as_runner tar -xzf - -C "$APP" <"$ARCHIVE"
  fi
  rm -f "$APP"/.runner "$APP"/.credentials*
  github POST "$SCOPE/actions/runners/registration-token"
  token=$(answer token)
  [ "${GROUP,,}" = default ] || option=(--runnergroup "$GROUP")
  (cd "$APP" && ACTIONS_RUNNER_INPUT_TOKEN=$token runuser -u runner -- ./config.sh --unattended --replace --url "$URL" \
    --name "$NAME" --labels "$LABELS" --work _work "${option[@]}")
  # shellcheck disable=SC2034 # another part reads it
  RUNNER_ID=$(field agentId <"$APP/.runner")
  say "registered as $NAME"
}
