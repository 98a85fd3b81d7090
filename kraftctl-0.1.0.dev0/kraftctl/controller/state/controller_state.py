"""The state that the controller's handlers share: the image to read, the configuration, and the soft state.

Handlers read it and return records; hard state changes only by replaying those.
"""

from __future__ import annotations

import random
from typing import Final

from mypy_extensions import mypyc_attr

from kraftctl.config.controller_config import ControllerConfig
from kraftctl.controller.results.noted_refusal import NONE_NOTED, NotedRefusal
from kraftctl.controller.state.authorization import Authorizer
from kraftctl.controller.state.broker_heartbeat_manager import BrokerHeartbeatManager
from kraftctl.controller.state.dynamic_broker_config import DynamicBrokerConfig
from kraftctl.controller.state.effective_configs import TopicSettings
from kraftctl.controller.state.envelope_principals import EnvelopePrincipals
from kraftctl.controller.state.fencing_counts import FencingCounts
from kraftctl.controller.state.inherited_topic_config import InheritedTopicConfigs
from kraftctl.controller.state.log_levels import LogLevels
from kraftctl.controller.state.mutation_quota import MutationQuotas
from kraftctl.controller.state.node_principals import NodePrincipals
from kraftctl.controller.state.unusable_values import UnusableValues
from kraftctl.image.features_image import UNKNOWN_METADATA_VERSION, FinalizedFeatures
from kraftctl.image.metadata_image import MetadataImage

NO_FEATURES: Final = FinalizedFeatures(UNKNOWN_METADATA_VERSION, {}, -1)


@mypyc_attr(allow_interpreted_subclasses=True)
class KRaftVersionUpgrader:
    """KIP-853: raises kraft.version in the raft layer. This one refuses; the node sets another."""

    def why_impossible(self, level: int) -> str | None:
        """Returns why the voters cannot run `level`; None if they can."""
        return "The quorum cannot change its kraft.version."

    def request(self, level: int) -> None:
        """Raises the level, before the records of the current request are appended."""


class ControllerState:
    """One controller.

    `claim_epoch` is the quorum epoch in which this controller is active, -1 on a standby.
    `heartbeats` holds nothing on a standby. `notices`, `refusals` and `noted_refusals` are lines for the
    log that were not taken yet, `unusable_values` what they said about stored values. `leader_id` is the
    last leader that raft reported, -1 before the first; `kraft_version` and `voter_ids` are what it last
    reported.
    `metadata_loaded`: everything that was committed when this process started is in the image.
    `topic_settings` are what elections obey, and `inherited_topic_configs` what new topics inherit, in the
    image of now.
    `log_levels` are those of the loggers of this process; who runs it sets them.
    `committed_features` and `dynamic_config` are as committed; the rest of the image is read as it is.
    """

    def __init__(
        self, config: ControllerConfig, cluster_id: str, image: MetadataImage, rng: random.Random
    ) -> None:
        self.config = config
        self.node_id = config.node_id
        self.cluster_id = cluster_id
        self.image = image
        self.rng = rng
        self.committed_features = NO_FEATURES
        self.metadata_loaded = False
        self.authorizer = Authorizer()
        self.node_principals = NodePrincipals(config.node_principals)
        self.envelope_principals = EnvelopePrincipals(
            super_users=config.super_users,
            templates=config.node_principals,
            allowed=config.envelope_allowed_principals,
        )
        self.heartbeats = BrokerHeartbeatManager(config.broker_session_timeout_ms)
        self.kraft_version_upgrader = KRaftVersionUpgrader()
        self.mutation_quotas = MutationQuotas(
            config.controller_quota_window_num, config.controller_quota_window_size_seconds
        )
        self.claim_epoch = -1
        self.leader_id = -1
        self.kraft_version = 0
        self.voter_ids: list[int] = list(config.controller_quorum_voters)
        self.notices: list[str] = []
        self.refusals: list[str] = []
        self.noted_refusals: list[NotedRefusal] = []
        self.unusable_values = UnusableValues()
        self.topic_settings = TopicSettings(image, config)
        self.inherited_topic_configs = InheritedTopicConfigs(image, config)
        self.dynamic_config = DynamicBrokerConfig(config)
        self.log_levels = LogLevels({})
        self.fencings = FencingCounts()

    @property
    def active(self) -> bool:
        """Whether this is the active controller."""
        return self.claim_epoch != -1

    def loaded(self) -> None:
        """Notes that `metadata_loaded`; what was elected before is history."""
        if not self.metadata_loaded:
            self.image.topics.elections.begin()
        self.metadata_loaded = True

    def begin_sessions(self, now_ms: int) -> None:
        """Begins with the sessions of the brokers that are unfenced in the image, and forgets all others."""
        self.heartbeats = BrokerHeartbeatManager(self.config.broker_session_timeout_ms)
        brokers = self.image.cluster.brokers
        self.heartbeats.activate([brokers[broker_id] for broker_id in sorted(brokers)], now_ms)

    def keep_committed(self, stable_end: int) -> None:
        """Keeps what is committed now: everything before `stable_end`."""
        image = self.image
        if image.features.last_change_offset != self.committed_features.last_change_offset:
            view = image.journal.open_view(stable_end)
            self.committed_features = image.features.in_view(view)
            image.journal.close_view(view)
        if self.active:
            self.dynamic_config.take_appended(image, stable_end)
        elif self.metadata_loaded:
            self.dynamic_config.take_replayed(image, stable_end)

    def take_noted_refusals(self) -> list[NotedRefusal]:
        """Returns refusals that an operator has to know of, each once."""
        noted = self.noted_refusals
        if not noted:
            return NONE_NOTED
        self.noted_refusals = []
        return noted

    def use_image(self, image: MetadataImage) -> None:
        """Reads this image from now on, and keeps nothing of the one before but the count of elections."""
        image.topics.elections = self.image.topics.elections
        self.image = image
        self.topic_settings = TopicSettings(image, self.config)
        self.inherited_topic_configs = InheritedTopicConfigs(image, self.config)
        self.dynamic_config.release_image()
