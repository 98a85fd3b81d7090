"""No deadline of the controller is reported late: it is not later than the first of all that can be due.

Sessions are looked at only when one could have run out.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from kraftctl.controller.periodic_tasks import NEVER
from tests.support.active_controller import ActiveController
from tests.support.effort import seeds

BROKERS = (1, 2, 3, 4)


def quiet() -> ActiveController:
    """The other timers, which look at sessions as well, run once in three sessions."""
    return ActiveController(
        metadata_max_idle_interval_ms="0",
        auto_leader_rebalance_enable="false",
        broker_session_timeout_ms="300",
        broker_heartbeat_interval_ms="100",
    )


def sparing() -> ActiveController:
    """A stall spares brokers for longer than a session lasts."""
    return ActiveController(broker_session_timeout_ms="3000", broker_heartbeat_interval_ms="2500")


CONTROLLERS: dict[str, Callable[[], ActiveController]] = {
    "as-usual": ActiveController,
    "quiet": quiet,
    "sparing": sparing,
}


def first_due_ms(active: ActiveController) -> int:
    """From scratch: the sessions and stalls, what failed, and every task."""
    tasks = active.controller._tasks
    assert tasks is not None
    heartbeats, stalls = active.controller.state.heartbeats, tasks._stalls
    due_ms = [failed.due_ms for failed in tasks._fencing._failed.values()]
    contacts_ms = [state.contact_ms for state in heartbeats._brokers.values() if state.has_session]
    if contacts_ms:
        oldest_ms = min(contacts_ms)
        due_ms.append(max(heartbeats.expiry_ms(oldest_ms), stalls.fence_not_before_ms(oldest_ms) or 0))
    fence_ms = max(min(due_ms, default=NEVER), tasks._fence.due_ms)
    return min(fence_ms, *[task.due_ms for task in tasks._timed])


def fail_a_slice(active: ActiveController, broker_id: int) -> None:
    """Of the fencing of that broker, in a turn of the loop."""
    registered = active.controller.image.cluster.broker(broker_id)
    tasks = active.controller._tasks
    if registered is not None and tasks is not None:
        tasks._fencing.retry_later((broker_id, registered.epoch), active.now_ms)


def happen(active: ActiveController, rng: random.Random, number: int) -> str:
    broker_id = rng.choice(BROKERS)
    match rng.choice(["heartbeat"] * 6 + ["time", "timers", "timers", "register", "fail", "stall"]):
        case "heartbeat":
            active.heartbeat(broker_id)
            return f"heartbeat of {broker_id}"
        case "register":
            if not active.controller.state.heartbeats.has_valid_session(
                broker_id, active.controller.image.cluster.brokers[broker_id].epoch, active.now_ms
            ):
                active.register(broker_id, number=number)
            return f"register {broker_id}"
        case "fail":
            fail_a_slice(active, broker_id)
            return f"a slice of {broker_id} fails"
        case "time":
            active.now_ms += rng.randrange(3_000)
            return "time passes"
        case "stall":
            active.now_ms += rng.randrange(15_000)
            active.run_due_tasks()
            return "a stall, and then timers"
        case _:
            active.pass_time(rng.randrange(3_000))
            return "timers run in time"


@pytest.mark.parametrize("kind", CONTROLLERS)
@pytest.mark.parametrize("seed", seeds(15))
def test_nothing_is_due_before_the_deadline(seed: int, kind: str) -> None:
    rng = random.Random(seed)
    active = CONTROLLERS[kind]()
    active.start_brokers(*BROKERS)
    history: list[str] = []
    for number in range(150):
        history.append(happen(active, rng, number + 1))
        deadline_ms = active.controller.next_deadline_ms
        due_ms = first_due_ms(active)
        assert deadline_ms is not None
        assert deadline_ms <= due_ms, history[-5:]


@pytest.mark.parametrize("kind", CONTROLLERS)
@pytest.mark.parametrize("seed", seeds(5))
def test_a_deadline_that_was_reported_is_over(seed: int, kind: str) -> None:
    """Or the loop would report it again and again. What is due has then been done."""
    rng = random.Random(seed)
    active = CONTROLLERS[kind]()
    active.start_brokers(*BROKERS)
    for number in range(150):
        happen(active, rng, number + 1)
        active.run_due_tasks()
        deadline_ms = active.controller.next_deadline_ms
        assert deadline_ms is not None
        assert active.now_ms < deadline_ms <= first_due_ms(active)


def test_heartbeats_alone_move_no_deadline() -> None:
    """Looking for the oldest session after each of them would cost more than they do."""
    active = ActiveController()
    active.start_brokers(*BROKERS)
    active.run_due_tasks()
    before_ms = active.controller.next_deadline_ms
    for _ in range(4):
        active.now_ms += 100
        for broker_id in BROKERS:
            active.heartbeat(broker_id)
    assert active.controller.next_deadline_ms == before_ms


def test_a_session_that_begins_alone_ends_in_time() -> None:
    active = quiet()
    active.start_brokers(1)
    active.pass_time(20_500)
    assert active.controller.image.cluster.brokers[1].fenced
    assert not active.heartbeat(1).is_fenced
    active.pass_time(301)
    assert active.controller.image.cluster.brokers[1].fenced


def test_a_session_after_a_stall_ends_in_time() -> None:
    """The stall spares broker 1 until 9,100 ms, and not broker 2, which was heard after it."""
    active = sparing()
    active.start_brokers(1, 2)
    active.now_ms += 4_100
    active.run_due_tasks()
    active.pass_time(100)
    active.heartbeat(2)
    active.pass_time(2_950)
    active.heartbeat(1)
    active.pass_time(51)
    assert active.controller.image.cluster.brokers[2].fenced
    assert not active.controller.image.cluster.brokers[1].fenced
