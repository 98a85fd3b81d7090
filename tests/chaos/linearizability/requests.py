"""Requests of a history: what is sent, and what the response says in the words of the models."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple, Protocol, TypeVar

from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.allocate_producer_ids_request import AllocateProducerIdsRequest
from kraftctl_protocol.generated.allocate_producer_ids_response import AllocateProducerIdsResponse
from kraftctl_protocol.generated.alter_partition_reassignments_request import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from kraftctl_protocol.generated.alter_partition_reassignments_response import (
    AlterPartitionReassignmentsResponse,
)
from kraftctl_protocol.generated.alter_partition_request import (
    AlterPartitionRequest,
    BrokerState,
    PartitionData,
    TopicData,
)
from kraftctl_protocol.generated.alter_partition_response import AlterPartitionResponse
from kraftctl_protocol.generated.create_acls_request import AclCreation, CreateAclsRequest
from kraftctl_protocol.generated.create_acls_response import CreateAclsResponse
from kraftctl_protocol.generated.create_topics_request import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
)
from kraftctl_protocol.generated.create_topics_response import CreateTopicsResponse
from kraftctl_protocol.generated.delete_acls_request import DeleteAclsFilter, DeleteAclsRequest
from kraftctl_protocol.generated.delete_acls_response import DeleteAclsResponse
from kraftctl_protocol.generated.delete_topics_request import DeleteTopicsRequest, DeleteTopicState
from kraftctl_protocol.generated.delete_topics_response import DeleteTopicsResponse
from kraftctl_protocol.generated.describe_acls_request import DescribeAclsRequest
from kraftctl_protocol.generated.describe_acls_response import DescribeAclsResponse
from kraftctl_protocol.generated.describe_configs_request import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from kraftctl_protocol.generated.describe_configs_response import DescribeConfigsResponse
from kraftctl_protocol.generated.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kraftctl_protocol.generated.incremental_alter_configs_response import IncrementalAlterConfigsResponse
from kraftctl_protocol.generated.list_partition_reassignments_request import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)
from kraftctl_protocol.generated.list_partition_reassignments_response import (
    ListPartitionReassignmentsResponse,
)
from kraftctl_protocol.generated.metadata_request import MetadataRequest, MetadataRequestTopic
from kraftctl_protocol.generated.metadata_response import MetadataResponse
from kraftctl_protocol.message import Message
from tests.chaos.linearizability.operation import UNKNOWN
from tests.support.wire.controller_client import StandInBroker

TOPIC = 2
"""A resource type of configs, and of ACLs."""

SET, DELETE, APPEND = range(3)
"""config_operation."""

DYNAMIC_TOPIC_CONFIG = 1
LITERAL, READ, ALLOW = 3, 3, 3

REQUEST_TIMEOUT_MS = 4000

M = TypeVar("M", bound=Message)


class Ask(Protocol):
    """Sends a request and returns its response; OSError without one."""

    def __call__(self, request: Message, version: int, response: type[M], /) -> M: ...


class Result(NamedTuple):
    """`is_read`: it changes nothing. `error` is that of a response that leaves the outcome open."""

    value: Hashable
    is_read: bool = False
    error: int = 0


def open_outcome(error: int) -> Result:
    """Also of NOT_CONTROLLER: a leader that resigns says so of records that may be committed yet."""
    return Result(UNKNOWN, False, error)


# Topics.


def create_topic(ask: Ask, name: str, assignment: Sequence[int], *, validate_only: bool = False) -> Result:
    """One partition on these brokers; without them, on any."""
    topic = CreatableTopic(name=name, num_partitions=1, replication_factor=-1)
    if assignment:
        topic.num_partitions = -1
        topic.assignments = [CreatableReplicaAssignment(partition_index=0, broker_ids=list(assignment))]
    request = CreateTopicsRequest(topics=[topic], timeout_ms=REQUEST_TIMEOUT_MS, validate_only=validate_only)
    created = ask(request, 7, CreateTopicsResponse).topics[0]
    if created.error_code == Errors.TOPIC_ALREADY_EXISTS:
        return Result("exists", is_read=True)
    if created.error_code != Errors.NONE:
        return open_outcome(created.error_code)
    return Result("absent", is_read=True) if validate_only else Result(("created", created.topic_id.hex()))


def delete_topic(ask: Ask, name: str) -> Result:
    request = DeleteTopicsRequest(topics=[DeleteTopicState(name=name)], timeout_ms=REQUEST_TIMEOUT_MS)
    error = ask(request, 6, DeleteTopicsResponse).responses[0].error_code
    if error == Errors.UNKNOWN_TOPIC_OR_PARTITION:
        return Result("absent", is_read=True)
    return Result("deleted") if error == Errors.NONE else open_outcome(error)


def describe_topic(ask: Ask, name: str) -> Result:
    """Of a broker: the topic id, or None."""
    request = MetadataRequest(topics=[MetadataRequestTopic(name=name)], allow_auto_topic_creation=False)
    topic = ask(request, 12, MetadataResponse).topics[0]
    if topic.error_code == Errors.UNKNOWN_TOPIC_OR_PARTITION:
        return Result(None, is_read=True)
    is_known = topic.topic_id != bytes(16)
    return Result(topic.topic_id.hex(), is_read=True) if is_known else open_outcome(topic.error_code)


# Configs.


def alter_config(ask: Ask, topic: str, key: str, operation: int, value: str | None) -> Result:
    config = AlterableConfig(name=key, config_operation=operation, value=value)
    resource = AlterConfigsResource(resource_type=TOPIC, resource_name=topic, configs=[config])
    request = IncrementalAlterConfigsRequest(resources=[resource])
    error = ask(request, 1, IncrementalAlterConfigsResponse).responses[0].error_code
    return Result("made") if error == Errors.NONE else open_outcome(error)


def describe_config(ask: Ask, topic: str, key: str) -> Result:
    """The items of the value, empty if it is not set for the topic, or the topic is not known yet."""
    resource = DescribeConfigsResource(resource_type=TOPIC, resource_name=topic, configuration_keys=[key])
    described = ask(DescribeConfigsRequest(resources=[resource]), 4, DescribeConfigsResponse).results[0]
    if described.error_code == Errors.UNKNOWN_TOPIC_OR_PARTITION:
        return Result((), is_read=True)
    if described.error_code != Errors.NONE:
        return open_outcome(described.error_code)
    return Result(
        tuple(
            item
            for config in described.configs
            if config.name == key and config.config_source == DYNAMIC_TOPIC_CONFIG
            for item in (config.value or "").split(",")
        ),
        is_read=True,
    )


def topic_exists(ask: Ask, name: str) -> Result:
    """By its configs, which every controller has."""
    resource = DescribeConfigsResource(
        resource_type=TOPIC, resource_name=name, configuration_keys=["flush.ms"]
    )
    described = ask(DescribeConfigsRequest(resources=[resource]), 4, DescribeConfigsResponse).results[0]
    if described.error_code == Errors.UNKNOWN_TOPIC_OR_PARTITION:
        return Result("absent", is_read=True)
    if described.error_code != Errors.NONE:
        return open_outcome(described.error_code)
    return Result("exists", is_read=True)


# ACLs: one binding for each name.


def create_acl(ask: Ask, name: str) -> Result:
    creation = AclCreation(
        resource_type=TOPIC,
        resource_name=name,
        resource_pattern_type=LITERAL,
        principal="User:reader",
        host="*",
        operation=READ,
        permission_type=ALLOW,
    )
    error = ask(CreateAclsRequest(creations=[creation]), 3, CreateAclsResponse).results[0].error_code
    return Result("made") if error == Errors.NONE else open_outcome(error)


def delete_acl(ask: Ask, name: str) -> Result:
    wanted = DeleteAclsFilter(
        resource_type_filter=TOPIC,
        resource_name_filter=name,
        pattern_type_filter=LITERAL,
        principal_filter="User:reader",
        host_filter="*",
        operation=READ,
        permission_type=ALLOW,
    )
    result = ask(DeleteAclsRequest(filters=[wanted]), 3, DeleteAclsResponse).filter_results[0]
    errors = {result.error_code, *(one.error_code for one in result.matching_acls)} - {Errors.NONE}
    if errors:
        return open_outcome(max(errors))
    return Result(len(result.matching_acls), is_read=not result.matching_acls)


def describe_acl(ask: Ask, name: str) -> Result:
    request = DescribeAclsRequest(
        resource_type_filter=TOPIC,
        resource_name_filter=name,
        pattern_type_filter=LITERAL,
        principal_filter=None,
        host_filter=None,
        operation=READ,
        permission_type=ALLOW,
    )
    response = ask(request, 3, DescribeAclsResponse)
    if response.error_code != Errors.NONE:
        return open_outcome(response.error_code)
    return Result(sum(len(resource.acls) for resource in response.resources), is_read=True)


# As a broker.


def alter_partition(
    ask: Ask, brokers: Sequence[StandInBroker], topic_id: str, expected_epoch: int, isr: Sequence[int]
) -> Result:
    """By brokers[0], the leader; `isr` are positions in `brokers`, from 1."""
    members = [brokers[number - 1] for number in isr]
    data = PartitionData(
        partition_index=0,
        leader_epoch=0,
        partition_epoch=expected_epoch,
        new_isr_with_epochs=[
            BrokerState(broker_id=member.broker_id, broker_epoch=member.broker_epoch) for member in members
        ],
    )
    request = AlterPartitionRequest(
        broker_id=brokers[0].broker_id,
        broker_epoch=brokers[0].broker_epoch,
        topics=[TopicData(topic_id=bytes.fromhex(topic_id), partitions=[data])],
    )
    response = ask(request, 3, AlterPartitionResponse)
    if response.error_code != Errors.NONE:
        return open_outcome(response.error_code)
    partition = response.topics[0].partitions[0]
    if partition.error_code == Errors.INVALID_UPDATE_VERSION:
        return Result("stale", is_read=True)
    if partition.error_code != Errors.NONE:
        return open_outcome(partition.error_code)
    return Result(partition.partition_epoch)


def allocate_producer_ids(ask: Ask, broker: StandInBroker) -> Result:
    request = AllocateProducerIdsRequest(broker_id=broker.broker_id, broker_epoch=broker.broker_epoch)
    response = ask(request, 0, AllocateProducerIdsResponse)
    if response.error_code != Errors.NONE:
        return open_outcome(response.error_code)
    return Result(response.producer_id_start)


# Reassignments.


def alter_reassignment(ask: Ask, topic: str, replicas: Sequence[int] | None) -> Result:
    """None cancels."""
    partition = ReassignablePartition(replicas=None if replicas is None else list(replicas))
    request = AlterPartitionReassignmentsRequest(
        timeout_ms=REQUEST_TIMEOUT_MS, topics=[ReassignableTopic(name=topic, partitions=[partition])]
    )
    response = ask(request, 1, AlterPartitionReassignmentsResponse)
    error = response.error_code or response.responses[0].partitions[0].error_code
    if replicas is None and error == Errors.NO_REASSIGNMENT_IN_PROGRESS:
        return Result("none", is_read=True)
    return Result("made") if error == Errors.NONE else open_outcome(error)


def list_reassignment(ask: Ask, topic: str) -> Result:
    """The replicas that it moves to, sorted; None if it moves nowhere."""
    wanted = ListPartitionReassignmentsTopics(name=topic, partition_indexes=[0])
    request = ListPartitionReassignmentsRequest(timeout_ms=REQUEST_TIMEOUT_MS, topics=[wanted])
    response = ask(request, 0, ListPartitionReassignmentsResponse)
    if response.error_code != Errors.NONE:
        return open_outcome(response.error_code)
    moving = [partition for found in response.topics for partition in found.partitions]
    if not moving:
        return Result(None, is_read=True)
    return Result(tuple(sorted(set(moving[0].replicas) - set(moving[0].removing_replicas))), is_read=True)
