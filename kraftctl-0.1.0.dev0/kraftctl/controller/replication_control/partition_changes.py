"""PartitionChanges has everything a request needs to build partition changes, gathered once."""

from __future__ import annotations

from kraftctl.controller.replication_control.leader_acceptor import LeaderAcceptor
from kraftctl.controller.replication_control.partition_change_builder import (
    ELECT_ONLINE,
    ELECT_UNCLEAN,
    PartitionChangeBuilder,
)
from kraftctl.controller.state.controller_state import ControllerState
from kraftctl.image.topics_image import TopicImage
from kraftctl.metadata.partition_registration import PartitionRegistration


class PartitionChanges:
    """Makes builders for partitions of one image at one moment."""

    def __init__(self, state: ControllerState, acceptor: LeaderAcceptor | None = None) -> None:
        self.image = image = state.image
        self.settings = state.topic_settings
        self.metadata_version = image.features.metadata_version
        self.elr_enabled = image.features.elr_enabled
        if acceptor is None:
            acceptor = LeaderAcceptor(image.cluster, state.heartbeats.leaving)
        self._acceptor = acceptor

    def automatic_election(self, topic: TopicImage) -> int:
        """Returns the controller's own type of election: unclean only where the topic allows it."""
        return ELECT_UNCLEAN if self.settings.unclean_election_enabled(topic.name) else ELECT_ONLINE

    def builder(
        self, topic: TopicImage, partition_id: int, partition: PartitionRegistration
    ) -> PartitionChangeBuilder:
        """Returns a builder without targets yet."""
        return self.builder_for(topic, partition_id, partition, self.settings.min_isr(topic))

    def builder_for(
        self, topic: TopicImage, partition_id: int, partition: PartitionRegistration, min_isr: int
    ) -> PartitionChangeBuilder:
        """Returns the same as `builder`; loops over a topic's partitions look `min_isr` up once."""
        return PartitionChangeBuilder(
            partition,
            topic.topic_id,
            partition_id,
            acceptor=self._acceptor,
            cluster=self.image.cluster,
            metadata_version=self.metadata_version,
            min_isr=min_isr,
            elr_enabled=self.elr_enabled,
        )
