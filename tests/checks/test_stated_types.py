"""Verdicts that depend on stated machine types say so, and every check uses the stated facts."""

from __future__ import annotations

from typing import Any, Final

import pytest

from gpu_ci.checks import verdicts
from gpu_ci.knowledge.verdict import Level, Verdict
from tests.checks.stacks import stack
from tests.stack_file.test_stated_machines import G8E, IN_USE

pytestmark = pytest.mark.pure

MARK: Final = "(g8e.2xlarge as stated)"
FACTS: Final = "instance-types.g8e.2xlarge states 8 vCPUs, 64Gi, 1 x l40s, no price"


def found(facts: dict[str, Any] | None = None, changes: dict[str, Any] | None = None) -> list[Verdict]:
    types = {"instance-types": {"g8e.2xlarge": {**G8E, **(facts or {})}}}
    return verdicts(stack({**IN_USE, **types, **(changes or {})}))


def of(check: str, subject: str, **options: Any) -> list[Verdict]:
    return [one for one in found(**options) if one.check == check and one.subject == subject]


def test_every_verdict_on_its_users_is_marked_and_lists_the_facts() -> None:
    every = [one for one in found() if one.subject.startswith(("gpu-pools.t4-spot", "runners.gpu-t4."))]
    every += [one for one in found() if one.subject == "runners.gpu-t4" and one.check != "runner-version"]

    assert {one.check for one in every} >= {"counts", "fit", "floor", "compatibility", "scale-from-zero", "quota"}
    assert [one for one in every if not one.reason.endswith(MARK) or one.chain[-1] != FACTS] == []


def test_a_verdict_on_another_part_is_not_marked() -> None:
    others = [one for one in found() if one.subject.startswith(("system-nodes", "runners.cirun-gcp-gpu", "host-image"))]

    assert others
    assert [one for one in others if "as stated" in one.reason] == []


def test_a_stack_without_stated_types_has_no_marks() -> None:
    assert [one for one in verdicts(stack()) if "as stated" in one.reason] == []


def test_the_sum_of_the_stack_is_marked() -> None:
    (month,) = of("money", "stack", facts={"price-per-hour": 2.5})

    assert month.reason.endswith(MARK)


def test_a_stated_type_without_a_price_is_a_warning_that_names_the_key() -> None:
    (missing,) = of("money", "gpu-pools.t4-spot")

    assert missing.level is Level.WARNING
    assert missing.fix.endswith("add the price to instance-types.g8e.2xlarge.price-per-hour")


def test_the_quota_of_a_stated_type_follows_from_its_name_or_is_stated() -> None:
    (by_name,) = of("quota", "gpu-pools.t4-spot")
    unknown = {
        "instance-types": {"q9.2xlarge": G8E},
        "gpu-pools/t4-spot/instance-types": ["q9.2xlarge"],
    }
    (not_known,) = of("quota", "gpu-pools.t4-spot", changes=unknown)
    stated = {**unknown, "instance-types": {"q9.2xlarge": {**G8E, "quota-family": "g"}}}
    (as_stated,) = of("quota", "gpu-pools.t4-spot", changes=stated)

    assert "L-3819A6DF" in by_name.reason
    assert (not_known.level, "is not known" in not_known.reason) == (Level.WARNING, True)
    assert "L-3819A6DF" in as_stated.reason


def test_the_fit_of_a_job_is_computed_with_the_stated_memory() -> None:
    (small,) = of("fit", "runners.gpu-t4", facts={"memory": "8Gi"})

    assert small.level is Level.ERROR


def test_the_stated_number_of_pods_limits_a_node() -> None:
    (verdict,) = of("fit", "runners.gpu-t4", facts={"max-pods": 4})

    assert verdict.level is Level.ERROR
    assert "pods" in verdict.reason


def test_a_stated_type_starts_from_zero() -> None:
    (verdict,) = of("scale-from-zero", "runners.gpu-t4")

    assert verdict.level is Level.OK
    assert "the autoscaler starts a g8e.2xlarge" in verdict.reason


def test_a_stated_type_of_google_cloud_serves_a_runner() -> None:
    runner = "runners/cirun-gcp-gpu"
    facts = {"cloud": "gcp", "vcpus": 8, "memory": "32Gi", "gpu": "l4", "gpus": 1, "price-per-hour": 1.1}
    changes = {"instance-types": {"g9-standard-8": facts}, f"{runner}/needs/gpu": "l4",
               f"{runner}/cirun-gcp/machine-types": ["g9-standard-8"]}  # fmt: skip
    users = [one for one in verdicts(stack(changes)) if one.subject == "runners.cirun-gcp-gpu" and one.check == "fit"]

    assert [one.reason for one in users] == ["it fits g9-standard-8, alone on its machine (g9-standard-8 as stated)"]
