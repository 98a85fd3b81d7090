"""The settings of the nodes: one table for `kraftctl dev`, the tests and docker-compose.yml."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path

from kraftctl_protocol.log_file_names import META_PROPERTIES
from kraftctl_protocol.meta_properties import MetaProperties
from kraftctl_protocol.uuids import random_uuid, uuid_to_string

CONTROLLER_LISTENER = "CONTROLLER"
BROKER_LISTENER = "PLAINTEXT"

SHARED_SETTINGS = {
    "controller.listener.names": CONTROLLER_LISTENER,
    "listener.security.protocol.map": f"{CONTROLLER_LISTENER}:PLAINTEXT,{BROKER_LISTENER}:PLAINTEXT",
}
"""Settings that are the same on every node."""

BROKER_SETTINGS = {
    **SHARED_SETTINGS,
    "process.roles": "broker",
    "inter.broker.listener.name": BROKER_LISTENER,
    "default.replication.factor": "3",
    "min.insync.replicas": "2",
    "offsets.topic.replication.factor": "3",
    "offsets.topic.num.partitions": "3",
    "transaction.state.log.replication.factor": "3",
    "transaction.state.log.min.isr": "2",
    "transaction.state.log.num.partitions": "3",
    "share.coordinator.state.topic.replication.factor": "3",
    "share.coordinator.state.topic.min.isr": "2",
    "share.coordinator.state.topic.num.partitions": "3",
    "group.initial.rebalance.delay.ms": "0",
}
"""A broker of a small cluster of three: replicated internal topics, few partitions each."""

REPLICATION_SETTINGS = (
    "default.replication.factor",
    "offsets.topic.replication.factor",
    "transaction.state.log.replication.factor",
    "share.coordinator.state.topic.replication.factor",
)

IN_SYNC_SETTINGS = (
    "min.insync.replicas",
    "transaction.state.log.min.isr",
    "share.coordinator.state.topic.min.isr",
)

SMALL_BROKER_SETTINGS = {
    "num.network.threads": "2",
    "num.io.threads": "2",
    "num.replica.fetchers": "1",
    "background.threads": "2",
    "num.recovery.threads.per.data.dir": "1",
    "log.cleaner.dedupe.buffer.size": "4194304",
    "log.index.size.max.bytes": "1048576",
    "controlled.shutdown.enable": "true",
}
"""For several brokers on one machine: few threads, small buffers."""

CONTROLLER_SETTINGS = {
    **SHARED_SETTINGS,
    "process.roles": "controller",
    "default.replication.factor": "3",
    "min.insync.replicas": "2",
}


def replication_for(brokers: int) -> dict[str, str]:
    """Returns the settings of a cluster with fewer than three brokers, for brokers and controllers."""
    replicas = min(brokers, 3)
    return {
        **dict.fromkeys(REPLICATION_SETTINGS, str(replicas)),
        **dict.fromkeys(IN_SYNC_SETTINGS, str(max(replicas - 1, 1))),
    }


def write_properties(path: Path, properties: Mapping[str, str]) -> None:
    """Writes a properties file as Kafka reads it. Only backslashes in values are escaped."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [f"{key}={value}".replace("\\", "\\\\") for key, value in sorted(properties.items())]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_meta_properties(log_directory: Path, *, cluster_id: str, node_id: int) -> str:
    """Formats `log_directory` for a broker or a static voter.

    They need only meta.properties, so no JVM is started. Returns the directory id.
    """
    directory_id = random_uuid(random.SystemRandom())
    log_directory.mkdir(parents=True, exist_ok=True)
    write_properties(
        log_directory / META_PROPERTIES,
        MetaProperties(cluster_id, node_id, directory_id).properties(),
    )
    return uuid_to_string(directory_id)


def random_id() -> str:
    """Returns a random id as Kafka prints it: 22 characters which do not begin with a dash."""
    return uuid_to_string(random_uuid(random.SystemRandom()))
