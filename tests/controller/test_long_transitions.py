"""What brokers are answered while one of them is fenced, unfenced or shut down in slices."""

from __future__ import annotations

import pytest

from kraftctl.controller.state.broker_heartbeat_manager import SHUTDOWN_UNDER_WAY
from kraftctl_protocol.generated.assign_replicas_to_dirs_request import (
    AssignReplicasToDirsRequest,
    DirectoryData,
    PartitionData,
)
from kraftctl_protocol.generated.assign_replicas_to_dirs_request import TopicData as AssignedTopic
from kraftctl_protocol.generated.broker_registration_change_record import BrokerRegistrationChangeRecord
from kraftctl_protocol.generated.create_topics_request import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
)
from kraftctl_protocol.generated.partition_change_record import PartitionChangeRecord
from tests.support.active_controller import ActiveController

LARGE = 3
PARTITIONS = 30


def started(*replicas: list[int]) -> ActiveController:
    """Many partitions with each of these lists of replicas, and small slices."""
    controller = ActiveController()
    controller.start_brokers(1, 2, LARGE, directories=2)
    assigned = [list(brokers) for brokers in replicas for _ in range(PARTITIONS // len(replicas))]
    create(controller, "t", assigned)
    controller.units = 4
    controller.runs_slices = False
    return controller


@pytest.fixture
def active() -> ActiveController:
    """Broker 3 leads one half of the partitions, and follows in the other."""
    return started([LARGE, 1], [1, LARGE])


def create(active: ActiveController, name: str, replicas: list[list[int]]) -> None:
    assignments = [
        CreatableReplicaAssignment(partition_index=index, broker_ids=brokers)
        for index, brokers in enumerate(replicas)
    ]
    topic = CreatableTopic(name=name, num_partitions=-1, replication_factor=-1, assignments=assignments)
    response = active.request(CreateTopicsRequest(topics=[topic]))
    assert response.topics[0].error_code == 0  # type: ignore[attr-defined]


def answer(active: ActiveController, **wants: bool) -> tuple[bool, bool]:
    """is_fenced and should_shut_down."""
    response = active.heartbeat(LARGE, **wants)  # type: ignore[arg-type]
    return response.is_fenced, response.should_shut_down


def is_fenced(active: ActiveController) -> bool:
    return active.controller.image.cluster.brokers[LARGE].fenced


def works(active: ActiveController) -> int:
    return len(active.controller._works)


def changes_since(active: ActiveController, start: int) -> list[PartitionChangeRecord]:
    changes = [entry.record for _, entry in active.log[start:]]
    return [change for change in changes if isinstance(change, PartitionChangeRecord)]


@pytest.mark.prevents("KAFKA-17793")
def test_a_heartbeat_that_wants_a_fence_does_not_wait_for_it(active: ActiveController) -> None:
    start = len(active.log)
    assert answer(active, fence=True) == (False, False)
    while active.controller.has_work:
        assert not is_fenced(active)
        assert answer(active, fence=True) == (False, False)
        assert works(active) == 1, "further heartbeats begin nothing"
        assert active.controller.state.fencings.asked_count == 0, "the last slice counts"
        active.take_slice()
    assert is_fenced(active)
    assert len(changes_since(active, start)) == PARTITIONS
    assert answer(active, fence=True) == (True, False)


def test_its_session_goes_on_meanwhile(active: ActiveController) -> None:
    answer(active, fence=True)
    for _ in range(4):
        active.now_ms += 4_000
        for other in (1, 2):
            active.heartbeat(other)
        answer(active, fence=True)
        active.run_due_tasks()
    assert works(active) == 1
    assert not any("session" in notice for notice in active.controller.take_notices())


def test_it_stops_when_it_is_fenced_and_not_before() -> None:
    """A broker that leads nothing needs no controlled shutdown, but it is in many ISRs."""
    active = started([1, LARGE])
    assert answer(active, shut_down=True) == (False, False)
    while active.controller.has_work:
        assert answer(active, shut_down=True) == (False, False)
        assert works(active) == 1
        active.take_slice()
    assert is_fenced(active)
    assert answer(active, shut_down=True) == (True, True)
    epoch = active.controller.image.cluster.brokers[LARGE].epoch
    assert not active.controller.state.heartbeats.has_valid_session(LARGE, epoch, active.now_ms)


def test_a_controlled_shutdown_waits_for_its_last_slice(active: ActiveController) -> None:
    """Also when the broker leads nothing any more, and when there is no other broker to wait for."""
    soft, start = active.controller.state.heartbeats.state(LARGE), active.end_offset - 1
    assert answer(active, shut_down=True) == (False, False)
    marked = active.controller.image.cluster.brokers[LARGE]
    assert marked.in_controlled_shutdown
    while active.controller.has_work:
        assert soft.controlled_shutdown_offset == SHUTDOWN_UNDER_WAY
        for other in (1, 2):
            active.heartbeat(other, offset=start)
        assert answer(active, shut_down=True) == (False, False)
        assert works(active) == 1
        active.take_slice()
    last_offset = soft.controlled_shutdown_offset
    assert last_offset >= max(
        offset for offset, entry in active.log if isinstance(entry.record, PartitionChangeRecord)
    )
    assert answer(active, shut_down=True) == (False, False), "the others have not seen it"
    for other in (1, 2):
        active.heartbeat(other)
    assert answer(active, shut_down=True) == (True, True)


def test_a_shutdown_without_other_brokers_waits_for_its_last_slice() -> None:
    active = started([LARGE])
    active.runs_slices = True
    for other in (1, 2):
        active.heartbeat(other, fence=True)
    active.runs_slices = False
    answer(active, shut_down=True)
    while active.controller.has_work:
        assert answer(active, shut_down=True) == (False, False)
        active.take_slice()
    assert answer(active, shut_down=True) == (True, True)


def test_a_shutdown_whose_slice_fails_begins_again(active: ActiveController) -> None:
    answer(active, shut_down=True)
    active.controller._works.take().work.failed(active.moment)
    assert answer(active, shut_down=True) == (False, False)
    assert works(active) == 1
    active.finish_work()
    marks = [
        entry.record
        for _, entry in active.log
        if isinstance(entry.record, BrokerRegistrationChangeRecord) and entry.record.in_controlled_shutdown
    ]
    assert len(marks) == 1
    assert LARGE not in active.controller.image.topics.isr_counts


def test_an_unfenced_broker_is_answered_before_all_elections() -> None:
    active = started([LARGE])
    active.runs_slices = True
    answer(active, fence=True)
    active.runs_slices = False
    leaderless = active.controller.image.topics.leaderless_counts
    assert sum(leaderless.values()) == PARTITIONS
    assert answer(active) == (False, False)
    assert PARTITIONS > sum(leaderless.values()) > 0
    active.finish_work()
    assert leaderless == {}


def test_a_new_controller_elects_what_its_predecessor_has_left() -> None:
    """The rest of an unfencing is lost with a failover, and the broker asks for nothing any more."""
    active = started([LARGE])
    active.runs_slices = True
    answer(active, fence=True)
    active.runs_slices = False
    answer(active)
    controller = active.controller
    assert controller.image.topics.leaderless_counts != {}
    controller.renounce()
    assert not controller.has_work
    assert controller.claim(2, active.moment) == []
    active.run_due_tasks()
    active.finish_work()
    assert controller.image.topics.leaderless_counts == {}


def test_elections_that_fail_in_the_middle_are_held_again(active: ActiveController) -> None:
    active.runs_slices = True
    create(active, "alone", [[LARGE]] * PARTITIONS)
    answer(active, fence=True)
    active.runs_slices = False
    answer(active)
    controller = active.controller
    controller._works.take().work.failed(active.moment)
    for _ in range(2):
        active.run_due_tasks()
        assert works(active) == 1, "they begin with what is left"
        controller._works.take().work.failed(active.moment)
        active.run_due_tasks()
        assert works(active) == 0
        active.now_ms += 1_000
    active.run_due_tasks()
    active.finish_work()
    assert controller.image.topics.leaderless_counts == {}


def test_a_failed_directory_is_taken_out_in_slices(active: ActiveController) -> None:
    failed, other = active.controller.image.cluster.brokers[LARGE].directories
    active.runs_slices = True
    put_all_into(active, failed)
    active.runs_slices = False
    assert not active.heartbeat(LARGE, offline=[failed]).is_fenced
    while active.controller.has_work:
        active.heartbeat(LARGE, offline=[failed])
        assert works(active) == 1
        assert failed in active.controller.image.cluster.brokers[LARGE].directories
        active.take_slice()
    assert active.controller.image.cluster.brokers[LARGE].directories == (other,)
    assert LARGE not in active.controller.image.topics.isr_counts
    assert not active.controller.state.heartbeats.leaving.has_directory(failed)


def put_all_into(active: ActiveController, failed: bytes) -> None:
    topic = active.controller.image.topics.topic_by_name("t")
    assert topic is not None
    data = AssignedTopic(
        topic_id=topic.topic_id,
        partitions=[PartitionData(partition_index=index) for index in topic.partitions],
    )
    active.request(
        AssignReplicasToDirsRequest(
            broker_id=LARGE,
            broker_epoch=active.controller.image.cluster.brokers[LARGE].epoch,
            directories=[DirectoryData(id=failed, topics=[data])],
        )
    )
