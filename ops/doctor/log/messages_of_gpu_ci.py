"""Messages of this project: hooks of runners, machines, generated workflows, and the command that starts machines."""

from __future__ import annotations

from typing import Final

from ops.doctor.log.message import message

OWN: Final = (
    message(
        "hook-driver",
        "gpu-ci: the driver does not answer on this node",
        "the hook before the job stopped it, because nvidia-smi fails on this node; the job itself is not the cause",
        "run the job again; if it happens again on the same node, delete the node",
    ),
    message(
        "hook-count",
        "gpu-ci: this job asks for",
        "the hook before the job stopped it, because the runner sees another number of GPUs than it has requested",
        "run `make doctor`; look at nvidia.com/gpu in the limits of the pod, and delete a node with a missing GPU",
    ),
    message(
        "machine-hook-driver",
        "gpu-ci: the driver does not answer on this machine",
        "the hook before the job stopped it, because nvidia-smi fails on this machine; the job itself is not the cause",
        "stop and start the machine; if it happens again, `gpu-ci check` on the machine lists every fact",
    ),
    message(
        "machine-hook-count",
        "gpu-ci: this machine has",
        "the hook before the job stopped it, because the driver shows another number of GPUs than the machine type has",
        "stop and start the machine, which moves it to other hardware; read `dmesg` for Xid errors first",
    ),
    message(
        "hook-left-process",
        "which the job left on the GPU",
        "the hook after the job ended a process that still used the GPU",
        "end all processes in the job; the next job is not affected",
    ),
    message(
        "fork-refused",
        "This machine runs no jobs of pull requests from forks.",
        "the machine refuses code from forks before the first step of the job",
        "push the branch to the repository itself, or read docs/how-to/vm.md before you state forks: true",
    ),
    message(
        "status-failed",
        "gpu-ci: status: failed:",
        "the machine takes no jobs until its next start; the text after it names the failed step",
        "fix the step, then stop and start the machine; `gpu-ci check` on the machine lists every fact",
        commands=(
            "gpu-ci check",
            "journalctl --no-pager --unit 'gpu-ci*' --lines 100",
        ),
    ),
    message(
        "no-gpu-on-jarvis",
        "nvidia-smi finds no GPU, so no runner starts",
        "the instance of Jarvis Labs was resumed without a GPU",
        "pause the instance, and run the workflow again; check that the GPU of needs.gpu is in the region",
    ),
    message(
        "queue-guard",
        "so this run is cancelled; look at the runner",
        "the guard cancelled the run, because no runner took its job in time",
        "run `make doctor`; read the log of the job that starts the machine",
    ),
    message(
        "wrong-count",
        "GPU(s), but the machine has",
        "the first step of the workflow counted other GPUs than the stack file states",
        "compare needs.gpus with the machine type, and run `make kit` again",
    ),
    message(
        "wrong-model",
        "but the machine has another one.",
        "the machine has a GPU of another model than the stack file states",
        "compare needs.gpu with the machine type, and run `make kit` again",
    ),
    message(
        "not-tested",
        "This commit was not tested on a GPU.",
        "no maintainer has added the label that starts the GPU tests to this commit",
        "review the commit, and add the label that the message names",
    ),
    message(
        "another-commit",
        "Review it, and add the label again.",
        "GitHub merged the pull request into its base after the label was added, or the branch got another commit",
        "review the new commit, and add the label again",
    ),
    message(
        "no-access-to-docker",
        "cannot access Docker; add the user to the group docker",
        "the user of the runner may not use Docker",
        "use an image of gpu-ci, or state docker: true for the machine",
    ),
    message(
        "runner-not-online",
        "but its runner is not online:",
        "the workflow started the machine, and its runner did not connect in time; the text after it is its status",
        "run `make doctor ONLY=machine`; raise start-minutes where the first boot takes longer",
        commands=("gpu-ci check",),
    ),
    message(
        "runner-cannot-start",
        "stopped before its runner was online",
        "the machine reports that its runner cannot start; the text after it names the failed step",
        "run `make doctor ONLY=machine`, and fix the step that it names",
        r"the runner of \S+ cannot start:",
    ),
    message(
        "stop-by-hand",
        "and was requested to stop; stop it by hand",
        "the machine did not stop within the time limit, and costs money",
        "stop it in the console of the cloud; the time limit max-hours stops it in any case",
    ),
    message(
        "no-such-machine",
        "; run pulumi up",
        "the cloud has no machine of this name: it was never created, or was deleted outside of this program",
        "run `pulumi up --refresh`, and write the files again with `make kit`",
    ),
    message(
        "failed-at-jarvis",
        "is in the state Failed at Jarvis Labs",
        "the instance cannot be resumed",
        "destroy it at https://jarvislabs.ai; the next run creates another one",
    ),
    message(
        "no-key-on-machine",
        "has no key that this machine can read",
        "the private key of the GitHub App was not stored, or the machine may not read it",
        "run the command `add-key` in `pulumi stack output`; `make doctor ONLY=machine-key` checks it",
        r"is not a private key$",
    ),
    message(
        "app-refused",
        "to the App:",
        "GitHub refuses the App: its key, its id or its installation is wrong",
        "check app-id and installation-id; make another key in the settings of the App, and store it",
    ),
    message(
        "machine-disk",
        "GiB of the disk are free",
        "the disk of the machine is full after its work folder was deleted",
        "raise disk of the machine, and run `pulumi up`",
    ),
)
