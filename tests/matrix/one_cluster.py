"""Brokers of all releases in one cluster, at the latest level that all of them have."""

from __future__ import annotations

from pathlib import Path

import pytest

from kraftctl.dev.cluster import Cluster
from kraftctl.dev.settings import replication_for
from tests.matrix.releases import NAMES, RELEASES, UPGRADE, latest, release_of, update
from tests.matrix.results import keep
from tests.matrix.serving import await_in_sync, serves
from tests.support.processes.clients import consume, produce
from tests.support.processes.cluster import await_live
from tests.support.processes.kafka import kafka

pytestmark = [pytest.mark.interop, pytest.mark.timeout(900)]

PART = "one_cluster"

HEAP = "256m"


def test_all_releases_in_one_cluster(tmp_path: Path) -> None:
    """Each broker has a replica of everything, leaves, and returns. The next level is refused."""
    level = min(latest(release) for release in RELEASES)
    settings = {**replication_for(3), "min.insync.replicas": "2"}
    cluster = Cluster(
        kafka(RELEASES[0]),
        tmp_path,
        brokers=len(RELEASES),
        release_version=release_of(level),
        controller_settings=settings,
        broker_settings=settings,
        broker_kafkas=[kafka(release) for release in RELEASES],
    )
    try:
        cluster.format()
        cluster.start_controllers()
        for broker in cluster.brokers:
            broker.heap = HEAP
            broker.start()
        serves(cluster, "everywhere")
        for broker in cluster.brokers:
            others = ",".join(other.address for other in cluster.brokers if other is not broker)
            broker.stop()
            produce(others, "everywhere", [b"plain"] * 10, is_idempotent=True)
            broker.start()
            await_in_sync(cluster, "everywhere")
        await_live(cluster, {broker.node_id for broker in cluster.brokers})
        assert len(consume(cluster.bootstrap_servers, "everywhere", 200 + 10 * len(RELEASES))) >= 260
        refusal = update(cluster.controller.port, level + 1, UPGRADE)
        assert "Broker 1 only supports versions" in (refusal or ""), refusal
    finally:
        cluster.kill()
    keep(PART, ", ".join(RELEASES), f"{level}, {NAMES[level]}")
