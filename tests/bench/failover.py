"""How long nothing can be changed after the active controller ends: kraftctl, Kafka's own, and both together.

Three controllers and three brokers. The leader is killed, stopped by SIGTERM, or suspended by SIGSTOP, while
one of the brokers is asked to create a topic; what is measured ends when the topic is acknowledged. Then the
controller is started again, and the next one is ended when it follows.

`python tests/bench/failover.py --kills 20 --stops 20 --partitions 10000` runs this alone.
"""

from __future__ import annotations

import argparse
import itertools
import signal
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

# At the end of the path, so that what is installed (and compiled) comes before the sources.
sys.path.append(str(Path(__file__).resolve().parents[2]))

from kraftctl.dev.nodes import Controller
from kraftctl.dev.ports import accepts_connections
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.create_topics_request import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
)
from kraftctl_protocol.generated.create_topics_response import CreateTopicsResponse
from tests.bench.measure import percentile
from tests.bench.table import Row, render
from tests.support.processes.kafka import Cluster, await_result
from tests.support.processes.mixed_quorum import JAVA, KRAFTCTL, leader_of, mixed_cluster
from tests.support.processes.quorum import describe
from tests.support.wire.controller_client import ControllerClient, StandInBroker

CLUSTERS = {
    "kraftctl": (KRAFTCTL, KRAFTCTL, KRAFTCTL),
    "mixed": (KRAFTCTL, KRAFTCTL, JAVA),
    "java": (JAVA, JAVA, JAVA),
}
KILLED, STOPPED, SILENT = "killed", "stopped", "silent"
COUNTS = {KILLED: 20, STOPPED: 20, SILENT: 0}
BROKERS = 3
ABSENT_BROKER_ID = 99
"""The partitions that are only there to be loaded are on a broker that does not run."""
PARTITIONS_PER_TOPIC = 1_000
CALL_SECONDS_MAX = 90.0
"""A broker waits controller.socket.timeout.ms, 30 s, for the response of a leader that is silent."""
RATIO_KILLED = 5.0
"""Java's controllers wait for their fetch timeout."""


@dataclass(frozen=True)
class Failover:
    """One leader that ended."""

    how: str
    kind: str
    seconds: float
    """From the signal to the acknowledgement."""


def run(clusters: Sequence[str], counts: Mapping[str, int], partitions: int = 0) -> list[Row]:
    """Each of `clusters` in turn."""
    measured: dict[str, list[Failover]] = {}
    with tempfile.TemporaryDirectory() as directory:
        for name in clusters:
            measured[name] = measure(Path(directory, name), CLUSTERS[name], counts, partitions)
    return rows(measured, f", {partitions} partitions" if partitions else "")


def rows(measured: Mapping[str, list[Failover]], with_partitions: str = "") -> list[Row]:
    """By cluster, and by end and kind of the leader. Others are compared with Java's cluster."""
    java = measured.get("java", [])
    compared = {name: failovers for name, failovers in measured.items() if name != "java"}
    found: list[Row] = []
    for name, failovers in (compared or measured).items():
        for how, kind in sorted({(each.how, each.kind) for each in failovers}):
            ours = seconds(failovers, how, kind)
            theirs = seconds(java, how) if compared else []
            what = f"{name}: {kind} {how}{with_partitions}, topic created"
            for part, fraction in (("p50", 0.5), ("maximum", 1.0)):
                row = Row(f"{what}, {part} of {len(ours)}", 1_000 * percentile(ours, fraction), "ms")
                if theirs:
                    row.compared_with, row.compared = "Java", 1_000 * percentile(theirs, fraction)
                    if (name, how, part) == ("kraftctl", KILLED, "p50"):
                        row.at_least = RATIO_KILLED
                found.append(row)
    return found


def seconds(failovers: list[Failover], how: str, kind: str | None = None) -> list[float]:
    """Those of leaders that ended like that; of one kind, or of all."""
    return [each.seconds for each in failovers if each.how == how and kind in (None, each.kind)]


def measure(
    directory: Path, kinds: Sequence[str], counts: Mapping[str, int], partitions: int
) -> list[Failover]:
    """One cluster, whose leaders end one after the other."""
    with mixed_cluster(directory, kinds, brokers=BROKERS) as cluster:
        trial = Trial(cluster)
        if partitions:
            create_absent_partitions(cluster, partitions)
        return [trial.end_leader(how) for how, count in counts.items() for _ in range(count)]


class Trial:
    """Ends leaders of `cluster`, and creates topics meanwhile, through one broker after the other."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._names = (f"failover-{number}" for number in itertools.count())
        self._brokers = itertools.cycle(cluster.brokers)
        for broker in cluster.brokers:
            # One that runs may not listen yet.
            await_result(partial(accepts_connections, broker.port), f"{broker.name} listens")
        self._create(next(self._names))

    def end_leader(self, how: str) -> Failover:
        """Until the next topic is acknowledged. Returns when all controllers are back."""
        leader = await_result(self._settled_leader, "a leader, and two followers", 120.0, 0.05)
        assert leader.process is not None
        begin_s = time.monotonic()
        if how == STOPPED:
            leader.process.signal(signal.SIGTERM)
        elif how == SILENT:
            leader.pause()
        else:
            leader.kill()
        self._create(next(self._names))
        failover = Failover(how, leader.NAME_PREFIX, time.monotonic() - begin_s)
        if how == SILENT:
            leader.kill()
        leader.stop()
        leader.start()
        print(f"  {failover.kind} {how}: {1_000 * failover.seconds:.0f} ms", file=sys.stderr, flush=True)
        return failover

    def _create(self, name: str) -> None:
        """Until it is acknowledged by the broker whose turn it is."""
        broker = next(self._brokers)
        topic = CreatableTopic(name=name, num_partitions=1, replication_factor=1)
        wanted = CreateTopicsRequest(topics=[topic], timeout_ms=int(1_000 * CALL_SECONDS_MAX))
        with ControllerClient(broker.port, timeout_s=CALL_SECONDS_MAX) as client:
            while True:
                answer = client.call(wanted, 7, CreateTopicsResponse).topics[0]
                if answer.error_code in (Errors.NONE, Errors.TOPIC_ALREADY_EXISTS):
                    return
                assert answer.error_code in (Errors.NOT_CONTROLLER, Errors.REQUEST_TIMED_OUT), answer

    def _settled_leader(self) -> Controller | None:
        """The leader, once the others and all brokers have what it has committed."""
        for controller in self._cluster.controllers:
            described = describe(controller)
            if described is None:
                continue
            replicas = [*described.current_voters, *described.observers]
            behind = [each for each in replicas if each.log_end_offset < described.high_watermark - 5]
            if len(replicas) >= 3 + BROKERS and not behind:
                return controller
        return None


def create_absent_partitions(cluster: Cluster, count: int) -> None:
    """On a broker that registers, and is never heard of again."""
    leader = await_result(partial(leader_of, cluster.controllers), "a leader")
    with ControllerClient(leader.port) as client:
        broker = StandInBroker(client, ABSENT_BROKER_ID, cluster.cluster_id)
        await_result(broker.register, "registered")
        await_result(broker.is_unfenced, "unfenced")
        for number in range(count // PARTITIONS_PER_TOPIC):
            broker.heartbeat()
            assignments = [
                CreatableReplicaAssignment(partition_index=index, broker_ids=[ABSENT_BROKER_ID])
                for index in range(PARTITIONS_PER_TOPIC)
            ]
            topic = CreatableTopic(
                name=f"absent-{number}", num_partitions=-1, replication_factor=-1, assignments=assignments
            )
            answer = client.call(CreateTopicsRequest(topics=[topic]), 7, CreateTopicsResponse)
            assert answer.topics[0].error_code == Errors.NONE, answer


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Time to the next topic after the active controller ends")
    parser.add_argument("--kills", type=int, default=COUNTS[KILLED])
    parser.add_argument("--stops", type=int, default=COUNTS[STOPPED])
    parser.add_argument("--pauses", type=int, default=COUNTS[SILENT], help="leaders that are suspended")
    parser.add_argument("--partitions", type=int, default=0)
    parser.add_argument("--only", choices=CLUSTERS, help="measure one kind of cluster, without ratios")
    options = parser.parse_args(arguments)
    counts = {KILLED: options.kills, STOPPED: options.stops, SILENT: options.pauses}
    print(render(run([options.only] if options.only else list(CLUSTERS), counts, options.partitions)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
