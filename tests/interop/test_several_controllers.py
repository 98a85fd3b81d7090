"""KIP-595, KIP-853: three controllers, any one of which may be lost."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest

from kraftctl.dev.nodes import Controller
from kraftctl.dev.settings import replication_for
from tests.support.processes.clients import consume, create_topic, produce
from tests.support.processes.cluster import JAVA_CONTROLLER, await_live, metadata_records
from tests.support.processes.kafka import Cluster, await_result, kafka
from tests.support.processes.mixed_quorum import await_leader

pytestmark = pytest.mark.interop

BROKERS = 2


@pytest.fixture(scope="module", params=["dynamic", pytest.param("static", marks=pytest.mark.long)])
def quorum(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Three controllers and two brokers; formatted with --initial-controllers, or static voters."""
    with Cluster(
        kafka(),
        tmp_path_factory.mktemp(request.param),
        controllers=3,
        brokers=BROKERS,
        java_controller=JAVA_CONTROLLER,
        dynamic=request.param == "dynamic",
        controller_settings=replication_for(BROKERS),
        broker_settings=replication_for(BROKERS),
    ) as cluster:
        yield cluster


def roles(cluster: Cluster) -> dict[int, tuple[str, int]]:
    """Node id -> (role, lag)."""
    described = cluster.tools().output(
        "kafka-metadata-quorum", "--bootstrap-server", cluster.bootstrap_servers, "describe", "--replication"
    )
    rows = [line.split() for line in described.splitlines() if line[:1].isdigit()]
    return {int(row[0]): (row[-1], int(row[3])) for row in rows}


def replicated(cluster: Cluster, leader: Controller) -> bool:
    """Whether every other controller follows the leader closely."""
    now = roles(cluster)
    followers = [controller.node_id for controller in cluster.controllers if controller is not leader]
    return all(now.get(node_id, ("", 0))[0] == "Follower" and now[node_id][1] < 5 for node_id in followers)


def test_the_leader_may_be_killed(quorum: Cluster) -> None:
    """Another controller takes over, brokers continue, and the killed one follows after its restart."""
    create_topic(quorum.bootstrap_servers, "before", partitions=3, replicas=2)
    produce(quorum.bootstrap_servers, "before", [b"before"] * 500)
    processes = [broker.process for broker in quorum.brokers]
    killed = await_leader(quorum.controllers)

    killed.kill()
    second = await_leader(quorum.controllers)
    create_topic(quorum.bootstrap_servers, "during", partitions=3, replicas=2)
    produce(quorum.bootstrap_servers, "before", [b"during"] * 500)

    killed.start()
    await_result(partial(replicated, quorum, second), "the other two follow the new leader", 60.0)
    create_topic(quorum.bootstrap_servers, "after", partitions=3, replicas=2)
    await_live(quorum, {1, 2})
    assert [broker.process for broker in quorum.brokers] == processes
    assert all(broker.running for broker in quorum.brokers)
    assert len(consume(quorum.bootstrap_servers, "before", 1_000)) == 1_000


def test_logs_are_the_same(quorum: Cluster) -> None:
    """Record by record, once all controllers have stopped."""
    quorum.stop()
    logs = [metadata_records(controller.metadata_directory) for controller in quorum.controllers]
    shortest = min(len(log) for log in logs)
    assert shortest > 20
    assert logs[0][:shortest] == logs[1][:shortest] == logs[2][:shortest]
