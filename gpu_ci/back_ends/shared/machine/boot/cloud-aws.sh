# shellcheck shell=bash
# EC2: instance metadata (IMDSv2), and AWS's APIs. Credentials reach other commands by pipes, never as arguments.

META=http://169.254.169.254/latest
# shellcheck disable=SC2034 # another part reads it
KEY_PLACE="SSM parameter $KEY"

meta() {
  local token
  token=$(curl -sSf --max-time 5 -X PUT -H 'X-aws-ec2-metadata-token-ttl-seconds: 60' "$META/api/token") || return 1
  printf 'header = "X-aws-ec2-metadata-token: %s"\n' "$token" | curl -sSf --max-time 5 --config - "$META/meta-data/$1"
}

# Reads credentials and prints curl's settings for a request with Signature Version 4. curl could sign, but that of Ubuntu
# 22.04 omits headers of AWS from the signature, and AWS requires them.
sign() {
  python3 -c 'import datetime, hashlib, hmac, json, sys
service, region, body, *more = sys.argv[1:]
it = json.load(sys.stdin)
time = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
headers = dict(one.split(": ", 1) for one in more)
headers["host"] = "%s.%s.amazonaws.com" % (service, region)
headers["x-amz-date"] = time
headers["x-amz-security-token"] = it["Token"]
names = ";".join(sorted(headers))
lines = "".join("%s:%s\n" % one for one in sorted(headers.items()))
request = "POST\n/\n\n%s\n%s\n%s" % (lines, names, hashlib.sha256(body.encode()).hexdigest())
scope = "/".join((time[:8], region, service, "aws4_request"))
text = "AWS4-HMAC-SHA256\n%s\n%s\n%s" % (time, scope, hashlib.sha256(request.encode()).hexdigest())
key = ("AWS4" + it["SecretAccessKey"]).encode()
for part in (*scope.split("/"), text):
  key = hmac.new(key, part.encode(), hashlib.sha256).digest()
credential = it["AccessKeyId"] + "/" + scope
headers["authorization"] = "AWS4-HMAC-SHA256 Credential=%s, SignedHeaders=%s, Signature=%s" % (credential, names, key.hex())
for one in headers.items():
  print("header = \"%s: %s\"" % one)' "$@"
}

# aws SERVICE BODY HEADER…
aws() {
  local region role
  region=$(meta placement/region) || return 1
  role=$(meta iam/security-credentials/) || return 1
  meta "iam/security-credentials/$role" | sign "$1" "$region" "${@:2}" |
    curl -sSf --max-time 20 --config - --data-raw "$2" "https://$1.$region.amazonaws.com/"
}

form() { aws "$@" 'content-type: application/x-www-form-urlencoded' >/dev/null; }

secret() {
  aws ssm "{\"Name\":\"$KEY\",\"WithDecryption\":true}" 'content-type: application/x-amz-json-1.1' \
    'x-amz-target: AmazonSSM.GetParameter' | field Parameter Value
}

put_status() {
  local id text
  id=$(meta instance-id) || return 1
  text=$(python3 -c 'import sys, urllib.parse; print(urllib.parse.quote(sys.argv[1]))' "$1") || return 1
  form ec2 "Action=CreateTags&Version=2016-11-15&ResourceId.1=$id&Tag.1.Key=gpu-ci-runner&Tag.1.Value=$text"
}

# put_metrics NAME VALUE UNIT…
put_metrics() {
  local id number=0 body='Action=PutMetricData&Version=2010-08-01&Namespace=gpu-ci' member
  id=$(meta instance-id) || return 1
  while [ $# -gt 0 ]; do
    number=$((number + 1))
    member="MetricData.member.$number"
    body+="&$member.MetricName=$1&$member.Value=$2&$member.Unit=$3"
    body+="&$member.Dimensions.member.1.Name=InstanceId&$member.Dimensions.member.1.Value=$id"
    shift 3
  done
  form monitoring "$body"
}

# AWS answers 404 until it needs the capacity.
spot_notice() { meta spot/instance-action >/dev/null 2>&1; }
