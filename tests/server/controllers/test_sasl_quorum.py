"""Three controllers as processes that authenticate to each other by PLAIN; one has a wrong password."""

from __future__ import annotations

import re
import threading
from pathlib import Path

import pytest

from kraftctl.cli.admin.bootstrap import parse_bootstrap
from kraftctl.cli.quorum.quorum_info import QuorumInfo, describe_quorum
from kraftctl.dev.nodes import KraftctlController
from kraftctl.dev.polling import await_result
from kraftctl.server.process.clock import Clock
from kraftctl_admin.admin_client import AdminClient
from kraftctl_admin.client_config import parse_client_config
from tests.support.processes.quorum import Quorum

MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"
JAAS = "listener.name.controller.plain.sasl.jaas.config"
USERS = 'user_controller="right" user_ada="lovelace"'
SESSION_MS = 1_500
SETTINGS = {
    "listener.security.protocol.map": "CONTROLLER:SASL_PLAINTEXT",
    "listener.name.controller.sasl.enabled.mechanisms": "PLAIN",
    "sasl.mechanism.controller.protocol": "PLAIN",
    "listener.name.controller.plain.connections.max.reauth.ms": str(SESSION_MS),
    "controller.quorum.fetch.timeout.ms": "1000",
    "controller.quorum.election.timeout.ms": "500",
}


def jaas(password: str) -> str:
    return f'{MODULE} required username="controller" password="{password}" {USERS};'


def described(nodes: list[KraftctlController]) -> QuorumInfo:
    """As `kraftctl quorum describe`, with the password of an admin."""
    keys = {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.jaas.config": f'{MODULE} required username="ada" password="lovelace";',
    }
    bootstrap = parse_bootstrap(",".join(node.address for node in nodes))
    config = parse_client_config(keys)
    with AdminClient(bootstrap, to_controllers=True, config=config, clock=Clock()) as client:
        return describe_quorum(client)


def all_follow(nodes: list[KraftctlController]) -> bool:
    info = described(nodes)
    end_offset = info.leader().log_end_offset
    return all(voter.log_end_offset > end_offset - 10 for voter in info.voters)


@pytest.mark.slow
def test_a_controller_with_a_wrong_password_is_refused_and_named(tmp_path: Path) -> None:
    """The others keep their leader, for longer than their sessions, and admit it when it is corrected."""
    quorum = Quorum(tmp_path, dynamic=True, settings={**SETTINGS, JAAS: jaas("right")})
    stranger = quorum.nodes[-1]
    stranger.properties[JAAS] = jaas("wrong-word")
    with quorum:
        others = quorum.nodes[:-1]
        line = stranger.await_log("do not accept each other")
        assert re.search("SASL_AUTHENTICATION_FAILED: .*check sasl.jaas.config of the listener", line)
        before = described(others)
        threading.Event().wait(2 * SESSION_MS / 1000)
        after = described(others)
        assert (after.leader_id, after.leader_epoch) == (before.leader_id, before.leader_epoch)
        assert after.high_watermark > before.high_watermark
        stranger.stop()
        stranger.properties[JAAS] = jaas("right")
        stranger.start()
        await_result(lambda: all_follow(quorum.nodes), "all follow the leader", 20.0)
        logs = [node.log_file.read_text() for node in quorum.nodes]
        assert "wrong-word" not in "".join(logs)
        assert not any(re.search("session .*expired", log, re.IGNORECASE) for log in logs)
