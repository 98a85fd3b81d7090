"""The limit of open files: connections leave to storage what it needs, and clients are turned away aloud."""

from __future__ import annotations

import asyncio
import errno
import os
import resource
import socket
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from kraftctl.dev.nodes import KraftctlController
from kraftctl.dev.polling import await_result
from kraftctl.dev.settings import random_id
from kraftctl.server.listeners import connection_accounts
from kraftctl.server.listeners.acceptor import Acceptor
from kraftctl.server.listeners.descriptors import (
    CONNECTIONS_MIN,
    RESERVED_DESCRIPTORS,
    connections_max,
    open_count,
    open_files_limit,
)
from kraftctl_protocol.generated.api_versions_request import ApiVersionsRequest
from kraftctl_protocol.generated.api_versions_response import ApiVersionsResponse
from kraftctl_protocol.generated.create_topics_request import CreatableTopic, CreateTopicsRequest
from kraftctl_protocol.generated.create_topics_response import CreateTopicsResponse
from kraftctl_security.config_values import INT_MAX
from tests.server.serving import Client, both_loops, connect, eventually, serving, unregister
from tests.support.wire.controller_client import ControllerClient, StandInBroker

LIMIT = 160
CONNECTIONS = 100
SNAPSHOTS_ARE_FREQUENT = {"metadata.log.max.record.bytes.between.snapshots": "3000"}


def test_connections_get_what_storage_does_not_need() -> None:
    assert connections_max(1_024, 20, 16) == 1_024 - 20 - 16 - RESERVED_DESCRIPTORS
    assert connections_max(64, 20, 16) == CONNECTIONS_MIN
    assert connections_max(INT_MAX, 20, 16) > 2_000_000_000


def test_open_descriptors_are_counted() -> None:
    before = open_count()
    with socket.socket(), socket.socket():
        assert open_count() == before + 2
    assert before < open_files_limit()


@both_loops
async def test_the_last_connection_that_fits_is_served_and_the_next_one_turned_away() -> None:
    async with serving() as (server, _):
        server.accounts.quotas.descriptors_max = 20
        clients = [await connect(server) for _ in range(20)]
        await expect_answer(clients[-1])
        for _ in range(10):
            await (await connect(server)).expect_closed()
        assert server.metrics.refused_connections_count == 10
        assert server.accounts.quotas.count == 20
        line = server.metrics.take_pressure(60_000)
        assert line is not None
        assert "10 connections were refused" in line
        clients.pop().close()
        await eventually(lambda: server.accounts.quotas.count == 19)
        await expect_answer(await connect(server))
        await expect_answer(clients[0])


@both_loops
async def test_at_the_limit_idle_connections_of_the_crowded_address_make_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connection_accounts, "IDLE_SECONDS_MIN", 0.0)
    async with serving() as (server, handler):
        server.accounts.quotas.descriptors_max = 20
        handler.holding = True
        parked = await connect(server)
        parked.request(unregister(3), 0)
        await handler.until(lambda: bool(handler.held))
        handler.holding = False
        elsewhere = await connect_from(server.bound_ports["CONTROLLER"], "127.0.0.2")
        await eventually(lambda: server.accounts.quotas.count == 2)
        idle = [await connect(server) for _ in range(18)]
        await eventually(lambda: server.accounts.quotas.count == 20)
        await expect_answer(await connect(server))
        closed = [asyncio.ensure_future(client.expect_closed()) for client in idle]
        await asyncio.wait(closed, return_when=asyncio.FIRST_COMPLETED)
        assert (server.metrics.closed_idle_count, server.metrics.refused_connections_count) == (1, 0)
        handler.release()
        await parked.frame()
        await expect_answer(elsewhere)
        for client in (parked, elsewhere, *idle):
            client.close()
        await asyncio.gather(*closed)


async def test_a_larger_max_connections_gets_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    for value in (str(INT_MAX), "100", "2000000000"):
        async with serving({"max.connections": value}):
            pass
    warnings = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert len(warnings) == 1
    assert warnings[0].startswith("max.connections=2000000000 is more than the limit of ")


# Without descriptors.


class NoDescriptors:
    """A listening socket whose `accept` fails as often as wanted."""

    def __init__(self, listening: socket.socket, failures: list[OSError]) -> None:
        self._listening = listening
        self._failures = failures

    def accept(self) -> Any:
        if self._failures:
            raise self._failures.pop(0)
        return self._listening.accept()

    def fileno(self) -> int:
        return self._listening.fileno()

    def close(self) -> None:
        self._listening.close()


@both_loops
@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE, errno.ENOBUFS])
async def test_accepting_continues_after_it_has_failed_for_lack_of_descriptors(number: int) -> None:
    failures = [OSError(number, os.strerror(number)) for _ in range(3)]
    real_init = Acceptor.__init__

    def init(self: Acceptor, loop: Any, listening: Any, *arguments: Any) -> None:
        real_init(self, loop, NoDescriptors(listening, failures), *arguments)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Acceptor, "__init__", init)
        async with serving() as (server, _):
            while failures:
                client = await connect(server)
                await asyncio.wait([asyncio.ensure_future(client.expect_closed())], timeout=1.0)
            await expect_answer(await connect(server))
            if number != errno.ENOBUFS:
                assert server.metrics.refused_connections_count > 0


class LimitedController(KraftctlController):
    """Runs with `LIMIT` open files at most."""

    def command(self) -> list[str]:
        return ["sh", "-c", f'ulimit -n {LIMIT}; exec "$@"', "sh", *super().command()]


@pytest.mark.prevents("no-descriptor-left")
def test_a_controller_whose_descriptors_are_taken_writes_votes_and_snapshots(tmp_path: Path) -> None:
    node = LimitedController(3000, tmp_path, random_id(), properties=SNAPSHOTS_ARE_FREQUENT)
    node.format()
    node.start()
    try:
        node.await_log(f"The limit of {LIMIT} open files .* allows [0-9]+ connections")
        with ControllerClient(node.port) as client:
            broker = StandInBroker(client, 1, node.cluster_id)
            await_result(broker.register, "broker 1 is registered", 30.0)
            await_result(broker.is_unfenced, "broker 1 is unfenced", 30.0)
            held = [socket.create_connection(("localhost", node.port)) for _ in range(CONNECTIONS)]
            node.await_log("Refusing connection from .*: there are [0-9]+ connections, and no descriptor")
            for number in range(30):
                create(client, f"while-full-{number}")
            node.await_log("Writing snapshot", 10.0)
            assert len(descriptors_of(node)) <= LIMIT - RESERVED_DESCRIPTORS
            for connection in held:
                connection.close()
            await_result(partial(serves_another, node), "others are served again", 30.0)
        assert node.running
    finally:
        node.kill()


def test_a_controller_without_any_descriptor_lives_until_there_are_some(tmp_path: Path) -> None:
    """The limit sinks to what is open: a snapshot waits, new clients are turned away, others are served."""
    snapshot_later = {"metadata.log.max.record.bytes.between.snapshots": "8000"}
    node = KraftctlController(3000, tmp_path, random_id(), properties=snapshot_later)
    node.format()
    node.start()
    try:
        with ControllerClient(node.port) as client:
            broker = StandInBroker(client, 1, node.cluster_id)
            await_result(broker.register, "broker 1 is registered", 30.0)
            await_result(broker.is_unfenced, "broker 1 is unfenced", 30.0)
            fill_gaps = [ControllerClient(node.port) for _ in range(10)]
            for filling in fill_gaps:
                filling.call(ApiVersionsRequest("test", "1"), 3, ApiVersionsResponse)
            limits = set_limit(node, max(descriptors_of(node)) + 1)
            for number in range(30):
                create(client, f"without-{number}")
            node.await_log("cannot write the snapshot .*Too many open files.*retrying in 1.0 s")
            with socket.create_connection(("localhost", node.port)):
                node.await_log("Refusing connection from .*: no descriptor is left")
            set_limit(node, limits[0])
            await_result(partial(has_snapshot, node), "the snapshot is written", 30.0)
            create(client, "afterwards")
            await_result(partial(serves_another, node), "another is served", 30.0)
            for filling in fill_gaps:
                filling.close()
        assert node.running
    finally:
        node.kill()


def create(client: ControllerClient, name: str) -> None:
    request = CreateTopicsRequest(topics=[CreatableTopic(name=name, num_partitions=5, replication_factor=1)])
    (topic,) = client.call(request, 7, CreateTopicsResponse).topics
    assert topic.error_code == 0, topic


def serves_another(node: KraftctlController) -> bool:
    try:
        with ControllerClient(node.port) as another:
            create(another, f"again-{random_id()}")
    except ConnectionError:
        return False  # the places of those that have gone are not free yet
    return True


def has_snapshot(node: KraftctlController) -> bool:
    return any(not path.name.startswith("0" * 20) for path in node.metadata_directory.glob("*.checkpoint"))


def descriptors_of(node: KraftctlController) -> list[int]:
    assert node.process is not None
    return [int(name) for name in os.listdir(f"/proc/{node.process.pid}/fd")]


def set_limit(node: KraftctlController, soft: int) -> tuple[int, int]:
    """Returns the limits before."""
    assert node.process is not None
    pid = node.process.pid
    before = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (soft, before[1]))
    return before


async def expect_answer(client: Client) -> None:
    client.request(unregister(1), 0)
    assert (await client.frame())[:4] == (7).to_bytes(4, "big")


async def connect_from(port: int, host: str) -> Client:
    return Client(*await asyncio.open_connection("127.0.0.1", port, local_addr=(host, 0)))
