# shellcheck shell=bash
# GitHub's API as the GitHub App. The key is read for each new token and kept nowhere. No secret is an argument of a
# command: they reach openssl and curl by pipes.

TOKEN=
CODE=
ANSWER=
RUNNER_ID=
PROBLEM=
# 0 repeats a request until it succeeds.
TRIES=0

# Sleeps so that a signal ends the wait.
pause() {
  sleep "$1" &
  wait $!
}

url64() { openssl base64 -A | tr '+/' '-_' | tr -d '='; }

# GitHub refuses a JWT of the future or of the past, so that its own time counts where the clock is wrong.
time_at_github() {
  local ours theirs
  theirs=$(curl -sSI --max-time 20 "$API" | tr -d '\r' | sed -n 's/^[Dd]ate: //p') || return 1
  [ -n "$theirs" ] && theirs=$(date -d "$theirs" +%s) || return 1
  ours=$(date +%s)
  if [ $((ours - theirs)) -gt 60 ] || [ $((theirs - ours)) -gt 60 ]; then
    say "the clock is off by $((ours - theirs)) s; the time of GitHub is used"
    ours=$theirs
  fi
  printf '%s' "$ours"
}

# jwt KEY TIME
jwt() {
  local text
  text=$(printf '{"alg":"RS256","typ":"JWT"}' | url64).$(
    printf '{"iat":%d,"exp":%d,"iss":"%s"}' "$(($2 - 60))" "$(($2 + 540))" "$APP_ID" | url64
  )
  printf '%s.%s' "$text" "$(printf '%s' "$text" | openssl dgst -sha256 -binary -sign <(printf '%s\n' "$1") | url64)"
}

# request METHOD PATH TOKEN [BODY]: sets CODE and ANSWER.
request() {
  local text
  text=$(
    printf 'header = "Authorization: Bearer %s"\n' "$3" |
      curl -sS --max-time 30 -X "$1" -H 'Accept: application/vnd.github+json' ${4:+-d "$4"} -D "$RUN/headers" \
        -w '\n%{http_code}' --config - "$API/$2"
  ) || text=$'\n000'
  CODE=${text##*$'\n'}
  ANSWER=${text%$'\n'*}
}

answer() { printf '%s' "$ANSWER" | field "$@"; }

log_in() {
  local key at signed
  key=$(secret) || { PROBLEM="$KEY_PLACE has no key that this machine can read" && return 1; }
  at=$(time_at_github) || { PROBLEM='GitHub does not answer' && return 1; }
  signed=$(jwt "$key" "$at") || { PROBLEM="$KEY_PLACE is not a private key" && return 1; }
  request POST "app/installations/$INSTALLATION_ID/access_tokens" "$signed"
  PROBLEM="GitHub answers $CODE to the App: $(answer message || true)"
  TOKEN=$(answer token) || return 1
}

# Seconds until GitHub wants the next request: its header, or twice the last wait.
next_wait() {
  local stated
  stated=$(tr -d '\r' <"$RUN/headers" | sed -n 's/^[Rr]etry-[Aa]fter: \([0-9]*\)$/\1/p' | tail -n 1)
  printf '%s' "${stated:-$(($1 < 150 ? $1 * 2 : 300))}"
}

# github METHOD PATH [BODY]: repeats until GitHub does it, and publishes the reason for waiting. Sets ANSWER.
github() {
  local wait=5 tries=0
  while :; do
    : >"$RUN/headers"
    if [ -n "$TOKEN" ] || log_in; then
      request "$1" "$2" "$TOKEN" "${3:-}"
      case $1$CODE in *2?? | DELETE404) return 0 ;; *401) TOKEN= ;; esac
      PROBLEM="GitHub answers $CODE: $(answer message || true)"
    fi
    tries=$((tries + 1))
    if [ "$TRIES" -gt 0 ]; then
      say "$1 $2: $PROBLEM"
      [ "$tries" -lt "$TRIES" ] || return 1
    else
      status "waiting: $PROBLEM"
    fi
    pause "$wait"
    wait=$(next_wait "$wait")
  done
}

# Deletes the registration, where GitHub has not: it deletes that of a runner with one job.
deregister() {
  # An expired token uses one of them.
  local TRIES=3
  if [ -n "$RUNNER_ID" ]; then
    github DELETE "$SCOPE/actions/runners/$RUNNER_ID" || say "runner $RUNNER_ID stays registered"
    RUNNER_ID=
    rm -f "$RUN/runner"
  fi
}
