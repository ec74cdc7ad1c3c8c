"""Messages of GitHub's runner, of clouds and of registries."""

from __future__ import annotations

from typing import Final

from ops.doctor.log.message import message

RUNNER: Final = (
    message(
        "lost-communication",
        "The self-hosted runner lost communication with the server",
        "the machine or the pod of the runner ended during the job",
        "read the entry in the runbook: spot interruptions, memory, the time limit and a full disk are the causes",
        r"The runner has received a shutdown signal",
    ),
    message(
        "waiting-for-runner",
        "Waiting for a runner to pick up this job",
        "no online runner has all labels of the job",
        "run `make doctor`: it follows the job from its labels to the machine",
        r"No runner matching the specified labels was found",
        r"no runner matching labels",
    ),
    message(
        "runner-refused",
        "cannot receive messages",
        "GitHub refuses the version of the runner: it is older than 2.329.0, or more than 30 days behind the newest",
        "build the runner image again, or state a newer runner-version",
        r"Runner version .{0,40} is deprecated",
        r"runner-version-deprecated",
        commands=(
            "systemctl status gpu-ci.service gpu-ci-job.service",
            "journalctl --no-pager --unit gpu-ci-job --lines 50",
        ),
    ),
    message(
        "registration-refused",
        "Http response code: NotFound from 'POST https://api.github.com/actions/runner-registration'",
        "the registration token is expired, or for another repository or organisation",
        "check github.url, app-id and installation-id; a registration token is valid for one hour",
        r"Response status code does not indicate success: 404 .{0,120}runner-registration",
    ),
    message(
        "exec-format",
        "exec format error",
        "the image or the program is for another processor architecture than the machine",
        "build the image for linux/amd64; every machine type that gpu-ci knows has x86-64 processors",
    ),
    message(
        "image-pull-back-off",
        "ImagePullBackOff",
        "the image cannot be pulled: its name or digest does not exist, or the node may not read the registry",
        "run `make doctor`: it looks for the image in the registry; then run `kubectl describe pod` for the reason",
        r"ErrImagePull",
        r"manifest (for .{0,200} not found|unknown)",
        r"pull access denied",
    ),
    message(
        "registry-denied",
        "no basic auth credentials",
        "the registry needs a login, and the machine or the job has none",
        "log in with the command in `pulumi stack output`; for pods, give the node's role access to the registry",
        r"artifactregistry\.repositories\.downloadArtifacts",
        r"(authorization|authentication) token has expired",
        r"unauthorized: authentication required",
    ),
    message(
        "disk-full",
        "No space left on device",
        "the disk of the machine is full, often from a container image",
        "raise disk of the runner or disk.size of its pool; keep caches out of the image",
        r"DiskPressure",
        r"OSError: \[Errno 28\]",
        commands=("df -h / /var/lib/docker 2>/dev/null; docker system df 2>/dev/null",),
    ),
    message(
        "shared-memory",
        "insufficient shared memory (shm)",
        "a worker of a data loader needs more than the 64 MiB of /dev/shm that a container has by default",
        "raise needs.memory, because /dev/shm of a runner counts as memory; start containers with --shm-size",
        r"DataLoader worker .{0,80}Bus error",
    ),
    message(
        "out-of-memory",
        "OOMKilled",
        "the pod used more memory than its limit; /dev/shm counts, too",
        "raise needs.memory, or run fewer tests in parallel",
        r"\bexit(ed)? (with )?(code )?137\b",
        r"Out of memory: Killed process",
    ),
)

CLOUD: Final = (
    message(
        "no-nodes",
        "0/2 nodes are available",
        "the cluster has no node for the pod yet; with pools from zero this is normal until a job starts one",
        "wait for TriggeredScaleUp in the events of the pod; if it does not come, run `make doctor`",
        r"0/\d+ nodes are available",
        r"no nodes available to schedule pods",
        r"No resources found",
        commands=(
            "kubectl get nodes --label-columns gpu-ci/pool",
            "kubectl --namespace arc-runners describe pod NAME",
        ),
    ),
    message(
        "plugin-directory",
        "/var/lib/kubelet/device-plugins",
        "the device plugin cannot register at the kubelet: the folder is not mounted, or a policy forbids host paths",
        "allow host paths for the namespace kube-system; compare the DaemonSet with that of `make plan`",
        r"could not (start|register) device plugin",
        r"failed to (dial|connect).{0,60}kubelet\.sock",
        commands=(
            "kubectl --namespace kube-system describe daemonset --selector app.kubernetes.io/name=nvidia-device-plugin",
            "kubectl --namespace kube-system get events --sort-by .lastTimestamp | tail -n 20",
        ),
    ),
    message(
        "no-capacity-aws",
        "InsufficientInstanceCapacity",
        "AWS has no free machine of this type in this zone",
        "add instance types or zones to the pool, or allow on-demand capacity",
        r"UnfulfillableCapacity",
        r"SpotMaxPriceTooLow",
    ),
    message(
        "quota-aws",
        "VcpuLimitExceeded",
        "the quota for vCPUs of this family in this region is too low",
        "request more; `make plan` shows the quota, and `make doctor` its value in the account",
        r"MaxSpotInstanceCountExceeded",
    ),
    message(
        "no-capacity-gcp",
        "ZONE_RESOURCE_POOL_EXHAUSTED",
        "Google Cloud has no free machine of this type or no free GPU in this zone",
        "add zones in other regions to the runner, or wait; GitHub only shows that no runner matches",
        r"does not have enough resources available to fulfill the request",
        r"STOCKOUT",
        commands=("gcloud compute operations list --filter='operationType=insert' --limit 20",),
    ),
    message(
        "quota-gcp",
        "Quota 'GPUS_ALL_REGIONS' exceeded",
        "the quota for GPUs of all regions of the project is too low; in a new project it is 0",
        "request more; `make plan` shows the command, and `make doctor` the value in the project",
        r"Quota '?\w*(GPUS|CPUS)\w*'? exceeded",
        r"QUOTA_EXCEEDED",
    ),
    message(
        "oidc-refused",
        "Not authorized to perform sts:AssumeRoleWithWebIdentity",
        "the role does not trust this job: the repository, the branch or the environment differs",
        "check the repository ids in the stack file; a pull request of a fork never gets a role",
        r"Unable to acquire impersonated credentials",
        r"The given credential is rejected by the attribute condition",
    ),
)
