"""The probes of real processes in the situations of a quorum: right within ten seconds, with the cause."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

import pytest

from kraftctl.operate.metric_table import METRICS
from tests.operate.operated_quorum import OperatedQuorum, get
from tests.operate.prometheus_text import parse
from tests.operate.test_metrics import MUST_SERVE

WITHOUT_BROKERS = {
    "kafka_controller_kafkacontroller_brokerregistrationstate",
    "kafka_controller_kafkacontroller_timesincelastheartbeatreceivedms",
    "kafka_server_metadataloader_finalizedlevel",
    "kraftctl_broker_heartbeat_age_ms",
    "kraftctl_certificate_expires_seconds",
    "kraftctl_replica_fetch_age_ms",
    "kraftctl_replica_lag_ms",
    "kraftctl_replica_lag_records",
    "kraftctl_request_seconds",
}
"""What one controller has none of, alone and without SSL."""


def test_the_only_voter_becomes_ready_and_stops(tmp_path: Path) -> None:
    with OperatedQuorum(tmp_path, 1) as quorum:
        (controller,) = quorum.controllers
        controller.await_ready()
        assert controller.probe().content == {"ready": True, "reasons": []}
        assert controller.probe("/livez").content == {"live": True, "reasons": []}
        assert controller.probe("/startupz").content == {"started": True, "reasons": []}
        assert get(controller.operate_port, "/secrets")[0] == 404
        assert_has_metrics(controller.operate_port)
        assert_has_status(controller.operate_port)
        assert "is the only voter" in get(controller.operate_port, "/restartz")[1]
        assert controller.process.terminate() == 0
        assert controller.probe().status == 0


def assert_has_metrics(port: int) -> None:
    """A leader without brokers has a sample of everything that dashboards read, and of the process."""
    status, text = get(port, "/metrics")
    assert status == 200
    families = parse(text)
    assert [name for name in MUST_SERVE if not families[name].samples] == []
    assert {name for name in families if name.startswith("process_")} == {
        "process_cpu_seconds_total",
        "process_max_fds",
        "process_open_fds",
        "process_resident_memory_bytes",
        "process_start_time_seconds",
        "process_virtual_memory_bytes",
    }
    missing = {name for metric in METRICS for name in metric.names} - set(families)
    assert missing == WITHOUT_BROKERS


def assert_has_status(port: int) -> None:
    status, body = get(port, "/status.json")
    content = json.loads(body)
    assert (status, content["node_id"], content["ready"]) == (200, 1, True)
    assert content["quorum"]["state"] == "leader"
    assert content["disk"]["free_bytes"] > 0


pytest_long = pytest.mark.long


@pytest_long
def test_followers_and_leader_are_ready_and_a_lost_majority_is_not(tmp_path: Path) -> None:
    with OperatedQuorum(tmp_path) as quorum:
        quorum.await_ready()
        leader, (first, second) = quorum.leader(), quorum.followers()
        first.process.kill()
        second.process.kill()
        found = leader.await_not_ready("1 of 3 voters can be reached")
        assert f"controller {first.node_id} at 127.0.0.1" in found.text
        assert "connection refused" in found.text
        assert leader.probe("/livez").status == 200, "a restart does not bring a majority back"
        assert leader.probe("/startupz").status == 200
        first.start()
        leader.await_ready()
        first.await_ready()


@pytest_long
def test_a_leader_whose_majority_hangs_is_not_ready(tmp_path: Path) -> None:
    """Nothing refuses a connection: as when a cable is cut."""
    with OperatedQuorum(tmp_path) as quorum:
        quorum.await_ready()
        leader, others = quorum.leader(), quorum.followers()
        for each in others:
            each.process.signal(signal.SIGSTOP)
        found = leader.await_not_ready("of 3 voters can be reached")
        assert "whether the process there hangs" in found.text
        for each in others:
            each.process.signal(signal.SIGCONT)
        quorum.await_ready()


@pytest_long
def test_a_suspended_process_answers_no_probe_and_the_others_stay_ready(tmp_path: Path) -> None:
    with OperatedQuorum(tmp_path) as quorum:
        quorum.await_ready()
        leader, others = quorum.leader(), quorum.followers()
        leader.process.signal(signal.SIGSTOP)
        until = time.monotonic() + 12.0
        while time.monotonic() < until:
            assert [each.probe().status for each in others] == [200, 200], [each.probe() for each in others]
            time.sleep(0.1)
        leader.process.signal(signal.SIGCONT)
        quorum.await_ready()


@pytest_long
@pytest.mark.parametrize("stop", [pytest.param(True, id="stopped"), pytest.param(False, id="killed")])
def test_an_election_makes_nobody_unready(tmp_path: Path, stop: bool) -> None:
    with OperatedQuorum(tmp_path) as quorum:
        quorum.await_ready()
        for _ in range(3):
            leader, others = quorum.leader(), quorum.followers()
            if stop:
                leader.process.signal(signal.SIGTERM)
            else:
                leader.process.signal(signal.SIGKILL)
            until = time.monotonic() + 4.0
            while time.monotonic() < until:
                assert [each.probe().status for each in others] == [200, 200]
                time.sleep(0.05)
            leader.process.wait(10.0)
            leader.start()
            leader.await_ready()


@pytest_long
def test_voters_that_have_all_lost_their_logs_recover_without_a_leader(tmp_path: Path) -> None:
    with OperatedQuorum(tmp_path) as quorum:
        quorum.await_ready()
        for each in quorum.controllers:
            each.process.terminate()
            for file in each.partition.iterdir():
                file.unlink()
        quorum.start()
        for each in quorum.controllers:
            each.await_not_ready("does not vote: it has lost its log or its votes")


@pytest_long
def test_a_host_without_an_address_is_named(tmp_path: Path) -> None:
    def rename(properties: dict[str, str]) -> None:
        voters = properties["controller.quorum.voters"]
        first, _, rest = voters.partition(",")
        properties["controller.quorum.voters"] = first + "," + rest.replace("127.0.0.1", "unknown.invalid")

    quorum = OperatedQuorum(tmp_path, change=rename)
    with quorum:
        found = quorum.controllers[0].await_not_ready("DNS")
        assert "unknown.invalid" in found.text


@pytest_long
def test_a_disk_that_does_not_take_a_flush_is_named(tmp_path: Path) -> None:
    """The others commit without it, so the quorum works, and this leader or follower does not."""
    with OperatedQuorum(tmp_path, blocking="fdatasync") as quorum:
        quorum.await_ready()
        for each in (quorum.leader(), quorum.followers()[0]):
            each.block()
            found = each.await_not_ready("has waited for the disk")
            assert str(each.directory / "data") in found.text
            assert each.probe("/livez").status == 200
            each.release()
            each.await_ready()


@pytest_long
def test_a_voter_that_has_lost_its_log_is_not_ready_until_it_has_it_again(tmp_path: Path) -> None:
    with OperatedQuorum(tmp_path, blocking="fdatasync") as quorum:
        quorum.await_ready()
        wiped = quorum.followers()[0]
        wiped.process.terminate()
        wiped.lose_log()
        wiped.start()
        wiped.await_ready()
