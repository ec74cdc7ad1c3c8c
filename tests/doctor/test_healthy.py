"""Tests of the checks of AWS and the cluster in a healthy world, with and without GPU nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ops.doctor.examination import examine
from tests.doctor.chain import CLUSTER_CHECKS
from tests.doctor.healthy import (
    DAEMONSETS,
    NODES,
    PLUGIN_PODS,
    RUNNER_PODS,
    RUNNERS,
    STACK,
    daemonset,
    healthy,
    items,
    system_node,
)
from tests.doctor.worlds import world

if TYPE_CHECKING:
    from tests.doctor.worlds import Question

pytestmark = pytest.mark.pure

NO_JOBS: dict[Question, Any] = {
    NODES: items(system_node()),
    DAEMONSETS: items(daemonset(0, 0)),
    PLUGIN_PODS: items(),
    RUNNERS: items(),
    RUNNER_PODS: items(),
}
"""The normal state without jobs."""


@pytest.mark.parametrize("changes", [pytest.param({}, id="one job"), pytest.param(NO_JOBS, id="no jobs")])
def test_every_link_of_a_healthy_cluster_works(changes: dict[Question, Any]) -> None:
    found = examine(world(STACK, {**healthy(), **changes}), CLUSTER_CHECKS)

    assert {link.check: (str(link.state), link.because) for link in found.links} == {
        one.CHECK: ("ok", "") for one in CLUSTER_CHECKS
    }
    assert [one.reason for link in found.links for one in link.verdicts if str(one.level) != "ok"] == []
