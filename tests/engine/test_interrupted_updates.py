"""Interrupted updates: after the documented repair, an update converges, and a destroy leaves nothing."""

from __future__ import annotations

import signal
import threading
import time
from typing import Final

import pytest

from ops.engine.engine import Engine
from ops.engine.pulumi_cli import Found
from ops.fakes.aws import names as aws
from ops.fakes.cloud.cloud import Cloud
from ops.fakes.protocol.faults import MUTATION, Fault, FaultKind
from tests.engine import programs
from tests.engine.operator import Operator
from tests.engine.programs import stack_file
from tests.plan import stacks

pytestmark = pytest.mark.engine

EACH: Final = (1,) * 99
"""Each mutation: the interrupted one was done, and the next operation continues with the one after it."""
EACH_AGAIN: Final = (1, *(2,) * 99)
"""Each mutation: the interrupted one was not done, and the next operation begins with it."""
MUTATIONS: Final = (6, 11, 6)
"""The mutations of the creation, the change and the destruction of `programs.life`."""


def finished(engine: Engine) -> bool:
    """Return whether the stack is neither in the cloud nor in the state."""
    return (engine.cloud.remaining(), dict(engine.state().resources)) == ([], {})


@pytest.mark.parametrize(
    ("kind", "places"),
    [
        pytest.param(FaultKind.KILL, EACH_AGAIN, id="killed-before"),
        pytest.param(FaultKind.KILL_AFTER, EACH, id="killed-after"),
        pytest.param(FaultKind.FAIL, EACH_AGAIN, id="refused"),
        pytest.param(FaultKind.TIME_OUT, EACH, id="timed-out"),
    ],
)
def test_a_stack_converges_after_an_interruption_of_every_mutation(
    cli: Found, kind: FaultKind, places: tuple[int, ...]
) -> None:
    with Engine(cli, stack_file(), programs.life) as engine:
        operator = Operator(engine=engine)
        created = operator.interrupt(lambda: engine.up(parallel=1), kind, *places)
        engine.configure(stack_file(programs.LATER))
        changed = operator.interrupt(lambda: engine.up(parallel=1), kind, *places)
        again = engine.preview()
        deleted = operator.interrupt(lambda: engine.destroy(parallel=1), kind, *places)

        assert (again.fault, again.changes) == ("", ())
        assert finished(engine)
    assert (created, changed, deleted) == MUTATIONS
    # Each of the killed creations that the cloud carried out was imported: six, and five of the change.
    assert operator.imported == (11 if kind is FaultKind.KILL_AFTER else 0)


def test_a_committed_stack_converges_after_it_was_killed_several_times(cli: Found) -> None:
    """Several operations run at the same time, so each kill interrupts more than one."""
    with Engine(cli, stacks.stack_file(stacks.STAGING)) as engine:
        operator = Operator(engine=engine)
        killed = operator.interrupt(engine.up, FaultKind.KILL_AFTER, 12, 40, 45)
        update = engine.up()
        again = engine.preview()
        engine.unprotect()
        left = operator.interrupt(engine.destroy, FaultKind.KILL_AFTER, 60)
        destroy = engine.destroy()

        assert (killed, update.fault, again.changes) == (3, "", ())
        assert (left, destroy.fault, finished(engine)) == (1, "", True)
    assert operator.imported >= 3


def test_a_refused_read_stops_an_update_and_changes_nothing(cli: Found) -> None:
    with Engine(cli, stack_file(), programs.life) as engine:
        engine.up()
        before = [str(obj) for obj in engine.cloud.remaining()]
        for nth in range(1, 7):
            engine.faults.arm(Fault(operation="read", nth=nth, message="ThrottlingException: Rate exceeded"))
            refused = engine.up()
            engine.faults.disarm()
            assert refused.fault.endswith("ThrottlingException: Rate exceeded")
        again = engine.up()

        assert [str(obj) for obj in engine.cloud.remaining()] == before
        assert (again.fault, again.changes) == ("", ())


def test_a_hanging_delete_that_is_interrupted_is_finished_by_the_next_destroy(cli: Found) -> None:
    """Ctrl-C cancels the call; the namespace with finalizers, or the network interface in use, still exists."""
    with Engine(cli, stack_file(), programs.life) as engine:
        engine.up()
        engine.faults.arm(Fault(operation="delete", type=aws.VPC, kind=FaultKind.HANG))

        def press_ctrl_c() -> None:
            engine.faults.hanging.wait(timeout=120)
            engine.send(signal.SIGINT)

        pressed = threading.Thread(target=press_ctrl_c)
        pressed.start()
        interrupted = engine.destroy()
        pressed.join()
        engine.faults.disarm()
        left = [obj.type for obj in engine.cloud.remaining()]
        again = engine.destroy()

        assert (interrupted.ok, left, again.fault, finished(engine)) == (False, [aws.VPC], "", True)


def test_a_destroy_that_is_interrupted_between_two_deletions_ends_without_an_error(cli: Found) -> None:
    """The engine (3.258) forgets an interrupt in this phase, so the documentation says to repeat the command."""
    delete = Cloud.delete
    with Engine(cli, stack_file(), programs.life) as engine, pytest.MonkeyPatch.context() as patch:
        engine.up()
        before = len(engine.cloud.remaining())

        def interrupted_delete(cloud: Cloud, type_: str, id_: str) -> None:
            patch.undo()  # A second interrupt would end the engine at once.
            engine.send(signal.SIGINT)
            time.sleep(2)  # The engine handles the signal during this call.
            delete(cloud, type_, id_)

        patch.setattr(Cloud, "delete", interrupted_delete)
        interrupted = engine.destroy(parallel=1)
        left = len(engine.cloud.remaining())
        again = engine.destroy()

        assert (interrupted.fault, left, again.fault, finished(engine)) == ("", before - 1, "", True)


def test_a_slow_cloud_only_takes_longer(cli: Found) -> None:
    """A read that does not find a new object yet makes the update wait; nothing is created twice."""
    with Engine(cli, stack_file(), programs.life) as engine:
        engine.cloud.pace = 1.0
        first = engine.up()
        again = engine.preview()

        assert (first.fault, again.changes) == ("", ())
        engine.faults.arm(Fault(operation=MUTATION, kind=FaultKind.TIME_OUT))
        assert engine.destroy().ok is False
        engine.faults.disarm()
        assert engine.destroy().fault == ""
        assert finished(engine)
