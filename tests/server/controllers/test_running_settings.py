"""Limits of connections that dynamic configs replace while a listener serves."""

from __future__ import annotations

import asyncio
import logging
import socket

import pytest

from kraftctl.config.connection_limits import RATE_WINDOW_SECONDS, ConnectionLimits
from kraftctl.node.events import LogLevelsChanged, NodeConfigsChanged
from kraftctl.server.listeners.connection_quotas import ConnectionQuotas, ConnectionRate
from kraftctl.server.listeners.listener import SocketServer
from kraftctl.server.logs.log_levels import LOGGERS, current_log_levels
from kraftctl.server.running_settings import RunningSettings
from kraftctl_security.config_values import INT_MAX, ConfigValues
from tests.server.serving import Client, both_loops, eventually, serving, unregister

TWO_LISTENERS = {
    "listeners": "CONTROLLER://127.0.0.1:0,OTHER://127.0.0.1:0",
    "controller.listener.names": "CONTROLLER,OTHER",
    "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,OTHER:PLAINTEXT",
}

Configs = dict[str, str]


async def open_as_many(server: SocketServer, count: int, listener: str, address: str) -> list[Client]:
    """Those of `count` connections that are served."""
    served: list[Client] = []
    for _ in range(count):
        connecting = socket.socket()
        connecting.setblocking(False)
        connecting.bind((address, 0))
        loop = asyncio.get_running_loop()
        await loop.sock_connect(connecting, ("127.0.0.1", server.bound_ports[listener]))
        client = Client(*await asyncio.open_connection(sock=connecting))
        client.request(unregister(1), 0)
        try:
            await client.frame()
        except (asyncio.IncompleteReadError, ConnectionResetError):
            client.close()
        else:
            served.append(client)
    return served


LIMITS = [
    pytest.param({"max.connections": "3"}, {}, {}, 3, id="max.connections"),
    pytest.param({"listener.name.controller.max.connections": "3"}, {}, {}, 3, id="of-the-listener"),
    pytest.param({"listener.name.other.max.connections": "3"}, {}, {}, 5, id="of-another-listener"),
    pytest.param({"max.connections.per.ip": "3"}, {}, {}, 3, id="max.connections.per.ip"),
    pytest.param({"max.connections.per.ip.overrides": "127.0.0.1:3"}, {}, {}, 3, id="override"),
    pytest.param({"max.connections.per.ip.overrides": "127.0.0.2:3"}, {}, {}, 5, id="of-another-address"),
    pytest.param(
        {"max.connections.per.ip": "0", "max.connections.per.ip.overrides": "127.0.0.1:2"}, {}, {}, 2,
        id="only-overrides",
    ),
    pytest.param({}, {"max.connections.per.ip": "2"}, {}, 2, id="of-the-cluster"),
    pytest.param({"max.connections": "4"}, {"max.connections": "2"}, {}, 4, id="own-before-cluster"),
    pytest.param({"max.connections": "5"}, {}, {"max.connections": "2"}, 5, id="dynamic-before-static"),
    pytest.param({}, {"max.connections": "5"}, {"max.connections": "2"}, 5, id="cluster-before-static"),
    pytest.param(
        {"max.connections": "5"}, {}, {"listener.name.controller.max.connections": "2"}, 2,
        id="a-listeners-own-before-dynamic",
    ),
    pytest.param({"max.connections": "x"}, {"max.connections": "3"}, {}, 3, id="invalid-own"),
    pytest.param(
        {}, {"max.connections": "3", "log.cleaner.threads": "0"}, {}, 3,
        id="beside-a-default-that-cannot-be-used",
    ),
    pytest.param({"max.connections.per.ip": "0"}, {}, {}, 5, id="no-limit-of-zero"),
    pytest.param({"max.connections.per.ip": "0", "max.connections": "3"}, {}, {}, 3, id="nor-with-others"),
    pytest.param({"num.io.threads": "1", "max.connection": "1"}, {}, {}, 5, id="others"),
]  # fmt: skip


@pytest.mark.parametrize(("own", "cluster", "static", "admitted"), LIMITS)
async def test_limits_apply_when_they_are_committed_and_end_when_they_are_deleted(
    own: Configs, cluster: Configs, static: Configs, admitted: int
) -> None:
    async with serving({**TWO_LISTENERS, **static}) as (server, _):
        settings = RunningSettings(server)
        before = server.accounts.quotas.limits
        settings.node_configs(NodeConfigsChanged(own, cluster))
        clients = await open_as_many(server, 5, "CONTROLLER", "127.0.0.1")
        assert len(clients) == admitted
        settings.node_configs(NodeConfigsChanged({}, {}))
        assert vars_of(server.accounts.quotas.limits) == vars_of(before)
        for client in clients:
            client.close()
        await eventually(lambda: server.accounts.quotas.count == 0)
        assert set(server.accounts.quotas.by_listener.values()) <= {0}


def vars_of(limits: ConnectionLimits) -> dict[str, object]:
    return {
        "max.connections": limits.max_connections,
        "max.connections.per.ip": limits.max_connections_per_ip,
        "max.connections.per.ip.overrides": limits.max_connections_per_ip_overrides,
        "max.connection.creation.rate": limits.max_connection_creation_rate,
        "listeners": {
            name: (each.max_connections, each.max_connection_creation_rate)
            for name, each in limits.listeners.items()
        },
    }


async def test_other_listeners_and_addresses_are_not_concerned() -> None:
    async with serving(TWO_LISTENERS) as (server, _):
        settings = RunningSettings(server)
        own = {"listener.name.controller.max.connections": "1", "max.connections.per.ip": "2"}
        settings.node_configs(NodeConfigsChanged(own, {}))
        clients = await open_as_many(server, 2, "CONTROLLER", "127.0.0.1")
        assert len(clients) == 1
        clients += await open_as_many(server, 2, "OTHER", "127.0.0.1")
        assert len(clients) == 2, "the address has two"
        clients += await open_as_many(server, 3, "OTHER", "127.0.0.2")
        assert len(clients) == 4
        for client in clients:
            client.close()
        await eventually(lambda: server.accounts.quotas.count == 0)


@pytest.mark.parametrize(
    ("configs", "kept"),
    [
        pytest.param({"max.connections": "1"}, [2], id="all"),
        pytest.param({"max.connections": "2"}, [0, 2], id="some"),
        pytest.param({"max.connections": "3"}, [0, 1, 2], id="enough"),
        pytest.param({"listener.name.controller.max.connections": "1"}, [0, 1, 2], id="of-a-listener"),
        pytest.param({"max.connections.per.ip": "1"}, [0, 1, 2], id="of-an-address"),
    ],
)
async def test_a_lower_limit_closes_what_was_idle_longest_as_in_kafka(
    configs: Configs, kept: list[int]
) -> None:
    """SocketServer.closeExcessConnections: max.connections alone, and the least recently used ones."""
    async with serving() as (server, _):
        clients = await open_as_many(server, 3, "CONTROLLER", "127.0.0.1")
        for client in (clients[0], clients[2]):
            before = server._loop.time()
            await eventually(lambda before=before: server._loop.time() > before)  # type: ignore[misc]
            client.request(unregister(1), 0)
            await client.frame()
        RunningSettings(server).node_configs(NodeConfigsChanged(configs, {}))
        await eventually(lambda: server.accounts.quotas.count == len(kept))
        assert await open_as_many(server, 1, "CONTROLLER", "127.0.0.1") == []
        for index, client in enumerate(clients):
            if index in kept:
                client.request(unregister(1), 0)
                await client.frame()
            else:
                await client.expect_ended()
            client.close()


async def test_a_lower_limit_spares_the_connections_of_voters() -> None:
    """Commits wait for their fetches."""
    async with serving() as (server, _):
        clients = await open_as_many(server, 3, "CONTROLLER", "127.0.0.1")
        connections = sorted(server.accounts.connections, key=lambda each: each.last_active)
        server.accounts.voters.note(2, connections[0])
        RunningSettings(server).node_configs(NodeConfigsChanged({"max.connections": "1"}, {}))
        await eventually(lambda: server.accounts.quotas.count == 1)
        assert server.accounts.connections == set(connections[:1])
        for client in clients:
            client.close()


@both_loops
async def test_connections_that_come_too_fast_wait_in_the_backlog() -> None:
    """None is turned away; the clock of the rate is the test's."""
    async with serving() as (server, _):
        now = [1_000.0]
        server.accounts.quotas = ConnectionQuotas(server.config.connection_limits, lambda: now[0])
        settings = RunningSettings(server)
        settings.node_configs(NodeConfigsChanged({"max.connection.creation.rate": "1000"}, {}))
        for _ in range(1000 * RATE_WINDOW_SECONDS):
            server.accounts.quotas.accepted("CONTROLLER")
        client = Client(*await asyncio.open_connection("127.0.0.1", server.bound_ports["CONTROLLER"]))
        client.request(unregister(1), 0)
        await asyncio.sleep(0.02)
        assert server.accounts.quotas.count == 0
        now[0] += 0.0015
        await client.frame()
        assert server.accounts.quotas.pause_seconds("CONTROLLER") > 0, "it was counted"
        client.close()


def test_a_rate_lets_a_window_of_connections_pass_and_then_so_many_in_a_second() -> None:
    now = [50.0]
    rate = ConnectionRate(lambda: now[0], 4)
    for _ in range(4 * RATE_WINDOW_SECONDS):
        assert rate.pause_seconds() == 0
        rate.take()
    for _ in range(20):
        seconds = rate.pause_seconds()
        assert seconds == pytest.approx(0.25)
        now[0] += seconds
        assert rate.pause_seconds() == pytest.approx(0.0, abs=1e-9)
        rate.take()
    now[0] += 3_600
    rate.use(4)
    for _ in range(4 * RATE_WINDOW_SECONDS):
        assert rate.pause_seconds() == 0, "no more than a window is kept"
        rate.take()
    assert rate.pause_seconds() > 0
    rate.use(INT_MAX)
    assert rate.pause_seconds() == 0


@pytest.mark.parametrize(
    ("host", "address"),
    [
        pytest.param("[::1]", "::1", id="brackets"),
        pytest.param("2001:DB8::0:1", "2001:db8::1", id="another-form"),
        pytest.param("10.0.0.1", "10.0.0.1", id="ipv4"),
    ],
)
def test_overrides_are_found_by_the_address_of_a_client(host: str, address: str) -> None:
    values = ConfigValues({"max.connections.per.ip.overrides": f"{host}:1"})
    quotas = ConnectionQuotas(ConnectionLimits(values, []), lambda: 0.0)
    assert values.errors == []
    quotas.add(address, "CONTROLLER")
    assert quotas.why_not(address, "CONTROLLER") == "max.connections.per.ip=1 is reached"


# Lines for the log.


async def test_changes_and_what_has_no_effect_are_named_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    async with serving() as (server, _):
        caplog.clear()
        settings = RunningSettings(server)
        own = {
            "max.connections": "3",
            "num.io.threads": "4",
            "listener.name.controller.ssl.key.password": "hush",
        }
        for _ in range(2):
            settings.node_configs(NodeConfigsChanged(own, {"max.connections.per.ip": "none"}))
        settings.node_configs(NodeConfigsChanged({}, {}))
    lines = [f"{record.levelname} {record.getMessage()}" for record in caplog.records]
    settings_lines = [line for line in lines if "dynamic config" in line]
    no_limit, other = "no limit", "by dynamic configs"
    assert [line for line in settings_lines if line.startswith("INFO")] == [
        f"INFO Updating max.connections from {no_limit} to 3 {other}",
        f"INFO Updating max.connections of listener CONTROLLER from {no_limit} to 3 {other}",
        f"INFO Updating max.connections from 3 to {no_limit} {other}",
        f"INFO Updating max.connections of listener CONTROLLER from 3 to {no_limit} {other}",
    ]
    warnings = [line for line in settings_lines if line.startswith("WARNING")]
    assert len(warnings) == 3
    assert "max.connections.per.ip=none of the cluster's default has no effect" in warnings[0]
    assert "ssl.key.password=(redacted) of node 1 has no effect" in warnings[1]
    assert "num.io.threads=4 of node 1 has no effect on this controller: " in warnings[2]


async def test_any_number_of_configs_without_effect_makes_few_lines(caplog: pytest.LogCaptureFixture) -> None:
    async with serving() as (server, _):
        caplog.clear()
        own = {f"unknown.{number}": "x" * 10_000 for number in range(5_000)}
        RunningSettings(server).node_configs(NodeConfigsChanged(own, {}))
    lines = [record.getMessage() for record in caplog.records]
    assert len(lines) == 101
    assert lines[-1] == "4900 more dynamic configs have no effect"
    assert max(map(len, lines)) < 500


async def test_levels_of_loggers_change_while_requests_are_answered(caplog: pytest.LogCaptureFixture) -> None:
    names = [None, *LOGGERS]
    before = {name: logging.getLogger(name).level for name in names}

    async def scenario() -> None:
        async with serving() as (server, _):
            settings = RunningSettings(server)
            client = Client(*await asyncio.open_connection("127.0.0.1", server.bound_ports["CONTROLLER"]))
            for level, lines_count in (("DEBUG", 1), (None, 0), ("TRACE", 1), ("INFO", 0)):
                settings.log_levels(LogLevelsChanged({"kraftctl.server.request": level}))
                caplog.clear()
                client.request(unregister(1), 0)
                await client.frame()
                assert (
                    len([each for each in caplog.records if "Completed request" in each.message])
                    == lines_count
                )
                shown = current_log_levels()
                assert shown.level("kraftctl.server.request") == (level or shown.level("root"))
            client.close()

    try:
        logging.getLogger().setLevel(logging.WARNING)
        await scenario()
    finally:
        for name, number in before.items():
            logging.getLogger(name).setLevel(number)


def test_every_logger_of_the_sources_is_listed() -> None:
    import re
    from pathlib import Path

    import kraftctl
    import kraftctl_security

    found: set[str] = set()
    for package in (kraftctl, kraftctl_security):
        for path in Path(package.__path__[0]).rglob("*.py"):
            if "dev" not in path.parts:
                found.update(re.findall(r'getLogger\("([a-z._]+)"\)', path.read_text()))
    assert found - set(LOGGERS) == set()
    assert {name for name in LOGGERS if name.startswith("kraftctl.server.")} <= found
