"""Requests and answers over a real socket: order, one at a time, cancellation, unknown versions."""

from __future__ import annotations

import asyncio
import gc
import json
import time
from pathlib import Path

import pytest

from kraftctl.apis.api_table import API_TABLE, RAFT_API_KEYS, served_api
from kraftctl.server.connections.connection import Connection
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.frames import encode_frame
from kraftctl_protocol.generated.api_versions_request import ApiVersionsRequest
from kraftctl_protocol.generated.api_versions_response import ApiVersionsResponse
from kraftctl_protocol.generated.describe_acls_request import DescribeAclsRequest
from kraftctl_protocol.generated.envelope_request import EnvelopeRequest
from kraftctl_protocol.generated.index import request_class, response_class
from kraftctl_protocol.generated.unregister_broker_request import UnregisterBrokerRequest
from kraftctl_protocol.generated.unregister_broker_response import UnregisterBrokerResponse
from kraftctl_protocol.message import Message
from kraftctl_protocol.requests import decode_request, decode_response
from tests.server.serving import (
    UNREGISTER_BROKER,
    answer,
    both_loops,
    connect,
    eventually,
    request_bytes,
    serving,
    unregister,
)
from tests.support.live_objects import live_objects

RECORDED = Path(__file__).parents[2] / "data" / "kafka-4.3.1" / "broker-controller-frames.jsonl"

CONTROLLED_SHUTDOWN = int(ApiKey.CONTROLLED_SHUTDOWN)
"""Requests of the ZooKeeper era: Kafka 4 has no version of them left."""


ANY = 1
"""The code of ACLs that a filter has for everything."""

CACHED_TIME_MS = 1_000
"""A loop reads the clock once for all sockets of a turn."""


def answered_broker(frame: bytes) -> tuple[int, int]:
    """Correlation id and broker id of an UnregisterBroker answer."""
    correlation_id, response = decode_response(frame, UNREGISTER_BROKER, 0)
    assert isinstance(response, UnregisterBrokerResponse)
    return correlation_id, response.throttle_time_ms


def api_versions(frame: bytes, version: int) -> tuple[int, ApiVersionsResponse]:
    correlation_id, response = decode_response(frame, ApiKey.API_VERSIONS, version)
    assert isinstance(response, ApiVersionsResponse)
    return correlation_id, response


@both_loops
async def test_answers_with_the_correlation_id_and_passes_the_context() -> None:
    async with serving() as (server, handler):
        client = await connect(server)
        before_ms = time.monotonic_ns() // 1_000_000 - CACHED_TIME_MS
        client.request(unregister(5), 0, correlation_id=42)
        assert answered_broker(await client.frame()) == (42, 5)
        context = handler.contexts[0]
        assert context.received_ms is not None
        assert before_ms <= context.received_ms <= time.monotonic_ns() // 1_000_000
        assert (context.api_key, context.version, context.client_id) == (UNREGISTER_BROKER, 0, "client")
        assert (context.listener, str(context.principal)) == ("CONTROLLER", "User:ANONYMOUS")
        assert context.client_address == bytes([127, 0, 0, 1])
        client.close()


@both_loops
async def test_pipelined_requests_are_handled_one_at_a_time_and_answered_in_order() -> None:
    async with serving() as (server, handler):
        handler.holding = True
        client = await connect(server)
        for number in range(50):
            client.request(unregister(number), 0, correlation_id=number)
        for number in range(50):
            await handler.until(lambda: bool(handler.held))
            assert len(handler.requests) == number + 1, "the next request waits for the response"
            handler.release()
            assert answered_broker(await client.frame()) == (number, number)
        client.close()


@both_loops
async def test_a_request_that_comes_later_waits_for_the_answer_too() -> None:
    """Its bytes come alone, and nothing else is held."""
    async with serving() as (server, handler):
        handler.holding = True
        client, other = await connect(server), await connect(server)
        client.request(unregister(1), 0, correlation_id=1)
        await handler.until(lambda: len(handler.requests) == 1)
        client.request(unregister(2), 0, correlation_id=2)
        # Read behind those bytes.
        other.request(unregister(3), 0, correlation_id=3)
        await handler.until(lambda: len(handler.requests) == 2)
        assert handler.requests == [unregister(1), unregister(3)]
        handler.release()
        assert answered_broker(await client.frame()) == (1, 1)
        await handler.until(lambda: len(handler.requests) == 3)
        client.close()
        other.close()


@both_loops
async def test_a_long_pipeline_of_requests_answered_immediately_needs_no_stack() -> None:
    async with serving() as (server, _):
        client = await connect(server)
        versions = ApiVersionsRequest(client_software_name="test", client_software_version="1")
        client.send(encode_frame(request_bytes(versions, 3)) * 3_000)
        client.request(unregister(1), 0, correlation_id=9)
        for _ in range(3_000):
            assert api_versions(await client.frame(), 3)[1].error_code == Errors.NONE
        assert answered_broker(await client.frame()) == (9, 1)
        client.close()


@both_loops
async def test_a_request_may_arrive_byte_by_byte() -> None:
    async with serving() as (server, _):
        client = await connect(server)
        for byte in encode_frame(request_bytes(unregister(3), 0)):
            client.send(bytes([byte]))
            await asyncio.sleep(0)
        assert answered_broker(await client.frame()) == (7, 3)
        client.close()


@both_loops
async def test_a_lost_connection_cancels_its_parked_request() -> None:
    async with serving() as (server, handler):
        handler.holding = True
        client = await connect(server)
        client.request(unregister(3), 0)
        await handler.until(lambda: bool(handler.held))
        client.close()
        await handler.until(lambda: handler.cancelled == [0])
        await eventually(lambda: server.accounts.quotas.count == 0)


async def test_a_refused_request_closes_the_connection() -> None:
    async with serving() as (server, handler):
        handler.refusing = True
        client = await connect(server)
        client.request(unregister(3), 0)
        await client.expect_closed()
        assert handler.cancelled == []


@pytest.mark.parametrize("version", [6, 99, 32767, -1])
async def test_api_versions_of_an_unknown_version_gets_the_list_in_version_0(version: int) -> None:
    async with serving() as (server, _):
        client = await connect(server)
        header = (18).to_bytes(2, "big") + version.to_bytes(2, "big", signed=True) + (77).to_bytes(4, "big")
        client.send(encode_frame(header + b"whatever the future holds"))
        correlation_id, response = api_versions(await client.frame(), 0)
        assert (correlation_id, response.error_code) == (77, Errors.UNSUPPORTED_VERSION)
        assert [(api.api_key, api.min_version, api.max_version) for api in response.api_keys] == [(18, 0, 4)]
        client.request(ApiVersionsRequest(client_software_name="a", client_software_version="1"), 3)
        assert api_versions(await client.frame(), 3)[1].error_code == Errors.NONE
        client.close()


async def test_an_answer_that_cannot_be_encoded_becomes_an_unknown_server_error() -> None:
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


@both_loops
@pytest.mark.parametrize("pipelined", [False, True], ids=["alone", "behind another request"])
async def test_a_bug_that_a_request_triggers_closes_only_its_connection(pipelined: bool) -> None:
    """Behind another request it is processed while an effect is carried out, where nothing may be raised."""

    def broken(request: Message) -> Message:
        if isinstance(request, UnregisterBrokerRequest) and request.broker_id == 13:
            raise KeyError(13)
        return answer(request)

    async with serving() as (server, handler):
        handler.holding = pipelined
        handler.answer = broken
        client, other = await connect(server), await connect(server)
        if pipelined:
            client.request(unregister(1), 0)
        client.request(unregister(13), 0)
        if pipelined:
            await handler.until(lambda: len(handler.held) == 1)
            handler.release()
            await client.frame()
        await client.expect_closed()
        handler.holding = False
        other.request(unregister(2), 0)
        assert answered_broker(await other.frame()) == (7, 2)
        other.close()


def test_the_served_apis_are_those_that_kafka_marks_for_controllers() -> None:
    marked = {
        api_key
        for api_key in range(128)
        if (message := request_class(api_key)) is not None
        and "controller" in getattr(message, "LISTENERS", ())
    }
    assert marked - {CONTROLLED_SHUTDOWN} == set(API_TABLE)


def any_request(api_key: int, version: int) -> bytes:
    """A valid request where the schemas have this API and version, otherwise a plausible start of one."""
    message = request_class(api_key)
    if message is not None and message.LOWEST_VERSION <= version <= message.HIGHEST_VERSION:
        request = message()
        if isinstance(request, DescribeAclsRequest) and version > 0:
            request.resource_type_filter = request.pattern_type_filter = ANY
            request.operation = request.permission_type = ANY
        return request_bytes(request, version)
    start = api_key.to_bytes(2, "big", signed=True) + version.to_bytes(2, "big", signed=True)
    return start + (7).to_bytes(4, "big") + b"\xff\xff\0\0\0"


def empty_answer(request: Message) -> Message:
    response = response_class(request.API_KEY)
    assert response is not None
    return response()


@pytest.mark.parametrize("api_key", API_TABLE, ids=lambda key: ApiKey(key).name)
async def test_only_what_api_versions_lists_reaches_the_handler(
    api_key: int, caplog: pytest.LogCaptureFixture
) -> None:
    lowest, highest = API_TABLE[api_key].lowest, API_TABLE[api_key].highest
    async with serving() as (server, handler):
        handler.answer = empty_answer
        for version in range(lowest, highest + 1):
            client = await connect(server)
            client.send(encode_frame(any_request(api_key, version)))
            await client.frame()
            client.close()
        if api_key != ApiKey.API_VERSIONS:  # which is answered in any version: see above
            for version in {*range(-1, lowest), highest + 1, 32767}:
                client = await connect(server)
                client.send(encode_frame(any_request(api_key, version)))
                await client.expect_closed()
        handed_on = {(context.api_key, context.version) for context in handler.contexts}
        assert handed_on == {(api_key, version) for version in range(lowest, highest + 1)}
    if api_key != ApiKey.API_VERSIONS:
        assert f"API key {int(api_key)} version {lowest - 1} is not" in caplog.text


async def test_an_api_that_is_not_listed_ends_the_connection_in_every_version() -> None:
    unlisted = [api_key for api_key in range(-2, 130) if api_key not in API_TABLE]
    async with serving() as (server, handler):
        handler.answer = empty_answer
        for api_key in [-32768, *unlisted, 32767]:
            message = request_class(api_key)
            highest = 0 if message is None else message.HIGHEST_VERSION
            for version in {-1, *range(highest + 2)}:
                client = await connect(server)
                client.send(encode_frame(any_request(api_key, version)))
                await client.expect_closed()
        assert handler.contexts == []


def test_what_kafkas_brokers_and_our_own_controllers_send_is_served() -> None:
    """As recorded from brokers, forwarded requests included; controllers use the highest listed version."""
    sent: set[tuple[int, int]] = set()
    for line in RECORDED.read_text().splitlines():
        request = decode_request(bytes.fromhex(json.loads(line)["req"]))
        sent.add((request.api_key, request.version))
        if isinstance(request.body, EnvelopeRequest):
            inner = decode_request(request.body.request_data)
            sent.add((inner.api_key, inner.version))
    assert len(sent) >= 12
    for api_key in {*RAFT_API_KEYS, ApiKey.CONTROLLER_REGISTRATION}:
        message = request_class(api_key)
        assert message is not None
        sent.add((int(api_key), min(message.HIGHEST_VERSION, API_TABLE[api_key].highest)))
    assert [pair for pair in sorted(sent) if served_api(*pair) is None] == []


@both_loops
async def test_a_connection_is_freed_without_the_cyclic_collector() -> None:
    """What is alive while a long request is decoded is frozen: the collector never looks at it again."""
    gc.collect()  # tests before this one hold connections in cycles of their own
    of_others = live_objects(Connection)
    async with serving() as (server, _):
        client = await connect(server)
        client.request(ApiVersionsRequest(), 3)
        await client.frame()
        assert len(live_objects(Connection)) == len(of_others) + 1
        gc.disable()
        try:
            client.writer.transport.abort()
            await eventually(lambda: len(live_objects(Connection)) == len(of_others))
        finally:
            gc.enable()
