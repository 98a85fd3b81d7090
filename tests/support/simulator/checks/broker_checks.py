"""What brokers may see: committed records in order, a high watermark that only rises, one leader per epoch.

Implements `BrokerWatch`.
"""

from __future__ import annotations

from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_protocol.record_batch import RecordBatch
from kraftctl_protocol.uuids import Uuid
from tests.support.simulator.brokers.clients import BrokerWatch
from tests.support.simulator.checks.invariants import broken
from tests.support.simulator.checks.log_history import LogHistory
from tests.support.simulator.checks.partition_checks import PartitionChecks


class BrokerLife:
    """How far one process of a broker has come. `count` is the number of committed batches in its image."""

    __slots__ = ("count", "end", "high_watermark", "life")

    def __init__(self, life: int) -> None:
        self.life = life
        self.count = 0
        self.end = 0
        self.high_watermark = -1


class BrokerChecks(BrokerWatch):
    """One object for all brokers."""

    def __init__(self, history: LogHistory, partitions: PartitionChecks) -> None:
        self._history = history
        self._partitions = partitions
        self._lives: dict[int, BrokerLife] = {}
        self._acknowledged: dict[tuple[Uuid, int], int] = {}

    def _life(self, broker_id: int, life: int) -> BrokerLife:
        known = self._lives.get(broker_id)
        if known is None or known.life != life:
            known = self._lives[broker_id] = BrokerLife(life)
        return known

    def started(self, broker_id: int, life: int, end_offset: int) -> None:
        """The next process of a broker continues its copy of the log."""
        count = self._history.count_before(end_offset)
        if count is None:
            broken("BrokersSeeCommittedData", f"broker {broker_id} begins at {end_offset}, within a batch")
        known = self._lives[broker_id] = BrokerLife(life)
        known.count = count
        known.end = end_offset

    def told_high_watermark(self, broker_id: int, life: int, high_watermark: int) -> None:
        """Brokers end their process when it decreases."""
        known = self._life(broker_id, life)
        if high_watermark == known.high_watermark:
            return
        if high_watermark < known.high_watermark:
            broken(
                "MonotonicHighWatermark",
                f"broker {broker_id} is answered {high_watermark} after {known.high_watermark}",
            )
        if high_watermark > self._history.committed_end:
            broken(
                "ConsistentCommittedData",
                f"broker {broker_id} is answered high watermark {high_watermark}, committed is"
                f" {self._history.committed_end}",
            )
        known.high_watermark = high_watermark

    def applied(self, broker_id: int, life: int, batch: RecordBatch, data: bytes) -> None:
        """The next committed batch, byte for byte."""
        known = self._life(broker_id, life)
        committed = self._history.committed
        header = batch.header
        if known.count >= len(committed) or committed[known.count].data != data:
            expected = committed[known.count] if known.count < len(committed) else "nothing yet"
            broken(
                "BrokersSeeCommittedData",
                f"broker {broker_id} got {header!r} at offset {known.end}; committed there: {expected}",
            )
        if header.last_offset >= known.high_watermark:
            broken(
                "BrokersSeeCommittedData",
                f"broker {broker_id} got {header!r} with high watermark {known.high_watermark}",
            )
        known.count += 1
        known.end = header.last_offset + 1

    def loaded(self, broker_id: int, life: int, snapshot_id: OffsetAndEpoch, data: bytes) -> None:
        """A snapshot of committed records, not below what the broker has already."""
        known = self._life(broker_id, life)
        history = self._history
        count = history.count_before(snapshot_id.offset)
        if not count or history.committed[count - 1].epoch != snapshot_id.epoch:
            broken("ConsistentCommittedData", f"broker {broker_id} got {snapshot_id}, which is not committed")
        if count < known.count:
            broken("BrokersSeeCommittedData", f"broker {broker_id} is at {known.end}, got {snapshot_id}")
        self._partitions.check_snapshot(f"broker {broker_id}", snapshot_id, data)
        known.count = count
        known.end = snapshot_id.offset

    def leads(self, broker_id: int, topic_id: Uuid, partition: int, leader_epoch: int) -> None:
        """The committed log names one leader for each leader epoch."""
        leader = self._partitions.leaders.get((topic_id, partition, leader_epoch))
        if leader != broker_id:
            broken(
                "NeverTwoLeadersInSameEpoch",
                f"broker {broker_id} leads {topic_id.hex()}-{partition} in leader epoch {leader_epoch},"
                f" the log names {leader}",
            )

    def acknowledged(
        self, broker_id: int, topic_id: Uuid, partition: int, leader_epoch: int, end_offset: int
    ) -> None:
        """Only a broker that the log has named leader acknowledges."""
        self.leads(broker_id, topic_id, partition, leader_epoch)
        key = (topic_id, partition)
        self._acknowledged[key] = max(end_offset, self._acknowledged.get(key, 0))

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
        """A clean election loses nothing that was acknowledged; an unclean one may."""
        if clean and not has_all_acknowledged:
            broken(
                "NoCommittedRecordLostGlobally",
                f"{leader} leads {topic_id.hex()}-{partition} in leader epoch {leader_epoch} without all that"
                f" was acknowledged, up to {self._acknowledged.get((topic_id, partition), 0)}",
            )
        if not clean:
            self._acknowledged.pop((topic_id, partition), None)

    def check_converged(self, broker_ids: list[int], end_offset: int) -> None:
        """After the faults: these brokers, which run, have everything before `end_offset`."""
        for broker_id in broker_ids:
            known = self._lives.get(broker_id)
            if known is None or known.end < end_offset:
                end = 0 if known is None else known.end
                broken("EventuallyMetadataConverges", f"broker {broker_id} is at {end} of {end_offset}")
