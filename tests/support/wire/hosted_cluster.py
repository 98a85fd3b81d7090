"""Brokers, topics and other state of a hosted controller, created by valid requests."""

from __future__ import annotations

import asyncio
import random
from itertools import count
from typing import TypeVar

from kraftctl_protocol.frames import encode_frame
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
from kraftctl_protocol.generated.api_versions_request import ApiVersionsRequest
from kraftctl_protocol.generated.broker_heartbeat_request import BrokerHeartbeatRequest
from kraftctl_protocol.generated.broker_heartbeat_response import BrokerHeartbeatResponse
from kraftctl_protocol.generated.create_acls_request import AclCreation, CreateAclsRequest
from kraftctl_protocol.generated.create_delegation_token_request import CreateDelegationTokenRequest
from kraftctl_protocol.generated.create_topics_request import CreatableTopic, CreateTopicsRequest
from kraftctl_protocol.generated.envelope_request import EnvelopeRequest
from kraftctl_protocol.generated.request_header import RequestHeader
from kraftctl_protocol.message import Message
from kraftctl_protocol.principal import KafkaPrincipal, serialize_principal
from kraftctl_protocol.requests import decode_response, encode_request
from tests.support.active_controller import registration
from tests.support.wire.hosted_controller import HostedController

M = TypeVar("M", bound=Message)

BROKERS = (1, 2, 3)

PROPERTIES = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
    "default.replication.factor": "2",
    "unclean.leader.election.enable": "true",
    "delegation.token.secret.key": "secret",
    "leader.imbalance.check.interval.seconds": "5",
    "unclean.leader.election.interval.ms": "5000",
    "delegation.token.expiry.check.interval.ms": "5000",
}
"""Settings with which handlers and periodic tasks have something to do."""


def payload_of(message: Message, version: int, correlation_id: int = 1) -> bytes:
    """Header and body."""
    header = RequestHeader(
        request_api_key=message.API_KEY,
        request_api_version=version,
        correlation_id=correlation_id,
        client_id="broker",
    )
    return encode_request(header, message)


API_VERSIONS = encode_frame(
    payload_of(ApiVersionsRequest(client_software_name="probe", client_software_version="1.0"), 3)
)


class Population:
    """Uses its own connection, and expects every response there."""

    def __init__(self, hosted: HostedController, rng: random.Random) -> None:
        self._hosted = hosted
        self._rng = rng
        self._client = hosted.connect()
        self._correlation_ids = count(1)

    async def call(self, message: Message, answer: type[M], version: int | None = None) -> M:
        """The response, which must arrive."""
        used = message.HIGHEST_VERSION if version is None else version
        correlation_id = next(self._correlation_ids)
        self._client.send(encode_frame(payload_of(message, used, correlation_id)))
        payload = await self._client.receive()
        self._hosted.check_alive()
        assert payload is not None, f"the connection was closed instead of a response to {message!r}"
        answered, response = decode_response(payload, message.API_KEY, used)
        assert answered == correlation_id
        assert isinstance(response, answer)
        return response

    async def settle_in(self) -> None:
        """Brokers, topics, a quota, rights, a password and a token."""
        while not self._hosted.active:
            await asyncio.sleep(0.1)
        for broker_id in BROKERS:
            await self.call(registration(broker_id, directories=2), Message)
            await self.call(self._heartbeat(broker_id), Message)
        for request in settings():
            await self.call(request, Message)
        token = CreateDelegationTokenRequest(max_lifetime_ms=3_600_000)
        await self.call(
            EnvelopeRequest(
                request_data=payload_of(token, token.HIGHEST_VERSION),
                request_principal=serialize_principal(KafkaPrincipal("User", "alice")),
                client_host_address=b"\x7f\0\0\1",
            ),
            Message,
        )

    async def keep_alive(self) -> None:
        """Brokers return sooner or later, and there are always topics."""
        for broker_id in BROKERS:
            registered = self._hosted.image.cluster.broker(broker_id)
            if registered is None or self._rng.random() < 0.03:
                await self.call(registration(broker_id, directories=2), Message)
            if registered is None or registered.fenced or self._rng.random() < 0.3:
                await self.call(self._heartbeat(broker_id), Message)
        if len(self._hosted.image.topics.topics) < 2 and self._rng.random() < 0.2:
            await self.call(CreateTopicsRequest(topics=[topic("t", 3), topic("u", 1)]), Message)

    async def heartbeat(self) -> None:
        """A heartbeat of one of the brokers."""
        await self.call(self._heartbeat(self._rng.choice(BROKERS)), BrokerHeartbeatResponse)

    def _heartbeat(self, broker_id: int) -> BrokerHeartbeatRequest:
        registered = self._hosted.image.cluster.broker(broker_id)
        return BrokerHeartbeatRequest(
            broker_id=broker_id,
            broker_epoch=-1 if registered is None else registered.epoch,
            current_metadata_offset=self._hosted.end_offset,
        )


def topic(name: str, partitions: int) -> CreatableTopic:
    return CreatableTopic(name=name, num_partitions=partitions, replication_factor=-1)


def settings() -> list[Message]:
    """Requests that leave records in every part of the image."""
    quota = EntryData(
        entity=[EntityData(entity_type="user", entity_name="alice")],
        ops=[OpData(key="producer_byte_rate", value=1e6)],
    )
    acl = AclCreation(
        resource_type=2,
        resource_name="t",
        resource_pattern_type=3,
        principal="User:alice",
        host="*",
        operation=3,
        permission_type=3,
    )
    password = ScramCredentialUpsertion(
        name="alice", mechanism=1, iterations=4_096, salt=b"salt", salted_password=b"x" * 32
    )
    return [
        CreateTopicsRequest(topics=[topic("t", 3), topic("u", 1)]),
        AlterClientQuotasRequest(entries=[quota]),
        CreateAclsRequest(creations=[acl]),
        AlterUserScramCredentialsRequest(upsertions=[password]),
    ]
