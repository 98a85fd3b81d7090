"""No decodable request, however senseless, stops the controller: it answers, and records can be replayed."""

from __future__ import annotations

import random
from typing import Any

import pytest

from kraftctl.controller.api_versions import SERVED_VERSIONS
from kraftctl.controller.apis import APIS
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.alter_partition_reassignments_request import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from kraftctl_protocol.generated.broker_registration_request import BrokerRegistrationRequest
from kraftctl_protocol.generated.create_topics_request import CreatableTopic, CreateTopicsRequest
from kraftctl_protocol.generated.index import response_class
from kraftctl_protocol.message import Message
from tests.support.active_controller import (
    CLUSTER_ID,
    ActiveController,
    directory,
    registration,
    request_type,
)
from tests.support.effort import seeds
from tests.support.random_messages import RandomMessages

REQUESTS_PER_SEED = 300

WORDS = [
    *("t", "u", "", "*", "1", "2", "3000", "-1", "x" * 300, "a b", "é", CLUSTER_ID, "kafka-cluster"),
    *("retention.ms", "min.insync.replicas", "cleanup.policy", "compact", "delete", "5000", "-5", "true"),
    *("cordoned.log.dirs", "unclean.leader.election.enable", "interval.ms", "match", "client_id=a"),
    *("metadata.version", "kraft.version", "group.version", "eligible.leader.replicas.version"),
    *("user", "client-id", "ip", "producer_byte_rate", "connection_creation_rate", "User:alice", "127.0.0.1"),
    *("__cluster_metadata", "__consumer_offsets", "PLAINTEXT", "consumer.session.timeout.ms", "a" * 32_000),
]

NUMBERS = [-2, -1, 0, 0, 1, 1, 2, 2, 3, 4, 5, 8, 16, 30, 32, 100, 4_096, 3_000]


def cluster() -> ActiveController:
    active = ActiveController(
        authorizer_class_name="org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        super_users="User:ANONYMOUS",
        unclean_leader_election_enable="true",
        default_replication_factor="2",
    )
    active.start_brokers(1, 2, 3, directories=2)
    active.create_topic("t", partitions=3, replication_factor=3)
    active.create_topic("u", partitions=1, replication_factor=1)
    return active


def hints(active: ActiveController, rng: random.Random) -> dict[str, list[Any]]:
    """Values that get a request past its first checks: of one broker, one partition, one resource."""
    image = active.controller.image
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
    result["current_metadata_offset"] = [active.end_offset]
    return result


def random_request(active: ActiveController, rng: random.Random) -> tuple[Message, int]:
    """A request of some API in some version."""
    image = active.controller.image
    epochs = [registration.epoch for registration in image.cluster.brokers.values()]
    ids = [bytes(16), directory(10), directory(21), *image.topics.topics]
    values = RandomMessages(rng, WORDS, ids, [*NUMBERS, *epochs, active.end_offset], hints(active, rng))
    api_key = rng.choice(sorted(APIS))
    lowest, highest = SERVED_VERSIONS[api_key]
    version = rng.randint(lowest, highest)
    request = values.message(request_type(api_key), version)
    if isinstance(request, BrokerRegistrationRequest):
        request.features = registration(1).features
    return request, version


@pytest.mark.parametrize("seed", seeds(12))
def test_whatever_is_asked(seed):
    rng = random.Random(seed)
    active = cluster()
    for _ in range(REQUESTS_PER_SEED):
        request, version = random_request(active, rng)
        response = active.request(request, version)
        kind = response_class(request.API_KEY)
        assert kind is not None
        assert kind.decode(response.encode(version), version) is not None
        active.pass_time(rng.choice((0, 10, 600, 3_000)))
        keep_alive(active, rng)


def keep_alive(active: ActiveController, rng: random.Random) -> None:
    """Brokers come back sooner or later, and topics do not run out."""
    for broker_id in (1, 2, 3):
        if rng.random() < 0.3:
            active.request(registration(broker_id, directories=2))
        active.heartbeat(broker_id)
    image = active.controller.image
    if len(image.topics.topics) < 2 and any(broker.active for broker in image.cluster.brokers.values()):
        topic = CreatableTopic(name=rng.choice(("t", "u")), num_partitions=3, replication_factor=-1)
        active.request(CreateTopicsRequest(topics=[topic]))


def test_a_partition_named_twice_is_changed_once():
    """The second record would rest on a state that the first one has left behind."""
    active = cluster()
    partitions = [
        ReassignablePartition(partition_index=0, replicas=[2]),
        ReassignablePartition(partition_index=0, replicas=[1, 2, 3]),
    ]
    request = AlterPartitionReassignmentsRequest(topics=[ReassignableTopic(name="t", partitions=partitions)])
    response = active.request(request)
    codes = [partition.error_code for partition in response.responses[0].partitions]
    assert codes == [0, Errors.INVALID_REQUEST]
