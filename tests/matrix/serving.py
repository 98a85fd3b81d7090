"""A cluster serves: topics, transactions, groups, and replicas on every broker."""

from __future__ import annotations

import signal
from collections import Counter
from functools import partial

from kraftctl.dev.cluster import Cluster
from kraftctl.dev.polling import await_result
from tests.support.processes.clients import admin_client, consume, create_topic, isrs, produce

RECORDS = 100
IN_SYNC_SECONDS_MAX = 90.0


def servers_of(cluster: Cluster) -> str:
    """The brokers that run."""
    return ",".join(broker.address for broker in cluster.brokers if broker.running)


def serves(cluster: Cluster, topic: str) -> None:
    """A topic with a replica on each broker takes records, some in a transaction; a group reads them."""
    servers = servers_of(cluster)
    replicas = sum(broker.running for broker in cluster.brokers)
    create_topic(servers, topic, partitions=replicas, replicas=replicas)
    produce(servers, topic, [b"plain"] * RECORDS, is_idempotent=True)
    produce(servers, topic, [b"transactional"] * RECORDS, transactional_id=f"writer-of-{topic}")
    found = Counter(consume(servers, topic, 2 * RECORDS))
    assert found == {b"plain": RECORDS, b"transactional": RECORDS}, f"{topic} has {found}"


def await_in_sync(cluster: Cluster, topic: str) -> None:
    """Each replica of the topic is in sync."""
    admin = admin_client(servers_of(cluster))
    running = sorted(broker.node_id for broker in cluster.brokers if broker.running)

    def all_are() -> bool:
        return all(isr == running for isr in isrs(admin, topic).values())

    await_result(partial(all_are), f"all replicas of {topic} are in sync", IN_SYNC_SECONDS_MAX)


def restart(cluster: Cluster) -> None:
    """All brokers together: they shut down under control, and register anew."""
    running = [broker for broker in cluster.brokers if broker.running]
    for broker in running:
        assert broker.process is not None
        broker.process.signal(signal.SIGTERM)
    for broker in running:
        broker.stop()
    for broker in running:
        broker.start(wait=False)
    for broker in running:
        broker.await_ready()
