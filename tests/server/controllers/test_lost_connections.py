"""A connection between a leader and a follower is reset, while the third voter is silent: writes continue."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from kraftctl.dev.nodes import KraftctlController, quorum_properties
from kraftctl.dev.polling import await_result
from kraftctl.dev.ports import free_port
from kraftctl.dev.settings import CONTROLLER_LISTENER, random_id
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.alter_client_quotas_request import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)
from kraftctl_protocol.generated.alter_client_quotas_response import AlterClientQuotasResponse
from tests.chaos.links import Network
from tests.support.processes.quorum import FIRST_ID, Quorum, describe
from tests.support.wire.controller_client import ControllerClient

pytestmark = pytest.mark.slow

GAP_SECONDS_MAX = 0.6
ROUND_SECONDS = 0.8


class Writer:
    """One write after the other through one connection; `longest_gap_s` is between two responses."""

    def __init__(self, client: ControllerClient) -> None:
        self._client = client
        self._last_s = time.monotonic()
        self._count = 0
        self.longest_gap_s = 0.0

    def write(self) -> int:
        """Returns the error of the response."""
        self._count += 1
        entity = EntityData(entity_type="client-id", entity_name=f"client-{self._count % 10}")
        entry = EntryData(entity=[entity], ops=[OpData(key="producer_byte_rate", value=float(self._count))])
        request = AlterClientQuotasRequest(entries=[entry])
        return self._client.call(request, 1, AlterClientQuotasResponse).entries[0].error_code

    def write_for(self, duration_s: float) -> None:
        until_s = time.monotonic() + duration_s
        while self._last_s < until_s:
            assert self.write() == Errors.NONE
            now_s = time.monotonic()
            self.longest_gap_s = max(self.longest_gap_s, now_s - self._last_s)
            self._last_s = now_s


@contextmanager
def quorum_with_links(directory: Path, *, dynamic: bool) -> Iterator[tuple[Quorum, Network]]:
    """Each controller is reached by the others through a proxy."""
    proxies = {FIRST_ID + index: free_port() for index in range(3)}
    voters = [f"{node_id}@localhost:{port}:{random_id()}" for node_id, port in proxies.items()]
    quorum = Quorum(directory, dynamic=dynamic)
    for node in quorum.nodes:
        node.properties |= quorum_properties(proxies, dynamic=dynamic)
        node.properties["advertised.listeners"] = f"{CONTROLLER_LISTENER}://localhost:{proxies[node.node_id]}"
        node.initial_controllers = ",".join(voters) if dynamic else None
    network = Network({node.node_id: node.name for node in quorum.nodes})
    try:
        for node in quorum.nodes:
            network.add(node.name, proxies[node.node_id], node.port)
        with quorum:
            yield quorum, network
    finally:
        network.close()


@pytest.mark.prevents("a-silent-voter-in-the-way")
@pytest.mark.parametrize(
    ("dynamic", "rounds"),
    [
        pytest.param(False, 3, id="static"),
        pytest.param(False, 20, id="static-20", marks=pytest.mark.long),
        pytest.param(True, 20, id="dynamic-20", marks=pytest.mark.long),
    ],
)
def test_writes_continue(dynamic: bool, rounds: int, tmp_path: Path) -> None:
    with quorum_with_links(tmp_path, dynamic=dynamic) as (quorum, network):
        leader = quorum.leader()
        follower, silent = [node for node in quorum.nodes if node is not leader]
        for node in (follower, silent):
            await_result(partial(fetches, leader, node), f"{node.name} follows", 20.0)
        gaps_s: list[float] = []
        with ControllerClient(leader.port) as client:
            # It leads before it serves: its image may be loading, and it hands over if that takes long.
            await_result(lambda: Writer(client).write() == Errors.NONE, f"{leader.name} is active", 20.0)
            epoch = epoch_of(leader)
            silent.pause()
            Writer(client).write_for(1.0)
            for _ in range(rounds):
                writer = Writer(client)
                writer.write_for(0.2)
                network.reset([(follower.name, leader.name)])
                writer.write_for(ROUND_SECONDS)
                gaps_s.append(writer.longest_gap_s)
        print(f"longest gaps in ms: {[round(gap_s * 1000) for gap_s in gaps_s]}")
        assert max(gaps_s) < GAP_SECONDS_MAX, gaps_s
        assert epoch_of(leader) == epoch, "no election"
        silent.resume()


def epoch_of(leader: KraftctlController) -> int:
    described = describe(leader)
    assert described is not None, "it leads"
    return described.leader_epoch


def fetches(leader: KraftctlController, node: KraftctlController) -> bool:
    described = describe(leader)
    return described is not None and any(
        voter.replica_id == node.node_id and voter.log_end_offset == described.high_watermark
        for voter in described.current_voters
    )
