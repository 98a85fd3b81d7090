"""How long nothing can be changed after the active controller ends: kraftctl and Kafka's own controllers.

Three controllers and three brokers. The leader is killed, or stopped by SIGTERM, while one of the brokers is
asked to create a topic; what is measured ends when the topic is acknowledged. Then the controller is started
again, and the next one is ended when it follows.

`python tests/bench/failover.py --kills 20 --stops 20 --partitions 10000` runs this alone.
"""

from __future__ import annotations

import argparse
import itertools
import signal
import sys
import tempfile
import time
from collections.abc import Callable
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
from kraftctl_protocol.generated.describe_quorum_request import (
    DescribeQuorumRequest,
    PartitionData,
    TopicData,
)
from kraftctl_protocol.generated.describe_quorum_response import DescribeQuorumResponse
from kraftctl_protocol.generated.describe_quorum_response import PartitionData as Described
from tests.bench.measure import percentile
from tests.bench.table import Row, render
from tests.support.processes.kafka import Cluster, await_result, kafka
from tests.support.wire.controller_client import ControllerClient, StandInBroker

KILLS = 20
STOPS = 20
BROKERS = 3
ABSENT_BROKER_ID = 99
"""The partitions that are only there to be loaded are on a broker that does not run."""
PARTITIONS_PER_TOPIC = 1_000
CALL_SECONDS_MAX = 30.0
RATIO_KILLED = 5.0
"""Java's controllers wait for their fetch timeout."""


@dataclass
class Measured:
    """Seconds from the signal to the acknowledgement, one for each leader that ended."""

    killed_s: list[float]
    stopped_s: list[float]


def run(kills: int = KILLS, stops: int = STOPS, partitions: int = 0) -> list[Row]:
    with tempfile.TemporaryDirectory() as directory:
        ours = measure(Path(directory, "kraftctl"), kills, stops, partitions, java=False)
        theirs = measure(Path(directory, "java"), kills, stops, partitions, java=True)
    with_partitions = f", {partitions} partitions" if partitions else ""
    rows: list[Row] = []
    for how, mine, other, at_least in (
        ("killed", ours.killed_s, theirs.killed_s, RATIO_KILLED),
        ("stopped", ours.stopped_s, theirs.stopped_s, None),
    ):
        for name, fraction, wanted in (("p50", 0.5, at_least), ("maximum", 1.0, None)):
            if not mine:
                continue
            what = f"leader {how}{with_partitions}, topic created, {name} of {len(mine)}"
            rows.append(
                Row(
                    what,
                    1_000 * percentile(mine, fraction),
                    "ms",
                    "Java",
                    1_000 * percentile(other, fraction) if other else 0.0,
                    at_least=wanted if other else None,
                )
            )
    return rows


def measure(directory: Path, kills: int, stops: int, partitions: int, *, java: bool) -> Measured:
    """One cluster, whose leaders end one after the other."""
    with Cluster(kafka(), directory, brokers=BROKERS, controllers=3, java_controller=java) as cluster:
        trial = Trial(cluster)
        if partitions:
            create_absent_partitions(cluster, partitions)
        return Measured(
            killed_s=[trial.end_leader(Controller.kill) for _ in range(kills)],
            stopped_s=[trial.end_leader(Controller.stop) for _ in range(stops)],
        )


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

    def end_leader(self, end: Callable[[Controller], object]) -> float:
        """Seconds until the next topic is acknowledged. Returns when all controllers are back."""
        leader = await_result(self._settled_leader, "a leader, and two followers", 120.0, 0.05)
        assert leader.process is not None
        begin_s = time.monotonic()
        if end is Controller.stop:
            leader.process.signal(signal.SIGTERM)
        else:
            end(leader)
        self._create(next(self._names))
        elapsed_s = time.monotonic() - begin_s
        leader.stop()
        leader.start()
        who = type(leader).NAME_PREFIX
        print(f"  {who}: {1_000 * elapsed_s:.0f} ms", file=sys.stderr, flush=True)
        return elapsed_s

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


def describe(controller: Controller) -> Described | None:
    """None when it does not lead."""
    topic = TopicData(topic_name="__cluster_metadata", partitions=[PartitionData(partition_index=0)])
    try:
        with ControllerClient(controller.port) as client:
            answer = client.call(DescribeQuorumRequest(topics=[topic]), 2, DescribeQuorumResponse)
    except OSError:
        return None
    described = answer.topics[0].partitions[0]
    if described.error_code != Errors.NONE or described.leader_id != controller.node_id:
        return None
    return described


def create_absent_partitions(cluster: Cluster, count: int) -> None:
    """On a broker that registers, and is never heard of again."""
    leader = await_result(partial(_leader, cluster), "a leader")
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


def _leader(cluster: Cluster) -> Controller | None:
    return next((each for each in cluster.controllers if describe(each) is not None), None)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Time to the next topic after the active controller ends")
    parser.add_argument("--kills", type=int, default=KILLS)
    parser.add_argument("--stops", type=int, default=STOPS)
    parser.add_argument("--partitions", type=int, default=0)
    parser.add_argument("--only", choices=("kraftctl", "java"), help="measure one of them, without ratios")
    options = parser.parse_args(arguments)
    if options.only is None:
        print(render(run(options.kills, options.stops, options.partitions)))
        return 0
    with tempfile.TemporaryDirectory() as directory:
        measured = measure(
            Path(directory, "cluster"),
            options.kills,
            options.stops,
            options.partitions,
            java=options.only == "java",
        )
    print(measured)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
