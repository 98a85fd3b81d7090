"""What brokers and tools of Kafka send is within the limits of its API, and the limits stay in proportion."""

from __future__ import annotations

import pytest

from kraftctl.apis.api_table import API_TABLE, ROWS
from kraftctl.apis.request_size import DECODED_ON_LOOP_BYTES_MAX, LARGE_REQUESTS_MEMORY_BYTES_MAX, MIB
from kraftctl.server.loop.client_requests import frame_limit
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.frames import UNCHECKED_BYTES_MAX
from kraftctl_protocol.generated import alter_partition_reassignments_request as reassignments
from kraftctl_protocol.generated import assign_replicas_to_dirs_request as directories
from kraftctl_protocol.generated.alter_client_quotas_request import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)
from kraftctl_protocol.generated.alter_partition_request import (
    AlterPartitionRequest,
    BrokerState,
    PartitionData,
    TopicData,
)
from kraftctl_protocol.generated.broker_heartbeat_request import BrokerHeartbeatRequest
from kraftctl_protocol.generated.broker_registration_request import (
    BrokerRegistrationRequest,
    Feature,
    Listener,
)
from kraftctl_protocol.generated.create_acls_request import AclCreation, CreateAclsRequest
from kraftctl_protocol.generated.create_topics_request import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from kraftctl_protocol.generated.delete_topics_request import DeleteTopicsRequest, DeleteTopicState
from kraftctl_protocol.generated.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kraftctl_protocol.generated.request_header import RequestHeader
from kraftctl_protocol.message import Message
from kraftctl_protocol.requests import decode_request_head, encode_request

SHARE = 50
"""Each message here has this part of its elements, and may take this part of its limits."""

ID = bytes(range(16))
LONG_NAME = "n" * 249


def alter_partition() -> Message:
    """A broker that leads 100,000 partitions of as many topics, after the failure of another one."""
    isr = [BrokerState(broker_id=number, broker_epoch=1 << 40) for number in (1_000, 1_001, 1_002)]
    partition = PartitionData(partition_index=700, new_isr_with_epochs=isr)
    return AlterPartitionRequest(
        topics=[TopicData(topic_id=ID, partitions=[partition]) for _ in range(100_000 // SHARE)]
    )


def assign_replicas() -> Message:
    topics = [
        directories.TopicData(topic_id=ID, partitions=[directories.PartitionData(partition_index=700)])
        for _ in range(100_000 // SHARE)
    ]
    return directories.AssignReplicasToDirsRequest(
        directories=[directories.DirectoryData(id=ID, topics=topics)]
    )


def reassign() -> Message:
    partition = reassignments.ReassignablePartition(partition_index=700, replicas=[1_000, 1_001, 1_002])
    topic = reassignments.ReassignableTopic(name="a-topic-of-the-cluster", partitions=[partition])
    return reassignments.AlterPartitionReassignmentsRequest(topics=[topic] * (100_000 // SHARE))


def create_topics() -> Message:
    configs = [
        CreatableTopicConfig(name="min.insync.replicas", value="2"),
        CreatableTopicConfig(name="retention.ms", value="604800000"),
    ]
    assignment = CreatableReplicaAssignment(partition_index=0, broker_ids=[1_000, 1_001, 1_002])
    topic = CreatableTopic(name=LONG_NAME, assignments=[assignment], configs=configs)
    return CreateTopicsRequest(topics=[topic] * (10_000 // SHARE))


def delete_topics() -> Message:
    return DeleteTopicsRequest(topics=[DeleteTopicState(name=LONG_NAME)] * (10_000 // SHARE))


def alter_configs() -> Message:
    config = AlterableConfig(name="min.insync.replicas", value="2")
    resource = AlterConfigsResource(resource_type=2, resource_name=LONG_NAME, configs=[config])
    return IncrementalAlterConfigsRequest(resources=[resource] * (10_000 // SHARE))


def alter_quotas() -> Message:
    entity = [
        EntityData(entity_type="user", entity_name="n" * 100),
        EntityData(entity_type="client-id", entity_name="n" * 100),
    ]
    entry = EntryData(entity=entity, ops=[OpData(key="consumer_byte_rate", value=1e6)])
    return AlterClientQuotasRequest(entries=[entry] * (10_000 // SHARE))


def create_acls() -> Message:
    creation = AclCreation(2, LONG_NAME, 3, "User:" + "n" * 100, "192.168.100.100", 3, 3)
    return CreateAclsRequest(creations=[creation] * (10_000 // SHARE))


def register() -> Message:
    return BrokerRegistrationRequest(
        listeners=[Listener(name="LISTENER", host=LONG_NAME)] * 1,
        features=[Feature(name="a.feature.level")] * 4,
        log_dirs=[ID] * 20,
    )


def beat() -> Message:
    return BrokerHeartbeatRequest(offline_log_dirs=[ID] * 20, cordoned_log_dirs=[ID] * 20)


@pytest.mark.parametrize(
    "make",
    [
        alter_partition,
        assign_replicas,
        reassign,
        create_topics,
        delete_topics,
        alter_configs,
        alter_quotas,
        create_acls,
        register,
        beat,
    ],
    ids=lambda make: make.__name__,
)
def test_the_largest_that_is_sent_is_within_the_limits(make) -> None:
    request = make()
    header = RequestHeader(request_api_key=request.API_KEY, request_api_version=request.HIGHEST_VERSION)
    data = encode_request(header, request)
    size = API_TABLE[request.API_KEY].size
    assert len(data) * SHARE <= size.frame_bytes_max
    head = decode_request_head(data)
    head.decode_body()
    assert head.drawn_bytes * SHARE <= size.memory_bytes_max


BROKER_REQUEST_BYTES_MAX = 104_857_600
"""Kafka's default of socket.request.max.bytes."""


def test_limits_are_in_proportion() -> None:
    for api in ROWS:
        assert UNCHECKED_BYTES_MAX <= api.size.frame_bytes_max <= 101 * MIB
        assert api.size.memory_bytes_max <= LARGE_REQUESTS_MEMORY_BYTES_MAX
    assert UNCHECKED_BYTES_MAX == DECODED_ON_LOOP_BYTES_MAX


def test_an_envelope_has_room_for_every_request_that_may_be_forwarded() -> None:
    envelope = API_TABLE[ApiKey.ENVELOPE].size
    largest = max(api.size.frame_bytes_max for api in ROWS if api.forwardable)
    assert envelope.frame_bytes_max >= largest + 64 * 1024
    assert envelope.memory_bytes_max >= envelope.frame_bytes_max


def test_an_envelope_has_room_for_the_longest_request_that_a_broker_accepts() -> None:
    """Closed, the broker would send it again and again, and forward nothing else: see `ENVELOPE`."""
    envelope = API_TABLE[ApiKey.ENVELOPE].size
    beside_the_request = 64 * 1024
    assert envelope.frame_bytes_max >= BROKER_REQUEST_BYTES_MAX + beside_the_request
    assert frame_limit(b"\x00\x3a\x00\x00") == envelope.frame_bytes_max


def test_the_limit_of_a_frame_is_in_its_first_bytes() -> None:
    for api in ROWS:
        kind = api.key.to_bytes(2, "big") + b"\x00\x00"
        assert frame_limit(kind) == api.size.frame_bytes_max
    assert frame_limit(b"\x00\x00\x00\x00") == frame_limit(b"\xff\xff\x00\x00") == UNCHECKED_BYTES_MAX
