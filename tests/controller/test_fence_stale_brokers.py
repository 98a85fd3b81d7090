"""Fencing a broker with very many partitions: slice by slice, with the same result as in one batch."""

from __future__ import annotations

import pytest

from kraftctl.controller.replication_control import broker_transitions
from kraftctl_protocol.generated.broker_registration_change_record import BrokerRegistrationChangeRecord
from kraftctl_protocol.generated.partition_change_record import PartitionChangeRecord
from kraftctl_protocol.generated.unregister_broker_request import UnregisterBrokerRequest
from tests.support.active_controller import ActiveController

SILENT = 3
TOPICS = 30
PARTITIONS = 200


@pytest.fixture
def active() -> ActiveController:
    controller = ActiveController()
    controller.start_brokers(1, 2, SILENT)
    for number in range(TOPICS):
        controller.create_topic(f"topic-{number}", PARTITIONS, 2)
    return controller


def fall_silent(active: ActiveController) -> None:
    """The others send heartbeats; then time passes the end of the session of SILENT."""
    active.pass_time(5_000)
    for broker_id in (1, 2):
        active.heartbeat(broker_id)
    active.pass_time(4_100)


def test_every_slice_is_small_and_the_last_one_fences(active: ActiveController) -> None:
    memberships = active.controller.image.topics.isr_membership_count(SILENT)
    assert memberships > broker_transitions.PARTITIONS_PER_SLICE
    first = len(active.batches)
    fall_silent(active)
    changes = [
        [entry.record for entry in batch if isinstance(entry.record, PartitionChangeRecord)]
        for batch in active.batches[first:]
    ]
    assert max(map(len, changes)) <= broker_transitions.PARTITIONS_PER_SLICE + PARTITIONS
    assert sum(map(len, changes)) == memberships
    fenced = [
        (number, entry.record.broker_id)
        for number, batch in enumerate(active.batches[first:])
        for entry in batch
        if isinstance(entry.record, BrokerRegistrationChangeRecord)
    ]
    slices = [number for number, batch in enumerate(changes) if batch]
    assert [broker_id for _, broker_id in fenced] == [SILENT]
    assert fenced[0][0] >= slices[-1]
    assert len(slices) > 1
    assert active.controller.image.topics.isr_membership_count(SILENT) == 0


def test_a_heartbeat_between_two_slices_does_not_stop_it(active: ActiveController) -> None:
    active.pass_time(5_000)
    for broker_id in (1, 2):
        active.heartbeat(broker_id)
    memberships = active.controller.image.topics.isr_membership_count
    all_of_them = memberships(SILENT)
    while memberships(SILENT) == all_of_them:
        deadline_ms = active.controller.next_deadline_ms
        assert deadline_ms is not None
        active.now_ms = max(active.now_ms, deadline_ms)
        active.run_due_task()
    assert memberships(SILENT) > 0
    active.heartbeat(SILENT)
    active.pass_time(100)
    assert active.controller.image.cluster.brokers[SILENT].fenced
    assert not active.heartbeat(SILENT).is_fenced


def test_a_broker_unregistered_between_two_slices_is_let_go(active: ActiveController) -> None:
    active.pass_time(9_000)
    active.now_ms += 2
    active.run_due_task()
    active.request(UnregisterBrokerRequest(broker_id=SILENT))
    active.pass_time(100)
    assert SILENT not in active.controller.image.cluster.brokers
