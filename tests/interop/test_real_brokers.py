"""Three Apache Kafka brokers with kraftctl as their controller: traffic, kills, restarts and shutdowns."""

from __future__ import annotations

import time

import pytest

from kraftctl.dev.polling import await_result
from tests.support.processes.clients import (
    admin_client,
    consume,
    create_topic,
    end_offsets,
    isrs,
    leaders,
    live_brokers,
    produce,
)
from tests.support.processes.cluster import await_live, metadata_records, partition_epochs
from tests.support.processes.kafka import Cluster

pytestmark = pytest.mark.interop

SESSION_TIMEOUT_S = 9.0
"""Default of broker.session.timeout.ms."""

HEARTBEAT_INTERVAL_S = 2.0

PARTITIONS = 6

ALL_IN_SYNC = {index: [1, 2, 3] for index in range(PARTITIONS)}


def test_brokers_register_and_serve_producers_and_consumers(cluster: Cluster) -> None:
    """20,000 records with acks=all, some of them in a transaction, are all read back."""
    create_topic(cluster.bootstrap_servers, "orders", partitions=PARTITIONS)
    plain = [b"plain-%d" % number for number in range(15_000)]
    transactional = [b"transactional-%d" % number for number in range(5_000)]

    produce(cluster.bootstrap_servers, "orders", plain)
    produce(cluster.bootstrap_servers, "orders", transactional, transactional_id="orders-writer")

    values = consume(cluster.bootstrap_servers, "orders", len(plain) + len(transactional))
    assert sorted(values) == sorted(plain + transactional)


def test_a_killed_broker_is_fenced_and_returns_to_every_isr(cluster: Cluster) -> None:
    """After kill -9: fenced when its session ends, leaders move; on return AlterPartition grows the ISRs."""
    create_topic(cluster.bootstrap_servers, "fenced", partitions=PARTITIONS)
    produce(cluster.bootstrap_servers, "fenced", [b"before-%d" % number for number in range(1_000)])
    survivors = admin_client(f"{cluster.broker(1).address},{cluster.broker(3).address}")

    cluster.broker(2).kill()
    killed_at_s = time.monotonic()
    await_live(cluster, {1, 3}, timeout_s=3 * SESSION_TIMEOUT_S)
    fenced_after_s = time.monotonic() - killed_at_s

    assert fenced_after_s > SESSION_TIMEOUT_S - HEARTBEAT_INTERVAL_S - 1.0
    assert set(leaders(survivors, "fenced").values()) == {1, 3}
    assert isrs(survivors, "fenced") == {index: [1, 3] for index in range(PARTITIONS)}
    produce(cluster.bootstrap_servers, "fenced", [b"during-%d" % number for number in range(1_000)])

    cluster.broker(2).start()
    await_live(cluster, {1, 2, 3})
    await_result(lambda: isrs(survivors, "fenced") == ALL_IN_SYNC, "broker 2 is in every ISR again", 60.0)
    produce(cluster.bootstrap_servers, "fenced", [b"after-%d" % number for number in range(1_000)])
    assert len(consume(cluster.bootstrap_servers, "fenced", 3_000)) == 3_000


def test_a_stopping_broker_hands_over_without_waiting_for_its_session(cluster: Cluster) -> None:
    """KIP-841: SIGTERM is a controlled shutdown; leaders move while the broker still serves."""
    create_topic(cluster.bootstrap_servers, "handed-over", partitions=PARTITIONS)
    survivors = admin_client(f"{cluster.broker(1).address},{cluster.broker(2).address}")

    stopped_at_s = time.monotonic()
    cluster.broker(3).stop()
    stopped_after_s = time.monotonic() - stopped_at_s

    assert "asked us to exit controlled shutdown" in cluster.broker(3).log_file.read_text()
    assert stopped_after_s < SESSION_TIMEOUT_S
    await_live(cluster, {1, 2}, timeout_s=SESSION_TIMEOUT_S - stopped_after_s)
    assert set(leaders(survivors, "handed-over").values()) == {1, 2}
    assert isrs(survivors, "handed-over") == {index: [1, 2] for index in range(PARTITIONS)}

    cluster.broker(3).start()
    await_result(
        lambda: isrs(survivors, "handed-over") == ALL_IN_SYNC, "broker 3 is in every ISR again", 60.0
    )


def test_a_paused_broker_is_fenced_and_comes_back_by_itself(cluster: Cluster) -> None:
    """A paused process loses its session; its next heartbeat, with the same epoch, unfences it."""
    create_topic(cluster.bootstrap_servers, "paused", partitions=PARTITIONS)
    survivors = admin_client(f"{cluster.broker(2).address},{cluster.broker(3).address}")
    process = cluster.broker(1).process

    cluster.broker(1).pause()
    try:
        await_result(lambda: live_brokers(survivors) == {2, 3}, "broker 1 is fenced", 3 * SESSION_TIMEOUT_S)
        assert set(leaders(survivors, "paused").values()) == {2, 3}
    finally:
        cluster.broker(1).resume()

    await_live(cluster, {1, 2, 3})
    await_result(lambda: isrs(survivors, "paused") == ALL_IN_SYNC, "broker 1 is in every ISR again", 60.0)
    assert cluster.broker(1).process is process
    assert cluster.broker(1).running


def test_brokers_outlive_a_killed_controller(cluster: Cluster) -> None:
    """After kill -9 of the controller and a restart nothing is lost: topics, epochs, registrations."""
    create_topic(cluster.bootstrap_servers, "outlives", partitions=PARTITIONS)
    processes = [broker.process for broker in cluster.brokers]
    epochs = partition_epochs(metadata_records(cluster.controller.metadata_directory))

    cluster.controller.kill()
    produce(cluster.bootstrap_servers, "outlives", [b"no-controller-%d" % number for number in range(1_000)])
    cluster.controller.start()

    create_topic(cluster.bootstrap_servers, "created-later", partitions=PARTITIONS)
    await_live(cluster, {1, 2, 3})
    assert [broker.process for broker in cluster.brokers] == processes
    assert all(broker.running for broker in cluster.brokers)
    now = partition_epochs(metadata_records(cluster.controller.metadata_directory))
    assert {key: now[key] for key in epochs} == epochs
    assert len(consume(cluster.bootstrap_servers, "outlives", 1_000)) == 1_000
    assert sum(end_offsets(cluster.bootstrap_servers, "created-later", PARTITIONS).values()) == 0


def test_the_log_is_the_same_on_controller_and_broker(cluster: Cluster) -> None:
    """The brokers' logs equal the controller's, record by record."""
    create_topic(cluster.bootstrap_servers, "compared", partitions=1)
    written = metadata_records(cluster.controller.metadata_directory)
    offset = next(
        record.offset
        for record in written
        if record.type == "TOPIC_RECORD" and record.data["name"] == "compared"
    )

    for broker in cluster.brokers:
        fetched = metadata_records(broker.metadata_directory)
        first = fetched[0].offset
        assert fetched[-1].offset >= offset
        upto = min(fetched[-1].offset, written[-1].offset)
        assert [r for r in fetched if r.offset <= upto] == [r for r in written if first <= r.offset <= upto]
