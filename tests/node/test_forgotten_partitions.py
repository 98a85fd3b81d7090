"""An AlterPartition that waits for its commit keeps none of its partitions; others keep what refuses them."""

from __future__ import annotations

from kraftctl.apis.api_table import API_TABLE
from kraftctl.controller.pending_request import PendingRequest
from kraftctl.controller.results.request_context import RequestContext
from kraftctl.server.loop.client_requests import ReceivedRequest, receive_request
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.alter_partition_request import (
    AlterPartitionRequest,
    PartitionData,
    TopicData,
)
from kraftctl_protocol.generated.alter_partition_response import AlterPartitionResponse
from kraftctl_protocol.generated.create_topics_request import CreatableTopic, CreateTopicsRequest
from kraftctl_protocol.generated.create_topics_response import CreateTopicsResponse
from kraftctl_protocol.generated.request_header import RequestHeader
from kraftctl_protocol.message import Message
from kraftctl_protocol.principal import ANONYMOUS
from kraftctl_protocol.requests import encode_request


def alteration() -> AlterPartitionRequest:
    return AlterPartitionRequest(
        broker_id=1, topics=[TopicData(topic_id=bytes(16), partitions=[PartitionData()])]
    )


def pending(request: Message) -> PendingRequest:
    context = RequestContext(
        api=API_TABLE[request.API_KEY],
        version=request.HIGHEST_VERSION,
        client_id="",
        principal=ANONYMOUS,
        listener="CONTROLLER",
        client_address=bytes(4),
    )
    return PendingRequest(1, context, request)


def test_an_alteration_is_refused_without_its_partitions() -> None:
    waiting = pending(alteration())
    waiting.forget_partitions()
    assert waiting.request == AlterPartitionRequest()
    waiting.refuse(Errors.NOT_CONTROLLER)
    assert waiting.response == AlterPartitionResponse(error_code=Errors.NOT_CONTROLLER)


def test_a_creation_is_refused_with_the_names_of_its_topics() -> None:
    waiting = pending(CreateTopicsRequest(topics=[CreatableTopic(name="orders")]))
    waiting.forget_partitions()
    waiting.refuse(Errors.NOT_CONTROLLER)
    assert isinstance(waiting.response, CreateTopicsResponse)
    assert [topic.name for topic in waiting.response.topics] == ["orders"]


def test_a_connection_hands_its_partitions_over() -> None:
    request = alteration()
    header = RequestHeader(
        request_api_key=request.API_KEY, request_api_version=request.HIGHEST_VERSION, correlation_id=1
    )
    received = receive_request(encode_request(header, request))
    assert isinstance(received, ReceivedRequest)
    assert received.take_content() == request
    assert received.parsed.body == AlterPartitionRequest()
