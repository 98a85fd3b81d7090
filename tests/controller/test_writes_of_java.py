"""Changes are answered as Kafka's controller answers them, except where it fails on a request.

What it answers is recorded: see `tests/support/writes`.
"""

from __future__ import annotations

from typing import Any

import pytest

from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.alter_client_quotas_request import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)
from kraftctl_protocol.generated.alter_user_scram_credentials_request import (
    AlterUserScramCredentialsRequest,
    ScramCredentialUpsertion,
)
from kraftctl_protocol.generated.broker_registration_request import Listener
from kraftctl_protocol.generated.controller_registration_request import (
    ControllerRegistrationRequest,
)
from kraftctl_protocol.generated.controller_registration_request import Listener as ControllerListener
from kraftctl_protocol.generated.create_acls_request import AclCreation, CreateAclsRequest
from kraftctl_protocol.generated.request_header import RequestHeader
from kraftctl_protocol.message import Message
from kraftctl_protocol.primitives import DecodeError
from kraftctl_protocol.requests import decode_request, encode_request
from tests.support.active_controller import CLUSTER_ID, ActiveController
from tests.support.active_controller import registration as registration_of
from tests.support.writes.conversations import BROKERS, CLOSED, played, recorded, registration

LEVEL_OF_4_3 = 30

MALFORMED_LISTENERS = [
    pytest.param({"name": ""}, id="no-name"),
    pytest.param({"host": ""}, id="no-host"),
    pytest.param({"host": " "}, id="blank-host"),
    pytest.param({"port": 0}, id="port-0"),
    *[pytest.param({"security_protocol": code}, id=f"protocol-{code}") for code in (-1, 4, 99)],
]


def secured() -> ActiveController:
    """A controller of a 4.3 cluster with three brokers."""
    active = ActiveController(
        LEVEL_OF_4_3,
        authorizer_class_name="org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        super_users="User:ANONYMOUS",
    )
    for broker_id in BROKERS:
        assert active.request(registration(broker_id, CLUSTER_ID)).error_code == Errors.NONE
        assert not active.heartbeat(broker_id).is_fenced
    return active


def ask(active: ActiveController, request: Message, version: int) -> object:
    """The response as it is on the wire; CLOSED if the request cannot be decoded."""
    header = RequestHeader(request_api_key=request.API_KEY, request_api_version=version)
    try:
        body = decode_request(encode_request(header, request)).body
    except DecodeError:
        return CLOSED
    response = active.request(body, version)
    return type(response).decode(response.encode(version), version)


def test_all_responses_are_those_of_kafka() -> None:
    active = secured()
    found = played(CLUSTER_ID, lambda request, version: ask(active, request, version))
    expected = recorded()
    assert list(found) == list(expected)
    different = {name: (found[name], expected[name]) for name in found if found[name] != expected[name]}
    assert not different


# Kafka's controller ends, resigns or answers UNKNOWN_SERVER_ERROR to all of the following.


@pytest.mark.parametrize("wrong", MALFORMED_LISTENERS)
def test_a_broker_with_a_malformed_listener_is_not_registered(wrong: dict[str, Any]) -> None:
    """Its record would end every broker that reads it."""
    active = ActiveController()
    request = registration_of(1)
    fields: dict[str, Any] = {"name": "PLAINTEXT", "host": "h", "port": 1, "security_protocol": 0}
    request.listeners.append(Listener(**{**fields, **wrong}))
    assert active.request(request).error_code == Errors.INVALID_REGISTRATION
    assert active.controller.image.cluster.broker(1) is None


@pytest.mark.parametrize("wrong", MALFORMED_LISTENERS)
def test_a_controller_with_a_malformed_listener_is_not_registered(wrong: dict[str, Any]) -> None:
    active = ActiveController()
    fields: dict[str, Any] = {"name": "CONTROLLER", "host": "h", "port": 1, "security_protocol": 0}
    request = ControllerRegistrationRequest(
        controller_id=3001, listeners=[ControllerListener(**{**fields, **wrong})]
    )
    assert active.request(request).error_code == Errors.INVALID_REGISTRATION
    assert 3001 not in active.controller.image.cluster.controllers


def test_a_broker_without_listeners_is_registered() -> None:
    """As by Kafka: no client can reach it."""
    active = ActiveController()
    request = registration_of(1)
    request.listeners = []
    assert active.request(request).error_code == Errors.NONE


@pytest.mark.parametrize(
    ("field", "code"),
    [("resource_type", 1), ("resource_pattern_type", 1), ("resource_pattern_type", 2)]
    + [("operation", 1), ("permission_type", 1)],
)
def test_an_acl_with_a_code_of_filters_alone_is_refused_alone(field: str, code: int) -> None:
    active = secured()
    codes = {"resource_type": 2, "resource_pattern_type": 3, "operation": 3, "permission_type": 3}
    entries = [
        AclCreation(resource_name="t", principal="User:a", host="*", **{**codes, **change})
        for change in ({field: code}, {})
    ]
    response = active.request(CreateAclsRequest(creations=entries))
    assert [each.error_code for each in response.results] == [Errors.INVALID_REQUEST, Errors.NONE]


def test_an_empty_salted_password_is_unacceptable() -> None:
    active = secured()
    upsertion = ScramCredentialUpsertion(name="a", mechanism=1, iterations=4096, salt=b"salt")
    response = active.request(AlterUserScramCredentialsRequest(upsertions=[upsertion]))
    assert [each.error_code for each in response.results] == [Errors.UNACCEPTABLE_CREDENTIAL]
    assert active.controller.image.scram.credential(1, "a") is None


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
@pytest.mark.parametrize("key", ["producer_byte_rate", "request_percentage"])
def test_a_quota_is_a_finite_number(key: str, value: float) -> None:
    """Kafka takes others before 4.4."""
    operation = OpData(key=key, value=value)
    entry = EntryData(entity=[EntityData(entity_type="user", entity_name="a")], ops=[operation])
    response = secured().request(AlterClientQuotasRequest(entries=[entry]))
    assert [each.error_code for each in response.entries] == [Errors.INVALID_REQUEST]
