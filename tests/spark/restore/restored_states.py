"""States made by chance of clusters, and a small one, for tests of plans."""

from __future__ import annotations

import random

from kraftctl_spark.restore.cluster_state import (
    ClusterState,
    NamedAcl,
    QuotaKey,
    ResourceConfig,
    ScramIdentity,
    TopicReplicas,
)

ACL = NamedAcl("TOPIC", "orders", "LITERAL", "User:alice", "*", "READ", "ALLOW")
QUOTA = QuotaKey((("client-id", None), ("user", "alice")), "producer_byte_rate")
RETENTION = ResourceConfig("TOPIC", "orders", "retention.ms")
CLEANERS = ResourceConfig("BROKER", "1", "log.cleaner.threads")
OF_ALL = ResourceConfig("BROKER", "", "log.retention.ms")
PASSWORD = ResourceConfig("BROKER", "1", "ssl.keystore.password")

SMALL = ClusterState(
    "one",
    topics={"orders": TopicReplicas(((1, 2), (2, 3), (3, 1)))},
    configs={RETENTION: "1000", CLEANERS: "2", OF_ALL: "86400000", PASSWORD: None},
    acls=frozenset([ACL]),
    quotas={QUOTA: 1024.5},
    users={ScramIdentity("keeper", "SCRAM-SHA-256"): 4096},
    features={"metadata.version": 29},
    tokens=("token",),
    brokers=frozenset([1, 2, 3]),
)

BROKERS = frozenset(range(1, 6))
LETTERS = "ab\"\\ ü\n\x7f#'=."
"""What has a meaning in TOML, or none."""


def random_state(seed: int) -> ClusterState:
    """Returns a state with some of everything that a plan can restore."""
    dice = random.Random(seed)

    def name() -> str:
        return "".join(dice.choices(LETTERS, k=dice.randint(1, 5)))

    def some() -> range:
        return range(dice.randint(0, 4))

    topics = {
        name(): TopicReplicas(
            tuple(tuple(dice.sample(sorted(BROKERS), 2)) for _ in range(dice.randint(1, 3)))
        )
        for _ in some()
    }
    resources = [("BROKER", ""), ("BROKER", "1"), ("GROUP", "g"), *(("TOPIC", topic) for topic in topics)]
    entities = [("user",), ("client-id",), ("client-id", "user")]
    return ClusterState(
        name(),
        topics=topics,
        configs={
            ResourceConfig(*dice.choice(resources), name()): dice.choice([None, name()]) for _ in some()
        },
        acls=frozenset(ACL._replace(resource_name=name(), principal=name()) for _ in some()),
        quotas={
            QuotaKey(
                tuple((kind, dice.choice([None, name()])) for kind in dice.choice(entities)), name()
            ): dice.choice([dice.random() * 1e18, float(dice.randint(0, 9)), float("inf")])
            for _ in some()
        },
        brokers=BROKERS,
    )
