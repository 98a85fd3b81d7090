"""A plan: what to restore of a past state, and what cannot be restored, with its reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from kraftctl_spark.restore.cluster_state import (
    INTERNAL_TOPICS,
    ClusterState,
    NamedAcl,
    QuotaKey,
    ResourceConfig,
)

SECRET_VALUE: Final = "its value is or may be a secret, which a plan never has: set it yourself"
NO_PARTITIONS: Final = "its partitions are not known"
INTERNAL: Final = (
    "brokers create it when it is needed, and find what it has by its number of partitions: it stays as it is"
)
SECRET_OF_USER: Final = "salt and keys are secrets: create it again with its password"
FEATURE: Final = "a level is that of its cluster: kraftctl features describe shows that of the new one"
TOKEN: Final = "a token is valid in its own cluster alone: its owner creates a new one"


class PlannedTopic(NamedTuple):
    """A topic; without `replicas`, the cluster chooses the brokers."""

    name: str
    partitions: int
    replication_factor: int
    replicas: tuple[tuple[int, ...], ...] | None = None


class PlannedConfig(NamedTuple):
    """A config with its value."""

    config: ResourceConfig
    value: str


class PlannedQuota(NamedTuple):
    """A quota with its value."""

    quota: QuotaKey
    value: float


class NotRestored(NamedTuple):
    """A thing that the plan cannot contain."""

    what: str
    reason: str


@dataclass(frozen=True)
class Plan:
    """Each list is sorted, so that the same state is the same text."""

    cluster_id: str
    offset: int
    time: str
    """The time of the offset, or empty where the log has none."""
    topics: tuple[PlannedTopic, ...] = ()
    configs: tuple[PlannedConfig, ...] = ()
    acls: tuple[NamedAcl, ...] = ()
    quotas: tuple[PlannedQuota, ...] = ()
    not_restored: tuple[NotRestored, ...] = ()

    @property
    def groups(self) -> set[str]:
        """Returns the groups that have configs."""
        return {one.config.resource_name for one in self.configs if one.config.resource_type == "GROUP"}


def plan_of(
    state: ClusterState,
    *,
    offset: int,
    time: str,
    with_replicas: bool,
    not_known: tuple[NotRestored, ...] = (),
) -> Plan:
    """Returns the plan that restores `state`, which with `with_replicas` names each partition's brokers."""
    topics = [
        PlannedTopic(
            name, len(topic.replicas), topic.replication_factor, topic.replicas if with_replicas else None
        )
        for name, topic in sorted(state.topics.items())
        if topic.replicas and name not in INTERNAL_TOPICS
    ]
    empty = [
        NotRestored(f"topic {name}", NO_PARTITIONS)
        for name in sorted(state.topics)
        if not state.topics[name].replicas and name not in INTERNAL_TOPICS
    ]
    configs = sorted(
        (one for one in state.configs.items() if not is_internal(one[0])), key=lambda one: one[0]
    )
    hidden = [NotRestored(f"config {config}", SECRET_VALUE) for config, value in configs if value is None]
    return Plan(
        state.cluster_id,
        offset,
        time,
        tuple(topics),
        tuple(PlannedConfig(config, value) for config, value in configs if value is not None),
        tuple(sorted(state.acls or ())),
        tuple(PlannedQuota(quota, state.quotas[quota]) for quota in sorted(state.quotas, key=str)),
        (
            *not_known,
            *empty,
            *_internal(state),
            *hidden,
            *(
                NotRestored(f"SCRAM credential {user} with {iterations} iterations", SECRET_OF_USER)
                for user, iterations in sorted(state.users.items())
            ),
            *(
                NotRestored(f"feature {name} at level {level}", FEATURE)
                for name, level in sorted(state.features.items())
            ),
            *(NotRestored(f"delegation token {token}", TOKEN) for token in sorted(state.tokens)),
        ),
    )


def _internal(state: ClusterState) -> list[NotRestored]:
    topics = sorted(INTERNAL_TOPICS & state.topics.keys())
    configs = sorted((one for one in state.configs.items() if is_internal(one[0])), key=lambda one: one[0])
    return [
        *(NotRestored(f"topic {name}: {state.topics[name]}", INTERNAL) for name in topics),
        *(NotRestored(f"config {config}={value}", INTERNAL) for config, value in configs),
    ]


def is_internal(config: ResourceConfig) -> bool:
    """Returns whether it is of a topic that brokers create themselves."""
    return config.resource_type == "TOPIC" and config.resource_name in INTERNAL_TOPICS
