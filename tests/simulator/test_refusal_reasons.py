"""Each rule about a refusal: no state of the base justifies it, and one more record does."""

from __future__ import annotations

from typing import Any

import pytest

from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated import alter_partition_reassignments_request as moves
from kraftctl_protocol.generated import alter_partition_reassignments_response as moved
from kraftctl_protocol.generated import alter_partition_request as isrs
from kraftctl_protocol.generated import alter_partition_response as altered
from kraftctl_protocol.generated import broker_registration_request as registrations
from kraftctl_protocol.generated import create_topics_request as creations
from kraftctl_protocol.generated import elect_leaders_response as elected
from kraftctl_protocol.generated.allocate_producer_ids_request import AllocateProducerIdsRequest
from kraftctl_protocol.generated.allocate_producer_ids_response import AllocateProducerIdsResponse
from kraftctl_protocol.generated.alter_configs_request import AlterConfigsRequest
from kraftctl_protocol.generated.alter_configs_request import AlterConfigsResource as LegacyResource
from kraftctl_protocol.generated.alter_configs_response import AlterConfigsResourceResponse as LegacyResult
from kraftctl_protocol.generated.alter_configs_response import AlterConfigsResponse
from kraftctl_protocol.generated.alter_user_scram_credentials_request import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
)
from kraftctl_protocol.generated.alter_user_scram_credentials_response import (
    AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
)
from kraftctl_protocol.generated.assign_replicas_to_dirs_request import AssignReplicasToDirsRequest
from kraftctl_protocol.generated.assign_replicas_to_dirs_response import AssignReplicasToDirsResponse
from kraftctl_protocol.generated.broker_heartbeat_request import BrokerHeartbeatRequest
from kraftctl_protocol.generated.broker_heartbeat_response import BrokerHeartbeatResponse
from kraftctl_protocol.generated.broker_registration_change_record import BrokerRegistrationChangeRecord
from kraftctl_protocol.generated.broker_registration_response import BrokerRegistrationResponse
from kraftctl_protocol.generated.controller_registration_request import ControllerRegistrationRequest
from kraftctl_protocol.generated.controller_registration_response import ControllerRegistrationResponse
from kraftctl_protocol.generated.create_partitions_request import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from kraftctl_protocol.generated.create_partitions_response import (
    CreatePartitionsResponse,
    CreatePartitionsTopicResult,
)
from kraftctl_protocol.generated.create_topics_response import CreatableTopicResult, CreateTopicsResponse
from kraftctl_protocol.generated.delete_topics_request import DeleteTopicsRequest, DeleteTopicState
from kraftctl_protocol.generated.delete_topics_response import DeletableTopicResult, DeleteTopicsResponse
from kraftctl_protocol.generated.describe_cluster_request import DescribeClusterRequest
from kraftctl_protocol.generated.describe_cluster_response import DescribeClusterResponse
from kraftctl_protocol.generated.describe_configs_request import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from kraftctl_protocol.generated.describe_configs_response import (
    DescribeConfigsResponse,
    DescribeConfigsResult,
)
from kraftctl_protocol.generated.elect_leaders_request import ElectLeadersRequest, TopicPartitions
from kraftctl_protocol.generated.feature_level_record import FeatureLevelRecord
from kraftctl_protocol.generated.incremental_alter_configs_request import (
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kraftctl_protocol.generated.incremental_alter_configs_response import (
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsResponse,
)
from kraftctl_protocol.generated.partition_change_record import PartitionChangeRecord
from kraftctl_protocol.generated.partition_record import PartitionRecord
from kraftctl_protocol.generated.register_broker_record import BrokerFeature, RegisterBrokerRecord
from kraftctl_protocol.generated.register_controller_record import RegisterControllerRecord
from kraftctl_protocol.generated.remove_topic_record import RemoveTopicRecord
from kraftctl_protocol.generated.remove_user_scram_credential_record import RemoveUserScramCredentialRecord
from kraftctl_protocol.generated.topic_record import TopicRecord
from kraftctl_protocol.generated.unregister_broker_record import UnregisterBrokerRecord
from kraftctl_protocol.generated.unregister_broker_request import UnregisterBrokerRequest
from kraftctl_protocol.generated.unregister_broker_response import UnregisterBrokerResponse
from kraftctl_protocol.generated.unregister_controller_record import UnregisterControllerRecord
from kraftctl_protocol.generated.unregister_controller_request import UnregisterControllerRequest
from kraftctl_protocol.generated.unregister_controller_response import UnregisterControllerResponse
from kraftctl_protocol.generated.user_scram_credential_record import UserScramCredentialRecord
from kraftctl_protocol.message import Message
from tests.support.simulator.checks.refusal_reasons import NOT_CHECKED, NOT_OF_THE_STATE, REASONS
from tests.support.simulator.checks.refusals_of import refusals_of
from tests.support.simulator.checks.window import Window
from tests.support.simulator.reference.reference import Reference
from tests.support.simulator.reference.rows import BROKER, TOPIC

TOPIC_ID = bytes([7]) * 16
EPOCH = 7
INCARNATION = bytes([9]) * 16
FOO = "foo"


def broker(broker_id: int, epoch: int = EPOCH, incarnation_id: bytes = INCARNATION) -> RegisterBrokerRecord:
    feature = BrokerFeature(name="metadata.version", min_supported_version=7, max_supported_version=33)
    return RegisterBrokerRecord(
        broker_id=broker_id,
        broker_epoch=epoch,
        incarnation_id=incarnation_id,
        fenced=False,
        features=[feature],
    )


def partition(index: int, **fields: Any) -> PartitionRecord:
    values: dict[str, Any] = {"replicas": [1, 2, 3], "isr": [1, 2, 3], "leader": 1, "leader_epoch": 0}
    values |= {"partition_epoch": 0, **fields}
    return PartitionRecord(partition_id=index, topic_id=TOPIC_ID, **values)


BASE: list[Message] = [
    FeatureLevelRecord(name="metadata.version", feature_level=33),
    RegisterControllerRecord(controller_id=3000),
    *[broker(broker_id) for broker_id in (1, 2, 3)],
    TopicRecord(name=FOO, topic_id=TOPIC_ID),
    partition(0),
    partition(1, leader=2, adding_replicas=[3]),
    UserScramCredentialRecord(name="alice", mechanism=1),
]
"""Partition 1 is being reassigned, and is not led by its preferred leader."""

GONE = UnregisterBrokerRecord(broker_id=2, broker_epoch=EPOCH)
RETURNED = broker(1, EPOCH + 1, bytes([8]) * 16)
FORGOTTEN = UnregisterControllerRecord(controller_id=3000)
REMOVED = RemoveTopicRecord(topic_id=TOPIC_ID)
SMALLER = PartitionChangeRecord(partition_id=0, topic_id=TOPIC_ID, isr=[1, 2])
MOVED = PartitionChangeRecord(partition_id=0, topic_id=TOPIC_ID, leader=2, isr=[2, 3])
LED_AS_PREFERRED = PartitionChangeRecord(partition_id=1, topic_id=TOPIC_ID, leader=1)
REASSIGNED = PartitionChangeRecord(partition_id=1, topic_id=TOPIC_ID, adding_replicas=[])

Case = tuple[Message, Message, list[Message]]


def forgetting() -> tuple[Message, Message]:
    return UnregisterControllerRequest(controller_id=3000), UnregisterControllerResponse()


def creation(**fields: Any) -> tuple[Message, Message]:
    topic = creations.CreatableTopic(name="bar", num_partitions=1, **fields)
    return creations.CreateTopicsRequest(topics=[topic]), CreateTopicsResponse(
        topics=[CreatableTopicResult(name="bar")]
    )


def deletion(**names: Any) -> tuple[Message, Message]:
    request = DeleteTopicsRequest(timeout_ms=60_000, topics=[DeleteTopicState(**names)])
    return request, DeleteTopicsResponse(responses=[DeletableTopicResult(**names)])


def growth(count: int) -> tuple[Message, Message]:
    request = CreatePartitionsRequest(
        timeout_ms=60_000, topics=[CreatePartitionsTopic(name=FOO, count=count)]
    )
    return request, CreatePartitionsResponse(results=[CreatePartitionsTopicResult(name=FOO)])


def configs(kind: str, resource_type: int = TOPIC, name: str = FOO) -> tuple[Message, Message]:
    names: dict[str, Any] = {"resource_type": resource_type, "resource_name": name}
    if kind == "describe":
        described = DescribeConfigsResponse(results=[DescribeConfigsResult(**names)])
        return DescribeConfigsRequest(resources=[DescribeConfigsResource(**names)]), described
    if kind == "alter":
        altered_configs = AlterConfigsResponse(responses=[LegacyResult(**names)])
        return AlterConfigsRequest(resources=[LegacyResource(**names)]), altered_configs
    changed = IncrementalAlterConfigsResponse(responses=[AlterConfigsResourceResponse(**names)])
    return IncrementalAlterConfigsRequest(resources=[AlterConfigsResource(**names)]), changed


def reassignment(index: int, replicas: list[int] | None) -> tuple[Message, Message]:
    part = moves.ReassignablePartition(partition_index=index, replicas=replicas)
    result = moved.ReassignablePartitionResponse(partition_index=index)
    request = moves.AlterPartitionReassignmentsRequest(
        topics=[moves.ReassignableTopic(name=FOO, partitions=[part])]
    )
    topic = moved.ReassignableTopicResponse(name=FOO, partitions=[result])
    return request, moved.AlterPartitionReassignmentsResponse(responses=[topic])


def election(index: int, *, unclean: bool = False) -> tuple[Message, Message]:
    asked = TopicPartitions(topic=FOO, partitions=[index])
    request = ElectLeadersRequest(election_type=int(unclean), topic_partitions=[asked])
    result = elected.PartitionResult(partition_id=index)
    topic = elected.ReplicaElectionResult(topic=FOO, partition_result=[result])
    return request, elected.ElectLeadersResponse(replica_election_results=[topic])


def isr_change(index: int = 0) -> tuple[Message, Message]:
    members = [isrs.BrokerState(broker_id=one, broker_epoch=EPOCH) for one in (1, 2)]
    data = isrs.PartitionData(partition_index=index, new_isr_with_epochs=members)
    topic = isrs.TopicData(topic_id=TOPIC_ID, partitions=[data])
    request = isrs.AlterPartitionRequest(broker_id=1, broker_epoch=EPOCH, topics=[topic])
    result = altered.TopicData(topic_id=TOPIC_ID, partitions=[altered.PartitionData(partition_index=index)])
    return request, altered.AlterPartitionResponse(topics=[result])


def whole_isr_change() -> tuple[Message, Message]:
    return isr_change()[0], altered.AlterPartitionResponse()


def registration() -> tuple[Message, Message]:
    feature = registrations.Feature(
        name="metadata.version", min_supported_version=7, max_supported_version=33
    )
    of_raft = registrations.Feature(name="kraft.version", max_supported_version=1)
    request = registrations.BrokerRegistrationRequest(
        broker_id=1, incarnation_id=INCARNATION, features=[feature, of_raft]
    )
    return request, BrokerRegistrationResponse()


def of_broker(request: Any, response: type[Message]) -> tuple[Message, Message]:
    return request(broker_id=1, broker_epoch=EPOCH), response()


def user() -> tuple[Message, Message]:
    request = AlterUserScramCredentialsRequest(deletions=[ScramCredentialDeletion(name="alice", mechanism=1)])
    result = AlterUserScramCredentialsResult(user="alice")
    return request, AlterUserScramCredentialsResponse(results=[result])


FENCED: list[Message] = [
    BrokerRegistrationChangeRecord(broker_id=one, broker_epoch=EPOCH, fenced=1) for one in (1, 2, 3)
]
SHUT_DOWN = BrokerRegistrationChangeRecord(broker_id=3, broker_epoch=EPOCH, in_controlled_shutdown=1)
CORDONED = BrokerRegistrationChangeRecord(
    broker_id=3, broker_epoch=EPOCH, log_dirs=[TOPIC_ID], cordoned_log_dirs=[TOPIC_ID]
)
BAR = TopicRecord(name="bar", topic_id=bytes([8]) * 16)
DOWNGRADED = FeatureLevelRecord(name="metadata.version", feature_level=14)
GROUPS = FeatureLevelRecord(name="group.version", feature_level=1)
BY_HAND = [creations.CreatableReplicaAssignment(partition_index=0, broker_ids=[1, 2])]

CASES: list[tuple[int, tuple[Message, Message], list[Message]]] = [
    (Errors.TOPIC_ALREADY_EXISTS, creation(replication_factor=3), [BAR]),
    (Errors.INVALID_REPLICATION_FACTOR, creation(replication_factor=3), [GONE]),
    (Errors.INVALID_REPLICATION_FACTOR, creation(replication_factor=3), [SHUT_DOWN]),
    (Errors.INVALID_REPLICATION_FACTOR, creation(replication_factor=3), [CORDONED]),
    (Errors.INVALID_REPLICATION_FACTOR, creation(replication_factor=1), FENCED),
    (Errors.INVALID_REPLICA_ASSIGNMENT, creation(assignments=BY_HAND), [GONE]),
    (Errors.INVALID_REPLICA_ASSIGNMENT, creation(assignments=BY_HAND), FENCED),
    (Errors.UNKNOWN_TOPIC_OR_PARTITION, deletion(name=FOO), [REMOVED]),
    (Errors.UNKNOWN_TOPIC_ID, deletion(topic_id=TOPIC_ID, name=None), [REMOVED]),
    (Errors.UNKNOWN_TOPIC_OR_PARTITION, growth(4), [REMOVED]),
    (Errors.INVALID_PARTITIONS, growth(3), [partition(2)]),
    (Errors.INVALID_REPLICATION_FACTOR, growth(4), [GONE]),
    (Errors.UNKNOWN_TOPIC_OR_PARTITION, configs("describe"), [REMOVED]),
    (Errors.UNKNOWN_TOPIC_OR_PARTITION, configs("alter"), [REMOVED]),
    (Errors.UNKNOWN_TOPIC_OR_PARTITION, configs("change"), [REMOVED]),
    (Errors.BROKER_ID_NOT_REGISTERED, configs("alter", BROKER, "2"), [GONE]),
    (Errors.BROKER_ID_NOT_REGISTERED, configs("change", BROKER, "2"), [GONE]),
    (Errors.BROKER_ID_NOT_REGISTERED, configs("change", BROKER, "3000"), [FORGOTTEN]),
    (Errors.UNKNOWN_TOPIC_OR_PARTITION, reassignment(0, [1, 2]), [REMOVED]),
    (Errors.NO_REASSIGNMENT_IN_PROGRESS, reassignment(1, None), [REASSIGNED]),
    (Errors.INVALID_REPLICA_ASSIGNMENT, reassignment(0, [1, 2]), [GONE]),
    (Errors.UNKNOWN_TOPIC_OR_PARTITION, election(0), [REMOVED]),
    (Errors.ELECTION_NOT_NEEDED, election(1), [LED_AS_PREFERRED]),
    (Errors.PREFERRED_LEADER_NOT_AVAILABLE, election(0), [MOVED]),
    (Errors.PREFERRED_LEADER_NOT_AVAILABLE, election(0), FENCED[:1]),
    (Errors.ELIGIBLE_LEADERS_NOT_AVAILABLE, election(0, unclean=True), FENCED),
    (Errors.STALE_BROKER_EPOCH, whole_isr_change(), [RETURNED]),
    (Errors.UNKNOWN_TOPIC_ID, isr_change(), [REMOVED]),
    (Errors.UNKNOWN_TOPIC_OR_PARTITION, isr_change(), [REMOVED]),
    (Errors.NOT_CONTROLLER, isr_change(), [partition(0, partition_epoch=-1)]),
    (Errors.FENCED_LEADER_EPOCH, isr_change(), [MOVED]),
    (Errors.INVALID_UPDATE_VERSION, isr_change(), [SMALLER]),
    (Errors.NEW_LEADER_ELECTED, isr_change(), [MOVED]),
    (Errors.INELIGIBLE_REPLICA, isr_change(), [GONE]),
    (Errors.INELIGIBLE_REPLICA, isr_change(), FENCED[1:2]),
    (Errors.INELIGIBLE_REPLICA, isr_change(), [broker(2, EPOCH + 1)]),
    (Errors.OPERATION_NOT_ATTEMPTED, isr_change(), [GONE]),
    (Errors.DUPLICATE_BROKER_REGISTRATION, registration(), [RETURNED]),
    (Errors.UNSUPPORTED_VERSION, registration(), [GROUPS]),
    (Errors.STALE_BROKER_EPOCH, of_broker(BrokerHeartbeatRequest, BrokerHeartbeatResponse), [RETURNED]),
    (
        Errors.STALE_BROKER_EPOCH,
        of_broker(AllocateProducerIdsRequest, AllocateProducerIdsResponse),
        [RETURNED],
    ),
    (
        Errors.STALE_BROKER_EPOCH,
        of_broker(AssignReplicasToDirsRequest, AssignReplicasToDirsResponse),
        [RETURNED],
    ),
    (
        Errors.BROKER_ID_NOT_REGISTERED,
        (UnregisterBrokerRequest(broker_id=2), UnregisterBrokerResponse()),
        [GONE],
    ),
    (Errors.UNSUPPORTED_VERSION, (DescribeClusterRequest(), DescribeClusterResponse()), [DOWNGRADED]),
    (
        Errors.UNSUPPORTED_VERSION,
        (ControllerRegistrationRequest(), ControllerRegistrationResponse()),
        [DOWNGRADED],
    ),
    (Errors.UNSUPPORTED_VERSION, forgetting(), [DOWNGRADED]),
    (Errors.CONTROLLER_ID_NOT_REGISTERED, forgetting(), [FORGOTTEN]),
    (Errors.RESOURCE_NOT_FOUND, user(), [RemoveUserScramCredentialRecord(name="alice", mechanism=1)]),
]
"""A code, a request with its response, and the records that justify the code."""


def refuse(message: Message, code: int) -> bool:
    """Puts the code into the innermost parts of a response that have one."""
    deeper = False
    for field in message.FIELDS:
        value = getattr(message, field.name)
        for part in value if isinstance(value, list) else ():
            deeper |= isinstance(part, Message) and refuse(part, code)
    if not deeper and hasattr(message, "error_code"):
        message.error_code = code
        return True
    return deeper


def is_justified(code: int, exchange: tuple[Message, Message], reference: Reference, first_end: int) -> bool:
    request, response = exchange
    refuse(response, code)
    [(found, item)] = refusals_of(request, response)
    assert found == code
    window = Window(reference.rows, first_end, reference.end_offset)
    return REASONS[type(request), code](request, item, window)


@pytest.mark.parametrize(
    ("code", "exchange", "more"),
    [pytest.param(*case, id=f"{case[1][0].NAME} {Errors(case[0]).name}") for case in CASES],
)
def test_a_refusal_is_justified_by_a_state_between_request_and_response(
    code: int, exchange: tuple[Message, Message], more: list[Message]
) -> None:
    reference = Reference()
    for offset, record in enumerate(BASE):
        reference.replay(record, offset)
    end_offset = reference.end_offset
    assert not is_justified(code, exchange, reference, end_offset)
    for offset, record in enumerate(more, end_offset):
        reference.replay(record, offset)
    assert is_justified(code, exchange, reference, reference.end_offset)
    assert is_justified(code, exchange, reference, end_offset)
    reference.replay(TopicRecord(name="later", topic_id=bytes([5]) * 16), reference.end_offset)
    assert is_justified(code, exchange, reference, end_offset)


def test_every_rule_has_a_case() -> None:
    assert {(type(exchange[0]), code) for code, exchange, _ in CASES} == set(REASONS)
    codes = {code for _, code in REASONS}
    assert not codes & set(NOT_OF_THE_STATE), "a code is of the state, or it is not"
    assert all(NOT_OF_THE_STATE.values())
    assert all(NOT_CHECKED.values())
