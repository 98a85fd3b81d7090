"""Fencing a broker with very many partitions: slice by slice, with the same result as in one batch."""

from __future__ import annotations

import pytest

from kraftctl.controller.results.moment import UNITS
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.alter_partition_request import (
    AlterPartitionRequest,
    BrokerState,
    PartitionData,
    TopicData,
)
from kraftctl_protocol.generated.alter_partition_response import AlterPartitionResponse
from kraftctl_protocol.generated.broker_registration_change_record import BrokerRegistrationChangeRecord
from kraftctl_protocol.generated.partition_change_record import PartitionChangeRecord
from kraftctl_protocol.generated.unregister_broker_request import UnregisterBrokerRequest
from tests.support.active_controller import ActiveController

SILENT = 3
TOPICS = 10
PARTITIONS = 200
SESSION_MS = 9_000


@pytest.fixture
def active() -> ActiveController:
    controller = ActiveController()
    controller.start_brokers(1, 2, SILENT)
    for number in range(TOPICS):
        controller.create_topic(f"topic-{number}", PARTITIONS, 2)
    controller.units = UNITS
    return controller


def fall_silent(active: ActiveController) -> None:
    """The others send heartbeats; then the session of SILENT runs out, and one slice is done."""
    active.pass_time(SESSION_MS // 2)
    for broker_id in (1, 2):
        active.heartbeat(broker_id)
    run_until_work_begins(active)


def run_until_work_begins(active: ActiveController) -> None:
    """Timers run when they are due, and no slices."""
    while not active.controller.has_work:
        run_next_task(active)


def run_next_task(active: ActiveController) -> None:
    deadline_ms = active.controller.next_deadline_ms
    assert deadline_ms is not None
    active.now_ms = max(active.now_ms, deadline_ms)
    active.run_due_task()


def memberships(active: ActiveController, broker_id: int = SILENT) -> int:
    topics = active.controller.image.topics
    counts = (topics.isr_counts.get(broker_id, {}), topics.last_member_counts.get(broker_id, {}))
    return sum(sum(each.values()) for each in counts)


def test_every_slice_is_small_and_the_last_one_fences(active: ActiveController) -> None:
    before = memberships(active)
    assert before > 2 * UNITS
    first = len(active.batches)
    fall_silent(active)
    active.finish_work()
    changes = [
        [entry.record for entry in batch if isinstance(entry.record, PartitionChangeRecord)]
        for batch in active.batches[first:]
    ]
    assert max(map(len, changes)) <= UNITS
    assert sum(map(len, changes)) == before
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
    assert memberships(active) == 0


def test_a_heartbeat_between_two_slices_does_not_stop_it(active: ActiveController) -> None:
    all_of_them = memberships(active)
    fall_silent(active)
    assert 0 < memberships(active) < all_of_them
    assert not active.controller.image.cluster.brokers[SILENT].fenced
    active.heartbeat(SILENT)
    active.finish_work()
    assert active.controller.image.cluster.brokers[SILENT].fenced
    assert not active.heartbeat(SILENT).is_fenced


def test_a_broker_unregistered_between_two_slices_is_let_go(active: ActiveController) -> None:
    fall_silent(active)
    active.request(UnregisterBrokerRequest(broker_id=SILENT))
    active.finish_work()
    assert SILENT not in active.controller.image.cluster.brokers
    assert not active.controller.has_work


def test_a_leaving_broker_neither_joins_an_isr_nor_leads(active: ActiveController) -> None:
    """It is unfenced in the log until the last slice: soft state has it."""
    fall_silent(active)
    image = active.controller.image
    topic, index, partition = next(
        (topic, index, partition)
        for topic in image.topics.topics.values()
        for index, partition in topic.partitions.items()
        if SILENT in partition.replicas and SILENT not in partition.isr
    )
    leader = int(partition.leader)
    asked = PartitionData(
        partition_index=index,
        leader_epoch=int(partition.leader_epoch),
        partition_epoch=int(partition.partition_epoch),
        new_isr_with_epochs=[BrokerState(broker_id=leader), BrokerState(broker_id=SILENT)],
    )
    request = AlterPartitionRequest(
        broker_id=leader,
        broker_epoch=image.cluster.brokers[leader].epoch,
        topics=[TopicData(topic_id=topic.topic_id, partitions=[asked])],
    )
    waiting = active.controller.prepare_request(active.pending(request), active.moment)
    response = waiting.response
    assert isinstance(response, AlterPartitionResponse)
    assert response.topics[0].partitions[0].error_code == Errors.INELIGIBLE_REPLICA
    before = len(active.log)
    assert active.heartbeat(leader, fence=True).is_fenced is False
    elected = [
        entry.record.leader
        for _, entry in active.log[before:]
        if isinstance(entry.record, PartitionChangeRecord)
    ]
    assert elected
    assert SILENT not in elected


def test_a_new_topic_counts_a_leaving_broker_as_fenced(active: ActiveController) -> None:
    fall_silent(active)
    active.create_topic("new", 20, 3)
    image = active.controller.image
    topic = image.topics.topic_by_name("new")
    assert topic is not None
    for partition in topic.partitions.values():
        assert SILENT in partition.replicas
        assert SILENT not in partition.isr


def test_several_brokers_are_fenced_at_the_same_time(active: ActiveController) -> None:
    """None of them becomes leader of what another one leaves."""
    first = len(active.log)
    run_until_work_begins(active)
    for _ in range(5):
        run_next_task(active)
    active.finish_work()
    assert all(active.controller.image.cluster.brokers[broker_id].fenced for broker_id in (1, 2, SILENT))
    changes = [entry.record for _, entry in active.log[first:]]
    fenced = [change.broker_id for change in changes if isinstance(change, BrokerRegistrationChangeRecord)]
    assert sorted(fenced) == [1, 2, SILENT]
    index = active.controller.image.topics
    assert (index.isr_counts, index.last_member_counts) == ({}, {})
    # Broker 1 is the first to leave: from then on the others are leaving, too.
    late = changes[3 * UNITS :]
    assert {change.leader for change in late if isinstance(change, PartitionChangeRecord)} <= {-1, -2}
