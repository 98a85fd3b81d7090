"""NodeToControllerChannelManager: requests of a broker to the leader that its raft client knows.

One request at a time. After NOT_CONTROLLER, or without a response, the same request is sent again to the
leader of that moment, until the request is too old.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.alter_partition_response import AlterPartitionResponse
from kraftctl_protocol.message import Message
from tests.support.simulator.brokers.broker_profiles import BrokerProfile
from tests.support.simulator.brokers.clients import Network, Time
from tests.support.simulator.brokers.metadata_reader import NO_LEADER, MetadataReader

POLL_US = 100_000
RETRY_US = 60_000
FOR_EVER_US = 1 << 60

Answered = Callable[[Message | None], None]


class _Call:
    __slots__ = ("answered", "deadline_us", "request", "sendings", "version")

    def __init__(self, request: Message, version: int, answered: Answered, deadline_us: int) -> None:
        self.request = request
        self.version = version
        self.answered = answered
        self.deadline_us = deadline_us
        self.sendings = 0


class ControllerChannel:
    """One channel of one broker process."""

    def __init__(
        self,
        name: str,
        client: str,
        profile: BrokerProfile,
        reader: MetadataReader,
        network: Network,
        time: Time,
    ) -> None:
        self._name = name
        self._client = client
        self._profile = profile
        self._reader = reader
        self._network = network
        self._time = time
        self._calls: deque[_Call] = deque()
        self.was_resent = False
        """Of the call that is being answered: an earlier sending of it may have been carried out."""
        self._ended = False

    def end(self) -> None:
        """The process has ended: nothing is sent or answered any more."""
        self._ended = True
        self._calls.clear()

    def send(self, request: Message, answered: Answered, timeout_us: int = FOR_EVER_US) -> None:
        """`answered` is called once; with None if there is no usable response in time."""
        version = self._profile.version(type(request))
        self._calls.append(_Call(request, version, answered, self._time.now_us + timeout_us))
        if len(self._calls) == 1:
            self._send_first()

    def _send_first(self) -> None:
        if self._ended or not self._calls:
            return
        call = self._calls[0]
        leader_id = self._reader.leader_id
        if leader_id != NO_LEADER:
            call.sendings += 1
            self._network.call(
                self._client,
                leader_id,
                call.request,
                self._answered,
                channel=self._name,
                version=call.version,
            )
        elif self._time.now_us >= call.deadline_us:
            self._finish(None)
        else:
            self._time.call_after(POLL_US, self._send_first)

    def _answered(self, response: Message | None) -> None:
        if self._ended:
            return
        if response is not None and not says_not_controller(response):
            self._finish(response)
        elif self._time.now_us >= self._calls[0].deadline_us:
            self._finish(None)
        else:
            self._time.call_after(RETRY_US, self._send_first)

    def _finish(self, response: Message | None) -> None:
        call = self._calls.popleft()
        self._send_first()
        self.was_resent = call.sendings > 1
        call.answered(response)


def says_not_controller(response: Message) -> bool:
    """Of the requests that brokers send; NOT_CONTROLLER anywhere counts."""
    if response.error_code == Errors.NOT_CONTROLLER:  # type: ignore[attr-defined]
        return True
    return isinstance(response, AlterPartitionResponse) and any(
        partition.error_code == Errors.NOT_CONTROLLER
        for topic in response.topics
        for partition in topic.partitions
    )
