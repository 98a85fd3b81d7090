"""Brokers and topics that a scenario needs before it begins."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Final

from kraftctl.dev.polling import await_result
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.create_topics_request import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
)
from kraftctl_protocol.generated.create_topics_response import CreateTopicsResponse
from tests.support.wire.controller_client import ControllerClient, StandInBroker

RECORDS_PER_REQUEST: Final = 10_000
"""Kafka's limit. A topic is a record, and so is each of its partitions."""
TIMEOUT_MS: Final = 60_000
CLIENT_SECONDS_MAX: Final = 120.0


def client(port: int) -> ControllerClient:
    return ControllerClient(port, timeout_s=CLIENT_SECONDS_MAX)


def unfenced_brokers(connection: ControllerClient, cluster_id: str, count: int) -> list[StandInBroker]:
    """Brokers 1, 2, ..., registered and unfenced."""
    brokers = [StandInBroker(connection, number + 1, cluster_id) for number in range(count)]
    for broker in brokers:
        await_result(broker.register, f"broker {broker.broker_id} is registered")
        await_result(broker.is_unfenced, f"broker {broker.broker_id} is unfenced")
    return brokers


def assigned_topic(name: str, partitions: int, replicas: Sequence[int]) -> CreatableTopic:
    """All partitions on these brokers, led by the first."""
    return CreatableTopic(
        name=name,
        num_partitions=-1,
        replication_factor=-1,
        assignments=[
            CreatableReplicaAssignment(partition_index=index, broker_ids=list(replicas))
            for index in range(partitions)
        ],
    )


def create(
    connection: ControllerClient, topics: Sequence[CreatableTopic], seconds_max: float = math.inf
) -> dict[str, bytes]:
    """Topic ids by name; as many per request as Kafka's limit on records permits. Raises TimeoutError."""
    until_s = time.monotonic() + seconds_max
    found: dict[str, bytes] = {}
    batch: list[CreatableTopic] = []
    records = 0
    for topic in topics:
        needed = 1 + max(topic.num_partitions, len(topic.assignments))
        if records + needed > RECORDS_PER_REQUEST:
            if time.monotonic() > until_s:
                raise TimeoutError(f"{len(found):,} of {len(topics):,} topics created in {seconds_max:g} s")
            found |= _create(connection, batch)
            batch, records = [], 0
        batch.append(topic)
        records += needed
    return found | _create(connection, batch)


def _create(connection: ControllerClient, topics: list[CreatableTopic]) -> dict[str, bytes]:
    response = connection.call(
        CreateTopicsRequest(topics=topics, timeout_ms=TIMEOUT_MS), 7, CreateTopicsResponse
    )
    assert {entry.error_code for entry in response.topics} == {Errors.NONE}, response
    return {entry.name: entry.topic_id for entry in response.topics}
