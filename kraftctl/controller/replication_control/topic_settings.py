"""The two topic configs the controller itself obeys: min.insync.replicas, unclean.leader.election.enable.

Resolution: topic, then this controller's own dynamic broker configs, then the cluster-wide dynamic
defaults, then the properties file.
"""

from __future__ import annotations

from typing import Final

from kraftctl.config import ControllerConfig
from kraftctl.image.configurations_image import BROKER, CLUSTER_DEFAULT, TOPIC
from kraftctl.image.metadata_image import MetadataImage
from kraftctl.image.topics_image import TopicImage

MIN_INSYNC_REPLICAS: Final = "min.insync.replicas"
UNCLEAN_LEADER_ELECTION_ENABLE: Final = "unclean.leader.election.enable"


class TopicSettings:
    """Effective values per topic; what is not per topic is read once."""

    def __init__(self, image: MetadataImage, config: ControllerConfig) -> None:
        self._configurations = image.configurations
        self._broker = image.configurations.config(BROKER, str(config.node_id))
        self._cluster = image.configurations.config(BROKER, CLUSTER_DEFAULT)
        self._static_min_isr = config.min_insync_replicas
        self._static_unclean = config.unclean_leader_election_enable

    def min_isr(self, topic: TopicImage) -> int:
        """min.insync.replicas, but never more than the topic has replicas (KIP-966)."""
        value = self._value(topic.name, MIN_INSYNC_REPLICAS)
        configured = self._static_min_isr if value is None else int(value)
        return min(configured, topic.replication_factor)

    def unclean_election_enabled(self, topic_name: str) -> bool:
        """Whether the topic prefers being available over keeping all acknowledged data."""
        value = self._value(topic_name, UNCLEAN_LEADER_ELECTION_ENABLE)
        return self._static_unclean if value is None else value.strip().lower() == "true"

    def _value(self, topic_name: str, key: str) -> str | None:
        value = self._configurations.config(TOPIC, topic_name).get(key)
        if value is None:
            value = self._broker.get(key)
        if value is None:
            value = self._cluster.get(key)
        return value
