"""Rights on the cluster: an envelope needs its sender's, the request in it those of the client alone."""

from __future__ import annotations

import pytest

from kraftctl.config.controller_config import STANDARD_AUTHORIZER
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.alter_client_quotas_request import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)
from kraftctl_protocol.generated.describe_quorum_request import DescribeQuorumRequest
from kraftctl_protocol.generated.envelope_request import EnvelopeRequest
from kraftctl_protocol.generated.envelope_response import EnvelopeResponse
from kraftctl_protocol.generated.request_header import RequestHeader
from kraftctl_protocol.generated.unregister_broker_request import UnregisterBrokerRequest
from kraftctl_protocol.message import Message
from kraftctl_protocol.principal import ANONYMOUS, KafkaPrincipal, serialize_principal
from kraftctl_protocol.requests import decode_response, encode_request
from tests.support.simulator.cluster.lone_node import LoneNode

ALICE = KafkaPrincipal("User", "alice")

SERVER = "User:ANONYMOUS"
"""Who sends every request to the node here."""

APIS = [
    pytest.param(UnregisterBrokerRequest(broker_id=1), id="of-the-controller"),
    pytest.param(DescribeQuorumRequest(), id="of-raft"),
]


def started(super_users: str) -> LoneNode:
    node = LoneNode(authorizer_class_name=STANDARD_AUTHORIZER, super_users=super_users)
    node.settle()
    return node


def forwarded(request: Message, principal: KafkaPrincipal) -> EnvelopeRequest:
    header = RequestHeader(
        request_api_key=request.API_KEY,
        request_api_version=request.HIGHEST_VERSION,
        correlation_id=99,
        client_id="admin",
    )
    return EnvelopeRequest(
        request_data=encode_request(header, request),
        request_principal=serialize_principal(principal),
        client_host_address=b"\x7f\x00\x00\x01",
    )


def inner_error(node: LoneNode, request: Message, principal: KafkaPrincipal) -> int:
    answer = node.ask(forwarded(request, principal), EnvelopeResponse)
    assert (answer.error_code, answer.response_data is None) == (Errors.NONE, False)
    version = request.HIGHEST_VERSION
    _, inner = decode_response(answer.response_data or b"", request.API_KEY, version)
    return inner.error_code


@pytest.mark.parametrize("request_", APIS)
def test_a_forwarded_request_has_no_right_of_the_broker_that_forwards_it(request_: Message) -> None:
    node = started(SERVER)
    assert inner_error(node, request_, ALICE) == Errors.CLUSTER_AUTHORIZATION_FAILED
    assert inner_error(node, request_, ANONYMOUS) != Errors.CLUSTER_AUTHORIZATION_FAILED


@pytest.mark.parametrize("request_", APIS)
def test_an_envelope_from_someone_else_is_refused_unopened(request_: Message) -> None:
    node = started("User:alice")
    answer = node.ask(forwarded(request_, ALICE), EnvelopeResponse)
    assert answer.error_code == Errors.CLUSTER_AUTHORIZATION_FAILED
    assert answer.response_data is None


def test_a_refusal_waits_for_the_changes_that_it_may_rest_on() -> None:
    """Those may be changes of ACLs that are never committed."""
    node = started(SERVER)
    quota = OpData(key="request_percentage", value=1.0)
    entity = EntityData(entity_type="user", entity_name="alice")
    write = node.send(AlterClientQuotasRequest(entries=[EntryData(entity=[entity], ops=[quota])]))
    refused = node.send(forwarded(UnregisterBrokerRequest(broker_id=1), ALICE))
    assert not {write, refused} & set(node.answers)
    node.settle()
    assert {write, refused} <= set(node.answers)
