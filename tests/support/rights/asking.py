"""Cells of the table of rights as requests to a controller, from their principals or within envelopes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeVar

from kraftctl.dev.polling import await_result
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.broker_heartbeat_request import BrokerHeartbeatRequest
from kraftctl_protocol.generated.broker_heartbeat_response import BrokerHeartbeatResponse
from kraftctl_protocol.generated.broker_registration_request import (
    BrokerRegistrationRequest,
    Feature,
    Listener,
)
from kraftctl_protocol.generated.broker_registration_response import BrokerRegistrationResponse
from kraftctl_protocol.generated.create_acls_request import CreateAclsRequest
from kraftctl_protocol.generated.create_acls_response import CreateAclsResponse
from kraftctl_protocol.generated.create_delegation_token_request import (
    CreatableRenewers,
    CreateDelegationTokenRequest,
)
from kraftctl_protocol.generated.create_delegation_token_response import CreateDelegationTokenResponse
from kraftctl_protocol.generated.create_topics_request import CreatableTopic, CreateTopicsRequest
from kraftctl_protocol.generated.create_topics_response import CreateTopicsResponse
from kraftctl_protocol.generated.envelope_request import EnvelopeRequest
from kraftctl_protocol.generated.envelope_response import EnvelopeResponse
from kraftctl_protocol.generated.request_header import RequestHeader
from kraftctl_protocol.message import Message
from kraftctl_protocol.principal import ANONYMOUS, KafkaPrincipal, serialize_principal
from kraftctl_protocol.requests import decode_response, encode_request
from tests.support.rights.cluster_rows import CLUSTER_ROWS
from tests.support.rights.grants import ACTION, Grants
from tests.support.rights.resource_rows import RESOURCE_ROWS
from tests.support.rights.row import SUPER, Cell, Row, World, numbered
from tests.support.wire.controller_client import FAR_AHEAD, FEATURES_OF_4_3

ROWS: list[Row] = [*CLUSTER_ROWS, *RESOURCE_ROWS]

NUMBERS: dict[Grants, int] = numbered(ROWS)

CELLS: list[Cell] = [cell for row in ROWS for cell in row.cells()]

BROKER = "CN=broker"
"""Who sends envelopes. It may do nothing but CLUSTER_ACTION."""

CLIENT_ADDRESS = b"\x7f\0\0\1"

M = TypeVar("M", bound=Message)


class Door(Protocol):
    """The listener of a controller."""

    def ask(self, principal: KafkaPrincipal, request: Message, version: int | None = None) -> Message | None:
        """The response; None when the connection was closed instead."""
        ...


@dataclass(frozen=True)
class Answer:
    """`error` is that of the envelope, `response` what is in it, or the response to a direct request."""

    response: Message | None
    error: int = 0


def principal_of(cell: Cell) -> KafkaPrincipal:
    name = cell.principal_name(NUMBERS)
    return KafkaPrincipal("User", name, cell.is_token) if name else ANONYMOUS


def user(name: str) -> KafkaPrincipal:
    return KafkaPrincipal("User", f"CN={name}")


def names() -> list[str]:
    """Of all principals that are not anonymous."""
    return sorted({name for cell in CELLS if (name := cell.principal_name(NUMBERS))} | {BROKER, "CN=renewer"})


def asked(door: Door, principal: KafkaPrincipal, request: Message, kind: type[M]) -> M:
    answer = door.ask(principal, request)
    assert isinstance(answer, kind), answer
    return answer


def prepare(door: Door, cluster_id: str) -> World:
    """Entries of all principals, a broker, a topic, and a token."""
    root = user(SUPER)
    entries = [grant.entry(f"User:CN=p{number}") for grants, number in NUMBERS.items() for grant in grants]
    entries.append(ACTION.entry(f"User:{BROKER}"))
    created = asked(door, root, CreateAclsRequest(creations=entries), CreateAclsResponse)
    assert {result.error_code for result in created.results} == {0}
    registration = BrokerRegistrationRequest(
        broker_id=1,
        cluster_id=cluster_id,
        incarnation_id=b"b" * 16,
        listeners=[Listener(name="PLAINTEXT", host="localhost", port=9_001)],
        features=[
            Feature(name=name, min_supported_version=low, max_supported_version=high)
            for name, (low, high) in FEATURES_OF_4_3.items()
        ],
        rack=None,
        log_dirs=[b"d" * 16],
    )
    epoch = asked(door, root, registration, BrokerRegistrationResponse).broker_epoch
    heartbeat = BrokerHeartbeatRequest(broker_id=1, broker_epoch=epoch, current_metadata_offset=FAR_AHEAD)
    assert not asked(door, root, heartbeat, BrokerHeartbeatResponse).is_fenced
    create_topic(door, "kept")
    renewers = [CreatableRenewers(principal_type="User", principal_name="CN=renewer")]
    token = CreateDelegationTokenRequest(renewers=renewers, max_lifetime_ms=-1)
    world = World(cluster_id)
    # Kafka's authorizer has entries a moment after they are committed, all of a request together.
    await_result(lambda: _makes_token(door, world, token), "the entries are in force")
    return world


def _makes_token(door: Door, world: World, token: CreateDelegationTokenRequest) -> bool:
    answer = forward(door, user("owner"), token, token.HIGHEST_VERSION).response
    if isinstance(answer, CreateDelegationTokenResponse):
        world.token_hmac = answer.hmac
    return world.token_hmac != b""


def create_topic(door: Door, name: str) -> bytes:
    """The id of a new topic, or nothing if there is one of this name."""
    topic = CreatableTopic(name=name, num_partitions=1, replication_factor=1)
    (result,) = asked(door, user(SUPER), CreateTopicsRequest(topics=[topic]), CreateTopicsResponse).topics
    assert result.error_code in (Errors.NONE, Errors.TOPIC_ALREADY_EXISTS), result
    return result.topic_id if result.error_code == Errors.NONE else b""


def ask(door: Door, world: World, cell: Cell, *, envelope: bool, version: int | None = None) -> Answer:
    if cell.row.deletes:
        world.doomed_id = create_topic(door, "doomed") or world.doomed_id
    request = cell.row.request(world)
    used = request.HIGHEST_VERSION if version is None else version
    if envelope:
        return forward(door, principal_of(cell), in_version(request, used), used)
    return Answer(door.ask(principal_of(cell), in_version(request, used), used))


def forward(
    door: Door,
    principal: KafkaPrincipal,
    request: Message,
    version: int,
    *,
    address: bytes = CLIENT_ADDRESS,
    principal_bytes: bytes | None = None,
    sender: str = BROKER,
) -> Answer:
    """What `sender` is answered that forwards a request of `principal`."""
    header = RequestHeader(
        request_api_key=request.API_KEY,
        request_api_version=version,
        correlation_id=99,
        client_id="client",
    )
    wrapped = EnvelopeRequest(
        request_data=encode_request(header, request),
        request_principal=serialize_principal(principal) if principal_bytes is None else principal_bytes,
        client_host_address=address,
    )
    answer = door.ask(KafkaPrincipal("User", sender), wrapped)
    if not isinstance(answer, EnvelopeResponse):
        return Answer(answer)
    if answer.response_data is None:
        return Answer(None, answer.error_code)
    return Answer(decode_response(answer.response_data, request.API_KEY, version)[1], answer.error_code)


def in_version(message: Message, version: int) -> Message:
    """A copy without what this version does not have."""
    found = type(message)()
    for field in message.FIELDS:
        value = getattr(message, field.name)
        if not field.in_version(version):
            continue
        if isinstance(value, Message):
            value = in_version(value, version)
        elif isinstance(value, list):
            value = [in_version(item, version) if isinstance(item, Message) else item for item in value]
        setattr(found, field.name, value)
    return found
