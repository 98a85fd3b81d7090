"""The state of a cluster that can be described and restored, whether of the past or of a running one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from kraftctl_spark.restore.described_value import ConfigType, described_value


class ResourceConfig(NamedTuple):
    """One config of one resource; `resource_type` is Kafka's name."""

    resource_type: str
    resource_name: str
    key: str

    def __str__(self) -> str:
        return f"{resource_text(self.resource_type, self.resource_name)} {self.key}"


class NamedAcl(NamedTuple):
    """An ACL, with Kafka's names."""

    resource_type: str
    resource_name: str
    pattern_type: str
    principal: str
    host: str
    operation: str
    permission: str

    def __str__(self) -> str:
        return (
            f"{self.permission} {self.operation} on {self.resource_type} {self.pattern_type}"
            f" {self.resource_name} for {self.principal} from {self.host}"
        )


INTERNAL_TOPICS: Final = frozenset({"__consumer_offsets", "__transaction_state", "__share_group_state"})
"""They are Kafka's Topic.INTERNAL_TOPICS."""

Entity = tuple[tuple[str, str | None], ...]
"""Pairs of type and name, sorted; the name of a default entity is None."""


class QuotaKey(NamedTuple):
    """One quota of one entity."""

    entity: Entity
    key: str

    def __str__(self) -> str:
        named = ",".join(f"{kind}={'<default>' if name is None else name}" for kind, name in self.entity)
        return f"{named} {self.key}"


class ScramIdentity(NamedTuple):
    """A SCRAM credential, without its secrets."""

    user: str
    mechanism: str

    def __str__(self) -> str:
        return f"{self.user} {self.mechanism}"


@dataclass(frozen=True)
class TopicReplicas:
    """A topic by the replicas of each partition, in their order."""

    replicas: tuple[tuple[int, ...], ...]
    topic_id: str | None = field(default=None, compare=False)
    """Another topic of the same name has another one."""

    @property
    def replication_factor(self) -> int:
        """Returns the largest one, if partitions differ: a restored topic never has fewer copies."""
        return max((len(one) for one in self.replicas), default=0)

    def __str__(self) -> str:
        return f"{len(self.replicas)} partitions, replication factor {self.replication_factor}"


@dataclass(frozen=True)
class ClusterState:
    """What is described; nothing in it is a secret."""

    cluster_id: str
    topics: Mapping[str, TopicReplicas] = field(default_factory=dict)
    configs: Mapping[ResourceConfig, str | None] = field(default_factory=dict)
    """The value is None where it is set and not shown."""
    config_types: Mapping[ResourceConfig, int] = field(default_factory=dict)
    """The ConfigType of each, as far as it is described."""
    acls: frozenset[NamedAcl] | None = frozenset()
    """None: the cluster has no authorizer."""
    quotas: Mapping[QuotaKey, float] = field(default_factory=dict)
    users: Mapping[ScramIdentity, int] = field(default_factory=dict)
    """The iterations of each."""
    features: Mapping[str, int] = field(default_factory=dict)
    tokens: tuple[str, ...] = ()
    """The ids of delegation tokens."""
    hidden_topics: frozenset[str] = frozenset()
    """The topics that exist, and that this client may not describe, as far as the brokers name them."""
    brokers: frozenset[int] = frozenset()
    """The brokers that are alive; of the past, those that were registered."""

    def described(self, config: ResourceConfig, value: str) -> str:
        """Returns how this cluster describes the config when it is set to `value`."""
        return described_value(value, self.config_types.get(config, ConfigType.UNKNOWN))

    @property
    def is_in_use(self) -> bool:
        """Returns whether it has topics that Kafka has not created for itself."""
        return not INTERNAL_TOPICS.issuperset(self.topics)


def resource_text(resource_type: str, resource_name: str) -> str:
    """Returns the resource for people: the default of all brokers has no name."""
    return f"{resource_type} {resource_name or '<default>'}"
