"""Partitions as a test describes them: each field by itself."""

from __future__ import annotations

from kraftctl.metadata.interned_tuples import InternedTuples
from kraftctl.metadata.partition_registration import PartitionRegistration
from kraftctl_protocol.uuids import Uuid


def partition_registration(
    *,
    replicas: tuple[int, ...],
    directories: tuple[Uuid, ...],
    isr: tuple[int, ...],
    leader: int,
    leader_epoch: int,
    partition_epoch: int,
    removing_replicas: tuple[int, ...] = (),
    adding_replicas: tuple[int, ...] = (),
    elr: tuple[int, ...] = (),
    last_known_elr: tuple[int, ...] = (),
    leader_recovery_state: int = 0,
) -> PartitionRegistration:
    """It shares nothing with other partitions."""
    tuples = InternedTuples()
    packed = tuples.broker_directories.pack(replicas, list(directories))
    return PartitionRegistration(
        replicas=replicas,
        isr=isr,
        shared=tuples.shared_state(
            removing_replicas=removing_replicas,
            adding_replicas=adding_replicas,
            elr=elr,
            last_known_elr=last_known_elr,
            leader_recovery_state=leader_recovery_state,
            directories=tuples.directories(packed, list(directories)),
        ),
        packed_directories=packed,
        leader=leader,
        leader_epoch=leader_epoch,
        partition_epoch=partition_epoch,
    )
