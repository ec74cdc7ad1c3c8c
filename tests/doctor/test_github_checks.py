"""Tests of the checks of GitHub, on recorded answers of healthy and broken organisations and repositories."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import pytest

from ops.doctor.chain.github import github_app, github_token
from ops.doctor.chain.jobs import STATES, gpu_jobs, job_log, queued_jobs
from ops.doctor.chain.repositories import kit_files, repository_settings
from ops.doctor.chain.runners import RELEASES, runner_group, runner_release
from ops.doctor.world.redaction import redacted
from ops.doctor.world.source import Unanswered
from ops.doctor.world.world import World
from ops.kit import stack as kit
from tests.doctor.worlds import Question, asked, lines, silent, world

pytestmark = pytest.mark.pure

ARC: Final = "tests/stacks/production.yaml"
"""Runners in the organisation `example-org`, in the group of `arc`."""
VM: Final = "examples/vm-aws.yaml"
START_STOP: Final = "examples/start-stop.yaml"
REPOSITORY: Final = "example-org/vision"


def github(path: str, answer: Any, **arguments: Any) -> dict[Question, Any]:
    """Return one answer of GitHub."""
    return {asked("github", path, **arguments): answer}


def of(file: str, *answers: Mapping[Question, Any], repository: str = "") -> World:
    """Return a world with these answers."""
    joined = {question: answer for one in answers for question, answer in one.items()}
    return replace(world(file, joined), repository=repository)


LIMITS: Final = github("/rate_limit", {"resources": {"core": {"limit": 5000, "remaining": 4990}}})


def readable(file: str, **refused: Any) -> dict[Question, Any]:
    """Return answers to everything that the token must read, except for the refused parts."""
    place = "/orgs/example-org" if file == ARC else f"/repos/{REPOSITORY}"
    parts: dict[str, Any] = {f"{place}/actions/runners": {}, f"{place}/actions/runner-groups": {}}
    parts |= {f"/repos/{REPOSITORY}/{path}": {} for path in ("actions/runs", "actions/variables", "environments")}
    parts[f"/repos/{REPOSITORY}/actions/secrets"] = {}
    found: dict[Question, Any] = {}
    for path, answer in parts.items():
        name = path.rpartition("/")[2].replace("-", "_")
        reason = refused.get(name, answer)
        found[asked("github", path)] = silent(path, reason) if isinstance(reason, str) else reason
    return found


def test_a_token_that_may_read_everything_works() -> None:
    found = of(VM, LIMITS, readable(VM))

    assert lines(list(github_token.check(found))) == [
        "ok | GITHUB_TOKEN | GitHub accepts the token; 4990 requests are left this hour"
    ]


def test_without_a_token_no_request_is_sent() -> None:
    anonymous = of(VM, github("/rate_limit", {"resources": {"core": {"limit": 60, "remaining": 60}}}))

    with pytest.raises(Unanswered) as refused:
        list(github_token.check(anonymous))

    assert (refused.value.reason, refused.value.fix) == (
        "there is no token of GitHub in the environment",
        "set GITHUB_TOKEN, for example to the output of `gh auth token`",
    )


def test_each_missing_permission_of_a_token_is_named() -> None:
    found = of(VM, LIMITS, readable(VM, runners="GitHub answered 403", secrets=None))

    assert lines(list(github_token.check(found))) == [
        (
            "warning | GITHUB_TOKEN | the token cannot read the runners of example-org/vision: GitHub answered 403 | checks "
            "that need them have no answer; GitHub answers 404 where a permission is missing, too | give the token the "
            "repository permission: administration, read; for a classic token, the scopes repo and admin:org"
        ),
        (
            "warning | GITHUB_TOKEN | the token cannot read the names of secrets of example-org/vision: 404 | checks "
            "that need them have no answer; GitHub answers 404 where a permission is missing, too | give the token the "
            "repository permission: secrets, read; for a classic token, the scopes repo and admin:org"
        ),
    ]


def installed(**differences: Any) -> dict[Question, Any]:
    """Return the installation of the App of the stack file, with differences."""
    stated = world(ARC, {}).settings.github
    assert stated is not None
    one = {
        "id": stated.installation_id,
        "app_id": stated.app_id,
        "app_slug": "gpu-runners",
        "suspended_at": None,
        "permissions": {"organization_self_hosted_runners": "write"},
    }
    return github("/orgs/example-org/installations", {"installations": [{**one, **differences}]})


def test_an_installed_app_with_its_permission_works() -> None:
    assert lines(list(github_app.check(of(ARC, installed())))) == [
        "ok | github.installation-id | the App gpu-runners is installed and may register runners"
    ]


@pytest.mark.parametrize(
    ("differences", "line"),
    [
        (
            {"suspended_at": "2026-11-01T00:00:00Z"},
            (
                "error | github.installation-id | the installation is suspended since 2026-11-01T00:00:00Z | GitHub refuses "
                "every request of a suspended App | unsuspend it in the settings of the organisation, GitHub Apps"
            ),
        ),
        (
            {"permissions": {"organization_self_hosted_runners": "read"}},
            (
                "error | github.installation-id | the permission for self-hosted runners of the organisation is read | the "
                "App cannot register runners or scale sets | give the App the organisation permission: self-hosted "
                "runners, read and write; accept it as an owner"
            ),
        ),
        (
            {"app_id": 7},
            (
                "error | github.app-id | installation {installation} is of the App 7, and the stack file states {app} | "
                "GitHub refuses the key: it is of another App | state app-id: 7, and set the key of that App"
            ),
        ),
        (
            {"id": 7},
            (
                "error | github.installation-id | example-org has no installation {installation} | no runner can register: "
                "the App was never installed here, or was removed | state installation-id: 7"
            ),
        ),
    ],
)
def test_a_fault_of_the_installation_is_found(differences: dict[str, Any], line: str) -> None:
    found = of(ARC, installed(**differences))
    stated = found.settings.github
    assert stated is not None

    assert lines(list(github_app.check(found))) == [line.format(installation=stated.installation_id, app=stated.app_id)]


def group(**differences: Any) -> dict[Question, Any]:
    """Return the runner groups of the organisation: one, as the stack file names it."""
    arc = world(ARC, {}).settings.arc
    assert arc is not None
    one = {"id": 3, "name": arc.runner_group, "visibility": "all", "allows_public_repositories": False}
    return github("/orgs/example-org/actions/runner-groups", {"runner_groups": [{**one, **differences}]})


PRIVATE: Final = github(f"/repos/{REPOSITORY}", {"private": True})
PUBLIC: Final = github(f"/repos/{REPOSITORY}", {"private": False})
SELECTED: Final = "/orgs/example-org/actions/runner-groups/3/repositories"


def in_group(*answers: Mapping[Question, Any]) -> list[str]:
    """Return the findings on the group."""
    found = of(ARC, *answers, repository=REPOSITORY)
    arc = found.settings.arc
    assert arc is not None
    return [line.replace(arc.runner_group, "GROUP") for line in lines(list(runner_group.check(found)))]


def test_a_group_that_serves_the_repository_works() -> None:
    assert in_group(group(), PRIVATE) == ['ok | arc.runner-group | the group "GROUP" serves the repositories']


def test_a_group_that_does_not_exist_is_found() -> None:
    (line,) = in_group(group(name="others"))

    assert line.startswith('error | arc.runner-group | example-org has no runner group "GROUP"')


def test_a_group_without_the_repository_is_found() -> None:
    others = github(SELECTED, {"repositories": [{"full_name": "example-org/other"}]})

    assert in_group(group(visibility="selected"), others) == [
        (
            'error | arc.runner-group | the runner group "GROUP" does not include example-org/vision | its jobs wait forever: '
            "GitHub does not offer them to runners of this group | add the repository in the settings of the organisation, "
            "Actions, Runner groups"
        )
    ]


def test_a_public_repository_needs_a_group_that_allows_it() -> None:
    assert in_group(group(), PUBLIC) == [
        (
            'error | arc.runner-group | example-org/vision is public, and the runner group "GROUP" refuses public '
            "repositories | its jobs wait forever | allow public repositories for the group; read "
            "docs/explanation/checks/untrusted-jobs.md before"
        )
    ]


def test_a_group_for_some_workflows_is_a_warning() -> None:
    limited = group(restricted_to_workflows=True, selected_workflows=["example-org/ci/.github/workflows/a.yml@main"])

    (line,) = in_group(limited, PRIVATE)

    assert line.startswith(
        'warning | arc.runner-group | the group "GROUP" serves only example-org/ci/.github/workflows/a'
    )


def release(version: str, day: str) -> dict[str, Any]:
    """Return a release of the runner."""
    return {"tag_name": f"v{version}", "published_at": f"{day}T12:00:00Z", "prerelease": False}


@pytest.mark.parametrize(
    ("releases", "line"),
    [
        ([], "ok | images.runner-gpu.runner | the runner 2.337.0 is the newest release"),
        (
            [release("2.338.0", "2026-11-10")],
            "ok | images.runner-gpu.runner | the runner 2.337.0 gets jobs until 2026-12-10",
        ),
        (
            [release("2.339.0", "2026-11-18"), release("2.338.0", "2026-10-25")],
            (
                "warning | images.runner-gpu.runner | the image has the runner 2.337.0; 2.338.0 appeared on 2026-10-25 | from "
                "2026-11-24, GitHub gives no jobs to 2.337.0 | build the image again, put its digest and its runner version "
                "into images, and run `pulumi up`"
            ),
        ),
        (
            [release("2.338.0", "2026-10-01")],
            (
                "error | images.runner-gpu.runner | the image has the runner 2.337.0; 2.338.0 appeared on 2026-10-01 | since "
                "2026-10-31, GitHub gives no jobs to 2.337.0 | build the image again, put its digest and its runner version "
                "into images, and run `pulumi up`"
            ),
        ),
    ],
)
def test_a_release_gets_jobs_until_thirty_days_after_the_next_one(releases: list[dict[str, Any]], line: str) -> None:
    found = of(ARC, github(RELEASES, [*releases, release("2.337.0", "2026-09-01")]))
    image = next(name for name, one in found.settings.images.items() if one.runner is not None)

    assert [one.replace(image, "runner-gpu") for one in lines(list(runner_release.check(found)))] == [line]


def queue(*jobs: dict[str, Any], state: str = "queued") -> list[dict[Question, Any]]:
    """Return one run with these jobs."""
    path = f"/repos/{REPOSITORY}/actions/runs"
    runs = [github(path, {"workflow_runs": [{"id": 9}] if one == state else []}, status=one) for one in STATES]
    return [*runs, github(f"{path}/9/jobs", {"jobs": list(jobs)}, filter="latest")]


def job(labels: list[str], minutes: int, **differences: Any) -> dict[str, Any]:
    """Return a job that waits for some minutes."""
    created = f"2026-11-20T{11 - minutes // 60 if minutes % 60 else 12 - minutes // 60:02}:{-minutes % 60:02}:00Z"
    one = {"name": "Test", "status": "queued", "labels": labels, "created_at": created, "runner_id": 0}
    return {**one, "html_url": "https://github.com/job/1", **differences}


def test_a_job_that_nothing_serves_is_found_in_a_run_of_any_state() -> None:
    found = of(VM, *queue(job(["self-hosted", "linux", "gpu-tpu"], 90), state="in_progress"))

    (line,) = lines(list(queued_jobs.check(found)))

    assert line.startswith(
        'error | example-org/vision | "Test" (https://github.com/job/1) waits for 90 minutes with runs-on self-hosted, '
        "linux, gpu-tpu | "
    )
    assert line.endswith("; then cancel the run")


def test_a_served_job_that_waits_too_long_is_a_warning() -> None:
    found = of(VM, *queue(job(["self-hosted", "gpu-vm"], 45)))

    assert lines(list(queued_jobs.check(found))) == [
        (
            'warning | example-org/vision | "Test" (https://github.com/job/1) waits for 45 minutes with runs-on self-hosted, '
            "gpu-vm | a runner of this stack serves it, and should have started within 20 minutes | read the other results: "
            "the first broken link keeps the runner from starting"
        )
    ]


@pytest.mark.parametrize(
    "one",
    [
        job(["self-hosted", "gpu-vm"], 5),
        job(["ubuntu-24.04"], 50),
        job(["gpu-vm"], 90, status="in_progress"),
        job(["gpu-vm"], 90, runner_id=3),
    ],
)
def test_a_job_that_runs_or_starts_soon_is_not_a_problem(one: dict[str, Any]) -> None:
    (line,) = lines(list(queued_jobs.check(of(VM, *queue(one)))))

    assert line.startswith("ok | example-org/vision | ")


SIGN_IN: Final = ({"name": "GPU_CI_WORKLOAD_IDENTITY_PROVIDER", "value": "projects/1/locations/global"},)


def settings_of(**differences: Any) -> dict[Question, Any]:
    """Return a repository with everything that the workflows of `start-stop.yaml` refer to."""
    known: dict[str, Any] = {
        "actions/organization-variables": {"variables": []},
        "actions/variables": {"variables": [*SIGN_IN, {"name": "ENABLE_GPU_SMOKE", "value": "true"}]},
        "environments/gpu-ci": {"name": "gpu-ci"},
    }
    known |= {key.replace("__", "/").replace("_", "-"): value for key, value in differences.items()}
    answers = {
        question: one
        for path, answer in known.items()
        for question, one in github(f"/repos/{REPOSITORY}/{path}", answer).items()
    }
    role: Any = {"Role": {}} if "role" not in differences else None
    return {**answers, asked("aws", "iam.get_role", RoleName="gpu-ci-start-stop-start-gpu-t4"): role}


def test_a_repository_with_its_settings_works() -> None:
    assert lines(list(repository_settings.check(of(START_STOP, settings_of())))) == [
        "ok | example-org/vision | the repository has every variable, secret and environment that it needs"
    ]


@pytest.mark.parametrize(
    ("differences", "line"),
    [
        (
            {"actions__variables": {"variables": [*SIGN_IN, {"name": "ENABLE_GPU_SMOKE", "value": "false"}]}},
            (
                "warning | example-org/vision: ENABLE_GPU_SMOKE | the variable ENABLE_GPU_SMOKE is false | GPU jobs are skipped "
                'until it is "true"; a skipped job counts as passed | gh variable set ENABLE_GPU_SMOKE --repo '
                "example-org/vision --body true"
            ),
        ),
        (
            {"actions__variables": {"variables": [{"name": "ENABLE_GPU_SMOKE", "value": "true"}]}},
            (
                "error | example-org/vision: GPU_CI_WORKLOAD_IDENTITY_PROVIDER | the repository has no variable "
                "GPU_CI_WORKLOAD_IDENTITY_PROVIDER | the generated workflow gets an empty text in its place, and fails | gh "
                "variable set GPU_CI_WORKLOAD_IDENTITY_PROVIDER --repo example-org/vision --body VALUE"
            ),
        ),
        (
            {"environments__gpu_ci": None},
            (
                "error | example-org/vision: gpu-ci | the repository has no environment gpu-ci | the role of the machine trusts "
                "jobs of this environment only, and its secrets are in it | gh api --method PUT "
                "repos/example-org/vision/environments/gpu-ci"
            ),
        ),
        (
            {"role": None},
            (
                "error | gpu-ci-start-stop-start-gpu-t4 | the account has no role gpu-ci-start-stop-start-gpu-t4 | the workflow "
                "cannot sign in to AWS, so it cannot start the machine | run `pulumi up`, and write the files again with "
                "`make kit`"
            ),
        ),
    ],
)
def test_a_missing_setting_of_a_repository_is_found(differences: dict[str, Any], line: str) -> None:
    assert lines(list(repository_settings.check(of(START_STOP, settings_of(**differences))))) == [line]


def test_a_missing_secret_of_the_environment_is_found() -> None:
    known = {
        "actions/organization-secrets": {"secrets": []},
        "actions/secrets": {"secrets": [{"name": "GPU_APP_PRIVATE_KEY"}]},
        "environments/gpu-ci": {},
        "environments/gpu-ci/secrets": {"secrets": []},
        "actions/variables": {"variables": []},
        "actions/organization-variables": {"variables": []},
    }
    answers = [github(f"/repos/{REPOSITORY}/{path}", answer) for path, answer in known.items()]

    assert lines(list(repository_settings.check(of("examples/jarvis.yaml", *answers)))) == [
        (
            "error | example-org/vision: TOKEN_JARVIS | neither the repository nor its environments have a secret TOKEN_JARVIS "
            "| the generated workflow gets an empty text in its place, and fails | gh secret set TOKEN_JARVIS --repo "
            "example-org/vision --env gpu-ci"
        )
    ]


def test_the_switch_of_a_machine_that_waits_for_jobs_is_read_from_the_organisation() -> None:
    known = {
        "actions/organization-variables": {"variables": [{"name": "ENABLE_GPU_SMOKE", "value": "true"}]},
        "actions/variables": {"variables": []},
    }
    answers = [github(f"/repos/{REPOSITORY}/{path}", answer) for path, answer in known.items()]

    assert [one.level for one in repository_settings.check(of(VM, *answers))] == ["ok"]


def committed(file: str, **differences: str | None) -> list[dict[Question, Any]]:
    """Return a repository with the files of the kit, some of them different by a part of their path."""
    stack = world(file, {})
    found = []
    for path, text in kit.files(stack.settings, stack.stack.identity, repository="vision").items():
        changed = next((new for part, new in differences.items() if part in path), text)
        encoded = base64.encodebytes((changed or "").encode()).decode()
        answer = {"encoding": "base64", "content": encoded} if changed is not None else None
        # The recorder removes secrets from each answer.
        found.append(github(f"/repos/{REPOSITORY}/contents/{path}", redacted(answer)))
    return [*found, PRIVATE]


def test_a_repository_with_the_files_of_the_kit_works() -> None:
    (line,) = lines(list(kit_files.check(of(START_STOP, *committed(START_STOP)))))

    assert line.startswith("ok | example-org/vision | the default branch has all ")


@pytest.mark.parametrize(
    ("differences", "line"),
    [
        (
            {"sweep": None},
            (
                "error | example-org/vision: .github/workflows/gpu-sweep.yml | the default branch has no "
                ".github/workflows/gpu-sweep.yml | no workflow of this kit runs in the repository; cirun reads its file from the "
                "default branch only | run `make kit OUT=../vision REPO=vision`, and commit the file to the default branch"
            ),
        ),
        (
            {"sweep": "# Generated by gpu-ci. Old.\n"},
            (
                "warning | example-org/vision: .github/workflows/gpu-sweep.yml | .github/workflows/gpu-sweep.yml is not what `make "
                "kit` writes today | the stack file or this program changed since; labels, images or limits may differ | run "
                "`make kit OUT=../vision REPO=vision`, and commit the difference"
            ),
        ),
        (
            {"sweep": "name: mine\n"},
            (
                "warning | example-org/vision: .github/workflows/gpu-sweep.yml | .github/workflows/gpu-sweep.yml was not generated "
                "by gpu-ci | gpu-ci does not know what it does; `make workflows` checks its labels | run `make kit OUT=../vision "
                "REPO=vision` into an empty folder, and compare"
            ),
        ),
    ],
)
def test_a_file_that_is_missing_or_different_is_found(differences: dict[str, Any], line: str) -> None:
    assert lines(list(kit_files.check(of(START_STOP, *committed(START_STOP, **differences))))) == [line]


def test_a_repository_that_is_not_visible_is_found() -> None:
    (line,) = lines(list(kit_files.check(of(VM, github(f"/repos/{REPOSITORY}", None)))))

    assert line.startswith("error | example-org/vision | GitHub does not show the repository example-org/vision | ")


NO_LOG: Final = {asked("log", "read"): None}


def failed(log: str, labels: list[str]) -> list[dict[Question, Any]]:
    """Return a failed run with one job, and its log."""
    path = f"/repos/{REPOSITORY}/actions"
    one = {"id": 5, "name": "Test", "conclusion": "failure", "labels": labels, "html_url": "https://github.com/job/5"}
    return [
        NO_LOG,
        github(f"{path}/runs", {"workflow_runs": [{"id": 9}]}, status="failure", created=">=2026-11-18"),
        github(f"{path}/runs/9/jobs", {"jobs": [one]}, filter="latest"),
        github(f"{path}/jobs/5/logs", log),
    ]


def test_a_known_message_in_the_log_of_a_failed_gpu_job_is_explained() -> None:
    found = of(
        VM, *failed("2026-11-20T10:00:00.1Z start\n2026-11-20T10:00:01.1Z E CUDA out of memory. Tried\n", ["gpu-vm"])
    )

    (line,) = lines(list(job_log.check(found)))

    assert line == (
        'warning | example-org/vision: Test (https://github.com/job/5) | line 2: "E CUDA out of memory. Tried" | the job needs '
        "more memory than the GPU has, or another process on the GPU uses it | lower the batch size or the number of "
        "parallel tests; if nvidia-smi shows another process, end it; otherwise state a GPU with more memory in needs.gpu "
        "(docs/runbook.md#out-of-gpu-memory)"
    )


def test_a_failed_job_on_a_machine_of_github_is_not_read() -> None:
    assert lines(list(job_log.check(of(VM, *failed("CUDA out of memory", ["ubuntu-24.04"]))))) == [
        "ok | example-org/vision | no GPU job failed in the last 2 days"
    ]


def test_a_given_log_is_read_instead() -> None:
    given = {asked("log", "read"): {"name": "job.log", "text": "exec format error\n" * 2}}

    (line,) = lines(list(job_log.check(of(VM, given))))

    assert line.startswith('error | job.log | line 1, 2 times: "exec format error" | ')


def test_a_log_without_a_known_message_is_a_warning() -> None:
    given = {asked("log", "read"): {"name": "job.log", "text": "AssertionError"}}

    assert [one.level for one in job_log.check(of(VM, given))] == ["warning"]


def passed(log: str, labels: tuple[str, ...] = ("gpu-vm",)) -> list[str]:
    """Return the findings on the last job that passed, with this log."""
    path = f"/repos/{REPOSITORY}/actions"
    one = {"id": 5, "name": "Test", "conclusion": "success", "labels": labels, "html_url": "https://github.com/job/5"}
    answers = [
        github(f"{path}/runs", {"workflow_runs": [{"id": 9}]}, status="success", created=">=2026-11-06"),
        github(f"{path}/runs/9/jobs", {"jobs": [one]}, filter="latest"),
        github(f"{path}/jobs/5/logs", log),
    ]
    return lines(list(gpu_jobs.check(of(VM, *answers))))


JOB: Final = "example-org/vision: Test (https://github.com/job/5)"


@pytest.mark.parametrize(
    ("log", "line"),
    [
        (
            "2026-11-20T10:00:00.1Z gpu-ci: Tesla T4, 580.95.05, 15360 MiB\n2026-11-20T10:00:01.1Z ok      the session runs on CUDA\n",
            f"ok | {JOB} | the last job that passed saw 1 Tesla T4, driver 580.95.05, 15360 MiB; ONNX Runtime runs on CUDA",
        ),
        (
            "2026-11-20T10:00:00.1Z NVIDIA L4, 580.95.05, 23034 MiB\n2026-11-20T10:00:00.1Z NVIDIA L4, 580.95.05, 23034 MiB\n",
            f"ok | {JOB} | the last job that passed saw 2 NVIDIA L4, driver 580.95.05, 23034 MiB",
        ),
        (
            "12 skipped",
            (
                f"warning | {JOB} | the job passed, and its log shows no GPU | tests that skip without CUDA pass on the CPU, too | "
                "add the step `nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader` to the job"
            ),
        ),
    ],
)
def test_the_gpu_of_the_last_job_that_passed_is_shown(log: str, line: str) -> None:
    assert passed(log) == [line]


def test_a_job_that_passed_on_the_cpu_is_a_warning() -> None:
    (line,) = passed("NVIDIA L4, 580.95.05, 23034 MiB\nFailed to create CUDAExecutionProvider. Require cuDNN 9.*\n")

    assert line.startswith(
        f'warning | {JOB} | the job passed, and its log has in line 2: "Failed to create CUDAExecutionProvider. Require cuDNN '
        '9.*" | ONNX Runtime cannot load CUDA or cuDNN, and continues on the CPU; '
    )


def test_without_a_gpu_job_nothing_shows_that_the_runners_work() -> None:
    (line,) = passed("", labels=("ubuntu-24.04",))

    assert line.startswith("warning | example-org/vision | no GPU job passed in the last 14 days | ")


def test_without_a_repository_the_option_is_named() -> None:
    assert lines(list(kit_files.check(of("examples/cirun-gcp.yaml")))) == [
        "ok | repositories | the stack file names no repository; REPO=OWNER/NAME checks one"
    ]
