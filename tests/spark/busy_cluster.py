"""Makes a real cluster of three brokers write nearly every type of record that Kafka has."""

from __future__ import annotations

from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ResourcePatternType,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialDeletion,
    UserScramCredentialUpsertion,
)
from confluent_kafka.cimpl import NewPartitions

from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.alter_client_quotas_request import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)
from kraftctl_protocol.generated.alter_client_quotas_response import AlterClientQuotasResponse
from kraftctl_protocol.generated.alter_partition_reassignments_request import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from kraftctl_protocol.generated.alter_partition_reassignments_response import (
    AlterPartitionReassignmentsResponse,
)
from kraftctl_protocol.generated.unregister_broker_request import UnregisterBrokerRequest
from kraftctl_protocol.generated.unregister_broker_response import UnregisterBrokerResponse
from tests.support.processes.clients import admin_client, create_topic, isrs, leaders, produce
from tests.support.processes.cluster import await_live
from tests.support.processes.kafka import Cluster, await_result
from tests.support.wire.controller_client import ControllerClient

RECORD_TYPES = frozenset(
    {
        "LeaderChangeMessage",
        "KRaftVersionRecord",
        "VotersRecord",
        "BeginTransactionRecord",
        "EndTransactionRecord",
        "FeatureLevelRecord",
        "RegisterControllerRecord",
        "RegisterBrokerRecord",
        "BrokerRegistrationChangeRecord",
        "UnregisterBrokerRecord",
        "TopicRecord",
        "PartitionRecord",
        "PartitionChangeRecord",
        "RemoveTopicRecord",
        "ConfigRecord",
        "ProducerIdsRecord",
        "UserScramCredentialRecord",
        "RemoveUserScramCredentialRecord",
        "ClientQuotaRecord",
        "AccessControlEntryRecord",
        "RemoveAccessControlEntryRecord",
        "NoOpRecord",
    }
)
"""The records that are always in the log after `change_much` and `lose_a_broker`, with every controller."""


def change_much(cluster: Cluster, name: str) -> None:
    """Creates and deletes topics, configurations, credentials, quotas and ACLs that begin with `name`."""
    servers = cluster.bootstrap_servers
    admin = admin_client(servers)
    create_topic(servers, name, partitions=3, replicas=2, retention_ms="100000")
    admin.create_partitions([NewPartitions(name, 5)])[name].result()
    produce(servers, name, [b"value"] * 10, transactional_id=f"{name}-transaction")
    for kind, resource_name, key, value in (
        (ResourceType.TOPIC, name, "cleanup.policy", "compact"),
        (ResourceType.TOPIC, name, "min.insync.replicas", "2"),
        (ResourceType.BROKER, "1", "log.cleaner.threads", "1"),
    ):
        entry = ConfigEntry(key, value, incremental_operation=AlterConfigOpType.SET)
        resource = ConfigResource(kind, resource_name, incremental_configs=[entry])
        admin.incremental_alter_configs([resource])[resource].result()
    info = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 4096)
    upsertion = UserScramCredentialUpsertion(name, info, b"secret", b"salt")
    deletion = UserScramCredentialDeletion(name, ScramMechanism.SCRAM_SHA_256)
    for change in (upsertion, deletion):
        admin.alter_user_scram_credentials([change])[name].result()
    with ControllerClient(cluster.brokers[0].port) as client:
        _alter_quota(client, name)
        _reassign(client, cluster, name)
    _allow_and_forbid(cluster, name)
    admin.delete_topics([name])[name].result()


def lose_a_broker(cluster: Cluster) -> None:
    """Stops and unregisters the last broker, and starts it again."""
    create_topic(cluster.bootstrap_servers, "kept", partitions=4, replicas=3)
    broker = cluster.brokers[-1]
    others = {other.node_id for other in cluster.brokers} - {broker.node_id}
    broker.stop()
    await_live(cluster, others)
    with ControllerClient(cluster.brokers[0].port) as client:
        unregistered = client.call(
            UnregisterBrokerRequest(broker_id=broker.node_id), 0, UnregisterBrokerResponse
        )
        assert unregistered.error_code == Errors.NONE
    broker.start()
    await_live(cluster, {*others, broker.node_id})


def _alter_quota(client: ControllerClient, name: str) -> None:
    entity = [EntityData(entity_type="user", entity_name=name)]
    for remove in (False, True):
        operation = OpData(key="producer_byte_rate", value=1024.0, remove=remove)
        request = AlterClientQuotasRequest(entries=[EntryData(entity=entity, ops=[operation])])
        response = client.call(request, 1, AlterClientQuotasResponse)
        assert [entry.error_code for entry in response.entries] == [Errors.NONE]


def _reassign(client: ControllerClient, cluster: Cluster, name: str) -> None:
    """Partition 0 moves from its two brokers to the third one and the first of these."""
    admin = admin_client(cluster.bootstrap_servers)
    before = isrs(admin, name)[0]
    (new,) = {1, 2, 3} - set(before)
    topic = ReassignableTopic(
        name=name, partitions=[ReassignablePartition(partition_index=0, replicas=[new, before[0]])]
    )
    request = AlterPartitionReassignmentsRequest(topics=[topic], timeout_ms=10_000)
    response = client.call(request, 0, AlterPartitionReassignmentsResponse)
    assert response.error_code == Errors.NONE
    await_result(lambda: isrs(admin, name)[0] == sorted([new, before[0]]), "the end of the reassignment")
    assert leaders(admin, name)[0] in (new, before[0])


def _allow_and_forbid(cluster: Cluster, name: str) -> None:
    admin = admin_client(cluster.bootstrap_servers)
    user = f"User:{name}"
    literal = ResourcePatternType.LITERAL
    binding = AclBinding(
        ResourceType.TOPIC, name, literal, user, "*", AclOperation.READ, AclPermissionType.ALLOW
    )
    admin.create_acls([binding])[binding].result()
    every = AclBindingFilter(
        ResourceType.TOPIC, name, literal, user, "*", AclOperation.ANY, AclPermissionType.ANY
    )
    assert admin.delete_acls([every])[every].result()
