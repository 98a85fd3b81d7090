"""How a connection with SSL ends: by its client, politely or not, and by this side."""

from __future__ import annotations

import pytest

from tests.server.serving import both_loops, eventually, run, unregister
from tests.server.ssl_serving import connect_ssl, serving_ssl


@both_loops
def test_the_end_of_a_client_is_noticed_either_way(loop: str) -> None:
    async def scenario() -> None:
        async with serving_ssl() as (server, _):
            polite, abrupt = await connect_ssl(server), await connect_ssl(server)
            for client in (polite, abrupt):
                client.request(unregister(5), 0)
                await client.frame()
            polite.close()
            abrupt.writer.transport.abort()
            await eventually(lambda: server.metrics.connections_count == 0)

    run(scenario, loop)


@both_loops
def test_an_answer_to_a_connection_that_is_being_closed_is_no_failure(
    loop: str, caplog: pytest.LogCaptureFixture
) -> None:
    """After the end of records, OpenSSL takes no more."""

    async def scenario() -> None:
        async with serving_ssl() as (server, handler):
            handler.holding = True
            client = await connect_ssl(server)
            client.request(unregister(1), 0)
            await handler.until(lambda: bool(handler.held))
            (connection,) = server.listeners[0].connections
            connection._transport.close()
            handler.release()
            await client.expect_closed()
            await eventually(lambda: server.metrics.connections_count == 0)

    run(scenario, loop)
    assert not [record for record in caplog.records if record.levelname == "ERROR"]
