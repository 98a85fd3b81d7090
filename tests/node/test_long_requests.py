"""A request of more than 64 KiB is decoded after its header has decided, within the limits of its API."""

from __future__ import annotations

import pytest

from kraftctl.apis.api_table import API_TABLE
from kraftctl.apis.request_size import DECODED_ON_LOOP_BYTES_MAX, RESPONSE_ENTRIES_MAX
from kraftctl.config.controller_config import STANDARD_AUTHORIZER
from kraftctl.controller.request_handlers import HANDLERS
from kraftctl.controller.results.controller_result import ControllerResult
from kraftctl.controller.results.request_context import RequestContext
from kraftctl.controller.results.response_entries import ResponseEntries, ResponseTooLongError
from kraftctl.server.loop.client_requests import lacks_right
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.alter_partition_response import AlterPartitionResponse
from kraftctl_protocol.generated.create_topics_request import CreatableTopic, CreateTopicsRequest
from kraftctl_protocol.generated.create_topics_response import CreateTopicsResponse
from kraftctl_protocol.generated.describe_configs_request import DescribeConfigsRequest
from kraftctl_protocol.generated.elect_leaders_request import ElectLeadersRequest, TopicPartitions
from kraftctl_protocol.generated.elect_leaders_response import ElectLeadersResponse
from kraftctl_protocol.generated.envelope_request import EnvelopeRequest
from kraftctl_protocol.generated.envelope_response import EnvelopeResponse
from kraftctl_protocol.generated.request_header import RequestHeader
from kraftctl_protocol.message import Message
from kraftctl_protocol.principal import ANONYMOUS, serialize_principal
from kraftctl_protocol.requests import decode_response, encode_request
from tests.support.simulator.cluster.lone_node import LoneNode
from tests.support.worst_requests import WORST_REQUESTS, WorstRequest

GARBAGE = b"\xff" * (DECODED_ON_LOOP_BYTES_MAX + 1)

NAMES = [f"{number:0>200}" for number in range(400)]

TOPICS = CreateTopicsRequest(
    topics=[CreatableTopic(name=name, num_partitions=1, replication_factor=1) for name in NAMES]
)
"""Longer than what is decoded on the loop."""


TOO_MANY_ELECTIONS = ElectLeadersRequest(
    topic_partitions=[TopicPartitions(topic="t", partitions=[0] * RESPONSE_ENTRIES_MAX)]
)


def started() -> LoneNode:
    node = LoneNode()
    node.settle()
    return node


def without_rights() -> LoneNode:
    node = LoneNode(authorizer_class_name=STANDARD_AUTHORIZER, super_users="User:alice")
    node.settle()
    return node


def worst(api_key: ApiKey) -> WorstRequest:
    return next(each for each in WORST_REQUESTS if each.api_key == api_key)


def send(node: LoneNode, payload: bytes, api_key: int, version: int) -> int:
    """It is answered, or closed, when this returns."""
    with node.attached():
        call = node.client.send_payload(payload, api_key, version)
    node.pass_time(100)
    return call


def bytes_of(request: Message, version: int | None = None) -> bytes:
    version = request.HIGHEST_VERSION if version is None else version
    header = RequestHeader(request_api_key=request.API_KEY, request_api_version=version, client_id="admin")
    return encode_request(header, request)


def in_envelope(data: bytes) -> EnvelopeRequest:
    principal = serialize_principal(ANONYMOUS)
    return EnvelopeRequest(
        request_data=data, request_principal=principal, client_host_address=b"\x7f\x00\x00\x01"
    )


def envelope_answer(node: LoneNode, data: bytes) -> EnvelopeResponse:
    call = send(node, bytes_of(in_envelope(data)), ApiKey.ENVELOPE, 0)
    answer = node.answers[call]
    assert isinstance(answer, EnvelopeResponse)
    return answer


def test_it_is_served_in_its_turn() -> None:
    node = started()
    data = bytes_of(TOPICS)
    assert len(data) > DECODED_ON_LOOP_BYTES_MAX
    answer = node.answers[send(node, data, ApiKey.CREATE_TOPICS, 7)]
    assert isinstance(answer, CreateTopicsResponse)
    assert [topic.name for topic in answer.topics] == NAMES


def test_one_that_is_gone_before_it_is_decoded_changes_nothing() -> None:
    node = started()
    call = node.client.send_payload(bytes_of(TOPICS), ApiKey.CREATE_TOPICS, 7)
    node.cancel(call)
    end_offset = node.raft.end_offset
    node.settle()
    node.pass_time(10)
    assert call not in node.answers
    assert node.raft.end_offset == end_offset


def test_without_the_right_the_body_is_not_decoded() -> None:
    """Its bytes are no AlterPartition at all."""
    node = without_rights()
    data = worst(ApiKey.ALTER_PARTITION).header() + GARBAGE
    answer = node.answers[send(node, data, ApiKey.ALTER_PARTITION, 1)]
    assert isinstance(answer, AlterPartitionResponse)
    assert answer.error_code == Errors.CLUSTER_AUTHORIZATION_FAILED


def test_a_right_is_lacking_only_if_it_is_denied() -> None:
    """A standby, and one that has not read the ACLs, refuse for other reasons, and brokers ask again."""

    def is_denied(node: LoneNode, api_key: ApiKey) -> bool:
        context = RequestContext(
            api=API_TABLE[api_key],
            version=0,
            client_id=None,
            principal=ANONYMOUS,
            listener="CONTROLLER",
            client_address=b"\x7f\x00\x00\x01",
        )
        return lacks_right(node.controller, context)

    denying = without_rights()
    assert is_denied(denying, ApiKey.ENVELOPE)
    assert not is_denied(denying, ApiKey.CREATE_TOPICS), "its rights are on topics"
    denying.restart()
    assert not is_denied(denying, ApiKey.ENVELOPE), "the ACLs are not read yet"
    standby = started()
    standby.restart()
    assert not is_denied(standby, ApiKey.ALTER_PARTITION)


def test_a_standby_does_not_decode_the_body() -> None:
    node = started()
    node.restart()
    data = worst(ApiKey.ALTER_PARTITION).header() + GARBAGE
    with node.attached():
        call = node.client.send_payload(data, ApiKey.ALTER_PARTITION, 1)
    answer = node.answers[call]
    assert isinstance(answer, AlterPartitionResponse)
    assert answer.error_code == Errors.NOT_CONTROLLER


def test_a_refusal_repeats_the_names_of_a_megabyte() -> None:
    """Kafka's response has an error for each partition."""
    node = without_rights()
    topics = [TopicPartitions(topic=name, partitions=[0]) for name in NAMES]
    data = bytes_of(ElectLeadersRequest(topic_partitions=topics))
    assert len(data) > DECODED_ON_LOOP_BYTES_MAX
    answer = node.answers[send(node, data, ApiKey.ELECT_LEADERS, 2)]
    assert isinstance(answer, ElectLeadersResponse)
    assert answer.error_code == Errors.CLUSTER_AUTHORIZATION_FAILED
    assert len(answer.replica_election_results) == 400


def test_a_refusal_that_would_repeat_more_closes_the_connection() -> None:
    node = without_rights()
    data = worst(ApiKey.ELECT_LEADERS).payload(30_000)
    assert send(node, data, ApiKey.ELECT_LEADERS, 2) in node.closed


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(worst(ApiKey.ALTER_CLIENT_QUOTAS).payload(200_000), id="too-much-memory"),
        pytest.param(worst(ApiKey.ALTER_CLIENT_QUOTAS).payload(30_000)[:-1], id="truncated"),
        pytest.param(worst(ApiKey.ALTER_CLIENT_QUOTAS).header() + GARBAGE, id="garbage"),
    ],
)
def test_what_cannot_be_decoded_within_the_limits_closes_the_connection(data: bytes) -> None:
    node = started()
    assert send(node, data, ApiKey.ALTER_CLIENT_QUOTAS, 1) in node.closed


def test_in_an_envelope_it_is_served_too() -> None:
    node = started()
    answer = envelope_answer(node, bytes_of(TOPICS))
    assert answer.error_code == Errors.NONE
    _, inner = decode_response(answer.response_data or b"", ApiKey.CREATE_TOPICS, 7)
    assert len(inner.topics) == 400


def test_in_an_envelope_a_standby_does_not_decode_it() -> None:
    node = started()
    node.restart()
    data = worst(ApiKey.CREATE_TOPICS).header() + GARBAGE
    with node.attached():
        envelope = bytes_of(in_envelope(data))
        call = node.client.send_payload(envelope, ApiKey.ENVELOPE, 0)
    answer = node.answers[call]
    assert isinstance(answer, EnvelopeResponse)
    assert answer.error_code == Errors.NOT_CONTROLLER


@pytest.mark.parametrize(
    ("data", "error"),
    [
        pytest.param(
            worst(ApiKey.ALTER_CLIENT_QUOTAS).payload(200_000), Errors.INVALID_REQUEST, id="too-much-memory"
        ),
        pytest.param(
            worst(ApiKey.ALTER_CLIENT_QUOTAS).payload(30_000)[:-1], Errors.UNSUPPORTED_VERSION, id="truncated"
        ),
        pytest.param(
            worst(ApiKey.DESCRIBE_QUORUM).payload(10_000), Errors.INVALID_REQUEST, id="short-with-too-much"
        ),
        pytest.param(
            worst(ApiKey.DESCRIBE_QUORUM).header() + GARBAGE, Errors.INVALID_REQUEST, id="longer-than-its-api"
        ),
    ],
)
def test_the_limits_hold_inside_an_envelope(data: bytes, error: Errors) -> None:
    assert envelope_answer(started(), data).error_code == error


def test_an_answer_that_would_list_too_much_closes_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_long(state: object, context: object, request: object, moment: object) -> ControllerResult:
        ResponseEntries().add(RESPONSE_ENTRIES_MAX + 1)
        raise AssertionError("it is refused")

    monkeypatch.setitem(HANDLERS, ApiKey.DESCRIBE_CONFIGS, too_long)
    node = started()
    call = node.send(DescribeConfigsRequest())
    assert call in node.closed
    assert any("its response would list more than" in line for line in node.notices)


@pytest.mark.parametrize("version", [1, 2])
def test_an_answer_that_would_be_too_long_is_a_short_refusal_if_there_is_room_for_one(version: int) -> None:
    node = started()
    answer = node.answers[send(node, bytes_of(TOO_MANY_ELECTIONS, version), ApiKey.ELECT_LEADERS, version)]
    assert isinstance(answer, ElectLeadersResponse)
    assert answer.error_code == Errors.POLICY_VIOLATION
    assert answer.replica_election_results == []
    assert any("its response would list more than" in line for line in node.notices)


def test_version_0_of_elect_leaders_has_no_room_for_it() -> None:
    node = started()
    data = bytes_of(TOO_MANY_ELECTIONS, 0)
    assert send(node, data, ApiKey.ELECT_LEADERS, 0) in node.closed


def test_in_an_envelope_the_refusal_is_as_short() -> None:
    answer = envelope_answer(started(), bytes_of(TOO_MANY_ELECTIONS))
    assert answer.error_code == Errors.NONE
    _, inner = decode_response(answer.response_data or b"", ApiKey.ELECT_LEADERS, 2)
    assert inner.error_code == Errors.POLICY_VIOLATION


def test_entries_of_an_answer_are_counted_together() -> None:
    entries = ResponseEntries()
    entries.add(RESPONSE_ENTRIES_MAX - 1)
    entries.add(1)
    with pytest.raises(ResponseTooLongError):
        entries.add(1)


@pytest.mark.parametrize("worst_request", WORST_REQUESTS, ids=lambda each: each.name)
def test_the_worst_request_of_every_api_takes_no_more_than_its_row_says(worst_request: WorstRequest) -> None:
    """As many elements as its frame may have; closed, or decoded within the memory that the row allows."""
    api = API_TABLE[worst_request.api_key]
    size_bytes = min(api.size.frame_bytes_max, 300_000) - 100
    count = min(1_000_000, size_bytes // len(worst_request.element))
    node = started()
    call = send(node, worst_request.payload(count), worst_request.api_key, worst_request.version)
    assert (call in node.closed) != (call in node.answers)
