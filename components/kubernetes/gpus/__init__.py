"""GPUs in the cluster: the device plugin, metrics and the smoke test."""
