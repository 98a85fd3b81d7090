"""A newcomer walks move-from-kafka.md, and asks as explain.md does about a partition without a leader.

One controller of Kafka becomes kraftctl, explains what a killed broker leaves, is killed, and becomes Kafka's
again. With three voters and clients that continue: test_move_from_kafka.py.
"""

from __future__ import annotations

import shlex
import subprocess
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from kraftctl.dev.cluster import Cluster
from kraftctl.dev.nodes import kraftctl_command
from kraftctl.dev.polling import await_result
from kraftctl.dev.processes import ManagedProcess
from tests.support.processes.kafka import kafka

pytestmark = [pytest.mark.interop, pytest.mark.slow, pytest.mark.long, pytest.mark.timeout(900)]

PAGES = Path(__file__).resolve().parents[2] / "docs/operations"
STEP_SECONDS = 180.0

EXPLAIN = "kraftctl explain partition solo-0 --bootstrap-controllers controller-1:9093"


def commands(page: str) -> list[str]:
    """The lines of its blocks, without what they print."""
    _, *blocks = (PAGES / page).read_text().split("```")
    lines = [line for block in blocks[::2] for line in textwrap.dedent(block).splitlines()]
    programs = ("$ ", "kraftctl ", "kafka-", "systemctl ")
    return [line.removeprefix("$ ") for line in lines if line.startswith(programs)]


class Walk:
    """Types the commands of a page at the controller of a cluster, and prints when."""

    def __init__(self, cluster: Cluster) -> None:
        self.controller = cluster.controller
        self._began = time.monotonic()
        self._starts = 0

    def words(self, command: str) -> list[str]:
        for there in ("HOST:PORT", "controller-1:9093"):
            command = command.replace(there, self.controller.address)
        program, *words = shlex.split(command)
        assert program == "kraftctl"
        file = str(self.controller.properties_file)
        return kraftctl_command(*(file if word.startswith("/etc/") else word for word in words))

    def type(self, command: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(self.words(command), capture_output=True, text=True, check=False)
        print(f"{time.monotonic() - self._began:.1f} s: {command}\n{done.stdout}{done.stderr}")
        return done

    def started(self, command: str) -> ManagedProcess:
        self._starts += 1
        log = self.controller.directory / f"kraftctl-{self._starts}.log"
        return ManagedProcess("kraftctl", self.words(command), log)

    def type_until(self, command: str, status: int, text: str) -> str:
        def typed() -> str | None:
            done = self.type(command)
            return done.stdout if done.returncode == status and text in done.stdout else None

        return await_result(typed, f"{command} prints {text}", STEP_SECONDS, 1.0)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    with Cluster(kafka(), tmp_path, controllers=1, brokers=2, java_controller=True) as found:
        yield found


def test_a_newcomer_moves_a_controller_explains_a_partition_and_moves_back(cluster: Cluster) -> None:
    replication, status, stop, start, disable, start_java = commands("move-from-kafka.md")
    assert stop == "kafka-server-stop --process-role=controller"
    walk = Walk(cluster)
    walk.type_until(replication, 0, "Leader")
    walk.type_until(status, 0, "LeaderId")
    assert walk.controller.stop() in (0, 143)
    process = walk.started(start)
    try:
        walk.type_until(replication, 0, "Leader")
        explain_a_lost_leader(cluster, walk)
        process.kill()
        process = walk.started(start)
        walk.type_until(replication, 0, "Leader")
    finally:
        stopped = process.terminate()
    assert stopped == 0
    assert disable == "systemctl disable --now kraftctl"
    assert start_java == f"kafka-server-start -daemon {start.split()[-1]}"
    leave(cluster, walk, replication)


def leave(cluster: Cluster, walk: Walk, replication: str) -> None:
    """Kafka's controller has what kraftctl wrote; what it writes itself, kraftctl has at a second move."""
    left = walk.controller.metadata_directory / "last-opened-by-kraftctl.deleted"
    assert left.exists()
    properties = set(walk.controller.properties_file.read_text().splitlines())
    walk.controller.properties["kraftctl.observer.fetch.interval.ms"] = "1"
    walk.controller.start()
    assert properties < set(walk.controller.properties_file.read_text().splitlines())
    walk.type_until(replication, 0, "Leader")
    walk.type_until(EXPLAIN, 0, "Nothing is wrong: solo-0 is led by its preferred leader, broker 2,")
    await_result(lambda: not left.exists(), f"{left.name} is deleted", STEP_SECONDS)
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    admin.create_topics([NewTopic("later", 1, 2)])["later"].result(STEP_SECONDS)
    assert walk.controller.stop() in (0, 143)
    *_, start, _, _ = commands("move-from-kafka.md")
    process = walk.started(start)
    try:
        walk.type_until(EXPLAIN.replace("solo-0", "later-0"), 0, "Nothing is wrong: later-0")
    finally:
        assert process.terminate() == 0


def explain_a_lost_leader(cluster: Cluster, walk: Walk) -> None:
    assert EXPLAIN in commands("explain.md")
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    topic = NewTopic("solo", num_partitions=1, replica_assignment=[[2]])
    admin.create_topics([topic])["solo"].result(STEP_SECONDS)
    walk.type_until(EXPLAIN, 0, "solo-0")
    broker = cluster.broker(2)
    broker.kill()
    said = walk.type_until(EXPLAIN, 10, "solo-0 has no leader")
    assert "its only replica, broker 2, is fenced since" in said
    assert "Next: start broker 2; it is elected when it is unfenced" in said
    broker.start()
    # It was killed, and so left the ELR. A leader without followers reports no recovery.
    said = walk.type_until(EXPLAIN, 0, "Nothing is wrong: solo-0 is led by its preferred leader, broker 2,")
    assert "its leader was elected without being in sync: records may be lost" in said
