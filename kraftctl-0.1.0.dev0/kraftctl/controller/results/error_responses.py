"""The response that refuses a whole request: the error is in every field where Kafka puts it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from kraftctl.apis.request_size import REFUSAL_MEMORY_BYTES_MAX
from kraftctl.controller.results.request_context import RequestContext
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated import alter_client_quotas_response as quotas
from kraftctl_protocol.generated import alter_partition_reassignments_response as reassignments
from kraftctl_protocol.generated import delete_topics_response, elect_leaders_response, fetch_response
from kraftctl_protocol.generated import list_partition_reassignments_response as ongoing
from kraftctl_protocol.generated.alter_client_quotas_request import AlterClientQuotasRequest
from kraftctl_protocol.generated.alter_configs_request import AlterConfigsRequest
from kraftctl_protocol.generated.alter_configs_response import (
    AlterConfigsResourceResponse as LegacyResourceResponse,
)
from kraftctl_protocol.generated.alter_configs_response import AlterConfigsResponse
from kraftctl_protocol.generated.alter_partition_reassignments_request import (
    AlterPartitionReassignmentsRequest,
)
from kraftctl_protocol.generated.alter_user_scram_credentials_request import (
    AlterUserScramCredentialsRequest,
)
from kraftctl_protocol.generated.alter_user_scram_credentials_response import (
    AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
)
from kraftctl_protocol.generated.create_acls_request import CreateAclsRequest
from kraftctl_protocol.generated.create_acls_response import AclCreationResult, CreateAclsResponse
from kraftctl_protocol.generated.create_partitions_request import CreatePartitionsRequest
from kraftctl_protocol.generated.create_partitions_response import (
    CreatePartitionsResponse,
    CreatePartitionsTopicResult,
)
from kraftctl_protocol.generated.create_topics_request import CreateTopicsRequest
from kraftctl_protocol.generated.create_topics_response import CreatableTopicResult, CreateTopicsResponse
from kraftctl_protocol.generated.delete_acls_request import DeleteAclsRequest
from kraftctl_protocol.generated.delete_acls_response import DeleteAclsFilterResult, DeleteAclsResponse
from kraftctl_protocol.generated.delete_topics_request import DeleteTopicsRequest
from kraftctl_protocol.generated.describe_configs_request import DescribeConfigsRequest
from kraftctl_protocol.generated.describe_configs_response import (
    DescribeConfigsResponse,
    DescribeConfigsResult,
)
from kraftctl_protocol.generated.elect_leaders_request import ElectLeadersRequest
from kraftctl_protocol.generated.fetch_request import FetchRequest
from kraftctl_protocol.generated.incremental_alter_configs_request import IncrementalAlterConfigsRequest
from kraftctl_protocol.generated.incremental_alter_configs_response import (
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsResponse,
)
from kraftctl_protocol.generated.index import response_class
from kraftctl_protocol.generated.list_partition_reassignments_request import (
    ListPartitionReassignmentsRequest,
)
from kraftctl_protocol.message import Message
from kraftctl_protocol.requests import RequestHead

DELETE_TOPICS_BY_NAME_VERSION_MAX: Final = 5
"""Up to this request version topics are a list of names."""


def error_response(
    api_key: int, request: Message, version: int, error: Errors, message: str | None = None
) -> Message:
    """The response that refuses all of `request`; without a message, clients show their own text."""
    shape = ITEM_SHAPES.get(api_key)
    if shape is not None:
        return shape(request, version, int(error), message)
    return top_level_error_response(api_key, version, int(error), message)


def body_to_refuse(head: RequestHead) -> Message:
    """As much of an undecoded request as its refusal repeats. DecodeError if that is damaged, or too much."""
    if head.api_key in ITEM_SHAPES:
        return head.decode_body(REFUSAL_MEMORY_BYTES_MAX)
    return head.empty_body()


def top_level_error_response(api_key: int, version: int, code: int, text: str | None) -> Message:
    """An otherwise empty response with a code, and the text if that version has a field for it."""
    kind = response_class(api_key)
    assert kind is not None, f"API {api_key} has no response"
    response = kind()
    for field in response.FIELDS:
        if field.name == "error_code":
            setattr(response, field.name, code)
        elif field.name == "error_message" and field.in_version(version):
            setattr(response, field.name, text)
    return response


def refusal_without_items(context: RequestContext, error: Errors, message: str) -> Message | None:
    """A refusal that names nothing of a long request; None if the error has no place in it."""
    version = context.version
    response = top_level_error_response(context.api_key, version, int(error), message)
    has_code = any(field.name == "error_code" and field.in_version(version) for field in response.FIELDS)
    return response if has_code else None


def _create_topics(request: Message, version: int, code: int, text: str | None) -> Message:
    assert isinstance(request, CreateTopicsRequest)
    return CreateTopicsResponse(
        topics=[
            CreatableTopicResult(name=topic.name, error_code=code, error_message=text)
            for topic in request.topics
        ]
    )


def _delete_topics(request: Message, version: int, code: int, text: str | None) -> Message:
    assert isinstance(request, DeleteTopicsRequest)
    result = delete_topics_response.DeletableTopicResult
    if version <= DELETE_TOPICS_BY_NAME_VERSION_MAX:
        results = [result(name=name, error_code=code) for name in request.topic_names]
    else:
        results = [
            result(name=topic.name, topic_id=topic.topic_id, error_code=code) for topic in request.topics
        ]
    return delete_topics_response.DeleteTopicsResponse(responses=results)


def _create_partitions(request: Message, version: int, code: int, text: str | None) -> Message:
    assert isinstance(request, CreatePartitionsRequest)
    return CreatePartitionsResponse(
        results=[
            CreatePartitionsTopicResult(name=topic.name, error_code=code, error_message=text)
            for topic in request.topics
        ]
    )


def _elect_leaders(request: Message, version: int, code: int, text: str | None) -> Message:
    assert isinstance(request, ElectLeadersRequest)
    response = elect_leaders_response.ElectLeadersResponse()
    if version >= 1:
        response.error_code = code
    for topic in request.topic_partitions or []:
        response.replica_election_results.append(
            elect_leaders_response.ReplicaElectionResult(
                topic=topic.topic,
                partition_result=[
                    elect_leaders_response.PartitionResult(
                        partition_id=index, error_code=code, error_message=text
                    )
                    for index in topic.partitions
                ],
            )
        )
    return response


def _alter_partition_reassignments(request: Message, version: int, code: int, text: str | None) -> Message:
    assert isinstance(request, AlterPartitionReassignmentsRequest)
    return reassignments.AlterPartitionReassignmentsResponse(
        error_code=code,
        error_message=text,
        responses=[
            reassignments.ReassignableTopicResponse(
                name=topic.name,
                partitions=[
                    reassignments.ReassignablePartitionResponse(
                        partition_index=partition.partition_index, error_code=code, error_message=text
                    )
                    for partition in topic.partitions
                ],
            )
            for topic in request.topics
        ],
    )


def _list_partition_reassignments(request: Message, version: int, code: int, text: str | None) -> Message:
    assert isinstance(request, ListPartitionReassignmentsRequest)
    return ongoing.ListPartitionReassignmentsResponse(
        error_code=code,
        error_message=text,
        topics=[
            ongoing.OngoingTopicReassignment(
                name=topic.name,
                partitions=[
                    ongoing.OngoingPartitionReassignment(partition_index=index)
                    for index in topic.partition_indexes
                ],
            )
            for topic in request.topics or []
        ],
    )


def _alter_configs(request: Message, version: int, code: int, text: str | None) -> Message:
    assert isinstance(request, AlterConfigsRequest)
    return AlterConfigsResponse(
        responses=[
            LegacyResourceResponse(
                error_code=code,
                error_message=text,
                resource_type=resource.resource_type,
                resource_name=resource.resource_name,
            )
            for resource in request.resources
        ]
    )


def _incremental_alter_configs(request: Message, version: int, code: int, text: str | None) -> Message:
    assert isinstance(request, IncrementalAlterConfigsRequest)
    return IncrementalAlterConfigsResponse(
        responses=[
            AlterConfigsResourceResponse(
                error_code=code,
                error_message=text,
                resource_type=resource.resource_type,
                resource_name=resource.resource_name,
            )
            for resource in request.resources
        ]
    )


def _describe_configs(request: Message, version: int, code: int, text: str | None) -> Message:
    assert isinstance(request, DescribeConfigsRequest)
    return DescribeConfigsResponse(
        results=[
            DescribeConfigsResult(
                error_code=code,
                error_message=text,
                resource_type=resource.resource_type,
                resource_name=resource.resource_name,
            )
            for resource in request.resources
        ]
    )


def _alter_client_quotas(request: Message, version: int, code: int, text: str | None) -> Message:
    assert isinstance(request, AlterClientQuotasRequest)
    return quotas.AlterClientQuotasResponse(
        entries=[
            quotas.EntryData(
                error_code=code,
                error_message=text,
                entity=[
                    quotas.EntityData(entity_type=entity.entity_type, entity_name=entity.entity_name)
                    for entity in entry.entity
                ],
            )
            for entry in request.entries
        ]
    )


def _alter_user_scram_credentials(request: Message, version: int, code: int, text: str | None) -> Message:
    assert isinstance(request, AlterUserScramCredentialsRequest)
    users = {deletion.name for deletion in request.deletions}
    users |= {upsertion.name for upsertion in request.upsertions}
    return AlterUserScramCredentialsResponse(
        results=[
            AlterUserScramCredentialsResult(user=user, error_code=code, error_message=text)
            for user in sorted(users)
        ]
    )


def _create_acls(request: Message, version: int, code: int, text: str | None) -> Message:
    assert isinstance(request, CreateAclsRequest)
    return CreateAclsResponse(
        results=[AclCreationResult(error_code=code, error_message=text) for _ in request.creations]
    )


def _delete_acls(request: Message, version: int, code: int, text: str | None) -> Message:
    assert isinstance(request, DeleteAclsRequest)
    result = DeleteAclsFilterResult(error_code=code, error_message=text)
    return DeleteAclsResponse(filter_results=[result] * len(request.filters))


def _fetch(request: Message, version: int, code: int, text: str | None) -> Message:
    assert isinstance(request, FetchRequest)
    if version >= FETCH_WITHOUT_PARTITIONS_VERSION:
        return fetch_response.FetchResponse(error_code=code)
    response = fetch_response.FetchResponse(
        responses=[
            fetch_response.FetchableTopicResponse(
                topic=topic.topic,
                topic_id=topic.topic_id,
                partitions=[
                    fetch_response.PartitionData(
                        partition_index=partition.partition,
                        error_code=code,
                        high_watermark=-1,
                        records=b"",
                    )
                    for partition in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )
    if version >= FETCH_TOP_LEVEL_ERROR_VERSION:
        response.error_code = code
    return response


FETCH_TOP_LEVEL_ERROR_VERSION: Final = 7

FETCH_WITHOUT_PARTITIONS_VERSION: Final = 13
"""From here on the error at the top level is the whole refusal (KIP-516)."""

ITEM_SHAPES: Final[dict[int, Callable[[Message, int, int, str | None], Message]]] = {
    ApiKey.FETCH: _fetch,
    ApiKey.CREATE_TOPICS: _create_topics,
    ApiKey.DELETE_TOPICS: _delete_topics,
    ApiKey.CREATE_PARTITIONS: _create_partitions,
    ApiKey.ELECT_LEADERS: _elect_leaders,
    ApiKey.ALTER_PARTITION_REASSIGNMENTS: _alter_partition_reassignments,
    ApiKey.LIST_PARTITION_REASSIGNMENTS: _list_partition_reassignments,
    ApiKey.ALTER_CONFIGS: _alter_configs,
    ApiKey.INCREMENTAL_ALTER_CONFIGS: _incremental_alter_configs,
    ApiKey.DESCRIBE_CONFIGS: _describe_configs,
    ApiKey.ALTER_CLIENT_QUOTAS: _alter_client_quotas,
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS: _alter_user_scram_credentials,
    ApiKey.CREATE_ACLS: _create_acls,
    ApiKey.DELETE_ACLS: _delete_acls,
}
"""APIs whose responses have an error per item."""
