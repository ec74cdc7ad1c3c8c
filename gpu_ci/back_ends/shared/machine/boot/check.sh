# shellcheck shell=bash
# `gpu-ci check`: one line for each fact that a working machine needs. The exit code is 1 if one is missing.
# `gpu-ci check onnx` also installs ONNX Runtime, about 2 GB, for a moment.

BAD=0

fact() {
  local text=$1
  shift
  if "$@" >/dev/null 2>&1; then
    printf 'ok      %s\n' "$text"
  else
    printf 'FAILED  %s\n' "$text"
    BAD=1
  fi
}

not() { ! "$@"; }

in_groups() {
  local groups
  groups=" $(id -nG runner) "
  [[ $groups == *' video '* && $groups == *' render '* ]]
}

# Succeeds if GitHub shows the runner online, with all labels.
online_at_github() {
  # shellcheck disable=SC2034 # another part reads it
  TRIES=1
  github GET "$SCOPE/actions/runners?per_page=100" &&
    printf '%s' "$ANSWER" | python3 -c 'import json, sys
name, labels = sys.argv[1], sys.argv[2].translate({ord(c): None for c in "[]\""}).lower().split(",")
for r in json.load(sys.stdin)["runners"]:
  if r["status"] == "online" and r["name"].startswith(name):
    found = json.dumps(r["labels"]).lower()
    sys.exit(not all(json.dumps(label) in found for label in labels))
sys.exit(1)' "$NAME" "$LABELS"
}

driver_version() { nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader | sed -n '1s/.*, \(.*\), .* MiB$/\1/p' || true; }

driver_supports_cuda() {
  local found
  found=$(driver_version)
  [ "$found" ] && [ "$(printf '%s\n' "$LEAST_DRIVER" "$found" | sort -V | sed -n 1p)" = "$LEAST_DRIVER" ]
}

# Multiplies two matrices as the user runner. The model is that of check_ort_cuda.py.
onnx_on_cuda() {
  local place
  place=$(as_runner mktemp -d)
  as_runner python3 -m venv "$place" &&
    as_runner "$place/bin/pip" install --quiet 'onnxruntime-gpu[cuda,cudnn]' &&
    as_runner "$place/bin/python" -c 'import sys
import numpy, onnxruntime
onnxruntime.preload_dlls()
model = bytes.fromhex("08083a440a110a01780a017812017922064d61744d756c1205636865636b5a130a0178120e0a0c080112080a0208020a02080262130a0179120e0a0c080112080a0208020a02080242040a00100d")
session = onnxruntime.InferenceSession(model, providers=["CUDAExecutionProvider"])
session.run(None, {"x": numpy.ones((2, 2), dtype=numpy.float32)})
sys.exit(session.get_providers()[0] != "CUDAExecutionProvider")'
  local code=$?
  rm -rf "$place"
  return "$code"
}

check() {
  fact 'gpu-ci-setup.service has prepared the machine' systemctl is-active gpu-ci-setup.service
  fact 'gpu-ci.service registers the runner (journalctl -u gpu-ci)' systemctl is-active gpu-ci.service
  fact 'gpu-ci-job.service is the runner (journalctl -u gpu-ci-job)' systemctl is-active gpu-ci-job.service
  fact 'gpu-ci-watch.timer stops an idle machine' systemctl is-active gpu-ci-watch.timer
  fact 'gpu-ci-limit.timer stops the machine in any case' systemctl is-active gpu-ci-limit.timer
  fact "the user runner sees $GPUS GPUs" test "$(gpus_of_runner)" = "$GPUS"
  [ -z "$CUDA" ] || fact "driver $(driver_version) supports CUDA $CUDA, which needs $LEAST_DRIVER" driver_supports_cuda
  fact 'the user runner is in the groups video and render' in_groups
  fact 'the user runner has no sudo' not as_runner sudo -n true
  fact 'the user runner cannot reach the metadata server' not metadata_of_runner
  fact "$LEAST_FREE GiB of the disk are free" test "$(free_gib)" -ge "$LEAST_FREE"
  fact "GitHub shows the runner $NAME online with its labels" online_at_github
  [ "${1:-}" != onnx ] || fact 'ONNX Runtime runs on CUDA' onnx_on_cuda
  return "$BAD"
}
