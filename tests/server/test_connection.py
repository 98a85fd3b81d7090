"""Requests and answers over a real socket: order, one at a time, cancellation, ApiVersions of the future."""

from __future__ import annotations

import asyncio

import pytest

from kraftctl.server.connection import CONTROLLER_API_KEYS
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.frames import encode_frame
from kraftctl_protocol.generated.api_versions_request import ApiVersionsRequest
from kraftctl_protocol.generated.api_versions_response import ApiVersionsResponse
from kraftctl_protocol.generated.index import request_class
from kraftctl_protocol.generated.unregister_broker_response import UnregisterBrokerResponse
from kraftctl_protocol.message import Message
from kraftctl_protocol.requests import decode_response
from tests.server.serving import (
    UNREGISTER_BROKER,
    both_loops,
    connect,
    eventually,
    request_bytes,
    run,
    serving,
    unregister,
)

API_VERSIONS = 18

CONTROLLED_SHUTDOWN = 7
"""Of the ZooKeeper age: Kafka 4 has no version of it left."""


def answered_broker(frame: bytes) -> tuple[int, int]:
    """Correlation id and broker id of an UnregisterBroker answer."""
    correlation_id, response = decode_response(frame, UNREGISTER_BROKER, 0)
    assert isinstance(response, UnregisterBrokerResponse)
    return correlation_id, response.throttle_time_ms


def api_versions(frame: bytes, version: int) -> tuple[int, ApiVersionsResponse]:
    correlation_id, response = decode_response(frame, API_VERSIONS, version)
    assert isinstance(response, ApiVersionsResponse)
    return correlation_id, response


@both_loops
def test_answers_with_the_correlation_id_and_passes_the_context(loop: str) -> None:
    async def scenario() -> None:
        async with serving() as (server, handler):
            client = await connect(server)
            client.request(unregister(5), 0, correlation_id=42)
            assert answered_broker(await client.frame()) == (42, 5)
            context = handler.contexts[0]
            assert (context.api_key, context.version, context.client_id) == (UNREGISTER_BROKER, 0, "client")
            assert (context.listener, str(context.principal)) == ("CONTROLLER", "User:ANONYMOUS")
            assert context.client_address == bytes([127, 0, 0, 1])
            client.close()

    run(scenario, loop)


@both_loops
def test_pipelined_requests_are_handled_one_at_a_time_and_answered_in_order(loop: str) -> None:
    async def scenario() -> None:
        async with serving() as (server, handler):
            handler.holding = True
            client = await connect(server)
            for number in range(50):
                client.request(unregister(number), 0, correlation_id=number)
            for number in range(50):
                await handler.until(lambda: bool(handler.held))
                assert len(handler.requests) == number + 1, "the next request waits for the answer"
                handler.release()
                assert answered_broker(await client.frame()) == (number, number)
            client.close()

    run(scenario, loop)


@both_loops
def test_a_long_pipeline_of_requests_answered_at_once_needs_no_stack(loop: str) -> None:
    async def scenario() -> None:
        async with serving() as (server, _):
            client = await connect(server)
            bad = encode_frame(request_bytes(ApiVersionsRequest(client_software_name="no spaces please"), 3))
            client.send(bad * 3_000)
            client.request(unregister(1), 0, correlation_id=9)
            for _ in range(3_000):
                assert api_versions(await client.frame(), 3)[1].error_code == Errors.INVALID_REQUEST
            assert answered_broker(await client.frame()) == (9, 1)
            client.close()

    run(scenario, loop)


@both_loops
def test_a_request_may_arrive_byte_by_byte(loop: str) -> None:
    async def scenario() -> None:
        async with serving() as (server, _):
            client = await connect(server)
            for byte in encode_frame(request_bytes(unregister(3), 0)):
                client.send(bytes([byte]))
                await asyncio.sleep(0)
            assert answered_broker(await client.frame()) == (7, 3)
            client.close()

    run(scenario, loop)


@both_loops
def test_a_lost_connection_cancels_its_parked_request(loop: str) -> None:
    async def scenario() -> None:
        async with serving() as (server, handler):
            handler.holding = True
            client = await connect(server)
            client.request(unregister(3), 0)
            await handler.until(lambda: bool(handler.held))
            client.close()
            await handler.until(lambda: handler.cancelled == [0])
            await eventually(lambda: server.quotas.count == 0)

    run(scenario, loop)


def test_a_refused_request_closes_the_connection() -> None:
    async def scenario() -> None:
        async with serving() as (server, handler):
            handler.refusing = True
            client = await connect(server)
            client.request(unregister(3), 0)
            await client.expect_closed()
            assert handler.cancelled == []

    run(scenario)


@pytest.mark.parametrize("version", [5, 99, 32767, -1])
def test_api_versions_of_an_unknown_version_gets_the_list_in_version_0(version: int) -> None:
    async def scenario() -> None:
        async with serving() as (server, _):
            client = await connect(server)
            header = (
                (18).to_bytes(2, "big") + version.to_bytes(2, "big", signed=True) + (77).to_bytes(4, "big")
            )
            client.send(encode_frame(header + b"whatever the future holds"))
            correlation_id, response = api_versions(await client.frame(), 0)
            assert (correlation_id, response.error_code) == (77, Errors.UNSUPPORTED_VERSION)
            assert [(api.api_key, api.min_version, api.max_version) for api in response.api_keys] == [
                (18, 0, 4)
            ]
            client.request(ApiVersionsRequest(client_software_name="a", client_software_version="1"), 3)
            assert api_versions(await client.frame(), 3)[1].error_code == Errors.NONE
            client.close()

    run(scenario)


@pytest.mark.parametrize(
    ("name", "software_version", "version", "error"),
    [
        pytest.param("apache-kafka-java", "4.3.1", 4, Errors.NONE, id="java-client"),
        pytest.param("librdkafka", "2.6-1.x", 3, Errors.NONE, id="librdkafka"),
        pytest.param("", "1", 3, Errors.INVALID_REQUEST, id="no-name"),
        pytest.param("-x", "1", 3, Errors.INVALID_REQUEST, id="starts-with-a-dash"),
        pytest.param("x", "1.", 4, Errors.INVALID_REQUEST, id="ends-with-a-dot"),
        pytest.param("a b", "1", 3, Errors.INVALID_REQUEST, id="blank"),
        pytest.param("x\nINFO all is well", "1", 3, Errors.INVALID_REQUEST, id="line-break"),
        pytest.param("", "", 2, Errors.NONE, id="too-old-to-say"),
    ],
)
def test_client_software_must_be_a_plain_name(
    name: str, software_version: str, version: int, error: Errors
) -> None:
    async def scenario() -> None:
        async with serving() as (server, _):
            client = await connect(server)
            body = ApiVersionsRequest(client_software_name=name, client_software_version=software_version)
            client.request(body, version)
            assert api_versions(await client.frame(), version)[1].error_code == error
            client.close()

    run(scenario)


def test_an_answer_that_cannot_be_encoded_becomes_an_unknown_server_error() -> None:
    async def scenario() -> None:
        async with serving() as (server, handler):

            def too_big(request: Message) -> Message:
                return UnregisterBrokerResponse(error_message="x" * 10, throttle_time_ms=2**40)

            usual, handler.answer = handler.answer, too_big
            client = await connect(server)
            client.request(unregister(1), 0)
            _, refusal = decode_response(await client.frame(), UNREGISTER_BROKER, 0)
            assert refusal.error_code == Errors.UNKNOWN_SERVER_ERROR
            handler.answer = usual
            client.request(unregister(2), 0)
            assert answered_broker(await client.frame()) == (7, 2)
            client.close()

    run(scenario)


def test_the_served_apis_are_those_that_kafka_marks_for_controllers() -> None:
    marked = {
        api_key
        for api_key in range(128)
        if (message := request_class(api_key)) is not None
        and "controller" in getattr(message, "LISTENERS", ())
    }
    assert marked - {CONTROLLED_SHUTDOWN} == CONTROLLER_API_KEYS
