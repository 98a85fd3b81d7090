"""PartitionRegistration: the durable state of one partition (KIP-497, KIP-704, KIP-858, KIP-966)."""

from __future__ import annotations

from typing import Final

from mypy_extensions import i32, mypyc_attr, u8

from kraftctl.metadata import features
from kraftctl.metadata.directory_id import MIGRATING
from kraftctl.metadata.interned_tuples import InternedTuples
from kraftctl.metadata.leader_recovery_state import change_leader_recovery_state
from kraftctl_protocol.generated.partition_change_record import PartitionChangeRecord
from kraftctl_protocol.generated.partition_record import PartitionRecord
from kraftctl_protocol.metadata_record import RecordAndVersion
from kraftctl_protocol.uuids import Uuid

NO_LEADER: Final = -1
"""`leader` of a partition without a leader."""

NO_LEADER_CHANGE: Final = -2
"""`leader` of a PartitionChangeRecord that keeps the leader and its epoch."""


@mypyc_attr(acyclic=True)
class PartitionRegistration:
    """Not changed after construction; `merge` makes the next one.

    `replicas[0]` is the preferred leader and `directories` is aligned with `replicas`.
    `leader_epoch` rises with every leader change, `partition_epoch` with every change at all.
    There may be a million of these, hence packed integers, shared tuples, and `acyclic`: the
    cyclic garbage collector never visits them.
    """

    def __init__(
        self,
        *,
        replicas: tuple[int, ...],
        directories: tuple[Uuid, ...],
        isr: tuple[int, ...],
        removing_replicas: tuple[int, ...],
        adding_replicas: tuple[int, ...],
        elr: tuple[int, ...],
        last_known_elr: tuple[int, ...],
        leader: i32,
        leader_recovery_state: u8,
        leader_epoch: i32,
        partition_epoch: i32,
    ) -> None:
        self.replicas = replicas
        self.directories = directories
        self.isr = isr
        self.removing_replicas = removing_replicas
        self.adding_replicas = adding_replicas
        self.elr = elr
        self.last_known_elr = last_known_elr
        self.leader = leader
        self.leader_epoch = leader_epoch
        self.partition_epoch = partition_epoch
        self.leader_recovery_state = leader_recovery_state

    @staticmethod
    def from_record(record: PartitionRecord, tuples: InternedTuples) -> PartitionRegistration:
        """The state a PartitionRecord describes. Older records know no directories: MIGRATING then."""
        replicas = tuples.brokers(record.replicas)
        directories = record.directories
        assert len(directories) == 0 or len(directories) == len(replicas), "directories must match replicas"
        elr = record.eligible_leader_replicas
        last_known_elr = record.last_known_elr
        isr = replicas if record.isr == record.replicas else tuples.brokers(record.isr)
        return PartitionRegistration(
            replicas=replicas,
            directories=tuples.directories(directories if directories else [MIGRATING] * len(replicas)),
            isr=isr,
            removing_replicas=tuples.brokers(record.removing_replicas),
            adding_replicas=tuples.brokers(record.adding_replicas),
            elr=tuples.no_brokers if elr is None else tuples.brokers(elr),
            last_known_elr=tuples.no_brokers if last_known_elr is None else tuples.brokers(last_known_elr),
            leader=record.leader,
            leader_recovery_state=change_leader_recovery_state(0, record.leader_recovery_state),
            leader_epoch=record.leader_epoch,
            partition_epoch=record.partition_epoch,
        )

    def merge(self, change: PartitionChangeRecord, tuples: InternedTuples) -> PartitionRegistration:
        """The next state. Every change is a new partition epoch, every `leader` field a new leader epoch."""
        removing, adding = change.removing_replicas, change.adding_replicas
        elr, known = change.eligible_leader_replicas, change.last_known_elr
        replicas = self.replicas if change.replicas is None else tuples.brokers(change.replicas)
        return PartitionRegistration(
            replicas=replicas,
            directories=self._merged_directories(change, len(replicas), tuples),
            isr=self.isr if change.isr is None else tuples.brokers(change.isr),
            removing_replicas=self.removing_replicas if removing is None else tuples.brokers(removing),
            adding_replicas=self.adding_replicas if adding is None else tuples.brokers(adding),
            elr=self.elr if elr is None else tuples.brokers(elr),
            last_known_elr=self.last_known_elr if known is None else tuples.brokers(known),
            leader=self.leader_after(change),
            leader_recovery_state=self.leader_recovery_state_after(change),
            leader_epoch=self.leader_epoch_after(change),
            partition_epoch=self.partition_epoch + 1,
        )

    def leader_after(self, change: PartitionChangeRecord) -> i32:
        """The leader in the next state."""
        if change.leader == NO_LEADER_CHANGE:
            return self.leader
        return change.leader

    def leader_epoch_after(self, change: PartitionChangeRecord) -> i32:
        """Also a record that repeats the leader raises it."""
        return self.leader_epoch if change.leader == NO_LEADER_CHANGE else self.leader_epoch + 1

    def leader_recovery_state_after(self, change: PartitionChangeRecord) -> u8:
        """RECOVERED or RECOVERING, in the next state."""
        return change_leader_recovery_state(self.leader_recovery_state, change.leader_recovery_state)

    def _merged_directories(
        self, change: PartitionChangeRecord, replica_count: int, tuples: InternedTuples
    ) -> tuple[Uuid, ...]:
        if change.directories is not None:
            assert len(change.directories) == replica_count, "directories must match replicas"
            return tuples.directories(change.directories)
        if len(self.directories) == replica_count:
            return self.directories
        # Before directory assignment a change of replicas carries none.
        assert set(self.directories) <= {MIGRATING}, "directories must match replicas"
        return tuples.directories([MIGRATING] * replica_count)

    def directory(self, replica: int) -> Uuid | None:
        """Log directory of a replica; None when the broker is no replica of this partition."""
        for index, candidate in enumerate(self.replicas):
            if candidate == replica:
                return self.directories[index]
        return None

    @property
    def has_leader(self) -> bool:
        return self.leader != NO_LEADER

    @property
    def preferred_replica(self) -> int:
        return self.replicas[0] if self.replicas else NO_LEADER

    @property
    def has_preferred_leader(self) -> bool:
        return self.leader == self.preferred_replica

    @property
    def reassigning(self) -> bool:
        """Whether a reassignment (KIP-455) is running."""
        return len(self.removing_replicas) != 0 or len(self.adding_replicas) != 0

    def to_record(
        self, topic_id: Uuid, partition_id: int, *, metadata_version: int, elr_enabled: bool
    ) -> RecordAndVersion:
        """The whole state as one record; fields the metadata.version lacks are left out."""
        record = PartitionRecord(
            partition_id=partition_id,
            topic_id=topic_id,
            replicas=list(self.replicas),
            isr=list(self.isr),
            removing_replicas=list(self.removing_replicas),
            adding_replicas=list(self.adding_replicas),
            leader=int(self.leader),
            leader_recovery_state=int(self.leader_recovery_state),
            leader_epoch=int(self.leader_epoch),
            partition_epoch=int(self.partition_epoch),
        )
        if features.is_directory_assignment_supported(metadata_version):
            record.directories = list(self.directories)
        if elr_enabled and features.is_elr_supported(metadata_version):
            if self.elr:
                record.eligible_leader_replicas = list(self.elr)
            if self.last_known_elr:
                record.last_known_elr = list(self.last_known_elr)
        return RecordAndVersion(record, features.partition_record_version(metadata_version))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, PartitionRegistration)
            and self.replicas == other.replicas
            and self.directories == other.directories
            and self.isr == other.isr
            and self.removing_replicas == other.removing_replicas
            and self.adding_replicas == other.adding_replicas
            and self.elr == other.elr
            and self.last_known_elr == other.last_known_elr
            and self.leader == other.leader
            and self.leader_recovery_state == other.leader_recovery_state
            and self.leader_epoch == other.leader_epoch
            and self.partition_epoch == other.partition_epoch
        )

    def __hash__(self) -> int:
        return hash((self.replicas, self.isr, int(self.leader_epoch), int(self.partition_epoch)))

    def __repr__(self) -> str:
        return (
            f"PartitionRegistration(replicas={self.replicas}, isr={self.isr}, elr={self.elr}, "
            f"last_known_elr={self.last_known_elr}, removing={self.removing_replicas}, "
            f"adding={self.adding_replicas}, leader={self.leader}, "
            f"leader_recovery_state={self.leader_recovery_state}, leader_epoch={self.leader_epoch}, "
            f"partition_epoch={self.partition_epoch})"
        )
