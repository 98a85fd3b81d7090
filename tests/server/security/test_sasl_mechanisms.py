"""PLAIN, SCRAM and delegation tokens over real sockets, from a listener's keys to the name of a client."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from kraftctl.config.controller_config import ControllerConfig
from kraftctl.controller.committed_credentials import CommittedCredentials
from kraftctl.controller.results.request_context import RequestContext
from kraftctl.server.listeners.listener import SocketServer
from kraftctl.server.loop.client_requests import Respond
from kraftctl.server.security.credential_lookup import CredentialLookup
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.alter_user_scram_credentials_request import (
    AlterUserScramCredentialsRequest,
    ScramCredentialUpsertion,
)
from kraftctl_protocol.generated.create_delegation_token_request import CreateDelegationTokenRequest
from kraftctl_protocol.generated.create_delegation_token_response import CreateDelegationTokenResponse
from kraftctl_protocol.generated.expire_delegation_token_request import ExpireDelegationTokenRequest
from kraftctl_protocol.message import Message
from kraftctl_protocol.principal import KafkaPrincipal
from kraftctl_protocol.requests import RequestHead
from kraftctl_security.sasl.mechanism import SaslAuthenticationError, SaslClient
from kraftctl_security.sasl.plain import PlainClient
from kraftctl_security.sasl.scram_client import ScramClient
from tests.server.security.sasl_serving import answer_of, send_token, shake_hands
from tests.server.security.ssl_serving import authority, connect_ssl, context_of, identity, stores
from tests.server.serving import PROPERTIES, Client, Handler, connect, expect_served
from tests.support.active_controller import ActiveController

ALICE = KafkaPrincipal("User", "alice")
PASSWORD = "alice-secret"
SCRAM_MODULE = "org.apache.kafka.common.security.scram.ScramLoginModule required"
PLAIN_MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule required"
OWN = 'username="controller" password="controller-secret"'
SASL = {
    "listener.security.protocol.map": "CONTROLLER:SASL_PLAINTEXT",
    "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
    "sasl.mechanism.controller.protocol": "PLAIN",
    "listener.name.controller.plain.sasl.jaas.config": f'{PLAIN_MODULE} {OWN} user_bob="bob-secret";',
    "listener.name.controller.scram-sha-256.sasl.jaas.config": f"{SCRAM_MODULE} {OWN};",
    "listener.name.controller.scram-sha-512.sasl.jaas.config": f"{SCRAM_MODULE} {OWN};",
    "connection.failed.authentication.delay.ms": "0",
}


class Cluster:
    """A controller with a user and tokens, whose listener is served beside it."""

    def __init__(self) -> None:
        keys = {key.replace(".", "_"): value for key, value in SASL.items()}
        self.active = ActiveController(delegation_token_secret_key="secret", **keys)  # type: ignore[arg-type]
        self.active.now_ms = 1_700_000_000_000
        self.handler: Handler | None = None
        for mechanism, hash_name in ((1, "sha256"), (2, "sha512")):
            salted = hashlib.pbkdf2_hmac(hash_name, PASSWORD.encode(), b"salt", 4096)
            upsertion = ScramCredentialUpsertion("alice", mechanism, 4096, b"salt", salted)
            self.active.request(AlterUserScramCredentialsRequest(upsertions=[upsertion]))

    def create_token(self) -> CreateDelegationTokenResponse:
        request = CreateDelegationTokenRequest()
        context = self.active.context(request, None, principal=ALICE, envelope=True)
        response = self.active.request(request, context=context)
        assert isinstance(response, CreateDelegationTokenResponse)
        return response

    @asynccontextmanager
    async def serving(self, **properties: str) -> AsyncIterator[tuple[SocketServer, Handler]]:
        handler = self.handler or Handler()
        server = SocketServer(ControllerConfig({**PROPERTIES, **SASL, **properties}))
        committed = CommittedCredentials(self.active.controller)
        lookup = CredentialLookup(committed, lambda: self.active.now_ms, b"secret")
        await server.bind()
        await server.accept(handler, credentials=lookup)
        for listener in server.listeners:
            assert listener.sasl is not None
            listener.sasl.wall_ms = lambda: self.active.now_ms
        try:
            yield server, handler
        finally:
            await server.stop()


def scram(mechanism: int, name: str, password: str, *, token_auth: bool = False) -> SaslClient:
    return ScramClient(mechanism, name, password, nonce="client-nonce", token_auth=token_auth)


async def authenticate(client: Client, mechanism: SaslClient) -> int:
    """The lifetime of the session. Raises SaslAuthenticationError with the response of the listener."""
    assert (await shake_hands(client, mechanism.mechanism)).error_code == 0
    challenge, lifetime_ms = b"", 0
    while True:
        token = mechanism.evaluate(challenge)
        if token is None:
            return lifetime_ms
        answer = await send_token(client, token)
        if answer.error_code != 0:
            assert answer.error_code == Errors.SASL_AUTHENTICATION_FAILED
            raise SaslAuthenticationError(answer.error_message or "")
        challenge = answer.auth_bytes
        lifetime_ms = answer.session_lifetime_ms
        if mechanism.is_complete:
            return lifetime_ms


@pytest.mark.parametrize(
    ("mechanism", "name"),
    [
        pytest.param(lambda: PlainClient("bob", "bob-secret"), "bob", id="plain"),
        pytest.param(lambda: scram(1, "alice", PASSWORD), "alice", id="scram-sha-256"),
        pytest.param(lambda: scram(2, "alice", PASSWORD), "alice", id="scram-sha-512"),
    ],
)
async def test_each_mechanism_authenticates(mechanism, name: str) -> None:  # type: ignore[no-untyped-def]
    async with Cluster().serving() as (server, handler):
        client = await connect(server)
        assert await authenticate(client, mechanism()) == 0
        await expect_served(client)
        assert str(handler.contexts[0].principal) == f"User:{name}"
        assert not handler.contexts[0].principal.token_authenticated
        client.close()


@pytest.mark.parametrize(
    ("mechanism", "text"),
    [
        pytest.param(
            lambda: PlainClient("bob", "wrong"), "wrong user name or password", id="plain-wrong-password"
        ),
        pytest.param(
            lambda: PlainClient("alice", PASSWORD), "wrong user name or password", id="plain-user-of-scram"
        ),
        pytest.param(lambda: scram(1, "alice", "wrong"), "invalid credentials", id="scram-wrong-password"),
        pytest.param(lambda: scram(1, "bob", "bob-secret"), "invalid credentials", id="scram-unknown-user"),
        pytest.param(
            lambda: scram(1, "alice", PASSWORD, token_auth=True), "invalid credentials", id="user-as-token"
        ),
    ],
)
async def test_who_is_refused(mechanism, text: str) -> None:  # type: ignore[no-untyped-def]
    async with Cluster().serving() as (server, handler):
        client = await connect(server)
        with pytest.raises(SaslAuthenticationError, match=text):
            await authenticate(client, mechanism())
        await client.expect_closed()
        assert handler.contexts == []


@pytest.mark.parametrize("mechanism", [1, 2])
async def test_a_token_authenticates_as_its_owner_until_it_expires(mechanism: int) -> None:
    cluster = Cluster()
    created = cluster.create_token()
    password = base64.b64encode(created.hmac).decode()
    async with cluster.serving() as (server, handler):
        client = await connect(server)
        cluster.active.now_ms = created.expiry_timestamp_ms - 60_000
        lifetime_ms = await authenticate(
            client, scram(mechanism, created.token_id, password, token_auth=True)
        )
        assert lifetime_ms == 60_000
        await expect_served(client)
        assert handler.contexts[0].principal == ALICE
        assert handler.contexts[0].principal.token_authenticated
        client.close()
        cluster.active.now_ms += 60_000
        with pytest.raises(SaslAuthenticationError, match="invalid credentials"):
            await authenticate(
                await connect(server), scram(mechanism, created.token_id, password, token_auth=True)
            )


class NodeHandler(Handler):
    """Lets the controller answer."""

    def __init__(self, active: ActiveController) -> None:
        super().__init__()
        self._active = active

    def submit(
        self,
        context: RequestContext,
        content: Message | RequestHead,
        respond: Respond,
        decoded_bytes: int = 0,
    ) -> int:
        assert isinstance(content, Message)
        self.contexts.append(context)
        respond(self._active.request(content, context=context))
        return 0


async def test_a_client_of_sasl_creates_a_token_with_which_no_other_is_created() -> None:
    """KIP-48, from socket to socket."""
    cluster = Cluster()
    cluster.handler = NodeHandler(cluster.active)
    async with cluster.serving() as (server, _):
        client = await connect(server)
        await authenticate(client, scram(2, "alice", PASSWORD))
        created = await answer_of(client, CreateDelegationTokenRequest(), 3)
        assert isinstance(created, CreateDelegationTokenResponse)
        assert (created.error_code, created.principal_name) == (0, "alice")
        client.close()
        password = base64.b64encode(created.hmac).decode()
        client = await connect(server)
        await authenticate(client, scram(2, created.token_id, password, token_auth=True))
        refused = await answer_of(client, CreateDelegationTokenRequest(), 3)
        assert isinstance(refused, CreateDelegationTokenResponse)
        assert refused.error_code == Errors.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
        client.close()


async def test_a_token_that_was_removed_does_not_authenticate() -> None:
    cluster = Cluster()
    created = cluster.create_token()
    password = base64.b64encode(created.hmac).decode()
    async with cluster.serving() as (server, _):
        await authenticate(await connect(server), scram(2, created.token_id, password, token_auth=True))
        request = ExpireDelegationTokenRequest(hmac=created.hmac, expiry_time_period_ms=-1)
        context = cluster.active.context(request, None, principal=ALICE, envelope=True)
        cluster.active.request(request, context=context)
        with pytest.raises(SaslAuthenticationError):
            await authenticate(await connect(server), scram(2, created.token_id, password, token_auth=True))


@pytest.mark.prevents("kafka-dev#106")
async def test_until_the_log_is_read_users_of_the_file_are_served_and_no_other_is_refused() -> None:
    """A quorum forms by users that are not in the log (kafka-dev#106)."""
    cluster = Cluster()
    async with cluster.serving() as (server, _):
        state = cluster.active.controller.state
        state.metadata_loaded = False
        client = await connect(server)
        await authenticate(client, PlainClient("bob", "bob-secret"))
        await expect_served(client)
        client.close()
        client = await connect(server)
        with pytest.raises((EOFError, ConnectionError)):
            await authenticate(client, scram(1, "alice", PASSWORD))
        state.metadata_loaded = True
        await authenticate(await connect(server), scram(1, "alice", PASSWORD))


@pytest.mark.parametrize(
    ("mechanism", "receive_size", "token_bytes_max"),
    [
        ("PLAIN", None, 4_096),
        ("SCRAM-SHA-256", None, 4_096),
        ("SCRAM-SHA-512", None, 4_096),
        ("PLAIN", 100, 100),
        ("SCRAM-SHA-512", 5_000, 4_096),
    ],
)
@pytest.mark.parametrize("version", [0, 1])
async def test_a_token_that_is_too_long_ends_the_connection(
    caplog: pytest.LogCaptureFixture,
    version: int,
    mechanism: str,
    receive_size: int | None,
    token_bytes_max: int,
) -> None:
    """From the size of its frame, before the rest is there. sasl.server.max.receive.size is a limit, too."""
    keys = {} if receive_size is None else {"sasl.server.max.receive.size": str(receive_size)}
    async with Cluster().serving(**keys) as (server, _):
        frame_bytes_max = (
            token_bytes_max if version == 0 else min(token_bytes_max + 4_096, receive_size or 9_999)
        )
        client = await connect(server)
        await shake_hands(client, mechanism, version=version)
        client.send(frame_bytes_max.to_bytes(4, "big"))
        await expect_served_beside(server)
        client.send(bytes(frame_bytes_max))
        await client.expect_closed()
        client = await connect(server)
        await shake_hands(client, mechanism, version=version)
        client.send((frame_bytes_max + 1).to_bytes(4, "big"))
        await client.expect_closed()
        assert f"of {frame_bytes_max + 1} bytes, more than the {frame_bytes_max} that" in caplog.text
        assert server.accounts.budget.held_bytes == 0


async def expect_served_beside(server: SocketServer) -> None:
    """A whole turn of the loop has passed."""
    client = await connect(server)
    await authenticate(client, PlainClient("bob", "bob-secret"))
    client.close()


async def test_a_session_lasts_as_long_as_its_mechanism_says() -> None:
    keys = {
        "connections.max.reauth.ms": "90000",
        "listener.name.controller.scram-sha-256.connections.max.reauth.ms": "30000",
    }
    async with Cluster().serving(**keys) as (server, _):
        for mechanism, expected_ms in (
            (PlainClient("bob", "bob-secret"), 90_000),
            (scram(1, "alice", PASSWORD), 30_000),
        ):
            client = await connect(server)
            assert await authenticate(client, mechanism) == expected_ms
            client.close()


async def test_over_ssl_the_certificate_is_verified_and_the_user_is_named() -> None:
    keys = {
        "listener.security.protocol.map": "CONTROLLER:SASL_SSL",
        "listener.name.controller.ssl.client.auth": "required",
        "ssl.principal.mapping.rules": "RULE:^CN=other$/x/",
        **stores(identity(), authority()),
    }
    async with Cluster().serving(**keys) as (server, handler):
        client = await connect_ssl(server, context_of(identity("CN=broker")))
        await authenticate(client, scram(2, "alice", PASSWORD))
        await expect_served(client)
        assert str(handler.contexts[0].principal) == "User:alice"
        client.close()
        with pytest.raises((OSError, EOFError)):
            await shake_hands(await connect_ssl(server))


async def test_a_listener_with_sasl_does_not_open_without_credentials() -> None:
    server = SocketServer(ControllerConfig({**PROPERTIES, **SASL}))
    await server.bind()
    with pytest.raises(AssertionError):
        await server.accept(Handler())
    await server.stop()
