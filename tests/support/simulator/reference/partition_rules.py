"""The records of partitions: KIP-497, KIP-704, KIP-858, KIP-966."""

from __future__ import annotations

from collections.abc import Iterable

from kraftctl_protocol.generated.clear_elr_record import ClearElrRecord
from kraftctl_protocol.generated.partition_change_record import PartitionChangeRecord
from kraftctl_protocol.generated.partition_record import PartitionRecord
from kraftctl_protocol.message import Message
from tests.support.simulator.reference.refused_record import refuse
from tests.support.simulator.reference.rows import Rows, rows_of
from tests.support.simulator.reference.values import MIGRATING, Partition, Uuid

SAME_LEADER = -2
SAME_RECOVERY_STATE = -1
RECOVERY_STATES = (0, 1)


def partition(rows: Rows, record: PartitionRecord, as_controller: bool) -> None:
    """A new one, or one that takes the place of what is there."""
    if ("topic", record.topic_id) not in rows.now:
        refuse(record, "there is no such topic")
    value = Partition(
        replicas=tuple(record.replicas),
        directories=_directories(record, record.directories, len(record.replicas)),
        isr=tuple(record.isr),
        removing_replicas=tuple(record.removing_replicas),
        adding_replicas=tuple(record.adding_replicas),
        elr=tuple(record.eligible_leader_replicas or ()),
        last_known_elr=tuple(record.last_known_elr or ()),
        leader=record.leader,
        leader_recovery_state=_recovery_state(record, record.leader_recovery_state),
        leader_epoch=record.leader_epoch,
        partition_epoch=record.partition_epoch,
    )
    rows.put(("partition", record.topic_id, record.partition_id), value)


def change_partition(rows: Rows, record: PartitionChangeRecord, as_controller: bool) -> None:
    """What is null stays. A leader, be it the same, begins a leader epoch; any record a partition epoch."""
    key = ("partition", record.topic_id, record.partition_id)
    before: Partition | None = rows.now.get(key)
    if before is None:
        refuse(record, "there is no such partition")
    replicas = _changed(record.replicas, before.replicas)
    directories = before.directories if record.directories is None else record.directories
    names_leader = record.leader != SAME_LEADER
    recovery_state = before.leader_recovery_state
    if record.leader_recovery_state != SAME_RECOVERY_STATE:
        recovery_state = _recovery_state(record, record.leader_recovery_state)
    after = Partition(
        replicas=replicas,
        directories=_directories(record, directories, len(replicas)),
        isr=_changed(record.isr, before.isr),
        removing_replicas=_changed(record.removing_replicas, before.removing_replicas),
        adding_replicas=_changed(record.adding_replicas, before.adding_replicas),
        elr=_changed(record.eligible_leader_replicas, before.elr),
        last_known_elr=_changed(record.last_known_elr, before.last_known_elr),
        leader=record.leader if names_leader else before.leader,
        leader_recovery_state=recovery_state,
        leader_epoch=before.leader_epoch + 1 if names_leader else before.leader_epoch,
        partition_epoch=before.partition_epoch + 1,
    )
    rows.put(key, after)


def clear_elr(rows: Rows, record: ClearElrRecord, as_controller: bool) -> None:
    """Of one topic, without a name of all: only partitions that have one begin a partition epoch."""
    named: tuple[Uuid, ...] = ()
    if record.topic_name:
        if ("topic id", record.topic_name) not in rows.now:
            refuse(record, "there is no such topic")
        named = (rows.now["topic id", record.topic_name],)
    for key, before in list(rows_of(rows.now, "partition", *named)):
        if before.elr or before.last_known_elr:
            epoch = before.partition_epoch + 1
            rows.put(key, before._replace(elr=(), last_known_elr=(), partition_epoch=epoch))


def _changed(listed: list[int] | None, before: tuple[int, ...]) -> tuple[int, ...]:
    return before if listed is None else tuple(listed)


def _directories(record: Message, listed: Iterable[Uuid], count: int) -> tuple[Uuid, ...]:
    """Where none are known, a change of replicas needs to name none."""
    directories = tuple(listed)
    if all(directory == MIGRATING for directory in directories):
        return (MIGRATING,) * count
    if len(directories) != count:
        refuse(record, f"{len(directories)} directories for {count} replicas")
    return directories


def _recovery_state(record: Message, state: int) -> int:
    if state not in RECOVERY_STATES:
        refuse(record, "no such recovery state")
    return state
