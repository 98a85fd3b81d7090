"""Failed logins are written to the log, whatever other clients write there."""

from __future__ import annotations

import logging

import pytest

from tests.server.security.naming_servers import BAD, NamingServers
from tests.server.security.sasl_serving import send_token, serving_sasl, shake_hands
from tests.server.serving import connect

NO_DELAY = {"connection.failed.authentication.delay.ms": "0"}


async def test_other_clients_do_not_hide_a_failure(caplog: pytest.LogCaptureFixture) -> None:
    """The lines about connections have used up their limit."""

    async def scenario() -> None:
        async with serving_sasl(NamingServers(), properties=NO_DELAY) as (server, _):
            while server.logs.refusals.has_room():
                server.logs.refusals.warning("Closing connection from %s: %s", "10.0.0.1:1", "it is foreign")
            client = await connect(server)
            await shake_hands(client)
            await send_token(client, BAD)
            await client.expect_closed()

    with caplog.at_level(logging.WARNING):
        await scenario()
    assert [record.name for record in caplog.records][-1] == "kraftctl.server.sasl"
