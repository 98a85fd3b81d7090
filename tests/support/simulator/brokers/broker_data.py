"""What the brokers' disks hold of every partition, as integers; what producers were promised (KIP-966)."""

from __future__ import annotations

from kraftctl.metadata.leader_recovery_state import RECOVERED
from kraftctl.metadata.partition_registration import NO_LEADER, PartitionRegistration
from tests.support.simulator.brokers.broker_image import BrokerImage, PartitionKey
from tests.support.simulator.brokers.clients import BrokerWatch


class ReplicaLog:
    """One replica: which leader epoch wrote from which offset on, where it ends, and its high watermark.

    Two logs with the same epoch at an offset are equal up to there, as a leader epoch has one leader.
    """

    __slots__ = ("end_offset", "epochs", "high_watermark", "starts")

    def __init__(self) -> None:
        self.epochs: list[int] = []
        self.starts: list[int] = []
        self.end_offset = 0
        self.high_watermark = 0

    def append(self, epoch: int, count: int) -> None:
        """The leader of `epoch` writes that many records."""
        if not self.epochs or self.epochs[-1] != epoch:
            assert not self.epochs or self.epochs[-1] < epoch, "leader epochs fall in a replica's log"
            self.epochs.append(epoch)
            self.starts.append(self.end_offset)
        self.end_offset += count

    def epoch_at(self, offset: int) -> int:
        """Which leader epoch wrote the record; -1 without one."""
        if offset < 0 or offset >= self.end_offset:
            return -1
        for index in range(len(self.starts) - 1, -1, -1):
            if self.starts[index] <= offset:
                return self.epochs[index]
        return -1

    def has(self, end_offset: int, epoch: int) -> bool:
        """Whether it has everything below `end_offset` of the log in which `epoch` wrote the last record."""
        return end_offset == 0 or (self.end_offset >= end_offset and self.epoch_at(end_offset - 1) == epoch)

    def truncate(self, end_offset: int) -> None:
        if end_offset >= self.end_offset:
            return
        self.end_offset = end_offset
        self.high_watermark = min(self.high_watermark, end_offset)
        while self.starts and self.starts[-1] >= end_offset:
            self.starts.pop()
            self.epochs.pop()

    def common_end(self, other: ReplicaLog) -> int:
        """Where the two logs part: the outcome of asking the leader for the ends of its epochs (KIP-101)."""
        end = 0
        for index, epoch in enumerate(self.epochs):
            if index >= len(other.epochs) or other.epochs[index] != epoch:
                break
            if other.starts[index] != self.starts[index]:
                break
            end = min(self._end_of(index), other._end_of(index))
        return end

    def _end_of(self, index: int) -> int:
        return self.starts[index + 1] if index + 1 < len(self.starts) else self.end_offset

    def copy_from(self, leader: ReplicaLog, end_offset: int) -> None:
        """Take over the leader's records up to `end_offset`; the logs are equal up to here."""
        for index, start in enumerate(leader.starts):
            if start >= end_offset:
                break
            if index >= len(self.starts):
                self.starts.append(start)
                self.epochs.append(leader.epochs[index])
        self.end_offset = end_offset


class BrokerData:
    """All replicas of all brokers; they outlive the processes. One per cluster.

    `acknowledged` maps a partition to the end offset that was promised, and the leader epoch of the last
    record below it. An unclean election makes the new leader's log the promise (KIP-704).
    """

    def __init__(self, watch: BrokerWatch) -> None:
        self._watch = watch
        self._logs: dict[PartitionKey, dict[int, ReplicaLog]] = {}
        self._leader_epochs: dict[PartitionKey, int] = {}
        self._unclean_epochs: dict[PartitionKey, int] = {}
        self._seen_end = 0
        self._states: dict[PartitionKey, PartitionRegistration] = {}
        self._guessed: set[PartitionKey] = set()
        self.acknowledged: dict[PartitionKey, tuple[int, int]] = {}
        self.producer_id_blocks: dict[int, int] = {}
        """First id of a block -> the broker that it was given to."""

    def log(self, key: PartitionKey, broker_id: int) -> ReplicaLog:
        """The replica on a broker, empty if it has none yet."""
        replicas = self._logs.setdefault(key, {})
        log = replicas.get(broker_id)
        if log is None:
            log = replicas[broker_id] = ReplicaLog()
        return log

    def replicas_of(self, broker_id: int) -> list[PartitionKey]:
        """Partitions of which the broker has data."""
        return sorted(key for key, replicas in self._logs.items() if broker_id in replicas)

    def delete(self, key: PartitionKey, broker_id: int) -> None:
        """The broker is no replica any more, or the topic is deleted."""
        replicas = self._logs.get(key)
        if replicas is not None:
            replicas.pop(broker_id, None)

    def acknowledge(self, broker_id: int, key: PartitionKey, leader_epoch: int, log: ReplicaLog) -> None:
        """The leader's high watermark has risen: producers are answered."""
        end_offset = log.high_watermark
        if leader_epoch < self._unclean_epochs.get(key, -1):
            return  # A deposed leader that does not know it: the unclean election gave its records up.
        if end_offset > self.acknowledged.get(key, (0, -1))[0]:
            self.acknowledged[key] = (end_offset, log.epoch_at(end_offset - 1))
            self._watch.acknowledged(broker_id, key[0], key[1], leader_epoch, end_offset)

    def leads(self, broker_id: int, key: PartitionKey, leader_epoch: int) -> None:
        """The broker begins to lead."""
        self._watch.leads(broker_id, key[0], key[1], leader_epoch)
        if self._unclean_epochs.get(key) == leader_epoch:
            self._give_up(key, self.log(key, broker_id))

    def changed(self, key: PartitionKey, partition: PartitionRegistration, offset: int) -> None:
        """The record at `offset` of the metadata log changed a partition. Counts only the first time."""
        if offset >= self._seen_end:
            self._seen_end = offset + 1
            self._note_guess(key, partition)
            self._elected(key, partition)

    def _note_guess(self, key: PartitionKey, partition: PartitionRegistration) -> None:
        """As in Kafka, cancelling a reassignment may put a replica into the ISR that is not known to be in
        sync, where unclean elections are enabled. It does not have to recover when it is elected."""
        before = self._states.get(key)
        self._states[key] = partition
        if before is None or not before.reassigning or partition.reassigning:
            return
        if any(replica not in before.isr + before.elr for replica in partition.isr):
            self._guessed.add(key)

    def snapshot_loaded(self, image: BrokerImage) -> None:
        """If the broker is ahead of all others, it is unknown how the leaders that it finds were elected."""
        if image.end_offset <= self._seen_end:
            return
        self._seen_end = image.end_offset
        for key, partition in image.partitions():
            if partition.leader_epoch > self._leader_epochs.get(key, -1) + 1:
                self._elected(key, partition, is_known=False)
            else:
                self._elected(key, partition)

    def _elected(self, key: PartitionKey, partition: PartitionRegistration, is_known: bool = True) -> None:
        leader_epoch = int(partition.leader_epoch)
        if leader_epoch <= self._leader_epochs.get(key, -1):
            return
        self._leader_epochs[key] = leader_epoch
        leader = int(partition.leader)
        if leader == NO_LEADER:
            return
        promised = self.acknowledged.get(key)
        has_all = promised is None or self.log(key, leader).has(*promised)
        clean = is_known and partition.leader_recovery_state == RECOVERED and key not in self._guessed
        self._guessed.discard(key)
        if not clean:
            self._unclean_epochs[key] = leader_epoch
            self._give_up(key, self.log(key, leader))
        self._watch.elected(key[0], key[1], leader, leader_epoch, clean=clean, has_all_acknowledged=has_all)

    def _give_up(self, key: PartitionKey, log: ReplicaLog) -> None:
        """Nothing more is promised than the new leader has."""
        end_offset, epoch = self.acknowledged.get(key, (0, -1))
        if not log.has(end_offset, epoch):
            end_offset = min(end_offset, log.end_offset)
            self.acknowledged[key] = (end_offset, log.epoch_at(end_offset - 1))
