"""Calls about topics and their partitions."""

from __future__ import annotations

from tests.differential.call import Call
from tests.differential.calls.avoided import MADE_SHARE
from tests.differential.calls.chooser import Chooser
from tests.differential.calls.configs import topic_config
from tests.differential.codec import Body
from tests.differential.schemas import ZERO_UUID


def create_topics(pick: Chooser) -> list[Call]:
    automatic = pick.often(0.2)

    def topic() -> Body:
        named: Body = {"Name": pick.new_topic(), "Configs": []}
        if pick.often(0.4):
            named["Configs"] = [
                {"Name": name, "Value": value} for name, value in pick.some(lambda: topic_config(pick))
            ]
        if automatic:
            return {
                **named,
                "NumPartitions": pick.one((-1, 1, 2, 3, 0, -2, 12)),
                "ReplicationFactor": pick.one((-1, 1, 2, 3, 0, -2, 7)),
                "Assignments": [],
            }
        width = pick.chance.randint(1, 3)
        assignments = [
            {"PartitionIndex": index if pick.often(0.99) else 5, "BrokerIds": pick.brokers(width)}
            for index in range(pick.chance.randint(1, 3))
        ]
        if pick.often(0.02):
            assignments.append(assignments[0])
        if pick.often(0.1):
            pick.chance.shuffle(assignments)
        counts = (-1, -1) if pick.often(0.97) else (1, 1)
        return {
            **named, "NumPartitions": counts[0], "ReplicationFactor": counts[1], "Assignments": assignments,
        }  # fmt: skip

    topics = pick.some(topic, 3)
    validate = pick.often(0.5 if automatic else 0.07)
    call = Call(
        "CreateTopics",
        pick.version("CreateTopics"),
        {"Topics": topics, "timeoutMs": pick.timeout_ms(), "validateOnly": validate},
    )
    return [call]


def _has_isrs(pick: Chooser, name: str) -> bool:
    """Whether Kafka's controller forgets the directories of the topic when it is deleted."""
    return all(each.isr for each in pick.picture.topics.get(name, {}).values())


def _to_be_deleted(pick: Chooser) -> str:
    name = pick.topic()
    return name if _has_isrs(pick, name) or pick.often(MADE_SHARE) else "none"


def delete_topics(pick: Chooser) -> list[Call]:
    def state() -> Body:
        by_id = pick.often(0.5)
        both = pick.often(0.03)
        return {
            "Name": _to_be_deleted(pick) if not by_id or both else None,
            "TopicId": pick.topic_id(_to_be_deleted(pick)) if by_id or both else ZERO_UUID,
        }

    body = {
        "Topics": pick.some(state, 3),
        "TopicNames": pick.some(lambda: _to_be_deleted(pick), 3),
        "TimeoutMs": pick.timeout_ms(),
    }
    return [Call("DeleteTopics", pick.version("DeleteTopics"), body)]


def _has_one_width(pick: Chooser, name: str) -> bool:
    """Whether all partitions have as many replicas as that which is first in the hash map of Kafka."""
    return len({len(each.replicas) for each in pick.picture.topics.get(name, {}).values()}) < 2


def create_partitions(pick: Chooser) -> list[Call]:
    def topic() -> Body:
        name = pick.topic()
        if not _has_one_width(pick, name) and not pick.often(MADE_SHARE):
            name = pick.new_topic()
        existing = len(pick.picture.topics.get(name, {}))
        added = pick.one((1, 1, 2, 3, 0, -1))
        width = pick.chance.randint(1, 3)
        partitions = pick.picture.topics.get(name, {})
        if partitions and pick.often(0.8):
            width = len(partitions[min(partitions)].replicas)
        assignments = [{"BrokerIds": pick.brokers(width)} for _ in range(max(0, added))]
        if pick.often(0.03):
            assignments.append({"BrokerIds": pick.brokers(width)})
        alone = pick.often(0.05)
        return {"Name": name, "Count": existing + added, "Assignments": None if alone else assignments}

    body = {
        "Topics": pick.some(topic, 2),
        "TimeoutMs": pick.timeout_ms(),
        "ValidateOnly": pick.often(0.1),
    }
    return [Call("CreatePartitions", pick.version("CreatePartitions"), body)]
