# shellcheck shell=bash
# Compute Engine: the metadata server, and Google's APIs by REST. The access token reaches curl by a pipe.

META=http://169.254.169.254/computeMetadata/v1
# shellcheck disable=SC2034 # another part reads it
KEY_PLACE="secret $KEY of Secret Manager"

meta() { curl -sSf --max-time 5 -H 'Metadata-Flavor: Google' "$META/$1"; }

# google URL CURL-ARGUMENTS…
google() {
  local token
  token=$(meta instance/service-accounts/default/token | field access_token) || return 1
  printf 'header = "Authorization: Bearer %s"\n' "$token" | curl -sSf --max-time 20 --config - "$@"
}

secret() {
  local project
  project=$(meta project/project-id) || return 1
  google "https://secretmanager.googleapis.com/v1/projects/$project/secrets/$KEY/versions/latest:access" |
    field payload data | base64 -d
}

put_status() {
  curl -sSf --max-time 5 -X PUT -H 'Metadata-Flavor: Google' -d "$1" "$META/instance/guest-attributes/gpu-ci/runner"
}

# put_metrics NAME VALUE UNIT…
put_metrics() {
  local project id zone now series=
  project=$(meta project/project-id) && id=$(meta instance/id) && zone=$(meta instance/zone) || return 1
  now=$(date -u +%Y-%m-%dT%H:%M:%SZ)
  while [ $# -gt 0 ]; do
    series+="${series:+,}{\"metric\":{\"type\":\"custom.googleapis.com/gpu-ci/$1\"},\"metricKind\":\"GAUGE\",\"resource\":
{\"type\":\"gce_instance\",\"labels\":{\"project_id\":\"$project\",\"instance_id\":\"$id\",\"zone\":\"${zone##*/}\"}},
\"points\":[{\"interval\":{\"endTime\":\"$now\"},\"value\":{\"doubleValue\":$2}}]}"
    shift 3
  done
  google "https://monitoring.googleapis.com/v3/projects/$project/timeSeries" -H 'Content-Type: application/json' \
    -d "{\"timeSeries\":[$series]}" >/dev/null
}

spot_notice() { [ "$(meta instance/preempted)" = TRUE ]; }
