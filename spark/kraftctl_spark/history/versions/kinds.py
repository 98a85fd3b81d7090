"""The kinds of things that have versions: each with its key and its values, a table each."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Kind:
    """A table of versions: at any offset, a key has at most one."""

    name: str
    key: tuple[str, ...]
    values: tuple[str, ...]


TOPICS = Kind("topics", ("topic_id",), ("topic",))
PARTITIONS = Kind(
    "partitions",
    ("topic_id", "partition_id"),
    (
        "topic",
        "leader",
        "leader_epoch",
        "partition_epoch",
        "leader_recovery_state",
        "replicas",
        "isr",
        "adding_replicas",
        "removing_replicas",
        "elr",
        "last_known_elr",
        "directories",
    ),
)
BROKERS = Kind(
    "brokers",
    ("broker_id",),
    (
        "broker_epoch",
        "state",
        "fenced",
        "in_controlled_shutdown",
        "incarnation_id",
        "rack",
        "log_dirs",
        "cordoned_log_dirs",
        "end_points",
        "features",
    ),
)
CONTROLLERS = Kind(
    "controllers", ("controller_id",), ("incarnation_id", "zk_migration_ready", "end_points", "features")
)
CONFIGS = Kind("configs", ("resource_type", "resource_name", "name"), ("topic_id", "value"))
ACLS = Kind(
    "acls",
    ("id",),
    ("resource_type", "resource_name", "pattern_type", "principal", "host", "operation", "permission"),
)
QUOTAS = Kind("quotas", ("entity", "key"), ("value",))
FEATURES = Kind("features", ("name",), ("level",))
SCRAM_CREDENTIALS = Kind("scram_credentials", ("user", "mechanism"), ("iterations",))
DELEGATION_TOKENS = Kind(
    "delegation_tokens",
    ("token_id",),
    ("owner", "requester", "renewers", "issue_time", "max_time", "expiration_time"),
)
PRODUCER_IDS = Kind("producer_ids", (), ("next_producer_id",))
QUORUM = Kind("quorum", (), ("leader_id", "leader_epoch", "voters", "kraft_version"))

KINDS = (
    TOPICS,
    PARTITIONS,
    BROKERS,
    CONTROLLERS,
    CONFIGS,
    ACLS,
    QUOTAS,
    FEATURES,
    SCRAM_CREDENTIALS,
    DELEGATION_TOKENS,
    PRODUCER_IDS,
    QUORUM,
)
