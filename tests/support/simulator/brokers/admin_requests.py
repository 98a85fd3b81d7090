"""The requests of the model admin, each for one thing, and the error code of its response."""

from __future__ import annotations

from kraftctl_protocol.config_resource import TOPIC
from kraftctl_protocol.generated.alter_client_quotas_request import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)
from kraftctl_protocol.generated.alter_client_quotas_response import AlterClientQuotasResponse
from kraftctl_protocol.generated.alter_configs_request import AlterableConfig as WholeConfig
from kraftctl_protocol.generated.alter_configs_request import AlterConfigsRequest
from kraftctl_protocol.generated.alter_configs_request import AlterConfigsResource as WholeResource
from kraftctl_protocol.generated.alter_configs_response import AlterConfigsResponse
from kraftctl_protocol.generated.alter_partition_reassignments_request import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from kraftctl_protocol.generated.alter_partition_reassignments_response import (
    AlterPartitionReassignmentsResponse,
)
from kraftctl_protocol.generated.alter_user_scram_credentials_request import (
    AlterUserScramCredentialsRequest,
    ScramCredentialUpsertion,
)
from kraftctl_protocol.generated.alter_user_scram_credentials_response import (
    AlterUserScramCredentialsResponse,
)
from kraftctl_protocol.generated.create_acls_request import AclCreation, CreateAclsRequest
from kraftctl_protocol.generated.create_acls_response import CreateAclsResponse
from kraftctl_protocol.generated.create_partitions_request import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from kraftctl_protocol.generated.create_partitions_response import CreatePartitionsResponse
from kraftctl_protocol.generated.create_topics_request import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from kraftctl_protocol.generated.create_topics_response import CreateTopicsResponse
from kraftctl_protocol.generated.delete_acls_response import DeleteAclsResponse
from kraftctl_protocol.generated.delete_topics_request import DeleteTopicsRequest, DeleteTopicState
from kraftctl_protocol.generated.delete_topics_response import DeleteTopicsResponse
from kraftctl_protocol.generated.elect_leaders_request import ElectLeadersRequest, TopicPartitions
from kraftctl_protocol.generated.elect_leaders_response import ElectLeadersResponse
from kraftctl_protocol.generated.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kraftctl_protocol.generated.incremental_alter_configs_response import IncrementalAlterConfigsResponse
from kraftctl_protocol.generated.unregister_broker_request import UnregisterBrokerRequest
from kraftctl_protocol.generated.update_features_request import FeatureUpdateKey, UpdateFeaturesRequest
from kraftctl_protocol.message import Message

TIMEOUT_MS = 5_000
SCRAM_SHA_256 = 1
PRODUCER_BYTE_RATE = "producer_byte_rate"


def create_topic(
    name: str,
    *,
    partitions: int,
    replication_factor: int,
    assignments: list[list[int]],
    configs: dict[str, str],
) -> CreateTopicsRequest:
    """`assignments` has the replicas of each partition; the controller places them if it is empty."""
    topic = CreatableTopic(
        name=name,
        num_partitions=-1 if assignments else partitions,
        replication_factor=-1 if assignments else replication_factor,
        assignments=[
            CreatableReplicaAssignment(partition_index=index, broker_ids=replicas)
            for index, replicas in enumerate(assignments)
        ],
        configs=[CreatableTopicConfig(name=key, value=value) for key, value in configs.items()],
    )
    return CreateTopicsRequest(topics=[topic], timeout_ms=TIMEOUT_MS)


def delete_topic(name: str) -> DeleteTopicsRequest:
    return DeleteTopicsRequest(topics=[DeleteTopicState(name=name)], timeout_ms=TIMEOUT_MS)


def create_partitions(name: str, count: int) -> CreatePartitionsRequest:
    topic = CreatePartitionsTopic(name=name, count=count, assignments=None)
    return CreatePartitionsRequest(topics=[topic], timeout_ms=TIMEOUT_MS)


def set_topic_config(name: str, key: str, value: str) -> IncrementalAlterConfigsRequest:
    return alter_config(TOPIC, name, key, value)


def alter_config(kind: int, name: str, key: str, value: int | str | None) -> IncrementalAlterConfigsRequest:
    """Without a value it is removed."""
    text = None if value is None else str(value)
    config = AlterableConfig(name=key, config_operation=int(value is None), value=text)
    resource = AlterConfigsResource(resource_type=kind, resource_name=name, configs=[config])
    return IncrementalAlterConfigsRequest(resources=[resource])


def replace_configs(kind: int, name: str, key: str, value: int | None) -> AlterConfigsRequest:
    """The resource has this config alone; without a value it has none."""
    configs = [] if value is None else [WholeConfig(name=key, value=str(value))]
    resource = WholeResource(resource_type=kind, resource_name=name, configs=configs)
    return AlterConfigsRequest(resources=[resource])


def set_quota(user: str, value: int) -> AlterClientQuotasRequest:
    entry = EntryData(
        entity=[EntityData(entity_type="user", entity_name=user)],
        ops=[OpData(key=PRODUCER_BYTE_RATE, value=float(value))],
    )
    return AlterClientQuotasRequest(entries=[entry])


def create_user(user: str) -> AlterUserScramCredentialsRequest:
    upsertion = ScramCredentialUpsertion(
        name=user,
        mechanism=SCRAM_SHA_256,
        iterations=4096,
        salt=b"salt of " + user.encode(),
        salted_password=user.encode().ljust(32, b"."),
    )
    return AlterUserScramCredentialsRequest(upsertions=[upsertion])


def create_acl(topic: str) -> CreateAclsRequest:
    """Alice may read the topic."""
    creation = AclCreation(
        resource_type=2,
        resource_name=topic,
        resource_pattern_type=3,
        principal="User:alice",
        host="*",
        operation=3,
        permission_type=3,
    )
    return CreateAclsRequest(creations=[creation])


def reassign(topic: str, index: int, replicas: list[int] | None) -> AlterPartitionReassignmentsRequest:
    """Without replicas a running reassignment is cancelled."""
    partition = ReassignablePartition(partition_index=index, replicas=replicas)
    topics = [ReassignableTopic(name=topic, partitions=[partition])]
    return AlterPartitionReassignmentsRequest(timeout_ms=TIMEOUT_MS, topics=topics)


def elect(topic: str, indexes: list[int], *, unclean: bool) -> ElectLeadersRequest:
    return ElectLeadersRequest(
        election_type=int(unclean),
        topic_partitions=[TopicPartitions(topic=topic, partitions=indexes)],
        timeout_ms=TIMEOUT_MS,
    )


def reassign_all(topic: str, replicas: list[list[int]]) -> AlterPartitionReassignmentsRequest:
    """`replicas` has those of each partition of the topic."""
    partitions = [
        ReassignablePartition(partition_index=index, replicas=each) for index, each in enumerate(replicas)
    ]
    topics = [ReassignableTopic(name=topic, partitions=partitions)]
    return AlterPartitionReassignmentsRequest(timeout_ms=TIMEOUT_MS, topics=topics)


def elect_everything() -> ElectLeadersRequest:
    """Preferred leaders of all partitions."""
    return ElectLeadersRequest(election_type=0, topic_partitions=None, timeout_ms=TIMEOUT_MS)


def update_feature(feature: str, level: int, upgrade_type: int) -> UpdateFeaturesRequest:
    """Type 1 is an upgrade, 2 a safe downgrade."""
    update = FeatureUpdateKey(feature=feature, max_version_level=level, upgrade_type=upgrade_type)
    return UpdateFeaturesRequest(timeout_ms=TIMEOUT_MS, feature_updates=[update])


def unregister_broker(broker_id: int) -> UnregisterBrokerRequest:
    return UnregisterBrokerRequest(broker_id=broker_id)


def error_of_answer(response: Message) -> int:
    """The error code of what was asked for: that of the whole response, else of the only part that counts."""
    if isinstance(response, CreateTopicsResponse):
        return response.topics[0].error_code
    if isinstance(response, DeleteTopicsResponse | IncrementalAlterConfigsResponse | AlterConfigsResponse):
        return response.responses[0].error_code
    if isinstance(response, DeleteAclsResponse):
        return response.filter_results[0].error_code
    if isinstance(
        response, CreatePartitionsResponse | AlterUserScramCredentialsResponse | CreateAclsResponse
    ):
        return response.results[0].error_code
    if isinstance(response, AlterClientQuotasResponse):
        return response.entries[0].error_code
    if isinstance(response, AlterPartitionReassignmentsResponse):
        return response.error_code or response.responses[0].partitions[0].error_code
    if isinstance(response, ElectLeadersResponse):
        codes = [
            result.error_code
            for topic in response.replica_election_results
            for result in topic.partition_result
        ]
        return response.error_code or min(codes, key=abs, default=0)
    code = response.error_code  # type: ignore[attr-defined]
    assert isinstance(code, int)
    return code
