"""Envelopes (KIP-590): what may be forwarded, the errors, and NOT_CONTROLLER moved to the envelope."""

from __future__ import annotations

import pytest

from kraftctl.apis.api_table import API_TABLE
from kraftctl.controller.envelope import open_envelope
from kraftctl.controller.envelope_responses import wrap_response
from kraftctl.controller.pending_request import PendingRequest
from kraftctl_protocol.api_error import ApiError
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.create_acls_request import AclCreation, CreateAclsRequest
from kraftctl_protocol.generated.create_topics_request import CreateTopicsRequest
from kraftctl_protocol.generated.create_topics_response import CreatableTopicResult, CreateTopicsResponse
from kraftctl_protocol.generated.describe_quorum_response import (
    DescribeQuorumResponse,
    PartitionData,
    TopicData,
)
from kraftctl_protocol.generated.envelope_request import EnvelopeRequest
from kraftctl_protocol.generated.index import request_class
from kraftctl_protocol.generated.request_header import RequestHeader
from kraftctl_protocol.principal import KafkaPrincipal, serialize_principal
from kraftctl_protocol.requests import decode_response, encode_request
from tests.support.active_controller import ActiveController

FORWARDABLE = [key for key, api in API_TABLE.items() if api.forwardable]

ALICE = KafkaPrincipal("User", "alice", True)

RECEIVED_MS = 4_711


def inner(api_key=ApiKey.CREATE_TOPICS, version=7, body=None):
    header = RequestHeader(
        request_api_key=int(api_key), request_api_version=version, correlation_id=77, client_id="admin"
    )
    return encode_request(header, CreateTopicsRequest() if body is None else body)


def opened(data=None, principal=None, address=b"\x0a\0\0\1"):
    envelope = EnvelopeRequest(
        request_data=inner() if data is None else data,
        request_principal=serialize_principal(ALICE) if principal is None else principal,
        client_host_address=address,
    )
    context = ActiveController().context(envelope, 0)
    context.received_ms = RECEIVED_MS
    pending = PendingRequest(0, context, envelope)
    return open_envelope(pending) or pending


def test_the_inner_request_keeps_its_own_principal_and_address():
    envelope = opened()
    assert isinstance(envelope, PendingRequest)
    context = envelope.context
    assert (context.api_key, context.version, context.client_id) == (ApiKey.CREATE_TOPICS, 7, "admin")
    assert (context.principal, context.principal.token_authenticated) == (ALICE, True)
    assert (context.client_address, context.envelope, context.listener) == (b"\x0a\0\0\1", True, "CONTROLLER")


def test_bytes_behind_the_request_are_ignored():
    """As in Kafka, in an envelope and without one."""
    assert isinstance(opened(data=inner() + b"\0"), PendingRequest)


def test_the_time_of_the_inner_request_counts_from_its_envelope():
    envelope = opened()
    assert isinstance(envelope, PendingRequest)
    assert envelope.context.received_ms == RECEIVED_MS


def test_a_forwarded_ipv4_address_within_ipv6_is_ipv4():
    """As in Java. Otherwise entries that deny its host would not."""
    envelope = opened(address=bytes(10) + b"\xff\xff\x0a\0\0\1")
    assert isinstance(envelope, PendingRequest)
    assert envelope.context.client_address == b"\x0a\0\0\1"


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        pytest.param({"principal": b"\0"}, Errors.PRINCIPAL_DESERIALIZATION_FAILURE, id="principal"),
        pytest.param(
            {"principal": b"\0\7"}, Errors.PRINCIPAL_DESERIALIZATION_FAILURE, id="principal-version"
        ),
        pytest.param({"address": b"\1\2\3"}, Errors.INVALID_REQUEST, id="address"),
        pytest.param({"data": b""}, Errors.UNSUPPORTED_VERSION, id="no-header"),
        pytest.param({"data": inner()[:-1]}, Errors.UNSUPPORTED_VERSION, id="cut-body"),
        pytest.param(
            {"data": inner(ApiKey.CREATE_ACLS, 3, CreateAclsRequest(creations=[AclCreation()]))},
            Errors.UNSUPPORTED_VERSION,
            id="codes-that-are-0",
        ),
        pytest.param(
            {"data": b"\x00\x13\x00\x63" + inner()[4:]}, Errors.UNSUPPORTED_VERSION, id="unknown-version"
        ),
        pytest.param(
            {"data": b"\x00\x3e\x00\x63" + inner()[4:]}, Errors.INVALID_REQUEST, id="not-forwardable"
        ),
        pytest.param(
            {"data": b"\x00\x3e\x00\x00" + inner()[4:-1]},
            Errors.INVALID_REQUEST,
            id="not-forwardable-and-cut",
        ),
        pytest.param(
            {"data": b"\x7f\x00\x00\x00" + inner()[4:]}, Errors.UNSUPPORTED_VERSION, id="unknown-api"
        ),
    ],
)
def test_refused(arguments, error):
    refusal = opened(**arguments)
    assert isinstance(refusal, ApiError)
    assert refusal.error == error


@pytest.mark.parametrize("api_key", FORWARDABLE, ids=lambda key: ApiKey(key).name)
def test_only_served_versions_may_be_forwarded(api_key):
    lowest, highest = API_TABLE[api_key].lowest, API_TABLE[api_key].highest
    body = request_class(api_key)
    assert body is not None
    for version in range(body.LOWEST_VERSION, body.HIGHEST_VERSION + 1):
        answer = opened(inner(api_key, version, body()))
        assert isinstance(answer, PendingRequest) == (lowest <= version <= highest), version
        if isinstance(answer, ApiError):
            assert answer.error == Errors.UNSUPPORTED_VERSION
    for version in (lowest - 1, highest + 1):
        start = int(api_key).to_bytes(2, "big") + version.to_bytes(2, "big", signed=True)
        answer = opened(start + inner()[4:])
        assert isinstance(answer, ApiError)
        assert answer.error == Errors.UNSUPPORTED_VERSION


def test_the_forwardable_list_is_kafkas():
    assert FORWARDABLE == [
        19, 20, 30, 31, 33, 37, 38, 39, 40, 43, 44, 45, 46, 49, 51, 55, 57, 64, 67, 80, 81, 94
    ]  # fmt: skip


def test_the_answer_carries_the_inner_correlation_id():
    response = wrap_response(opened().context, CreateTopicsResponse(topics=[CreatableTopicResult(name="t")]))
    assert response.error_code == 0
    assert response.response_data is not None
    correlation_id, body = decode_response(response.response_data, ApiKey.CREATE_TOPICS, 7)
    assert correlation_id == 77
    assert body.topics[0].name == "t"


def test_not_controller_at_any_depth_becomes_the_envelopes_error():
    refused = CreateTopicsResponse(
        topics=[
            CreatableTopicResult(name="a"),
            CreatableTopicResult(name="b", error_code=int(Errors.NOT_CONTROLLER)),
        ]
    )
    response = wrap_response(opened().context, refused)
    assert (response.error_code, response.response_data) == (Errors.NOT_CONTROLLER, None)


def test_describe_quorum_says_not_leader_instead():
    envelope = opened()
    envelope.context.api = API_TABLE[ApiKey.DESCRIBE_QUORUM]
    envelope.context.version = 2
    partition = PartitionData(error_code=int(Errors.NOT_LEADER_OR_FOLLOWER))
    response = wrap_response(
        envelope.context, DescribeQuorumResponse(topics=[TopicData(partitions=[partition])])
    )
    assert response.error_code == Errors.NOT_CONTROLLER
