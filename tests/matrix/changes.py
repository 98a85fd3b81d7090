"""Changes of metadata of most types of record, asked of the active controller, without a broker."""

from __future__ import annotations

from kraftctl.dev.polling import await_result
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated import alter_client_quotas_request as quotas
from kraftctl_protocol.generated import incremental_alter_configs_request as configs
from kraftctl_protocol.generated.allocate_producer_ids_request import AllocateProducerIdsRequest
from kraftctl_protocol.generated.allocate_producer_ids_response import AllocateProducerIdsResponse
from kraftctl_protocol.generated.alter_client_quotas_response import AlterClientQuotasResponse
from kraftctl_protocol.generated.alter_user_scram_credentials_request import (
    AlterUserScramCredentialsRequest,
    ScramCredentialUpsertion,
)
from kraftctl_protocol.generated.alter_user_scram_credentials_response import (
    AlterUserScramCredentialsResponse,
)
from kraftctl_protocol.generated.create_acls_request import AclCreation, CreateAclsRequest
from kraftctl_protocol.generated.create_acls_response import CreateAclsResponse
from kraftctl_protocol.generated.create_topics_request import CreatableTopic, CreateTopicsRequest
from kraftctl_protocol.generated.create_topics_response import CreateTopicsResponse
from kraftctl_protocol.generated.delete_topics_request import DeleteTopicsRequest, DeleteTopicState
from kraftctl_protocol.generated.delete_topics_response import DeleteTopicsResponse
from kraftctl_protocol.generated.incremental_alter_configs_response import IncrementalAlterConfigsResponse
from kraftctl_protocol.metadata_versions import LEVELS_BY_NAME
from tests.support.wire.controller_client import FEATURES_OF_4_4, ControllerClient, StandInBroker

SCRAM_LEVEL = LEVELS_BY_NAME["3.5-IV2"]

TOPIC, CLUSTER_DEFAULT = 2, 4
"""Of the enum of resources in configuration requests."""

TOPICS_COUNT = 8


def change(port: int, cluster_id: str, name: str, *, level: int, delete: str | None = None) -> list[str]:
    """Creates topics whose names begin with `name`, and more; deletes a topic. Returns the topics' names."""
    with ControllerClient(port) as client:
        broker = StandInBroker(client, 1, cluster_id, FEATURES_OF_4_4)
        await_result(broker.register, "the controller is active")
        await_result(broker.is_unfenced, "the broker is unfenced")
        created = [f"{name}-{number}" for number in range(TOPICS_COUNT)]
        topics = [CreatableTopic(name=each, num_partitions=4, replication_factor=1) for each in created]
        response = client.call(CreateTopicsRequest(topics=topics), 7, CreateTopicsResponse)
        assert {entry.error_code for entry in response.topics} == {Errors.NONE}, response
        if delete is not None:
            wanted = DeleteTopicsRequest(topics=[DeleteTopicState(name=delete)], timeout_ms=30_000)
            deleted = client.call(wanted, 6, DeleteTopicsResponse)
            assert [entry.error_code for entry in deleted.responses] == [Errors.NONE], deleted
        produced = AllocateProducerIdsRequest(broker_id=1, broker_epoch=broker.broker_epoch)
        assert client.call(produced, 0, AllocateProducerIdsResponse).error_code == Errors.NONE
        _configure(client, created[0])
        _limit(client, name)
        _allow(client, name)
        if level >= SCRAM_LEVEL:
            _add_user(client, name)
    return created


def _configure(client: ControllerClient, topic: str) -> None:
    resources = [
        configs.AlterConfigsResource(
            resource_type=TOPIC,
            resource_name=topic,
            configs=[configs.AlterableConfig(name="retention.ms", value="86400000")],
        ),
        configs.AlterConfigsResource(
            resource_type=CLUSTER_DEFAULT,
            resource_name="",
            configs=[configs.AlterableConfig(name="log.retention.ms", value=str(len(topic) * 86_400_000))],
        ),
    ]
    request = configs.IncrementalAlterConfigsRequest(resources=resources)
    response = client.call(request, 1, IncrementalAlterConfigsResponse)
    assert {entry.error_code for entry in response.responses} == {Errors.NONE}, response


def _limit(client: ControllerClient, user: str) -> None:
    entry = quotas.EntryData(
        entity=[quotas.EntityData(entity_type="user", entity_name=user)],
        ops=[quotas.OpData(key="producer_byte_rate", value=1_000_000.0)],
    )
    request = quotas.AlterClientQuotasRequest(entries=[entry])
    response = client.call(request, 1, AlterClientQuotasResponse)
    assert [each.error_code for each in response.entries] == [Errors.NONE], response


def _allow(client: ControllerClient, user: str) -> None:
    acl = AclCreation(
        resource_type=TOPIC,
        resource_name=user,
        principal=f"User:{user}",
        host="*",
        operation=3,
        permission_type=3,
    )
    response = client.call(CreateAclsRequest(creations=[acl]), 2, CreateAclsResponse)
    assert [each.error_code for each in response.results] == [Errors.NONE], response


def _add_user(client: ControllerClient, user: str) -> None:
    credential = ScramCredentialUpsertion(
        name=user, mechanism=1, iterations=4096, salt=b"salt", salted_password=bytes(32)
    )
    request = AlterUserScramCredentialsRequest(upsertions=[credential])
    response = client.call(request, 0, AlterUserScramCredentialsResponse)
    assert [each.error_code for each in response.results] == [Errors.NONE], response
