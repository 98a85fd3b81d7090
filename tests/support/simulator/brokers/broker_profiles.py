"""Kafka releases as the controller sees their brokers: versions of requests, and supported features.

From what brokers of these releases sent to a controller of Kafka 4.3.1; before 3.9 from their sources.
"""

from __future__ import annotations

from kraftctl.metadata import features
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.generated.broker_registration_request import Feature
from kraftctl_protocol.message import Message


class BrokerProfile:
    """One release. `versions` has the APIs in which it sends less than the highest version."""

    def __init__(self, name: str, levels: dict[str, tuple[int, int]], versions: dict[int, int]) -> None:
        self.name = name
        self.features = levels
        self._versions = versions

    def version(self, request: type[Message]) -> int:
        """The version in which it sends this request."""
        return self._versions.get(request.API_KEY, request.HIGHEST_VERSION)

    def has_level(self, feature: str, level: int) -> bool:
        """Whether such a broker can run when the feature is finalized at this level."""
        lowest, highest = self.features.get(feature, (0, 0))
        return lowest <= level <= highest

    def feature_ranges(self) -> list[Feature]:
        """For BrokerRegistration."""
        return [
            Feature(name=name, min_supported_version=low, max_supported_version=high)
            for name, (low, high) in self.features.items()
        ]


KAFKA_4_4 = BrokerProfile(
    "4.4",
    {name: (levels.min, levels.max) for name, levels in features.SUPPORTED_FEATURES.items()},
    {},
)

KAFKA_4_3 = BrokerProfile(
    "4.3",
    KAFKA_4_4.features
    | {features.METADATA_VERSION: (7, features.IBP_4_3_IV0), features.SHARE_VERSION: (0, 1)},
    {},
)

KAFKA_4_0 = BrokerProfile(
    "4.0",
    {
        features.METADATA_VERSION: (7, features.IBP_4_0_IV3),
        features.KRAFT_VERSION: (0, 1),
        features.GROUP_VERSION: (0, 1),
        features.TRANSACTION_VERSION: (0, 2),
        features.ELIGIBLE_LEADER_REPLICAS_VERSION: (0, 1),
    },
    {ApiKey.FETCH: 17, ApiKey.BROKER_HEARTBEAT: 1},
)

KAFKA_3_9 = BrokerProfile(
    "3.9",
    {features.METADATA_VERSION: (1, features.IBP_3_9_IV0), features.KRAFT_VERSION: (0, 1)},
    {ApiKey.FETCH: 17, ApiKey.BROKER_HEARTBEAT: 1},
)

KAFKA_3_4 = BrokerProfile(
    "3.4",
    {features.METADATA_VERSION: (1, features.IBP_3_4_IV0)},
    {
        ApiKey.FETCH: 13,
        ApiKey.FETCH_SNAPSHOT: 0,
        ApiKey.BROKER_REGISTRATION: 1,
        ApiKey.BROKER_HEARTBEAT: 0,
        ApiKey.ALTER_PARTITION: 2,
    },
)

PROFILES = (KAFKA_4_3, KAFKA_4_0, KAFKA_3_9, KAFKA_3_4)
