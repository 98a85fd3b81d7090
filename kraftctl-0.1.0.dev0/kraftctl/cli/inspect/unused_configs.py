"""Why a controller does not use a key that Kafka has, by the beginning of its name."""

from __future__ import annotations

from typing import Final

UNUSED: Final = (
    (("group.", "offset.", "offsets."), "groups are coordinated by brokers"),
    (
        ("transaction.", "transactional.", "producer.id.", "add.partitions."),
        "transactions are coordinated by brokers",
    ),
    (("share.", "errors.deadletterqueue."), "share groups are coordinated by brokers"),
    (("remote.", "log.remote.", "log.local.", "follower.fetch."), "brokers move data to tiered storage"),
    (
        ("replica.", "num.replica.", "replication.", "follower.", "leader.", "alter.log.dirs."),
        "brokers copy partitions of topics",
    ),
    (("background.threads", "num.", "queued."), "there are no such threads here, nor their queues"),
    (
        ("log.", "compression.", "message.", "max.decompressed.", "cordoned."),
        "it concerns partitions of topics, which brokers store",
    ),
    (
        ("fetch.", "delete.records.", "producer.purgatory.", "max.incremental.", "max.request.", "telemetry.",
         "auto.create."),
        "it concerns requests that brokers answer",
    ),
    (("metric.", "metrics.", "kafka.metrics."), "there is no JMX: `/metrics` has all metrics"),
    (("quota.",), "brokers enforce quotas of clients"),
    (
        ("broker.", "controlled.shutdown.", "initial.broker.", "inter.broker.",
         "security.inter.", "sasl.mechanism.inter."),
        "only brokers have it",
    ),
    (
        ("request.timeout.", "controller.socket."),
        "kraftctl does not use it: each request of its controllers has a limit of its own",
    ),
    (("server.max.startup.",), "a start takes the time that the log needs"),
    (("sasl.kerberos.",), "Kerberos is not supported"),
    (("sasl.oauthbearer.allow.",), "only the expected audiences and issuer decide"),
    (("ssl.", "security.providers"), "it chooses a part of a JVM, and SSL is that of OpenSSL here"),
    (("socket.connection.setup.",), "a connection has the time of its request"),
    (("controller.quorum.append.linger.",), "no record waits for more"),
    (("controller.performance.always.",), "the line about requests has their longest times"),
    (("internal.metadata.",), "batches and deleted files of the log have fixed limits"),
)  # fmt: skip
"""The first entry that has the beginning of a key is that of the key."""


def why_unused(key: str) -> str:
    """Returns the reason. Raises KeyError for a key that has none."""
    for beginnings, reason in UNUSED:
        if key.startswith(beginnings):
            return reason
    raise KeyError(key)
