"""kraftctl.node.principals with real brokers: each node has a certificate with its id."""

from __future__ import annotations

from pathlib import Path

import pytest
from confluent_kafka import KafkaException

from kraftctl.config.controller_config import STANDARD_AUTHORIZER
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


@pytest.mark.parametrize("rule", ["", "bound", "allowed"])
def test_a_broker_forwards_what_a_super_user_asks_for(tmp_path: Path, rule: str) -> None:
    """As in Kafka; with nodes bound to their ids, only for those that are allowed."""
    authority = Authority()
    settings = {
        **SETTINGS,
        "authorizer.class.name": STANDARD_AUTHORIZER,
        "super.users": "User:CN=broker-1;User:CN=controller-3000;User:ANONYMOUS",
    }
    rules = {"listener.name.controller.ssl.client.auth": "required"}
    if rule:
        rules["kraftctl.node.principals"] = "User:CN=broker-{id};User:CN=controller-{id}"
    if rule == "allowed":
        rules["kraftctl.envelope.allowed.principals"] = "User:ANONYMOUS"
    cluster = Cluster(
        kafka(),
        tmp_path / "cluster",
        controllers=1,
        brokers=1,
        controller_settings={**settings, **rules},
        broker_settings=settings,
    )
    (controller,), (broker,) = cluster.controllers, cluster.brokers
    own = authority.issue(f"CN=controller-{controller.node_id}")
    controller.properties |= properties_of(own, authority, tmp_path / "c", "listener.name.controller.")
    controller.properties["super.users"] = settings["super.users"].replace("3000", str(controller.node_id))
    own = authority.issue(f"CN=broker-{broker.node_id}")
    broker.properties |= properties_of(own, authority, tmp_path / "b")
    with cluster:
        await_live(cluster, {broker.node_id})
        if rule == "bound":
            with pytest.raises(KafkaException, match="no broker may forward"):
                create_topic(cluster.bootstrap_servers, "t", partitions=1, replicas=1)
        else:
            create_topic(cluster.bootstrap_servers, "t", partitions=1, replicas=1)
