"""What `kraftctl doctor` says of addresses that misbehave, and how long it takes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from kraftctl.cli.doctor import directory_checks
from kraftctl.server.process.clock import Clock
from kraftctl_protocol.generated.vote_request import VoteRequest
from tests.cli.quorum_cases import LEADER_TIME_MS, Replica, ScriptedQuorum, leader_node
from tests.cli.test_doctor import CLUSTER_ID, Doctor, doctor
from tests.support.wire.bad_addresses import BEHAVIOURS, V4, BadAddress, dropping, free_everywhere

__all__ = ["doctor"]

SECONDS_MAX = 9.0
"""Five are for the addresses; the rest is for a busy machine."""


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as entered:
        yield entered


@pytest.fixture(autouse=True)
def few_flushes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(directory_checks, "FSYNCS_COUNT", 1)


def with_servers(doctor: Doctor, *servers: str) -> None:
    doctor.flags.remove("--offline")
    doctor.properties["controller.quorum.voters"] = None
    doctor.properties["controller.quorum.bootstrap.servers"] = ",".join(servers)
    doctor.write()


def test_all_addresses_are_asked_together(doctor: Doctor, stack: ExitStack) -> None:
    kinds = ["drops", *sorted(BEHAVIOURS)]
    ports = [free_everywhere() for _ in kinds]
    for kind, port in zip(kinds, ports, strict=True):
        stack.enter_context(dropping(V4, port) if kind == "drops" else BadAddress(V4, port, BEHAVIOURS[kind]))
    with_servers(doctor, *(f"{V4}:{port}" for port in ports), "no-such-host.invalid:1")
    began_ms = Clock().now_ms()
    rows = [each for each in doctor.rows() if each["check"] == "addresses"]
    assert (Clock().now_ms() - began_ms) / 1000 < SECONDS_MAX
    assert len(rows) == len(kinds) + 1
    assert {each["level"] for each in rows} <= {"WARN", "ERROR"}
    assert "no-such-host.invalid:1 has no address" in rows[-1]["found"]


def test_a_clock_that_is_behind(doctor: Doctor) -> None:
    """The leader says the time of its own last fetch, which is long ago, or far ahead."""
    with leader_node(ScriptedQuorum(3, [Replica(3, 90)])) as node:
        node.script[VoteRequest] = lambda _: None
        with_servers(doctor, node.address)
        (row,) = [each for each in doctor.rows() if each["check"] == "clock"]
    where = "ahead of" if Clock().wall_ms() > LEADER_TIME_MS else "behind"
    assert (row["level"], row["next_step"]) == ("WARN", "synchronize the clocks (chronyc tracking)")
    assert f" ms {where} that of the leader at {node.address}" in row["found"]


def test_a_controller_of_another_cluster_is_named_with_its_id(doctor: Doctor) -> None:
    with leader_node(ScriptedQuorum(3, [Replica(3, 90)])) as node:
        node.script[VoteRequest] = lambda _: None
        with_servers(doctor, node.address)
        (row,) = [each for each in doctor.rows() if each["check"] == "peers"]
    assert row["level"] == "ERROR"
    assert "another cluster V50AZlDfQ6SyNYSsdWVE0A" in row["found"]
    assert row["found"].endswith(f"and this one is of {CLUSTER_ID}")


def test_a_node_without_votes_is_no_controller(doctor: Doctor) -> None:
    with leader_node(ScriptedQuorum(3, [Replica(3, 90)])) as node:
        with_servers(doctor, node.address)
        rows = {each["check"]: each for each in doctor.rows()}
    assert rows["addresses"]["level"] == "ERROR"
    assert "is no controller" in rows["addresses"]["found"]
    assert "peers" not in rows


def test_keys_that_cannot_be_used_leave_the_others_unasked(doctor: Doctor) -> None:
    prefix = "listener.name.controller.ssl."
    with_servers(doctor, "127.0.0.1:1")
    doctor.properties |= {
        "listener.security.protocol.map": "CONTROLLER:SSL",
        f"{prefix}keystore.type": "PEM",
        f"{prefix}keystore.location": str(doctor.directory / "nothing.pem"),
    }
    doctor.write()
    found = doctor.bad()
    assert ("ERROR", "certificates", f"{prefix}*") in found
    assert ("UNKNOWN", "addresses", "-") in found
