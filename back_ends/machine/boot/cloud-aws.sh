# shellcheck shell=bash
# EC2: instance metadata (IMDSv2), and AWS's APIs signed by curl. Credentials reach curl by a pipe, never as arguments.

META=http://169.254.169.254/latest
KEY_PLACE="SSM parameter $KEY"

meta() {
  local token
  token=$(curl -sSf --max-time 5 -X PUT -H 'X-aws-ec2-metadata-token-ttl-seconds: 60' "$META/api/token") || return 1
  printf 'header = "X-aws-ec2-metadata-token: %s"\n' "$token" | curl -sSf --max-time 5 --config - "$META/meta-data/$1"
}

# aws SERVICE CURL-ARGUMENTS…
aws() {
  local service=$1 region role
  shift
  region=$(meta placement/region) || return 1
  role=$(meta iam/security-credentials/) || return 1
  meta "iam/security-credentials/$role" | python3 -c 'import json, sys
it = json.load(sys.stdin)
print("user = \"%s:%s\"" % (it["AccessKeyId"], it["SecretAccessKey"]))
print("header = \"x-amz-security-token: %s\"" % it["Token"])' |
    curl -sSf --max-time 20 --aws-sigv4 "aws:amz:$region:$service" --config - "$@" "https://$service.$region.amazonaws.com/"
}

secret() {
  aws ssm -H 'Content-Type: application/x-amz-json-1.1' -H 'X-Amz-Target: AmazonSSM.GetParameter' \
    -d "{\"Name\":\"$KEY\",\"WithDecryption\":true}" | field Parameter Value
}

put_status() {
  local id
  id=$(meta instance-id) || return 1
  aws ec2 -d "Action=CreateTags&Version=2016-11-15&ResourceId.1=$id&Tag.1.Key=gpu-ci-runner" \
    --data-urlencode "Tag.1.Value=$1" >/dev/null
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
  aws monitoring -d "$body" >/dev/null
}

# AWS answers 404 until it needs the capacity.
spot_notice() { meta spot/instance-action >/dev/null 2>&1; }
