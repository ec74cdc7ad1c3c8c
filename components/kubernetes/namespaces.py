"""The namespaces of the Actions Runner Controller. Pure."""

from __future__ import annotations

from typing import Final

SYSTEMS: Final = "arc-systems"
"""The namespace of the controller and the listeners."""
RUNNERS: Final = "arc-runners"
"""The namespace of the runners."""
JOBS: Final = "arc-jobs"
"""The namespace of the pods of jobs that do not run in the pod of their runner."""
JOB_CREATOR: Final = "job-creator"
"""The service account of runners that create pods for their jobs."""
UNTRUSTED: Final = {"pod-security.kubernetes.io/enforce": "baseline", "pod-security.kubernetes.io/warn": "restricted"}
"""The labels of a namespace in which jobs run."""
