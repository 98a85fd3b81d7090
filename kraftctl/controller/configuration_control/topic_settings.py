"""The two topic configs the controller itself obeys: min.insync.replicas, unclean.leader.election.enable.

Resolution: topic, then this controller's own dynamic broker configs, then the cluster-wide dynamic
defaults, then the properties file. A stored value that the key cannot have counts as none: a controller
that is asked directly stores what it gets, and no restart would take it away.
"""

from __future__ import annotations

from kraftctl.config.controller_config import ControllerConfig
from kraftctl.controller.configuration_control.effective_configs import (
    MIN_INSYNC_REPLICAS,
    UNCLEAN_LEADER_ELECTION_ENABLE,
    usable_value,
)
from kraftctl.image.metadata_image import MetadataImage
from kraftctl.image.topics_image import TopicImage
from kraftctl_protocol.config_resource import BROKER, CLUSTER_DEFAULT, TOPIC


class TopicSettings:
    """Effective values per topic; what is not per topic is read once."""

    def __init__(self, image: MetadataImage, config: ControllerConfig) -> None:
        own = image.configurations.config(BROKER, str(config.node_id))
        cluster = image.configurations.config(BROKER, CLUSTER_DEFAULT)
        self._configurations = image.configurations
        self._min_isr = config.min_insync_replicas
        self._unclean = config.unclean_leader_election_enable
        for values in (cluster, own):
            self._min_isr = _min_isr(values, self._min_isr)
            self._unclean = _unclean(values, self._unclean)

    def min_isr(self, topic: TopicImage) -> int:
        """min.insync.replicas, but never more than the topic has replicas (KIP-966)."""
        configured = _min_isr(self._configurations.config(TOPIC, topic.name), self._min_isr)
        return min(configured, topic.replication_factor)

    def unclean_election_enabled(self, topic_name: str) -> bool:
        """Whether the topic prefers being available over keeping all acknowledged data."""
        return _unclean(self._configurations.config(TOPIC, topic_name), self._unclean)


def _min_isr(values: dict[str, str], otherwise: int) -> int:
    text = values.get(MIN_INSYNC_REPLICAS)
    value = None if text is None else usable_value(MIN_INSYNC_REPLICAS, text)
    return value if isinstance(value, int) else otherwise


def _unclean(values: dict[str, str], otherwise: bool) -> bool:
    text = values.get(UNCLEAN_LEADER_ELECTION_ENABLE)
    value = None if text is None else usable_value(UNCLEAN_LEADER_ELECTION_ENABLE, text)
    return value if isinstance(value, bool) else otherwise
