"""A controller is suspended for longer than a session, as by a pause of its machine: no broker is fenced."""

from __future__ import annotations

import re
import threading
from contextlib import ExitStack
from pathlib import Path

import pytest

from kraftctl.dev.polling import await_result
from tests.support.processes.quorum import Quorum
from tests.support.wire.controller_client import ControllerClient, StandInBroker

pytestmark = pytest.mark.slow

BROKERS = range(1, 9)

SESSION_MS = 2_000

SETTINGS = {"broker.session.timeout.ms": str(SESSION_MS), "broker.heartbeat.interval.ms": "100"}
"""The pause after a stall is short, too: what counts is that the heartbeats that wait are read."""


@pytest.mark.prevents("KAFKA-17793")
def test_heartbeats_that_wait_in_sockets_keep_their_sessions(tmp_path: Path) -> None:
    """The last broker is silent while the controller is suspended, and later: its session ends."""
    with Quorum(tmp_path, size=1, dynamic=False, settings=SETTINGS) as quorum, ExitStack() as connections:
        (node,) = quorum.nodes
        quorum.leader()
        brokers = []
        for broker_id in BROKERS:
            client = connections.enter_context(ControllerClient(node.port))
            brokers.append(StandInBroker(client, broker_id, quorum.cluster_id))
            await_result(brokers[-1].register, "the controller is active")
        for broker in brokers:
            await_result(broker.is_unfenced, f"broker {broker.broker_id} is unfenced")
        silent = brokers.pop()
        node.pause()
        for broker in brokers:
            broker.send_heartbeat()
        threading.Event().wait(1.5 * SESSION_MS / 1000)
        node.resume()
        assert [broker.broker_id for broker in brokers if broker.receive_heartbeat().is_fenced] == []
        node.await_log(f"The session of broker {silent.broker_id} at epoch .* has timed out")
        ended = re.findall(r"The session of broker (\d+) ", node.log_file.read_text())
        assert ended[0] == str(silent.broker_id)
