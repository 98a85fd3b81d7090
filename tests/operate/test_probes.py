"""The probes of real processes in the situations of a quorum: right within ten seconds, with the cause."""

from __future__ import annotations

import datetime
import json
import re
import resource
import shutil
import signal
import socket
import ssl
import threading
import time
from pathlib import Path

import pytest
from cryptography import x509

from kraftctl.dev.nodes import KraftctlController
from kraftctl.dev.polling import await_result
from kraftctl.dev.ports import free_port
from kraftctl.operate.metric_table import METRICS
from tests.operate.operated_quorum import CLUSTER_ID, OperatedController, OperatedQuorum, get, probe, run
from tests.operate.prometheus_text import parse
from tests.operate.test_metrics import MUST_SERVE
from tests.support.certificates import Authority, Identity, properties_of
from tests.support.large_directory import register_brokers, write_partitions

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
    assert content["longest_turn"].keys() == {"what", "ms"}
    _, metrics = get(port, "/metrics")
    assert re.search(r"^kraftctl_longest_turn_ms \d", metrics, re.MULTILINE), "one series, whatever the cause"


pytest_long = pytest.mark.long


def assert_stay_ready(controllers: list[OperatedController], seconds: float) -> None:
    pause, until = threading.Event(), time.monotonic() + seconds
    while time.monotonic() < until:
        found = [each.probe() for each in controllers]
        assert {each.status for each in found} == {200}, found
        pause.wait(0.05)


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
        assert_stay_ready(others, 12.0)
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
            assert_stay_ready(others, 4.0)
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

    first = OperatedQuorum(tmp_path, change=rename).controllers[0]
    first.start()
    try:
        await_result(first.answers, "it answers probes", 60.0)
        found = first.await_not_ready("DNS: Name or service not known")
        assert "unknown.invalid" in found.text
    finally:
        first.process.kill()


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
def test_a_reader_of_the_log_that_hangs_is_named(tmp_path: Path) -> None:
    with OperatedQuorum(tmp_path, blocking="pread") as quorum:
        quorum.await_ready()
        follower = quorum.followers()[0]
        follower.process.terminate()
        follower.block()
        follower.start()
        found = follower.await_not_ready("up to offset", 40.0)
        assert "The metadata is being loaded: up to offset 0 of" in found.text
        assert follower.probe("/livez").status == 200
        follower.release()
        follower.await_ready()


@pytest_long
def test_a_stuck_loop_is_neither_live_nor_ready(tmp_path: Path) -> None:
    with OperatedQuorum(tmp_path, 1, blocking="loop") as quorum:
        (controller,) = quorum.controllers
        controller.await_ready()
        controller.block()
        found = controller.await_not_ready("The event loop has not turned for")
        assert controller.probe("/livez").text.startswith("The event loop has not turned for")
        assert "kill -QUIT" in found.text
        assert "kraftctl_ready 0\n" in get(controller.operate_port, "/metrics")[1]
        controller.release()
        controller.await_ready()


@pytest_long
def test_a_removed_voter_and_a_replaced_directory_are_not_ready(tmp_path: Path) -> None:
    with OperatedQuorum(tmp_path, is_dynamic=True) as quorum:
        quorum.await_ready()
        leader, (removed, wiped) = quorum.leader(), quorum.followers()
        wiped.process.terminate()
        shutil.rmtree(wiped.directory / "data")
        wiped.format("--no-initial-controllers")
        wiped.start()
        found = wiped.await_not_ready("in another directory", 40.0)
        assert f"the voter with its node.id is {wiped.node_id}:" in found.text
        run("quorum", *bootstrap(leader), "replace-voter", "--command-config", str(wiped.file))
        wiped.await_ready()
        ids = ("--controller-id", str(removed.node_id), "--controller-directory-id", removed.directory_id())
        run("quorum", *bootstrap(leader), "remove-controller", *ids)
        removed.await_not_ready("is an observer")
        assert removed.probe("/livez").status == 200


def bootstrap(controller: OperatedController) -> tuple[str, str]:
    return "--bootstrap-controller", controller.properties["listeners"].rpartition("//")[2]


@pytest_long
def test_an_expired_certificate_is_named_and_probes_show_the_new_one(tmp_path: Path) -> None:
    authority = Authority()
    stores = tmp_path / "stores"
    first = authority.issue("CN=controller", valid=datetime.timedelta(seconds=25))

    def secure(properties: dict[str, str]) -> None:
        properties.update(properties_of(first, authority, stores))
        properties["listener.security.protocol.map"] = "CONTROLLER:SSL"
        properties["ssl.client.auth"] = "required"

    quorum = OperatedQuorum(tmp_path, 1, change=secure)
    (controller,) = quorum.controllers
    port = controller.operate_port
    https_port = free_port()
    both = f"http://127.0.0.1:{port},https://127.0.0.1:{https_port}"
    controller.properties["kraftctl.operate.listeners"] = both
    with quorum:
        controller.await_ready()
        assert shown_certificate(https_port) == serial_number(first)
        assert (
            'certificate_expires_seconds{listener="CONTROLLER",store="keystore"}' in get(port, "/metrics")[1]
        )
        found = controller.await_not_ready("The certificate of listener CONTROLLER has expired at", 40.0)
        assert "Next step: replace it in its keystore; no restart is needed" in found.text
        second = authority.issue("CN=controller")
        properties_of(second, authority, stores)
        controller.await_ready(40.0)
        assert shown_certificate(https_port) == serial_number(second), "it is not asked for a client's"


def serial_number(identity: Identity) -> int:
    return identity.chain[0].serial_number


def shown_certificate(port: int) -> int:
    """The serial number of the certificate with which a GET is answered."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    with (
        socket.create_connection(("127.0.0.1", port), timeout=5.0) as plain,
        context.wrap_socket(plain, server_hostname="localhost") as connection,
    ):
        connection.sendall(b"GET /livez HTTP/1.1\r\n\r\n")
        assert connection.recv(65536).startswith(b"HTTP/1.1 200 ")
        der = connection.getpeercert(binary_form=True)
    assert der is not None
    return x509.load_der_x509_certificate(der).serial_number


@pytest_long
def test_a_full_disk_ends_the_process_and_its_probes(tmp_path: Path) -> None:
    with OperatedQuorum(tmp_path, 1) as quorum:
        (controller,) = quorum.controllers
        controller.await_ready()
        resource.prlimit(controller.process.pid, resource.RLIMIT_FSIZE, (1, 1))
        await_result(lambda: controller.probe().status == 0, "it has ended", 10.0)
        assert controller.process.wait(10.0) == 1


@pytest_long
@pytest.mark.slow
def test_a_controller_that_loads_many_partitions_says_how_far_it_is(tmp_path: Path) -> None:
    node = KraftctlController(3000, tmp_path, CLUSTER_ID)
    port = free_port()
    node.properties["kraftctl.operate.listeners"] = f"http://127.0.0.1:{port}"
    node.format()
    node.start()
    register_brokers(node, 10)
    node.stop()
    write_partitions(node, topics=1_500, partitions=1_000, brokers=10)
    node.start(wait=False)
    seen = set()

    def is_ready() -> bool:
        found = probe(port)
        seen.add((found.status, found.text.partition(":")[0]))
        return found.status == 200

    try:
        await_result(is_ready, "it is ready", 120.0, 0.02)
    finally:
        node.kill()
    assert (503, "The metadata is being loaded") in seen or (503, "The metadata is not loaded") in seen, seen


@pytest_long
def test_a_voter_that_has_lost_its_log_is_not_ready_until_it_has_it_again(tmp_path: Path) -> None:
    with OperatedQuorum(tmp_path, blocking="fdatasync") as quorum:
        quorum.await_ready()
        wiped = quorum.followers()[0]
        wiped.process.terminate()
        wiped.lose_log()
        wiped.start()
        wiped.await_ready()
