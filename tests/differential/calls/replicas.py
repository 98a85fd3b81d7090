"""Calls that move replicas and leaders."""

from __future__ import annotations

from tests.differential.call import Call
from tests.differential.calls.chooser import Chooser
from tests.differential.codec import Body


def alter_partition_reassignments(pick: Chooser) -> list[Call]:
    def topic() -> Body:
        name = pick.topic()

        def partition() -> Body:
            index = pick.partition_index(name)
            known = pick.picture.topics.get(name, {}).get(index)
            replicas = pick.brokers()
            if known is not None and pick.often(0.2):
                replicas = pick.chance.sample(known.replicas, len(known.replicas))
            return {"PartitionIndex": index, "Replicas": None if pick.often(0.15) else replicas}

        return {"Name": name, "Partitions": pick.some(partition, 2)}

    body = {
        "TimeoutMs": pick.timeout_ms(),
        "AllowReplicationFactorChange": pick.often(0.85),
        "Topics": pick.some(topic, 2),
    }
    return [Call("AlterPartitionReassignments", pick.version("AlterPartitionReassignments"), body)]


def list_partition_reassignments(pick: Chooser) -> list[Call]:
    def topic() -> Body:
        name = pick.topic()
        return {"Name": name, "PartitionIndexes": pick.some(lambda: pick.partition_index(name), 3)}

    body = {"TimeoutMs": pick.timeout_ms(), "Topics": None if pick.often(0.5) else pick.some(topic, 3)}
    return [Call("ListPartitionReassignments", 0, body)]


def elect_leaders(pick: Chooser) -> list[Call]:
    def topic() -> Body:
        name = pick.topic()
        return {"Topic": name, "Partitions": pick.some(lambda: pick.partition_index(name), 3)}

    body = {
        "ElectionType": pick.one((0, 0, 1)),
        "TopicPartitions": None if pick.often(0.3) else pick.some(topic, 2),
        "TimeoutMs": pick.timeout_ms(),
    }
    return [Call("ElectLeaders", pick.version("ElectLeaders"), body)]
