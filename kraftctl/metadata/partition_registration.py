"""PartitionRegistration: the durable state of one partition (KIP-497, KIP-704, KIP-858, KIP-966)."""

from __future__ import annotations

from typing import Final

from mypy_extensions import i32, mypyc_attr, u8

from kraftctl.metadata import features
from kraftctl.metadata.directory_id import MIGRATING
from kraftctl.metadata.interned_tuples import InternedTuples
from kraftctl.metadata.leader_recovery_state import change_leader_recovery_state
from kraftctl.metadata.shared_state import SharedState
from kraftctl_protocol.generated.partition_change_record import PartitionChangeRecord
from kraftctl_protocol.generated.partition_record import PartitionRecord
from kraftctl_protocol.metadata_record import RecordAndVersion
from kraftctl_protocol.uuids import Uuid

NO_LEADER: Final = -1
"""The `leader` of a partition without a leader."""

NO_LEADER_CHANGE: Final = -2
"""The `leader` of a PartitionChangeRecord that keeps the leader and its epoch."""


@mypyc_attr(acyclic=True)
class PartitionRegistration:
    """The state does not change after construction; `merge` makes the next one.

    `replicas[0]` is the preferred leader and `directories` is aligned with `replicas`. `leader_epoch` rises
    with every leader change, `partition_epoch` with every change at all. There may be a million of these,
    hence packed integers, shared tuples, one object for what is rare, and `acyclic`: the cyclic garbage
    collector never visits them. One takes 64 bytes, where it took 112 with a reference to each tuple.
    """

    def __init__(
        self,
        *,
        replicas: tuple[int, ...],
        isr: tuple[int, ...],
        shared: SharedState,
        packed_directories: i32,
        leader: i32,
        leader_epoch: i32,
        partition_epoch: i32,
    ) -> None:
        self.replicas = replicas
        self.isr = isr
        self.shared = shared
        self.packed_directories = packed_directories
        self.leader = leader
        self.leader_epoch = leader_epoch
        self.partition_epoch = partition_epoch

    @staticmethod
    def from_record(record: PartitionRecord, tuples: InternedTuples) -> PartitionRegistration:
        """Returns the state a PartitionRecord describes. Older records know no directories: MIGRATING
        then.
        """
        replicas = tuples.brokers(record.replicas)
        directories = record.directories
        if len(directories) == 0:
            directories = [MIGRATING] * len(replicas)
        assert len(directories) == len(replicas), "directories must match replicas"
        packed = tuples.broker_directories.pack(replicas, directories)
        elr, known = record.eligible_leader_replicas, record.last_known_elr
        return PartitionRegistration(
            replicas=replicas,
            isr=replicas if record.isr == record.replicas else tuples.brokers(record.isr),
            shared=tuples.shared_state(
                removing_replicas=tuples.brokers(record.removing_replicas),
                adding_replicas=tuples.brokers(record.adding_replicas),
                elr=tuples.no_brokers if elr is None else tuples.brokers(elr),
                last_known_elr=tuples.no_brokers if known is None else tuples.brokers(known),
                leader_recovery_state=change_leader_recovery_state(0, record.leader_recovery_state),
                directories=tuples.directories(packed, directories),
            ),
            packed_directories=packed,
            leader=record.leader,
            leader_epoch=record.leader_epoch,
            partition_epoch=record.partition_epoch,
        )

    def merge(self, change: PartitionChangeRecord, tuples: InternedTuples) -> PartitionRegistration:
        """Returns the next state. Every change is a new partition epoch, every `leader` field a new leader
        epoch. `tuples` are those of the image that has this partition.
        """
        assert tuples.broker_directories is self.shared.broker_directories, "each table has its own numbers"
        replicas = self.replicas
        packed = self.packed_directories
        directories = self.shared.directories
        if change.replicas is not None or change.directories is not None:
            if change.replicas is not None:
                replicas = tuples.brokers(change.replicas)
            merged = self._merged_directories(change, len(replicas))
            packed = tuples.broker_directories.pack(replicas, merged)
            directories = tuples.directories(packed, merged)
        return PartitionRegistration(
            replicas=replicas,
            isr=self.isr if change.isr is None else tuples.isr(change.isr, replicas),
            shared=self._merged_shared(change, directories, tuples),
            packed_directories=packed,
            leader=self.leader_after(change),
            leader_epoch=self.leader_epoch_after(change),
            partition_epoch=self.partition_epoch + 1,
        )

    def _merged_shared(
        self, change: PartitionChangeRecord, directories: tuple[Uuid, ...] | None, tuples: InternedTuples
    ) -> SharedState:
        shared = self.shared
        removing, adding = change.removing_replicas, change.adding_replicas
        elr, known = change.eligible_leader_replicas, change.last_known_elr
        recovery_state = self.leader_recovery_state_after(change)
        if (
            removing is None
            and adding is None
            and elr is None
            and known is None
            and recovery_state == shared.leader_recovery_state
            and directories is shared.directories
        ):
            return shared
        return tuples.shared_state(
            removing_replicas=shared.removing_replicas if removing is None else tuples.brokers(removing),
            adding_replicas=shared.adding_replicas if adding is None else tuples.brokers(adding),
            elr=shared.elr if elr is None else tuples.brokers(elr),
            last_known_elr=shared.last_known_elr if known is None else tuples.brokers(known),
            leader_recovery_state=recovery_state,
            directories=directories,
        )

    def _merged_directories(self, change: PartitionChangeRecord, replica_count: int) -> list[Uuid]:
        if change.directories is not None:
            assert len(change.directories) == replica_count, "directories must match replicas"
            return change.directories
        directories = self.directories
        if len(directories) == replica_count:
            return list(directories)
        # Before directory assignment a change of replicas carries none.
        assert set(directories) <= {MIGRATING}, "directories must match replicas"
        return [MIGRATING] * replica_count

    @property
    def directories(self) -> tuple[Uuid, ...]:
        """The log directory of each replica."""
        shared = self.shared
        if shared.directories is not None:
            return shared.directories
        return shared.broker_directories.unpack(self.replicas, self.packed_directories)

    def directory(self, replica: int) -> Uuid | None:
        """Returns the log directory of a replica; None when the broker has no replica of this partition."""
        for position, candidate in enumerate(self.replicas):
            if candidate == replica:
                shared = self.shared
                if shared.directories is not None:
                    return shared.directories[position]
                return shared.broker_directories.directory(replica, position, self.packed_directories)
        return None

    @property
    def removing_replicas(self) -> tuple[int, ...]:
        """The replicas that a reassignment removes."""
        return self.shared.removing_replicas

    @property
    def adding_replicas(self) -> tuple[int, ...]:
        """The replicas that a reassignment adds."""
        return self.shared.adding_replicas

    @property
    def elr(self) -> tuple[int, ...]:
        """The eligible leader replicas (KIP-966)."""
        return self.shared.elr

    @property
    def last_known_elr(self) -> tuple[int, ...]:
        """The last leader of a partition that has none (KIP-966)."""
        return self.shared.last_known_elr

    @property
    def leader_recovery_state(self) -> u8:
        """The state is RECOVERED, or RECOVERING after an unclean election (KIP-704)."""
        return self.shared.leader_recovery_state

    def leader_after(self, change: PartitionChangeRecord) -> i32:
        """Returns the leader in the next state."""
        if change.leader == NO_LEADER_CHANGE:
            return self.leader
        return change.leader

    def leader_epoch_after(self, change: PartitionChangeRecord) -> i32:
        """Returns the next leader epoch, which also rises with a record that repeats the leader."""
        return self.leader_epoch if change.leader == NO_LEADER_CHANGE else self.leader_epoch + 1

    def leader_recovery_state_after(self, change: PartitionChangeRecord) -> u8:
        """Returns RECOVERED or RECOVERING, the state after this record."""
        return change_leader_recovery_state(self.leader_recovery_state, change.leader_recovery_state)

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
    def waits_for_last_member(self) -> bool:
        """Whether it has no leader, and one replica in its ISR."""
        return self.leader == NO_LEADER and len(self.isr) == 1

    @property
    def reassigning(self) -> bool:
        """Whether a reassignment (KIP-455) is running."""
        return len(self.removing_replicas) != 0 or len(self.adding_replicas) != 0

    def to_record(
        self, topic_id: Uuid, partition_id: int, *, metadata_version: int, elr_enabled: bool
    ) -> RecordAndVersion:
        """Returns the whole state as one record; fields the metadata.version lacks are left out."""
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
