"""What follows from known differences is known by what it consists of, and nothing else is."""

from __future__ import annotations

from typing import Any

from tests.differential.call import SILENCE, Call
from tests.differential.codec import Body
from tests.differential.compare import FENCED_AGAIN, Difference
from tests.differential.consequences import Consequences
from tests.differential.metadata_log import LoggedRecord
from tests.differential.picture import Broker, Picture

MUTATIONS = "controller_mutation_rate"


def due_to(picture: Picture, call: Call, difference: Difference, *others: Difference) -> frozenset[str]:
    return Consequences(picture).noted(call, [difference, *others], frozenset())[0].avoided


def observer(replica_id: int) -> Body:
    return {"ReplicaId": replica_id, "LogEndOffset": "masked"}


def test_kraftctl_alone_has_observers_whose_fetch_kafka_failed_at() -> None:
    consequences = Consequences(Picture())
    consequences.fetch_has_failed({"ReplicaState": {"ReplicaId": 7}})
    cases = [
        ([], [7], True),
        ([7], [7, 7], True),
        ([8], [7, 8], True),
        ([], [8], False),
        ([7], [], False),
        ([8], [7], False),
    ]
    for java, ours, is_one in cases:
        difference = Difference(
            "DescribeQuorum",
            "X.Observers",
            [observer(each) for each in java],
            [observer(each) for each in ours],
        )
        (noted,) = consequences.noted(Call("DescribeQuorum", 2), [difference], frozenset())
        assert bool(noted.avoided) == is_one, (java, ours)


def change(partition: int, recovery_state: int = -1) -> tuple[str, int, Any]:
    body = {"TopicId": "t", "PartitionId": partition, "LeaderRecoveryState": recovery_state}
    return "PartitionChangeRecord", 0, body


def test_repeated_fencing_elects_uncleanly_and_does_nothing_else() -> None:
    again = Difference(SILENCE, FENCED_AGAIN, 1, 0)
    cases = [
        ([change(0, 1)], True),
        ([change(0), change(0, 1)], True),
        ([change(0), change(1, 1)], False),
        ([change(0, 1), ("FenceBrokerRecord", 0, {"Id": 1})], False),
    ]
    for records, is_one in cases:
        log = Difference(SILENCE, "log", records, [])
        due = due_to(Picture(), Call(SILENCE, 0), log, again)
        assert (len(due) == 2) == is_one, records
        assert due_to(Picture(), Call(SILENCE, 0), log) == frozenset()


def test_tokens_count_while_there_is_a_quota_of_partitions() -> None:
    def quota(key: str, *, remove: bool = False) -> LoggedRecord:
        return LoggedRecord("ClientQuotaRecord", 0, {"Entity": ["a"], "Key": key, "Remove": remove}, 0)

    token = LoggedRecord("DelegationTokenRecord", 0, {}, 1)
    cases = [
        ([quota(MUTATIONS), token], True),
        ([token, quota(MUTATIONS)], False),
        ([quota(MUTATIONS), quota(MUTATIONS, remove=True), token], False),
        ([quota("producer_byte_rate"), token], False),
    ]
    for records, counts in cases:
        picture = Picture()
        for record in records:
            picture.replay(record)
        due = due_to(picture, Call("CreateTopics", 7), Difference("CreateTopics", "ErrorCode", 0, 89))
        assert bool(due) == counts, records


def test_only_a_broker_without_a_directory_for_new_replicas_is_cordoned() -> None:
    brokers = {
        1: Broker("", ["a", "b"], cordoned=["a", "b"]),
        2: Broker("", ["c", "d"], cordoned=["c"]),
        3: Broker("", ["e"]),
    }
    refused = Difference("AlterPartitionReassignments", "ErrorCode", 38, 39)
    for replicas, is_one in [([1], True), ([3, 1], True), ([2, 3], False), (None, False)]:
        body = {"Topics": [{"Partitions": [{"Replicas": replicas}]}]}
        due = due_to(Picture(brokers=brokers), Call("AlterPartitionReassignments", 1, body), refused)
        assert bool(due) == is_one, replicas
