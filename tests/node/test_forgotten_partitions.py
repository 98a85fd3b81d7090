"""An AlterPartition that waits for its commit keeps none of its partitions; others keep what refuses them."""

from __future__ import annotations

from kraftctl.controller.results.error_responses import ITEM_SHAPES
from kraftctl.node.events import ClientRequest
from kraftctl.server.loop.client_requests import ReceivedRequest, receive_request
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.alter_partition_request import (
    AlterPartitionRequest,
    PartitionData,
    TopicData,
)
from kraftctl_protocol.generated.alter_partition_response import AlterPartitionResponse
from kraftctl_protocol.generated.broker_registration_response import BrokerRegistrationResponse
from kraftctl_protocol.generated.create_topics_request import CreatableTopic, CreateTopicsRequest
from kraftctl_protocol.generated.create_topics_response import CreateTopicsResponse
from kraftctl_protocol.generated.request_header import RequestHeader
from kraftctl_protocol.requests import encode_request
from tests.support.active_controller import ActiveController, registration
from tests.support.simulator.cluster.lone_node import LoneNode


def alteration() -> AlterPartitionRequest:
    return AlterPartitionRequest(
        broker_id=1, topics=[TopicData(topic_id=bytes(16), partitions=[PartitionData()])]
    )


def test_a_node_keeps_no_partitions_of_an_alteration_that_waits() -> None:
    node = LoneNode()
    node.settle()
    registered = node.ask(registration(1), BrokerRegistrationResponse)
    node.send(registration(2))  # not flushed: what follows waits for it
    request = alteration()
    request.broker_epoch = registered.broker_epoch
    node.offer(ClientRequest(1_000, ActiveController().context(request, None), request))
    (waiting,) = (one for one in node.controller.renounce() if one.id == 1_000)
    assert waiting.request == AlterPartitionRequest()
    assert waiting.response == AlterPartitionResponse(error_code=Errors.NOT_CONTROLLER)


def test_an_alteration_is_refused_without_its_partitions() -> None:
    waiting = ActiveController().pending(alteration())
    waiting.forget_partitions()
    assert waiting.request == AlterPartitionRequest()
    assert AlterPartitionRequest.API_KEY not in ITEM_SHAPES
    waiting.refuse(Errors.NOT_CONTROLLER)
    assert waiting.response == AlterPartitionResponse(error_code=Errors.NOT_CONTROLLER)


def test_a_creation_is_refused_with_the_names_of_its_topics() -> None:
    waiting = ActiveController().pending(CreateTopicsRequest(topics=[CreatableTopic(name="orders")]))
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
