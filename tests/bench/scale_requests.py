"""The requests of `make bench-scale`: many partitions at a time, each answer checked entry by entry."""

from __future__ import annotations

from collections import Counter
from typing import Final

from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.create_topics_request import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
)
from kraftctl_protocol.generated.create_topics_response import CreateTopicsResponse
from tests.bench.scale_cluster import Cluster

PARTITIONS_PER_TOPIC: Final = 100
PARTITIONS_PER_REQUEST: Final = 9_900
RECORDS_PER_REQUEST: Final = 10_000
"""Kafka's limit. A topic is a record, and so is each of its partitions."""
REPLICATION_FACTOR: Final = 3
TIMEOUT_MS: Final = 180_000


def topic_name(number: int) -> str:
    return f"topic-{number:05}"


async def create_topics(cluster: Cluster, topics: list[CreatableTopic]) -> dict[str, bytes]:
    """Topic ids by name."""
    request = CreateTopicsRequest(topics=topics, timeout_ms=TIMEOUT_MS)
    answer = await cluster.ask(request, 7, CreateTopicsResponse)
    refuse_errors([each.error_code for each in answer.topics], "CreateTopics")
    return {each.name: each.topic_id for each in answer.topics}


async def create_partitions(
    cluster: Cluster, partitions: int, *, per_topic: int = PARTITIONS_PER_TOPIC, prefix: str = "topic-"
) -> None:
    """Topics prefix00000, prefix00001, ..., placed by the controller; one request after the other."""
    topics = [
        CreatableTopic(
            name=f"{prefix}{number:05}", num_partitions=per_topic, replication_factor=REPLICATION_FACTOR
        )
        for number in range(partitions // per_topic)
    ]
    per_request = max(1, RECORDS_PER_REQUEST // (per_topic + 1))
    for begin in range(0, len(topics), per_request):
        await create_topics(cluster, topics[begin : begin + per_request])


async def create_led_by(cluster: Cluster, name: str, partitions: int, replicas: list[int]) -> bytes:
    """One topic whose partitions are all on these brokers, led by the first; returns its id."""
    topic = CreatableTopic(
        name=name,
        num_partitions=-1,
        replication_factor=-1,
        assignments=[
            CreatableReplicaAssignment(partition_index=index, broker_ids=replicas)
            for index in range(partitions)
        ],
    )
    return (await create_topics(cluster, [topic]))[name]


def refuse_errors(error_codes: list[int], what: str) -> None:
    """Raises ValueError unless all of them are NONE."""
    wrong = Counter(Errors(code).name for code in error_codes if code != Errors.NONE)
    if wrong:
        raise ValueError(f"{what}: {dict(wrong)} of {len(error_codes)}")
