"""Words, numbers and hints that get a random request past the first checks of a controller."""

from __future__ import annotations

import random
from typing import Any

from kraftctl.image.metadata_image import MetadataImage
from tests.support.active_controller import CLUSTER_ID
from tests.support.metadata_state import directory

WORDS = [
    *("t", "u", "", "*", "1", "2", "3000", "-1", "x" * 300, "a b", "é", CLUSTER_ID, "kafka-cluster"),
    *("retention.ms", "min.insync.replicas", "cleanup.policy", "compact", "delete", "5000", "-5", "true"),
    *("cordoned.log.dirs", "unclean.leader.election.enable", "interval.ms", "match", "client_id=a"),
    *("metadata.version", "kraft.version", "group.version", "eligible.leader.replicas.version"),
    *("user", "client-id", "ip", "producer_byte_rate", "connection_creation_rate", "User:alice", "127.0.0.1"),
    *("__cluster_metadata", "__consumer_offsets", "PLAINTEXT", "consumer.session.timeout.ms", "a" * 32_000),
]

NUMBERS = [-2, -1, 0, 0, 1, 1, 2, 2, 3, 4, 5, 8, 16, 30, 32, 100, 4_096, 3_000]


def hints(image: MetadataImage, end_offset: int, rng: random.Random) -> dict[str, list[Any]]:
    """Values that get a request past its first checks: of one broker, one partition, one resource."""
    result: dict[str, list[Any]] = {
        "cluster_id": [CLUSTER_ID],
        "is_migrating_zk_broker": [False],
        "validate_only": [False],
        "timeout_ms": [1_000],
        "num_partitions": [-1, 1, 2, 5],
        "replication_factor": [-1, 1, 2, 3],
        "partition_index": [0, 1, 2],
        "partition_id": [0, 1, 2],
        "replicas": [[1, 2, 3], [3, 1], [2], [1, 4], None],
        "broker_ids": [[1, 2, 3], [3, 1], [2], [1, 1], [9]],
        "new_isr": [[1, 2, 3], [1], [2, 3], [1, 1]],
        "resource_type": [2, 4, 16, 32],
        "resource_name": ["t", "1", "", "g", "3000"],
        "resource_pattern_type": [3, 4],
        "permission_type": [2, 3],
        "operation": [1, 2, 3, 8],
        "principal": ["User:alice", "User:*"],
        "config_operation": [0, 0, 0, 1, 2, 3],
        "mechanism": [1, 2],
        "iterations": [4_096],
        "upgrade_type": [1, 2, 3],
        "entity_type": ["user", "client-id"],
        "election_type": [0, 1],
        "endpoint_type": [2],
        "name": ["t", "u", "v", "retention.ms", "cleanup.policy", "min.insync.replicas", "alice"],
        "value": ["1", "2", "delete", "compact", "86400000"],
        "key": ["producer_byte_rate", "request_percentage"],
        "count": [1, 2, 4, 6, 10_001],
        "assignments": [[]],
    }
    if image.topics.ids_by_name:
        name = rng.choice(sorted(image.topics.ids_by_name))
        topic = image.topics.topic_by_name(name)
        assert topic is not None
        result |= {"topic": [name], "topic_name": [name], "topic_id": [topic.topic_id]}
        index = rng.choice(sorted(topic.partitions))
        partition = topic.partitions[index]
        result["partition_index"] = [index]
        result["leader_epoch"] = [int(partition.leader_epoch)]
        result["partition_epoch"] = [int(partition.partition_epoch)]
        if partition.leader >= 0 and rng.random() < 0.5:
            result["broker_id"] = [int(partition.leader)]
    if image.cluster.brokers:
        broker_id = result.get("broker_id", [rng.choice(sorted(image.cluster.brokers))])[0]
        registered = image.cluster.broker(broker_id)
        if registered is not None:
            result |= {"broker_id": [broker_id], "broker_epoch": [registered.epoch, registered.epoch, -1]}
            result["directory_id"] = result["id"] = [*registered.directories, directory(999)]
            result["log_dirs"] = [list(registered.directories), list(registered.directories)[:1]]
            result["incarnation_id"] = [registered.incarnation_id, directory(7)]
    result["current_metadata_offset"] = [end_offset]
    return result
