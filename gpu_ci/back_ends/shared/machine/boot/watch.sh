# shellcheck shell=bash
# Runs each minute: publishes metrics and a status that could not be published, and stops an idle machine. Time is that since the start, which no change of the
# clock moves.

# Prints nothing without a GPU. Lines of a warning are no numbers.
gpu_use() { nvidia-smi --query-gpu=utilization.gpu --format=csv,noheader,nounits | sed -n '/^[0-9]*$/p' | sort -n | tail -n 1 || true; }

watch() {
  local now used online=0 busy=0 use
  now=$(seconds_up)
  if [ -e "$RUN/wanted" ]; then
    status "$(cat "$RUN/wanted")"
  fi
  case $(published) in online | busy) online=1 ;; esac
  if busy; then
    busy=1
  fi
  use=$(gpu_use)
  put_metrics RunnerOnline "$online" Count RunnerBusy "$busy" Count GpuUtilization "${use:-0}" Percent ||
    say 'the metrics cannot be published'
  # The first installation may take longer than an idle machine may run.
  if [ "$busy" = 1 ] || [ ! -e "$RUN/used" ] || [ "$(systemctl is-active gpu-ci-setup.service)" = activating ]; then
    printf '%s' "$now" >"$RUN/used"
  fi
  used=$(cat "$RUN/used")
  if [ "$IDLE_MINUTES" != 0 ] && [ $((now - used)) -ge $((IDLE_MINUTES * 60)) ]; then
    power_off "no job for $IDLE_MINUTES minutes"
  fi
}
