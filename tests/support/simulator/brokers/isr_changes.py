"""AlterPartitionManager of a model broker: one AlterPartition in flight, with all ISR changes that wait.

What Kafka's DefaultAlterPartitionManager and Partition do with each error code:

| code | broker |
|---|---|
| NONE | adopts the answered state, unless it knows a newer one |
| INELIGIBLE_REPLICA | returns to the committed ISR, and may try again |
| those of `GIVEN_UP` | waits until the metadata log has a newer state; the change stays pending |
| others, STALE_BROKER_EPOCH for the whole request | sends it again |
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Protocol

from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.alter_partition_request import (
    AlterPartitionRequest,
    BrokerState,
    PartitionData,
    TopicData,
)
from kraftctl_protocol.generated.alter_partition_response import AlterPartitionResponse
from kraftctl_protocol.generated.alter_partition_response import PartitionData as AlteredPartition
from kraftctl_protocol.message import Message
from tests.support.simulator.brokers.broker_image import PartitionKey
from tests.support.simulator.brokers.broker_profiles import BrokerProfile
from tests.support.simulator.brokers.clients import Time

RETRY_US = 50_000
STATES_SENT_FROM_VERSION = 3

GIVEN_UP = (
    Errors.UNKNOWN_TOPIC_OR_PARTITION,
    Errors.UNKNOWN_TOPIC_ID,
    Errors.FENCED_LEADER_EPOCH,
    Errors.INVALID_UPDATE_VERSION,
    Errors.INVALID_REQUEST,
    Errors.NEW_LEADER_ELECTED,
)


class IsrChange:
    """One proposal; `broker_epochs` are those of `isr`, -1 where the leader does not know it (KIP-903)."""

    __slots__ = ("broker_epochs", "isr", "key", "leader_epoch", "partition_epoch")

    def __init__(
        self,
        *,
        key: PartitionKey,
        leader_epoch: int,
        partition_epoch: int,
        isr: tuple[int, ...],
        broker_epochs: tuple[int, ...],
    ) -> None:
        self.key = key
        self.leader_epoch = leader_epoch
        self.partition_epoch = partition_epoch
        self.isr = isr
        self.broker_epochs = broker_epochs


class IsrOwner(Protocol):
    """Whose ISRs are changed."""

    broker_epoch: int

    def isr_accepted(self, change: IsrChange, answer: AlteredPartition) -> None:
        """The controller has committed this, or a newer, state."""

    def isr_refused(self, change: IsrChange) -> None:
        """The committed ISR stays."""


class IsrChanges:
    """Proposals that wait for a response, by partition. `send` reaches the active controller, in the end."""

    def __init__(
        self,
        broker_id: int,
        profile: BrokerProfile,
        time: Time,
        send: Callable[[Message, Callable[[Message | None], None]], None],
        counts: Counter[str],
    ) -> None:
        self._broker_id = broker_id
        self._version = profile.version(AlterPartitionRequest)
        self._time = time
        self._send = send
        self._counts = counts
        self._waiting: dict[PartitionKey, IsrChange] = {}
        self._in_flight: list[IsrChange] = []
        self.owner: IsrOwner | None = None

    def submit(self, change: IsrChange) -> None:
        """At most one per partition: a leader proposes nothing while something is pending."""
        self._waiting[change.key] = change
        self._send_waiting()

    def forget(self, key: PartitionKey) -> None:
        """The metadata log has a newer state: the change is not sent again."""
        self._waiting.pop(key, None)

    def _send_waiting(self) -> None:
        if self._in_flight or not self._waiting:
            return
        owner = self.owner
        assert owner is not None
        self._in_flight = list(self._waiting.values())
        topics: dict[bytes, TopicData] = {}
        for change in self._in_flight:
            topic_id, index = change.key
            topic = topics.setdefault(topic_id, TopicData(topic_id=topic_id, partitions=[]))
            topic.partitions.append(self._partition_data(change, index))
        request = AlterPartitionRequest(
            broker_id=self._broker_id, broker_epoch=owner.broker_epoch, topics=list(topics.values())
        )
        self._counts["alter_partitions"] += 1
        self._send(request, self._answered)

    def _partition_data(self, change: IsrChange, index: int) -> PartitionData:
        data = PartitionData(
            partition_index=index,
            leader_epoch=change.leader_epoch,
            partition_epoch=change.partition_epoch,
        )
        if self._version >= STATES_SENT_FROM_VERSION:
            data.new_isr_with_epochs = [
                BrokerState(broker_id=replica, broker_epoch=epoch)
                for replica, epoch in zip(change.isr, change.broker_epochs, strict=True)
            ]
        else:
            data.new_isr = list(change.isr)
        return data

    def _answered(self, response: Message | None) -> None:
        changes, self._in_flight = self._in_flight, []
        if not isinstance(response, AlterPartitionResponse) or response.error_code != Errors.NONE:
            code = None if response is None else response.error_code  # type: ignore[attr-defined]
            self._counts[f"alter_partition {'unanswered' if code is None else Errors(code).name}"] += 1
            self._time.call_after(RETRY_US, self._send_waiting)
            return
        answers = {
            (topic.topic_id, partition.partition_index): partition
            for topic in response.topics
            for partition in topic.partitions
        }
        again = False
        for change in changes:
            answer = answers.get(change.key)
            if answer is None or not self._settle(change, answer):
                again = True
        if again:
            self._time.call_after(RETRY_US, self._send_waiting)
        else:
            self._send_waiting()

    def _settle(self, change: IsrChange, answer: AlteredPartition) -> bool:
        """Whether the change need not be sent again."""
        owner = self.owner
        assert owner is not None
        error = answer.error_code
        self._counts[f"isr {Errors(error).name}"] += 1
        if error != Errors.NONE and error != Errors.INELIGIBLE_REPLICA and error not in GIVEN_UP:
            return False
        if self._waiting.get(change.key) is change:
            del self._waiting[change.key]
        if error == Errors.NONE:
            owner.isr_accepted(change, answer)
        elif error == Errors.INELIGIBLE_REPLICA:
            owner.isr_refused(change)
        return True
