"""early.start.listeners: another listener accepts no connection before the ACLs are loaded."""

from __future__ import annotations

import asyncio
import logging

import pytest

from kraftctl.config.controller_config import STANDARD_AUTHORIZER, ControllerConfig
from kraftctl.server.listeners.early_start import late_listeners
from kraftctl.server.listeners.listener import SocketServer
from kraftctl.server.security import once_loaded
from tests.server.serving import PROPERTIES, Client, Handler, unregister

pytestmark = pytest.mark.prevents("KAFKA-13649")

TWO_LISTENERS = {
    **PROPERTIES,
    "controller.listener.names": "INTERNAL,EXTERNAL",
    "listeners": "INTERNAL://127.0.0.1:0,EXTERNAL://127.0.0.1:0",
    "authorizer.class.name": STANDARD_AUTHORIZER,
}
INTERNAL_FIRST = {**TWO_LISTENERS, "early.start.listeners": "INTERNAL"}


async def asked(server: SocketServer, listener: str) -> Client:
    client = Client(*await asyncio.open_connection("127.0.0.1", server.bound_ports[listener]))
    client.request(unregister(5), 0)
    return client


async def test_others_wait_until_the_acls_are_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(once_loaded, "CHECK_SECONDS", 0.01)
    loaded = asyncio.Event()
    server = SocketServer(ControllerConfig(INTERNAL_FIRST))
    await server.bind()
    await server.accept(Handler(), loaded.is_set)
    outside = await asked(server, "EXTERNAL")
    inside = await asked(server, "INTERNAL")
    assert await inside.frame()
    assert server.metrics.connections_count == 1, "the other one is not accepted"
    loaded.set()
    assert await outside.frame()
    outside.close()
    inside.close()
    await server.stop()


async def test_it_may_stop_before_they_are_loaded() -> None:
    server = SocketServer(ControllerConfig(INTERNAL_FIRST))
    await server.bind()
    await server.accept(Handler(), lambda: False)
    outside = await asked(server, "EXTERNAL")
    await server.stop()
    await outside.expect_ended()
    outside.close()


@pytest.mark.parametrize(
    ("properties", "late", "warned"),
    [
        pytest.param({}, [], False, id="all-by-default"),
        pytest.param({"early.start.listeners": "INTERNAL"}, ["EXTERNAL"], False, id="one"),
        pytest.param({"early.start.listeners": "EXTERNAL"}, ["INTERNAL"], True, id="not-the-first"),
        pytest.param({"early.start.listeners": ""}, ["INTERNAL", "EXTERNAL"], True, id="none"),
        pytest.param(
            {"early.start.listeners": "EXTERNAL", "authorizer.class.name": ""}, [], False, id="no-authorizer"
        ),
    ],
)
def test_which_are_late(
    properties: dict[str, str], late: list[str], warned: bool, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        assert late_listeners(ControllerConfig({**TWO_LISTENERS, **properties})) == late
    assert ("INTERNAL, by which controllers reach each other" in caplog.text) == warned
