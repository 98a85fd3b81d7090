"""PartitionUpdates collects the partition changes of one slice of a transition (KIP-841, KIP-858, KIP-966).

All are computed from the image as it is before the slice.
"""

from __future__ import annotations

from collections.abc import Sequence

from kraftctl.controller.replication_control.leader_acceptor import LeaderAcceptor
from kraftctl.controller.replication_control.partition_change_builder import ELECT_ONLINE, ELECT_PREFERRED
from kraftctl.controller.replication_control.partition_changes import PartitionChanges
from kraftctl.controller.state.controller_state import ControllerState
from kraftctl.image.topics_image import TopicImage
from kraftctl.metadata.partition_registration import NO_LEADER, PartitionRegistration
from kraftctl_protocol.metadata_record import RecordAndVersion
from kraftctl_protocol.uuids import Uuid


class PartitionUpdates:
    """Collects ISR, ELR and leader updates.

    `removed` leaves ISR and leadership; `added` counts as unfenced; `unclean` leaves the ELR too. No replica
    in a directory of `offline` is elected. `to_preferred`: the preferred replica is elected if it can lead.
    """

    def __init__(
        self,
        state: ControllerState,
        *,
        removed: int = NO_LEADER,
        added: int = NO_LEADER,
        unclean: int = NO_LEADER,
        offline: Sequence[Uuid] = (),
        to_preferred: bool = False,
    ) -> None:
        self.acceptor = LeaderAcceptor(
            state.image.cluster,
            state.heartbeats.leaving,
            removed=removed,
            added=added,
            unclean=unclean,
            offline=offline,
        )
        self.changes = PartitionChanges(state, self.acceptor)
        self._leaving = removed if removed != NO_LEADER else unclean
        self._unclean = unclean
        self._to_preferred = to_preferred
        self._topic: TopicImage | None = None
        self._min_isr = 1
        self._election = ELECT_ONLINE
        self.records: list[RecordAndVersion] = []

    def begin_topic(self, topic: TopicImage) -> None:
        """Starts a topic, to which the following partitions belong."""
        self._topic = topic
        self._min_isr = self.changes.settings.min_isr(topic)
        self._election = ELECT_PREFERRED if self._to_preferred else self.changes.automatic_election(topic)

    def add(self, index: int, partition: PartitionRegistration) -> None:
        """Adds the record for one partition, unless nothing changes."""
        topic = self._topic
        assert topic is not None, "a topic comes before its partitions"
        builder = self.changes.builder_for(topic, index, partition, self._min_isr)
        builder.election = self._election
        builder.unclean_shutdown_replica = self._unclean
        leaving = self._leaving
        if leaving in partition.isr:
            builder.target_isr = tuple([replica for replica in partition.isr if replica != leaving])
        record = builder.build()
        if record is not None:
            self.records.append(record)
