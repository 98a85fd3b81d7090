"""What model brokers and the model admin need of the simulation, and to whom they report."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from kraftctl_protocol.message import Message
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_protocol.record_batch import RecordBatch
from kraftctl_protocol.uuids import Uuid

Answered = Callable[[Message | None], None]
"""Takes the decoded response; None when the connection failed or the response took too long."""


class Timer(Protocol):
    """A call that is still to come."""

    def cancel(self) -> None: ...


class Time(Protocol):
    """The virtual clock."""

    @property
    def now_us(self) -> int: ...

    def call_after(self, delay_us: int, call: Callable[[], None], /) -> Timer: ...


class Network(Protocol):
    """Connections from clients to controllers, one per (client, node, channel)."""

    @property
    def may_duplicate(self) -> bool:
        """Whether a request may arrive twice: then the response may be the one to its second arrival."""
        ...

    def call(
        self,
        client: str,
        node_id: int,
        request: Message,
        answered: Answered,
        *,
        channel: str,
        version: int | None = None,
    ) -> None:
        """Send `request` in `version`, by default the highest that the node serves.

        `answered` is called exactly once, never from within this call. Requests of one connection arrive in
        order and one at a time; different channels overtake each other.
        """

    def disconnect(self, client: str) -> None:
        """Close the connections of a client that has ended; calls still out are answered with None."""


class BrokerWatch(Protocol):
    """What brokers see, for invariants. `life` counts the processes of one broker, from 1.

    Metadata offsets are ends (exclusive) unless they are named last or base.
    """

    def started(self, broker_id: int, life: int, end_offset: int) -> None:
        """A process begins with what its broker has of the metadata log: everything before `end_offset`."""

    def told_high_watermark(self, broker_id: int, life: int, high_watermark: int) -> None:
        """A Fetch was answered with this high watermark; -1 is not reported."""

    def applied(self, broker_id: int, life: int, batch: RecordBatch, data: bytes) -> None:
        """A batch (data or control) was fetched and replayed; `data` are its bytes.

        A leader gives observers nothing but what is committed, so this is below the reported high watermark.
        """

    def loaded(self, broker_id: int, life: int, snapshot_id: OffsetAndEpoch, data: bytes) -> None:
        """A snapshot was fetched whole, and replaces the broker's image and log."""

    def leads(self, broker_id: int, topic_id: Uuid, partition: int, leader_epoch: int) -> None:
        """The broker begins to lead the partition in this leader epoch."""

    def acknowledged(
        self, broker_id: int, topic_id: Uuid, partition: int, leader_epoch: int, end_offset: int
    ) -> None:
        """Producers were promised all of the partition's records below `end_offset`."""

    def elected(
        self,
        topic_id: Uuid,
        partition: int,
        leader: int,
        leader_epoch: int,
        *,
        clean: bool,
        has_all_acknowledged: bool,
    ) -> None:
        """A new leader epoch in the metadata log, reported once, by the first broker that sees it.

        `clean` is false if the leader has to recover (KIP-704); otherwise nothing may be missing.
        """
