"""Every batch that any replica of a quorum ever held, once, and each replica's log as a list of them.

A batch is known by (base offset, epoch) and knows the one before it. As long as every log agrees with that,
two logs that share a batch share everything before it (LogMatching), so whole logs are compared by comparing
one reference.
"""

from __future__ import annotations

from bisect import bisect_left

from kraftctl.raft.voter_set import VoterSet, voter_set_from_record
from kraftctl_protocol.control_record import ControlRecordType, decode_control_key, decode_control_value
from kraftctl_protocol.generated.broker_registration_change_record import BrokerRegistrationChangeRecord
from kraftctl_protocol.generated.no_op_record import NoOpRecord
from kraftctl_protocol.generated.register_broker_record import RegisterBrokerRecord
from kraftctl_protocol.generated.unregister_broker_record import UnregisterBrokerRecord
from kraftctl_protocol.generated.voters_record import VotersRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import decode_metadata_record
from kraftctl_protocol.primitives import DecodeError
from kraftctl_protocol.record_batch import read_batch
from tests.support.simulator.checks.invariants import broken

REGISTRATIONS = (BrokerRegistrationChangeRecord, RegisterBrokerRecord, UnregisterBrokerRecord)
"""What the controllers under test write about brokers."""


class Batch:
    """`end` is exclusive; `index` counts the batches before it, so it is its place in every log.

    `voters_batch` is the newest batch with voters up to and including this one.
    """

    __slots__ = (
        "base_offset", "data", "end", "epoch", "index", "is_control", "messages", "previous", "voters",
        "voters_batch",
    )  # fmt: skip

    def __init__(
        self, base_offset: int, end: int, epoch: int, data: bytes, is_control: bool, previous: Batch | None
    ) -> None:
        self.base_offset = base_offset
        self.end = end
        self.epoch = epoch
        self.data = data
        self.is_control = is_control
        self.previous = previous
        self.index: int = 0 if previous is None else previous.index + 1
        self.voters = _voters_in(data) if is_control else None
        self.voters_batch: Batch | None = None if previous is None else previous.voters_batch
        if self.voters is not None:
            self.voters_batch = self
        self.messages: list[Message] = [] if is_control else _messages_in(data, base_offset)

    def changes_metadata(self) -> bool:
        """Whether a reader of the image could see it."""
        return any(type(message) is not NoOpRecord for message in self.messages)

    def registrations_changed(self) -> set[int]:
        """The brokers whose heartbeats could see it."""
        return {message.broker_id for message in self.messages if isinstance(message, REGISTRATIONS)}

    def __repr__(self) -> str:
        return f"{self.base_offset}-{self.end - 1} of epoch {self.epoch}"


def _voters_in(data: bytes) -> VoterSet | None:
    found: VoterSet | None = None
    for record in read_batch(data, 0, verify_crc=False).records:
        control_type = decode_control_key(record.key)
        if control_type == ControlRecordType.KRAFT_VOTERS:
            message = decode_control_value(control_type, record.value)
            assert isinstance(message, VotersRecord)
            found = voter_set_from_record(message)
    return found


def _messages_in(data: bytes, base_offset: int) -> list[Message]:
    try:
        records = read_batch(data, 0).records
        return [decode_metadata_record(record.value or b"").record for record in records]
    except DecodeError as error:
        broken("EveryRecordDecodes", f"the batch at offset {base_offset}: {error}")


class LogHistory:
    """All batches by (base offset, epoch), and those that are committed, in order.

    `committed_end` is exclusive, and the end of what any replica ever considered committed.
    """

    def __init__(self) -> None:
        self.batches: dict[tuple[int, int], Batch] = {}
        self.committed: list[Batch] = []
        self.committed_ends: list[int] = []
        self.committed_end = 0

    def adopt(
        self, base_offset: int, end: int, epoch: int, data: bytes, is_control: bool, previous: Batch | None
    ) -> Batch:
        """The batch that a leader has appended, or that was on a disk before the simulation began."""
        batch = Batch(base_offset, end, epoch, data, is_control, previous)
        self.batches[base_offset, epoch] = batch
        return batch

    def commit(self, batch: Batch) -> None:
        """The next committed batch."""
        self.committed.append(batch)
        self.committed_ends.append(batch.end)
        self.committed_end = batch.end

    def count_before(self, end_offset: int) -> int | None:
        """How many committed batches lie before `end_offset`; None if it is not between two of them."""
        if end_offset == 0:
            return 0
        index = bisect_left(self.committed_ends, end_offset)
        if index == len(self.committed_ends) or self.committed_ends[index] != end_offset:
            return None
        return index + 1

    def is_ahead_of(self, epoch: int) -> bool:
        """Whether a leader of a later epoch has committed: a majority does without those of `epoch`."""
        return bool(self.committed) and self.committed[-1].epoch > epoch

    def is_committed(self, batch: Batch) -> bool:
        committed = self.committed
        return batch.index < len(committed) and committed[batch.index] is batch


class ReplicaLog:
    """The log of one replica from offset 0 on, also where a snapshot has replaced it. All ends are exclusive.

    `durable_end` is what the node was informed of: a flush that has ended, unless a truncation came between.
    `cut` has the batches of a truncation that may not be on the disk yet.
    """

    __slots__ = ("batches", "cut", "durable_end", "end", "ends", "flush_is_stale", "flush_runs")

    def __init__(self) -> None:
        self.batches: list[Batch] = []
        self.ends: list[int] = []
        self.end = 0
        self.durable_end = 0
        self.cut: list[Batch] = []
        self.flush_runs = False
        self.flush_is_stale = False

    def append(self, batch: Batch) -> None:
        self.batches.append(batch)
        self.ends.append(batch.end)
        self.end = batch.end

    def last(self) -> Batch | None:
        return self.batches[-1] if self.batches else None

    def count_before(self, end_offset: int) -> int | None:
        """How many batches lie before `end_offset`; None if it is not between two batches of this log."""
        if end_offset == self.end:
            return len(self.batches)
        if end_offset == 0:
            return 0
        index = bisect_left(self.ends, end_offset)
        if index == len(self.ends) or self.ends[index] != end_offset:
            return None
        return index + 1

    def epoch_before(self, end_offset: int) -> int | None:
        """The epoch of the last record before `end_offset`, 0 without one; None beyond the end."""
        count = self.count_before(end_offset)
        if count is None:
            index = bisect_left(self.ends, end_offset)
            return None if index == len(self.ends) else self.batches[index].epoch
        return 0 if count == 0 else self.batches[count - 1].epoch

    def holds(self, batch: Batch) -> bool:
        """Whether `batch`, and so everything before it, is in this log."""
        return batch.index < len(self.batches) and self.batches[batch.index] is batch

    def is_durable(self, batch: Batch) -> bool:
        """As `holds`, and it is known to be on the disk."""
        return self.durable_end >= batch.end and self.holds(batch)

    def durable_position(self) -> tuple[int, int]:
        """Epoch and end of what is durable: of two logs, the one with the later position has more."""
        return self.epoch_before(self.durable_end) or 0, self.durable_end

    def truncate_to(self, count: int) -> None:
        """Keep the first `count` batches."""
        self.cut = self.batches[count:]
        del self.batches[count:]
        del self.ends[count:]
        self.end = self.ends[-1] if self.ends else 0
        self.durable_end = min(self.durable_end, self.end)
        self.flush_is_stale = self.flush_runs

    def replace(self, batches: list[Batch]) -> None:
        """Follow a snapshot that takes the place of the log, or what a new process found; all is durable."""
        self.cut = self.batches
        self.batches = batches
        self.ends = [batch.end for batch in batches]
        self.end = self.durable_end = self.ends[-1] if self.ends else 0
        self.flush_is_stale = self.flush_runs

    def restarted(self) -> None:
        self.cut = []
        self.flush_runs = self.flush_is_stale = False

    def flushed(self, end_offset: int) -> None:
        """A flush that began before a truncation says nothing about what was appended after it."""
        self.flush_runs = False
        if self.flush_is_stale:
            self.flush_is_stale = False
        elif end_offset > self.durable_end:
            self.durable_end = end_offset
