"""OAUTHBEARER over real sockets: from a listener's keys and those of an issuer to the name of a client."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from kraftctl.config.controller_config import ControllerConfig
from kraftctl.controller.committed_credentials import CommittedCredentials
from kraftctl.server.listeners.listener import SocketServer
from kraftctl.server.security.credential_lookup import CredentialLookup
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.sasl_authenticate_response import SaslAuthenticateResponse
from kraftctl_protocol.principal import KafkaPrincipal
from kraftctl_security.sasl.oauthbearer.initial_response import InitialResponse
from kraftctl_security.sasl.oauthbearer.issuer_url import ALLOWED_URLS
from kraftctl_security.tls.store_error import StoreError
from tests.server.security.sasl_serving import send_token, shake_hands
from tests.server.serving import PROPERTIES, Client, Handler, connect, expect_served
from tests.support.active_controller import ActiveController
from tests.support.https_issuer import AUDIENCE, ISSUER, HttpsIssuer

PACKAGE = "org.apache.kafka.common.security.oauthbearer."
MECHANISM = "listener.name.controller.oauthbearer."
ERROR = b'{"status":"invalid_token"}'


def properties(issuer: HttpsIssuer) -> dict[str, str]:
    return {
        "listener.security.protocol.map": "CONTROLLER:SASL_PLAINTEXT",
        "sasl.enabled.mechanisms": "OAUTHBEARER",
        "sasl.mechanism.controller.protocol": "OAUTHBEARER",
        f"{MECHANISM}sasl.jaas.config": f"{PACKAGE}OAuthBearerLoginModule required {issuer.jaas_options()};",
        f"{MECHANISM}sasl.server.callback.handler.class": f"{PACKAGE}OAuthBearerValidatorCallbackHandler",
        f"{MECHANISM}sasl.login.callback.handler.class": f"{PACKAGE}OAuthBearerLoginCallbackHandler",
        f"{MECHANISM}connections.max.reauth.ms": "60000",
        "sasl.oauthbearer.jwks.endpoint.url": issuer.jwks_url,
        "sasl.oauthbearer.expected.audience": AUDIENCE,
        "sasl.oauthbearer.expected.issuer": ISSUER,
        "sasl.oauthbearer.token.endpoint.url": issuer.token_url,
        "sasl.oauthbearer.client.credentials.client.id": "controller",
        "sasl.oauthbearer.client.credentials.client.secret": "secret",
        ALLOWED_URLS: f"{issuer.jwks_url},{issuer.token_url}",
        "connection.failed.authentication.delay.ms": "0",
    }


@asynccontextmanager
async def serving(issuer: HttpsIssuer) -> AsyncIterator[tuple[SocketServer, Handler]]:
    handler = Handler()
    server = SocketServer(ControllerConfig({**PROPERTIES, **properties(issuer)}))
    committed = CommittedCredentials(ActiveController().controller)
    await server.bind()
    try:
        await server.accept(handler, credentials=CredentialLookup(committed, lambda: 0, b"secret"))
        yield server, handler
    finally:
        await server.stop()


async def present(server: SocketServer, token: str) -> tuple[Client, SaslAuthenticateResponse]:
    client = await connect(server)
    assert (await shake_hands(client, "OAUTHBEARER")).error_code == 0
    return client, await send_token(client, InitialResponse(token).to_bytes())


async def present_until_accepted(server: SocketServer, token: str) -> tuple[Client, SaslAuthenticateResponse]:
    """Until the keys of the issuer are there, which another thread reads."""
    while True:
        client, answer = await present(server, token)
        if answer.auth_bytes == b"":
            return client, answer
        client.close()


async def test_a_client_has_the_name_in_its_token_as_long_as_that_is_valid(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(issuer) as (server, handler):
            issuer.lifetime_s = 50
            client, answer = await present_until_accepted(server, issuer.token("alice"))
            assert 40_000 < answer.session_lifetime_ms <= 50_000
            await expect_served(client)
            assert handler.contexts[-1].principal == KafkaPrincipal("User", "alice")

    with HttpsIssuer(tmp_path, {}) as issuer:
        await scenario()


async def test_a_token_that_is_refused_ends_the_connection_after_the_error(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(issuer) as (server, _):
            await present_until_accepted(server, issuer.token("alice"))
            client, answer = await present(server, issuer.token("alice", aud="other"))
            assert (answer.error_code, answer.auth_bytes) == (0, ERROR)
            answer = await send_token(client, b"\x01")
            assert answer.error_code == Errors.SASL_AUTHENTICATION_FAILED
            assert answer.error_message == ERROR.decode()
            await client.expect_closed()

    with HttpsIssuer(tmp_path, {}) as issuer:
        await scenario()


async def test_the_loop_does_not_wait_for_an_issuer(tmp_path: Path) -> None:
    """It accepts connections and answers while the issuer holds the only request for its keys."""

    async def scenario() -> None:
        async with serving(issuer) as (server, _):
            for _ in range(3):
                _, answer = await present(server, issuer.token("alice"))
                assert answer.auth_bytes == ERROR
            issuer.override.clear()
            held.set()
            await present_until_accepted(server, issuer.token("alice"))

    with HttpsIssuer(tmp_path, {}) as issuer:
        held = issuer.hold("/jwks")
        await scenario()


async def test_a_truststore_that_cannot_be_read_ends_the_start(tmp_path: Path) -> None:
    async def scenario() -> None:
        issuer.truststore.unlink()
        with pytest.raises(StoreError, match="Listener CONTROLLER: for the issuer of tokens, cannot read"):
            async with serving(issuer):
                pass

    with HttpsIssuer(tmp_path, {}) as issuer:
        await scenario()
