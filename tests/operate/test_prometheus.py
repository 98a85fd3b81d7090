"""A real Prometheus runs the board's queries and the alerts in `deploy/` against a real quorum of three."""

from __future__ import annotations

from pathlib import Path

import pytest

from kraftctl.dev.polling import await_result
from tests.operate.operated_quorum import OperatedQuorum
from tests.operate.queries import ALERTS, RULES, board_queries
from tests.operate.real_prometheus import RunningPrometheus
from tests.support.certificates import Authority, properties_of

JOB = "kafka-controllers"

EXPIRING = {"KraftctlCertificateExpires", "KraftctlCertificateExpiresSoon"}
"""The certificates of tests last a day."""


@pytest.mark.long
def test_the_board_shows_figures_and_a_dead_controller_is_an_alert(tmp_path: Path) -> None:
    authority = Authority()
    identity = authority.issue("CN=controller")

    def use_ssl(properties: dict[str, str]) -> None:
        properties.update(properties_of(identity, authority, tmp_path / "stores"))
        properties["listener.security.protocol.map"] = "CONTROLLER:SSL"

    panels = {panel: text.replace("$job", JOB) for panel, text in board_queries().items()}
    with OperatedQuorum(tmp_path, change=use_ssl) as quorum:
        quorum.await_ready()
        ports = [each.operate_port for each in quorum.controllers]
        with RunningPrometheus(tmp_path, JOB, ports, RULES) as prometheus:

            def panels_without_figures() -> list[str]:
                return [panel for panel, text in panels.items() if not prometheus.query(text)]

            await_result(lambda: panels_without_figures() == [], "each panel has figures", 60.0, 0.5)
            (active,) = prometheus.query(panels["Active controllers A"]) or []
            assert active["value"][1] == "1"
            rules = prometheus.rules()
            assert rules.keys() == ALERTS.keys()
            assert {name: rule["lastError"] for name, rule in rules.items() if rule.get("lastError")} == {}
            assert {name for name, rule in rules.items() if rule["health"] != "ok"} == set()
            assert {name for name, rule in rules.items() if rule["state"] != "inactive"} == EXPIRING

            dead = quorum.followers()[0]
            dead.process.kill()
            expected = {"KraftctlDown", "KraftctlVoterMissing"}

            def begun() -> set[str]:
                return {name for name, rule in prometheus.rules().items() if rule["state"] != "inactive"}

            await_result(lambda: begun() >= expected, f"{expected} begin", 60.0, 0.5)
            (alert,) = prometheus.rules()["KraftctlDown"]["alerts"]
            assert alert["labels"]["instance"] == f"127.0.0.1:{dead.operate_port}"
            assert begun() <= expected | EXPIRING | {"KraftctlOneVoterFromAnOutage", "KraftctlVoterLags"}
