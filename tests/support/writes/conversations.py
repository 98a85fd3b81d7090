"""Conversations about changes, for one controller after the other.

`RECORDED` has the responses of Kafka 4.3.1: `tests/interop/test_writes_compared.py` records and checks them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from kraftctl_protocol.generated.broker_registration_request import (
    BrokerRegistrationRequest,
    Feature,
    Listener,
)
from kraftctl_protocol.message import Message

CLOSED = "closed"
"""The answer of a connection that is closed instead."""

RECORDED = Path(__file__).parents[2] / "data" / "kafka-4.3.1" / "write-responses.json"

BROKERS = (1, 2, 3)

NOT_COMPARED = ("error_message", "throttle_time_ms", "topic_id", "broker_epoch", "configs")
"""Texts are our own; ids and epochs are others in each cluster. Configs of topics have their own tests."""

Ask = tuple[Message, int]
"""A request and its version."""

FEATURES_OF_4_3 = {
    "eligible.leader.replicas.version": (0, 1),
    "group.version": (0, 1),
    "kraft.version": (0, 1),
    "metadata.version": (7, 30),
    "share.version": (0, 1),
    "streams.version": (0, 1),
    "transaction.version": (0, 2),
}


def registration(broker_id: int, cluster_id: str) -> BrokerRegistrationRequest:
    """Returns the request of a 4.3 broker with one log directory."""
    return BrokerRegistrationRequest(
        broker_id=broker_id,
        cluster_id=cluster_id,
        incarnation_id=broker_id.to_bytes(2, "big") * 8,
        listeners=[Listener(name="PLAINTEXT", host="localhost", port=9_000 + broker_id % 1_000)],
        features=[
            Feature(name=name, min_supported_version=low, max_supported_version=high)
            for name, (low, high) in FEATURES_OF_4_3.items()
        ],
        log_dirs=[(100 + broker_id).to_bytes(2, "big") * 8],
    )


def conversations(cluster_id: str) -> Iterator[tuple[str, list[Ask]]]:
    """Returns all of them by name, in the order in which one cluster is asked."""
    from tests.support.writes import acls, registrations, settings, topics

    yield from topics.conversations()
    yield from settings.conversations()
    yield from acls.conversations()
    yield from registrations.conversations(cluster_id)


def played(cluster_id: str, ask: Callable[[Message, int], object]) -> dict[str, list[Any]]:
    """Returns what `ask` returned to the requests, by the name of the conversation.

    Equal ones behind each other are one: their number, and what it is.
    """
    return {
        name: _runs([described(ask(request, version)) for request, version in asks])
        for name, asks in conversations(cluster_id)
    }


def _runs(answers: list[Any]) -> list[Any]:
    return [[len(list(run)), answer] for answer, run in groupby(answers)]


def described(answer: object) -> Any:
    """Returns what is compared of a response; it can be written as JSON."""
    if isinstance(answer, Message):
        fields = {field.name: getattr(answer, field.name) for field in answer.FIELDS}
        return {name: described(value) for name, value in fields.items() if _is_compared(name, value)}
    if isinstance(answer, list):
        parts = [described(part) for part in answer]
        # Kafka shuffles the results of deletions.
        is_shuffled = bool(answer) and type(answer[0]).__name__ in ("DeletableTopicResult",)
        return sorted(parts, key=json.dumps) if is_shuffled else parts
    return bytes(answer).hex() if isinstance(answer, (bytes, memoryview)) else answer


def _is_compared(name: str, value: object) -> bool:
    return name not in NOT_COMPARED and value not in (0, "", None, [])


def recorded() -> dict[str, list[Any]]:
    """Returns the responses of Kafka."""
    responses: dict[str, list[Any]] = json.loads(RECORDED.read_text())
    return responses


def as_file(responses: dict[str, list[Any]]) -> str:
    """Returns the content of the file with these responses, a line for each conversation."""
    lines = [f"{json.dumps(name)}: {json.dumps(asked)}" for name, asked in responses.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"
