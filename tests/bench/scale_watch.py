"""Who leads, and who is blocked: two requests that a controller can answer at any time, again and again."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.api_versions_request import ApiVersionsRequest
from kraftctl_protocol.generated.api_versions_response import ApiVersionsResponse
from kraftctl_protocol.generated.describe_quorum_request import (
    DescribeQuorumRequest,
    PartitionData,
    TopicData,
)
from kraftctl_protocol.generated.describe_quorum_response import DescribeQuorumResponse
from tests.bench.scale_connection import Connection

VERSIONS_PAUSE_S: Final = 0.01
QUORUM_PAUSE_S: Final = 0.03
RESPONSE_SECONDS_MAX: Final = 120.0

VERSIONS = ApiVersionsRequest(client_software_name="bench", client_software_version="1")
QUORUM = DescribeQuorumRequest(
    topics=[TopicData(topic_name="__cluster_metadata", partitions=[PartitionData(partition_index=0)])]
)


@dataclass(slots=True)
class Asked:
    """`answered_s` is None when the connection was refused or lost."""

    sent_s: float
    ended_s: float
    answered: bool


@dataclass(slots=True)
class Led:
    """What a controller said that led at that moment."""

    at_s: float
    leader_id: int
    epoch: int
    high_watermark: int
    caught_up: tuple[int, ...] = ()
    """Voters whose log ends at the high watermark or later."""


class Watch:
    """Of one controller. `on_led` is called with each answer of a controller that leads."""

    def __init__(self, node_id: int, port: int, on_led: Callable[[Led], None]) -> None:
        self.node_id = node_id
        self.port = port
        self.versions: list[Asked] = []
        self.quorum: list[Asked] = []
        self._on_led = on_led

    async def ask_versions(self) -> None:
        """For ever."""
        connection = Connection(self.port, "bench-versions")
        while True:
            sent_s = time.monotonic()
            try:
                await connection.call(VERSIONS, 3, ApiVersionsResponse, RESPONSE_SECONDS_MAX)
                answered = True
            except (OSError, TimeoutError):
                answered = False
            self.versions.append(Asked(sent_s, time.monotonic(), answered))
            await asyncio.sleep(VERSIONS_PAUSE_S)

    async def ask_quorum(self) -> None:
        """For ever."""
        connection = Connection(self.port, "bench-quorum")
        while True:
            sent_s = time.monotonic()
            answered = False
            try:
                answer = await connection.call(QUORUM, 2, DescribeQuorumResponse, RESPONSE_SECONDS_MAX)
                answered = True
                if answer.topics:
                    described = answer.topics[0].partitions[0]
                    if described.error_code == Errors.NONE and described.leader_id == self.node_id:
                        self._on_led(
                            Led(
                                sent_s,
                                self.node_id,
                                described.leader_epoch,
                                described.high_watermark,
                                tuple(
                                    v.replica_id
                                    for v in described.current_voters
                                    if v.log_end_offset >= described.high_watermark
                                ),
                            )
                        )
            except (OSError, TimeoutError):
                pass
            self.quorum.append(Asked(sent_s, time.monotonic(), answered))
            await asyncio.sleep(QUORUM_PAUSE_S)


def longest_without_answer_s(asked: list[Asked], since_s: float, until_s: float) -> float:
    """The longest time in this window without a response while one was asked for: from when the first request
    without a response was sent to the next response."""
    longest_s, waiting_since_s = 0.0, None
    for each in asked:
        if each.ended_s < since_s or each.sent_s > until_s:
            continue
        if waiting_since_s is None:
            waiting_since_s = each.sent_s
        longest_s = max(longest_s, each.ended_s - waiting_since_s)
        if each.answered:
            waiting_since_s = None
    return longest_s
