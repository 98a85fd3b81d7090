"""Large requests of admins in slices, on a whole node: failover between two slices, and the audit log."""

from __future__ import annotations

import pytest

from kraftctl.node.sliced_turns import UNCOMMITTED_RECORDS_MAX
from kraftctl.raft import events
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.alter_partition_reassignments_request import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from kraftctl_protocol.generated.alter_partition_reassignments_response import (
    AlterPartitionReassignmentsResponse,
)
from kraftctl_protocol.generated.broker_registration_response import BrokerRegistrationResponse
from kraftctl_protocol.generated.create_topics_request import CreatableTopic, CreateTopicsRequest
from kraftctl_protocol.generated.create_topics_response import CreateTopicsResponse
from kraftctl_protocol.generated.delete_topics_request import DeleteTopicsRequest, DeleteTopicState
from kraftctl_protocol.generated.delete_topics_response import DeleteTopicsResponse
from kraftctl_protocol.generated.list_partition_reassignments_request import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)
from kraftctl_protocol.generated.list_partition_reassignments_response import (
    ListPartitionReassignmentsResponse,
)
from kraftctl_protocol.uuids import ZERO_UUID
from tests.node.audited_node import audited_node, lines
from tests.support.active_controller import registration

TOPICS = 60
PARTITIONS = 20
RESIGNATION_MS = 3_000


def creation(topics: int = TOPICS) -> CreateTopicsRequest:
    return CreateTopicsRequest(
        topics=[
            CreatableTopic(name=f"t{number}", num_partitions=PARTITIONS, replication_factor=2)
            for number in range(topics)
        ]
    )


@pytest.mark.parametrize("flushed", [False, True])
def test_no_topic_is_created_by_halves(flushed: bool) -> None:
    """A leader resigns between two slices: what it has written is there as a whole, the rest is not."""
    node = audited_node(1, 2)
    request_id = node.send(creation())
    if flushed:
        node.flush()
    node.offer(events.ResignRequested(node.raft.epoch))
    node.run_for(0)
    answer = node.answers[request_id]
    assert isinstance(answer, CreateTopicsResponse)
    assert {topic.error_code for topic in answer.topics} == {int(Errors.NOT_CONTROLLER)}
    node.pass_time(RESIGNATION_MS)
    assert node.controller.active
    topics = node.controller.image.topics
    assert 0 < len(topics.topics) < TOPICS
    assert {len(topic.partitions) for topic in topics.topics.values()} == {PARTITIONS}
    created = len(topics.topics)
    again = node.ask(creation(), CreateTopicsResponse)
    codes = [Errors(topic.error_code) for topic in again.topics]
    assert codes == [Errors.TOPIC_ALREADY_EXISTS] * created + [Errors.NONE] * (TOPICS - created)
    line = lines(node)[0]
    assert line["outcome"] == "lost"
    assert line["first_offset"] is not None


def test_no_slice_begins_behind_many_uncommitted_records() -> None:
    """Whatever else waits for a commit, waits for these records as well."""
    node = audited_node(1, 2)
    topics = UNCOMMITTED_RECORDS_MAX // PARTITIONS + 100
    request_id = node.send(creation(topics))
    node.run_for(0)
    uncommitted = node.raft.end_offset - node.raft.high_watermark
    assert UNCOMMITTED_RECORDS_MAX < uncommitted < UNCOMMITTED_RECORDS_MAX + 100 * PARTITIONS
    assert node.controller.has_work
    node.settle()
    answer = node.answers[request_id]
    assert isinstance(answer, CreateTopicsResponse)
    assert {topic.error_code for topic in answer.topics} == {0}
    assert node.controller.image.topics.partition_count == topics * PARTITIONS


def test_topics_are_deleted_in_slices() -> None:
    node = audited_node(1, 2)
    node.ask(creation(), CreateTopicsResponse)
    topics = [DeleteTopicState(name=f"t{number}", topic_id=ZERO_UUID) for number in range(TOPICS)]
    answer = node.ask(DeleteTopicsRequest(timeout_ms=60_000, topics=topics), DeleteTopicsResponse)
    assert {topic.error_code for topic in answer.responses} == {0}
    image = node.controller.image.topics
    assert (image.topics, image.partition_count, image.isr_counts, image.leader_counts) == ({}, 0, {}, {})


def test_a_list_waits_for_what_its_slices_saw() -> None:
    """A reassignment that is begun between two slices is listed, and may still be lost."""
    node = audited_node(1, 2)
    node.ask(creation(), CreateTopicsResponse)
    node.ask(registration(3), BrokerRegistrationResponse)
    named = [
        ListPartitionReassignmentsTopics(name=f"t{number}", partition_indexes=list(range(PARTITIONS)))
        for number in range(TOPICS)
    ]
    started = [ReassignablePartition(partition_index=1, replicas=[3])]
    first = AlterPartitionReassignmentsRequest(topics=[ReassignableTopic(name="t0", partitions=started)])
    later = AlterPartitionReassignmentsRequest(topics=[ReassignableTopic(name="t59", partitions=started)])
    first.allow_replication_factor_change = later.allow_replication_factor_change = True
    node.ask(first, AlterPartitionReassignmentsResponse)
    listing = node.send(ListPartitionReassignmentsRequest(topics=named * 11))
    changing = node.send(later)
    node.run_for(0)
    assert not node.controller.has_work
    assert listing not in node.answers
    node.settle()
    answer = node.answers[listing]
    assert isinstance(answer, ListPartitionReassignmentsResponse)
    assert [topic.name for topic in answer.topics].count("t0") == 11
    assert "t59" in [topic.name for topic in answer.topics]
    assert changing in node.answers


def test_work_that_has_changed_nothing_ends_with_its_connection() -> None:
    """A client that asks again, on another connection, would add the same work again and again."""
    node = audited_node(1, 2)
    node.ask(creation(), CreateTopicsResponse)
    named = [
        ListPartitionReassignmentsTopics(name=f"t{number}", partition_indexes=list(range(PARTITIONS)))
        for number in range(TOPICS)
    ]
    impatient = node.send(ListPartitionReassignmentsRequest(topics=named * 11))
    patient = node.send(ListPartitionReassignmentsRequest(topics=named * 11))
    node.cancel(impatient)
    assert node.controller.has_work
    node.cancel(patient)
    assert not node.controller.has_work
    node.settle()
    assert not {impatient, patient} & set(node.answers)


def test_a_line_has_the_offsets_of_all_slices() -> None:
    """Records of others may be between them, and are not the first or last ones."""
    node = audited_node(1, 2)
    node.send(creation())
    node.ask(registration(3), BrokerRegistrationResponse)
    node.settle()
    created, registered = sorted(lines(node), key=lambda line: str(line["api"]), reverse=True)
    assert (created["api"], registered["api"]) == ("CreateTopics", "BrokerRegistration")
    assert created["outcome"] == "committed"
    assert created["first_offset"] < registered["first_offset"] < created["last_offset"]
    written = created["last_offset"] - created["first_offset"] + 1
    assert written >= TOPICS * (PARTITIONS + 1) + 1


def test_a_request_that_writes_nothing_has_no_offsets() -> None:
    """Not even those of a record that another request writes between its slices."""
    node = audited_node(1, 2)
    validated = creation()
    validated.validate_only = True
    node.send(validated)
    node.ask(registration(3), BrokerRegistrationResponse)
    node.settle()
    (line,) = [line for line in lines(node) if line["api"] == "CreateTopics"]
    assert (line["first_offset"], line["outcome"]) == (None, "unchanged")
