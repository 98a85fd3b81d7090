"""PartitionChangeBuilder: next leader and ISR -> PartitionChangeRecord (KIP-497, KIP-704, KIP-966).

The order of the steps in `build` is part of the contract with brokers:

1. finish a reassignment whose conditions hold,
2. work out the eligible leader replicas,
3. elect a leader,
4. bump the leader epoch if a replica goes,
5. write what changed; a record in which nothing changed is dropped.
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import mypyc_attr

from kraftctl.controller.replication_control.leader_acceptor import LeaderAcceptor
from kraftctl.controller.replication_control.partition_reassignment import complete_reassignment
from kraftctl.image.cluster_image import ClusterImage
from kraftctl.metadata import features
from kraftctl.metadata.directory_id import MIGRATING, default_directory
from kraftctl.metadata.leader_recovery_state import NO_CHANGE, RECOVERING
from kraftctl.metadata.partition_registration import NO_LEADER, NO_LEADER_CHANGE, PartitionRegistration
from kraftctl_protocol.generated.partition_change_record import PartitionChangeRecord
from kraftctl_protocol.metadata_record import RecordAndVersion
from kraftctl_protocol.uuids import Uuid

ELECT_PREFERRED: Final = 0
"""The preferred replica is elected if it can lead; otherwise as with ELECT_ONLINE."""

ELECT_ONLINE: Final = 1
"""The leader stays while it can lead; otherwise the first replica that can lead without losing data."""

ELECT_UNCLEAN: Final = 2
"""A replica is elected as with ELECT_ONLINE, or any live replica rather than none."""


@mypyc_attr(acyclic=True, free_list_len=1)
class ElectionResult:
    """The result; `leader` may be NO_LEADER. `unclean`: the leader may lack acknowledged data."""

    def __init__(self, leader: int, unclean: bool) -> None:
        self.leader = leader
        self.unclean = unclean


def default_directory_of(cluster: ClusterImage, broker_id: int, metadata_version: int) -> Uuid:
    """Returns the directory of a replica that has none yet (KIP-858)."""
    if not features.is_directory_assignment_supported(metadata_version):
        return MIGRATING
    registration = cluster.brokers.get(broker_id)
    return default_directory(None if registration is None else registration.directories)


@mypyc_attr(acyclic=True, free_list_len=1)
class PartitionChangeBuilder:
    """Set the targets that differ from the present, then `build` once."""

    def __init__(
        self,
        partition: PartitionRegistration,
        topic_id: Uuid,
        partition_id: int,
        *,
        acceptor: LeaderAcceptor,
        cluster: ClusterImage,
        metadata_version: int,
        min_isr: int,
        elr_enabled: bool,
    ) -> None:
        self._partition = partition
        self._topic_id = topic_id
        self._partition_id = partition_id
        self._acceptor = acceptor
        self._cluster = cluster
        self._metadata_version = metadata_version
        self._min_isr = min_isr
        self._elr_enabled = elr_enabled
        self.target_isr = partition.isr
        self.target_replicas = partition.replicas
        self.target_removing = partition.removing_replicas
        self.target_adding = partition.adding_replicas
        self.target_leader_recovery_state = int(partition.leader_recovery_state)
        self.election = ELECT_ONLINE
        self.unclean_shutdown_replica = NO_LEADER
        self._target_elr = partition.elr
        self._assigned_directories: dict[int, Uuid] | None = None

    def assign_directory(self, broker_id: int, directory: Uuid) -> None:
        """Assigns `directory` to the replica on `broker_id`."""
        if self._assigned_directories is None:
            self._assigned_directories = {}
        self._assigned_directories[broker_id] = directory

    def build(self) -> RecordAndVersion | None:
        """Returns the record that leads to the targets; None when nothing would change."""
        record = PartitionChangeRecord(partition_id=self._partition_id, topic_id=self._topic_id)
        self._complete_reassignment()
        self._populate_target_elr()
        self._elect(record)
        self._bump_leader_epoch_if_replicas_go(record)
        self._write_elr(record)
        self._write_isr(record)
        self._bump_leader_epoch_if_isr_shrinks(record)
        self._write_last_known_leader(record)
        self._write_assignment(record)
        if self.target_leader_recovery_state != self._partition.leader_recovery_state:
            record.leader_recovery_state = self.target_leader_recovery_state
        if _changes_nothing(record):
            return None
        return RecordAndVersion(record, features.partition_change_record_version(self._metadata_version))

    def elect_leader(self) -> ElectionResult:
        """Returns who should lead, given the targets and the kind of election."""
        partition = self._partition
        leader = int(partition.leader)
        if self.election == ELECT_PREFERRED and self._can_lead_cleanly(self.target_replicas[0]):
            return ElectionResult(self.target_replicas[0], False)
        if self._can_lead_cleanly(leader):
            return ElectionResult(leader, False)
        for replica in self.target_replicas:
            if self._can_lead_cleanly(replica):
                return ElectionResult(replica, False)
        if self._can_elect_last_known_leader():
            return ElectionResult(partition.last_known_elr[0], True)
        if self.election == ELECT_UNCLEAN:
            for replica in self.target_replicas:
                if self._accepts(replica):
                    return ElectionResult(replica, True)
        return ElectionResult(NO_LEADER, False)

    def _accepts(self, replica: int) -> bool:
        return self._acceptor.accepts(self._partition, replica)

    def _can_lead_cleanly(self, replica: int) -> bool:
        """Returns whether it is in the ISR, or in the ELR while the ISR is empty; and accepted as a
        leader.
        """
        if self.target_isr:
            eligible = replica in self.target_isr
        else:
            eligible = replica in self._target_elr
        return eligible and self._accepts(replica)

    def _can_elect_last_known_leader(self) -> bool:
        """Returns whether to elect the last leader: no replica is known to have all data (KIP-966)."""
        last_known = self._partition.last_known_elr
        return (
            self._elr_enabled
            and not self._target_elr
            and not self.target_isr
            and len(last_known) == 1
            and self._accepts(last_known[0])
        )

    def _complete_reassignment(self) -> None:
        if not self.target_removing and not self.target_adding:
            return
        completed = complete_reassignment(
            replicas=self.target_replicas,
            removing=self.target_removing,
            adding=self.target_adding,
            isr=self.target_isr,
        )
        if completed is not None:
            self.target_replicas = completed.replicas
            self.target_isr = completed.isr
            self.target_removing = ()
            self.target_adding = ()

    def _populate_target_elr(self) -> None:
        """Keeps a replica that leaves the ISR eligible below min ISR, until it loses data (KIP-966).

        Kafka 4.3 also keeps brokers that a reassignment has just removed. They delete their logs, and would
        be elected "cleanly" if they became replicas again, so they are not kept here.
        """
        if not self._elr_enabled:
            return
        if len(self.target_isr) >= self._min_isr:
            self._target_elr = ()
            return
        candidates = {*self._target_elr, *self._partition.isr}
        candidates.intersection_update(self.target_replicas)
        candidates.difference_update(self.target_isr)
        candidates.discard(self.unclean_shutdown_replica)
        self._target_elr = tuple(sorted(candidates))

    def _elect(self, record: PartitionChangeRecord) -> None:
        result = self.elect_leader()
        leader = result.leader
        if leader == self._partition.leader:
            return
        if leader in self._target_elr:
            self.target_isr = (leader,)
            self._target_elr = tuple(replica for replica in self._target_elr if replica != leader)
        record.leader = leader
        if result.unclean:
            # KIP-704: whatever the others have, the new leader's log is the truth from now on.
            record.isr = [leader]
            if self._partition.leader_recovery_state != RECOVERING:
                record.leader_recovery_state = RECOVERING

    def _bump_leader_epoch_if_replicas_go(self, record: PartitionChangeRecord) -> None:
        """Repeats the leader, so that a removed replica cannot fetch under the old epoch."""
        if record.leader != NO_LEADER_CHANGE or self.target_replicas is self._partition.replicas:
            return
        if any(replica not in self.target_replicas for replica in self._partition.replicas):
            record.leader = int(self._partition.leader)

    def _write_elr(self, record: PartitionChangeRecord) -> None:
        if record.isr is not None or not self._elr_enabled:
            self._target_elr = ()
        if _differ(self._target_elr, self._partition.elr):
            record.eligible_leader_replicas = list(self._target_elr)

    def _write_isr(self, record: PartitionChangeRecord) -> None:
        """Writes the ISR. Without ELR the last member stays: only it is known to have all data."""
        if record.isr is not None or not _differ(self.target_isr, self._partition.isr):
            return
        if self.target_isr or self._elr_enabled:
            record.isr = list(self.target_isr)

    def _bump_leader_epoch_if_isr_shrinks(self, record: PartitionChangeRecord) -> None:
        if record.isr is None or record.leader != NO_LEADER_CHANGE:
            return
        if not features.is_leader_epoch_bump_required_on_isr_shrink(self._metadata_version):
            return
        if any(replica not in record.isr for replica in self._partition.isr):
            record.leader = int(self._partition.leader)

    def _write_last_known_leader(self, record: PartitionChangeRecord) -> None:
        """Remembers the leader when the partition first has none, and forgets it later (KIP-966)."""
        if not self._elr_enabled:
            return
        known = self._partition.last_known_elr
        if record.leader == NO_LEADER and not known:
            record.last_known_elr = [int(self._partition.leader)]
        elif record.leader >= 0 and known:
            record.last_known_elr = []

    def _write_assignment(self, record: PartitionChangeRecord) -> None:
        partition = self._partition
        replicas_change = _differ(self.target_replicas, partition.replicas)
        if replicas_change or self._assigned_directories is not None:
            self._write_directories(record)
        if self.target_replicas and replicas_change:
            record.replicas = list(self.target_replicas)
        if _differ(self.target_removing, partition.removing_replicas):
            record.removing_replicas = list(self.target_removing)
        if _differ(self.target_adding, partition.adding_replicas):
            record.adding_replicas = list(self.target_adding)

    def _write_directories(self, record: PartitionChangeRecord) -> None:
        """Writes the full list of directories, aligned with the target replicas (KIP-858)."""
        if not self.target_replicas or not features.is_directory_assignment_supported(self._metadata_version):
            return
        known = dict(zip(self._partition.replicas, self._partition.directories, strict=True))
        if self._assigned_directories is not None:
            known.update(self._assigned_directories)
        directories: list[Uuid] = []
        for replica in self.target_replicas:
            directory = known.get(replica)
            if directory is None:
                directory = default_directory_of(self._cluster, replica, self._metadata_version)
            directories.append(directory)
        if tuple(directories) != self._partition.directories:
            record.directories = directories


def _differ(target: tuple[int, ...], present: tuple[int, ...]) -> bool:
    """Compares by identity first, as most targets are unchanged: 20 ns less for each."""
    return target is not present and target != present


def _changes_nothing(record: PartitionChangeRecord) -> bool:
    return (
        record.isr is None
        and record.eligible_leader_replicas is None
        and record.last_known_elr is None
        and record.leader == NO_LEADER_CHANGE
        and record.replicas is None
        and record.removing_replicas is None
        and record.adding_replicas is None
        and record.leader_recovery_state == NO_CHANGE
        and record.directories is None
    )
