"""A static quorum, and brokers of older releases on a lower metadata.version."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kraftctl.dev.settings import replication_for
from tests.support.processes.clients import admin_client, consume, create_topic, isrs, produce
from tests.support.processes.cluster import JAVA_CONTROLLER
from tests.support.processes.kafka import Cluster, await_result, kafka

pytestmark = pytest.mark.interop

OLDER_RELEASES = ("3.9.2", "4.1.2")


def test_static_quorum(tmp_path_factory: pytest.TempPathFactory) -> None:
    """controller.quorum.voters: kraft.version 0, the voters are in every node's own configuration."""
    with Cluster(
        kafka(),
        tmp_path_factory.mktemp("static"),
        brokers=1,
        dynamic=False,
        java_controller=JAVA_CONTROLLER,
        controller_settings=replication_for(1),
        broker_settings=replication_for(1),
    ) as cluster:
        create_topic(cluster.bootstrap_servers, "static", partitions=3, replicas=1)
        produce(cluster.bootstrap_servers, "static", [b"value"] * 1_000, transactional_id="static-writer")
        assert len(consume(cluster.bootstrap_servers, "static", 1_000)) == 1_000

        cluster.controller.kill()
        cluster.controller.start()
        create_topic(cluster.bootstrap_servers, "static-too", partitions=3, replicas=1)
        described = cluster.tools().output(
            "kafka-features", "--bootstrap-server", cluster.bootstrap_servers, "describe"
        )
        assert "Feature: metadata.version" in described


@pytest.fixture(scope="module")
def older_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Brokers 1 (3.9.2) and 2 (4.1.2) with a controller formatted for metadata.version 3.9-IV0."""
    settings = replication_for(len(OLDER_RELEASES))
    with Cluster(
        kafka(),
        tmp_path_factory.mktemp("older"),
        brokers=len(OLDER_RELEASES),
        java_controller=JAVA_CONTROLLER,
        release_version="3.9",
        controller_settings=settings,
        broker_settings=settings,
        broker_kafkas=[kafka(version) for version in OLDER_RELEASES],
    ) as cluster:
        yield cluster


def test_older_brokers_serve(older_cluster: Cluster) -> None:
    """Fetch v17 and v18, heartbeats v1, records no newer than 3.9-IV0 knows."""
    servers = older_cluster.bootstrap_servers
    create_topic(servers, "older", partitions=4, replicas=2)
    produce(servers, "older", [b"plain"] * 1_000)
    produce(servers, "older", [b"transactional"] * 1_000, transactional_id="older-writer")
    assert len(consume(servers, "older", 2_000)) == 2_000


def test_older_broker_leaves_and_returns(older_cluster: Cluster) -> None:
    """Controlled shutdown and the way back into the ISR, for the oldest broker."""
    create_topic(older_cluster.bootstrap_servers, "shrinks", partitions=4, replicas=2)
    survivor = admin_client(older_cluster.broker(2).address)

    older_cluster.broker(1).stop()
    await_result(
        lambda: isrs(survivor, "shrinks") == {index: [2] for index in range(4)},
        "broker 1 is out of every ISR",
    )
    older_cluster.broker(1).start()
    await_result(
        lambda: isrs(survivor, "shrinks") == {index: [1, 2] for index in range(4)},
        "broker 1 is in every ISR again",
        60.0,
    )


def test_older_brokers_bound_the_metadata_version(older_cluster: Cluster) -> None:
    """No upgrade beyond what every registered broker supports."""
    result = older_cluster.tools().run(
        "kafka-features",
        "--bootstrap-server",
        older_cluster.bootstrap_servers,
        "upgrade",
        "--feature",
        "metadata.version=25",
    )
    assert result.exit_code != 0
    assert "Broker 1 only supports versions 1-21" in result.output
