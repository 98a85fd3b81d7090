"""kraftctl.node.principals with real brokers: each node has a certificate with its id."""

from __future__ import annotations

from pathlib import Path

import pytest

from kraftctl.dev.settings import BROKER_LISTENER, CONTROLLER_LISTENER
from tests.support.certificates import Authority, properties_of
from tests.support.processes.clients import consume, create_topic, produce
from tests.support.processes.cluster import await_live
from tests.support.processes.kafka import Cluster, await_result, kafka

pytestmark = [pytest.mark.interop, pytest.mark.long]

SETTINGS = {
    "listener.security.protocol.map": f"{CONTROLLER_LISTENER}:SSL,{BROKER_LISTENER}:PLAINTEXT",
}


def test_a_broker_with_the_certificate_of_another_is_refused(tmp_path: Path) -> None:
    authority = Authority()
    rule = {
        "kraftctl.node.principals": "User:CN=broker-{id};User:CN=controller-{id}",
        "listener.name.controller.ssl.client.auth": "required",
    }
    cluster = Cluster(
        kafka(),
        tmp_path / "cluster",
        controllers=3,
        brokers=2,
        controller_settings={**SETTINGS, **rule},
        broker_settings={
            **SETTINGS,
            "default.replication.factor": "2",
            "offsets.topic.replication.factor": "2",
            "min.insync.replicas": "1",
        },
    )
    for controller in cluster.controllers:
        own = authority.issue(f"CN=controller-{controller.node_id}")
        directory = tmp_path / controller.name
        controller.properties |= properties_of(own, authority, directory, "listener.name.controller.")
    for broker in cluster.brokers:
        own = authority.issue(f"CN=broker-{broker.node_id}")
        broker.properties |= properties_of(own, authority, tmp_path / broker.name)
    with cluster:
        await_live(cluster, {1, 2})
        create_topic(cluster.bootstrap_servers, "t", partitions=2, replicas=2)
        produce(cluster.bootstrap_servers, "t", [b"x"] * 100)
        assert len(consume(cluster.bootstrap_servers, "t", 100)) == 100
        first, second = cluster.brokers
        second.stop()
        second.properties |= {key: value for key, value in first.properties.items() if key.startswith("ssl.")}
        second.start(wait=False)
        await_result(
            lambda: not second.running, "the broker ends, as Kafka's do when they may not fetch", 60.0
        )
        assert "ClusterAuthorizationException" in second.log_file.read_text()
        await_live(cluster, {1})
