"""KIP-858, KIP-630: brokers with several log directories, and brokers that start from a snapshot."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kraftctl.dev.settings import replication_for
from tests.support.processes.clients import admin_client, consume, create_topic, isrs, leaders, produce
from tests.support.processes.cluster import JAVA_CONTROLLER, metadata_records
from tests.support.processes.kafka import Cluster, JavaBroker, Node, await_result, kafka

pytestmark = pytest.mark.interop

SNAPSHOT_BYTES = 2_000
"""Small enough for a snapshot after a few topics."""


@pytest.fixture(scope="module")
def small_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """One broker, with a controller that writes snapshots often."""
    with Cluster(
        kafka(),
        tmp_path_factory.mktemp("snapshots"),
        brokers=1,
        java_controller=JAVA_CONTROLLER,
        controller_settings={
            **replication_for(1),
            "metadata.log.max.record.bytes.between.snapshots": str(SNAPSHOT_BYTES),
        },
        broker_settings=replication_for(1),
    ) as cluster:
        yield cluster


def snapshots(node: Node) -> list[str]:
    """Snapshots in its metadata directory, without the one that formatting writes."""
    files = node.metadata_directory.glob("*.checkpoint")
    return sorted(file.name for file in files if not file.name.startswith(f"{0:020}"))


def start_broker(cluster: Cluster, node_id: int, *further_directories: str) -> JavaBroker:
    """One more broker."""
    broker = cluster.new_broker(node_id, further_directories=further_directories)
    cluster.brokers.append(broker)
    broker.format()
    broker.start()
    return broker


def test_a_new_broker_starts_from_a_snapshot(small_cluster: Cluster) -> None:
    """KIP-630: an empty broker fetches the newest snapshot, and is then like the others."""
    for number in range(20):
        create_topic(small_cluster.bootstrap_servers, f"before-{number}", partitions=3, replicas=1)
    await_result(lambda: snapshots(small_cluster.controller), "a snapshot", 60.0)

    broker = start_broker(small_cluster, 2)
    assert snapshots(broker)
    assert not (broker.metadata_directory / f"{0:020}.log").exists()
    admin = admin_client(broker.address)
    assert all(leaders(admin, f"before-{number}") == {0: 1, 1: 1, 2: 1} for number in range(20))

    create_topic(small_cluster.bootstrap_servers, "after", partitions=4, replicas=2)
    produce(small_cluster.bootstrap_servers, "after", [b"value"] * 500)
    assert len(consume(small_cluster.bootstrap_servers, "after", 500)) == 500


def test_replicas_are_assigned_to_directories(small_cluster: Cluster) -> None:
    """KIP-858: a broker with two log directories reports the directories of its replicas."""
    broker = start_broker(small_cluster, 3, "data-2")
    admin = admin_client(broker.address)
    create_topic(small_cluster.bootstrap_servers, "spread", partitions=6, replicas=3)
    await_result(
        lambda: isrs(admin, "spread") == {index: [1, 2, 3] for index in range(6)}, "all replicas are in sync"
    )
    records = metadata_records(small_cluster.controller.metadata_directory)
    topic_id = next(
        record.data["topicId"]
        for record in records
        if record.type == "TOPIC_RECORD" and record.data["name"] == "spread"
    )

    def assigned() -> set[str]:
        changes = [
            record.data
            for record in metadata_records(small_cluster.controller.metadata_directory)
            if record.type == "PARTITION_CHANGE_RECORD" and record.data["topicId"] == topic_id
        ]
        return {directory for change in changes for directory in change.get("directories", [])}

    expected = set(broker.directory_ids())
    assert len(expected) == 2
    await_result(
        lambda: expected <= assigned(), "both directories are in the metadata log", 60.0, interval_s=1.0
    )
