"""Conversations about topics: time-outs, names that are there twice, elections of all, reassignments."""

from __future__ import annotations

from collections.abc import Iterator

from kraftctl_protocol.generated.alter_partition_reassignments_request import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from kraftctl_protocol.generated.create_partitions_request import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from kraftctl_protocol.generated.create_topics_request import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
)
from kraftctl_protocol.generated.delete_topics_request import DeleteTopicsRequest, DeleteTopicState
from kraftctl_protocol.generated.elect_leaders_request import ElectLeadersRequest, TopicPartitions
from kraftctl_protocol.generated.list_partition_reassignments_request import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)
from kraftctl_protocol.metadata_topic import METADATA_TOPIC
from tests.support.writes.conversations import Ask

TIMES_MS = (0, -1, -(2**31), 30_000, 2**31 - 1)
"""No time, negative ones, and ones that do not run out here."""

NAMES = [f"topic-{number}" for number in range(14)]

KEPT = "kept"


def conversations() -> Iterator[tuple[str, list[Ask]]]:
    yield "topics that are kept", [(CreateTopicsRequest(topics=[_manual(KEPT, 2), _manual("b", 1)]), 7)]
    for timeout_ms in TIMES_MS:
        yield f"CreateTopics within {timeout_ms} ms", list(_creations(timeout_ms))
        yield f"DeleteTopics within {timeout_ms} ms", list(_deletions(timeout_ms))
        yield f"CreatePartitions within {timeout_ms} ms", list(_partitions(timeout_ms))
        yield f"ElectLeaders within {timeout_ms} ms", list(_elections(timeout_ms))
        yield f"reassignments within {timeout_ms} ms", list(_reassignments(timeout_ms))
    many = [_manual(name, 3) for name in [*NAMES, "AaAa", "BBBB", "AaBB"]]
    yield "topics in any order", [(CreateTopicsRequest(topics=many), 7)]
    yield (
        "elections of all topics",
        [(ElectLeadersRequest(election_type=kind, topic_partitions=None), 2) for kind in (0, 1)],
    )


def _manual(name: str, partitions: int) -> CreatableTopic:
    """Returns a topic that is the same in each cluster."""
    assignments = [
        CreatableReplicaAssignment(partition_index=index, broker_ids=[1, 2, 3]) for index in range(partitions)
    ]
    return CreatableTopic(name=name, num_partitions=-1, replication_factor=-1, assignments=assignments)


def _creations(timeout_ms: int) -> Iterator[Ask]:
    new = f"new.{timeout_ms}"
    twice, alone = _manual("twice", 1), _manual(new, 1)
    bad = CreatableTopic(name="bad", num_partitions=-2, replication_factor=1)
    internal = _manual(METADATA_TOPIC, 1)
    mixed = [bad, twice, internal, twice, alone, *[_manual(name, 1) for name in NAMES * 2]]
    for version in (2, 7):
        for topics in ([], [bad], [twice, twice], [internal], [twice, twice, internal], mixed):
            for validate_only in (True, False):
                request = CreateTopicsRequest(
                    topics=topics, timeout_ms=timeout_ms, validate_only=validate_only
                )
                yield request, version
        yield CreateTopicsRequest(topics=[_manual(KEPT, 1), _manual("b", 1)], timeout_ms=timeout_ms), version


def _deletions(timeout_ms: int) -> Iterator[Ask]:
    for version in (1, 3, 5):
        for names in ([], ["none"], ["none", "none"], ["none", "twice", "twice"]):
            yield DeleteTopicsRequest(topic_names=names, timeout_ms=timeout_ms), version
    none, unknown = DeleteTopicState(name="none"), DeleteTopicState(name=None, topic_id=b"1" * 16)
    neither = DeleteTopicState(name=None)
    both = DeleteTopicState(name="none", topic_id=b"1" * 16)
    for topics in ([], [none], [unknown], [neither], [both], [none, none], [unknown, unknown], [none, both]):
        yield DeleteTopicsRequest(topics=topics, timeout_ms=timeout_ms), 6


def _partitions(timeout_ms: int) -> Iterator[Ask]:
    def wanted(name: str, count: int = 1) -> CreatePartitionsTopic:
        assignments = [CreatePartitionsAssignment(broker_ids=[1, 2, 3])] if count == 3 else None
        return CreatePartitionsTopic(name=name, count=count, assignments=assignments)

    many = [wanted(name) for name in [*NAMES, *NAMES[:5]]]
    for version in (0, 3):
        for topics in ([], [wanted(KEPT)], [wanted("none")] * 2, [wanted("none"), wanted(KEPT, 3)], many):
            request = CreatePartitionsRequest(topics=topics, timeout_ms=timeout_ms, validate_only=True)
            yield request, version


def _elections(timeout_ms: int) -> Iterator[Ask]:
    named = [
        TopicPartitions(topic=KEPT, partitions=[0, 1, 9]),
        TopicPartitions(topic="none", partitions=[0]),
        TopicPartitions(topic="b", partitions=[]),
    ]
    for version in (0, 1, 2):
        for kind in (0, 1, 2, -1) if version else (0,):
            for topics in (None, [], named):
                request = ElectLeadersRequest(topic_partitions=topics, timeout_ms=timeout_ms)
                request.election_type = kind
                yield request, version


def _reassignments(timeout_ms: int) -> Iterator[Ask]:
    def wanted(name: str, *targets: tuple[int, list[int] | None]) -> ReassignableTopic:
        partitions = [ReassignablePartition(partition_index=index, replicas=to) for index, to in targets]
        return ReassignableTopic(name=name, partitions=partitions)

    cancelled = [wanted(KEPT, (0, None), (9, None)), wanted("none", (0, None))]
    invalid = [wanted(KEPT, (0, []), (0, [1, 1]), (1, [9])), wanted("b")]
    for version in (0, 1):
        for topics in ([], cancelled, invalid, [wanted(KEPT)]):
            yield AlterPartitionReassignmentsRequest(topics=topics, timeout_ms=timeout_ms), version
    for asked in (None, [], [ListPartitionReassignmentsTopics(name=KEPT, partition_indexes=[0])]):
        yield ListPartitionReassignmentsRequest(topics=asked, timeout_ms=timeout_ms), 0
