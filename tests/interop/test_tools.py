"""Kafka's command line tools, through a broker and directly to the controller."""

from __future__ import annotations

import re

import pytest

from tests.support.processes.clients import create_topic
from tests.support.processes.kafka import Cluster, await_result

pytestmark = pytest.mark.interop


def test_topics(cluster: Cluster) -> None:
    """kafka-topics creates, describes, grows and deletes."""
    tools, servers = cluster.tools(), ("--bootstrap-server", cluster.bootstrap_servers)
    topic = ("--topic", "by-tool")

    tools.output(
        "kafka-topics", *servers, "--create", *topic, "--partitions", "3", "--replication-factor", "2"
    )
    described = tools.output("kafka-topics", *servers, "--describe", *topic)
    assert "PartitionCount: 3" in described
    assert "ReplicationFactor: 2" in described

    tools.output("kafka-topics", *servers, "--alter", *topic, "--partitions", "5")
    assert "PartitionCount: 5" in tools.output("kafka-topics", *servers, "--describe", *topic)

    tools.output("kafka-topics", *servers, "--delete", *topic)
    assert "by-tool" not in tools.output("kafka-topics", *servers, "--list").split()


def test_configs(cluster: Cluster) -> None:
    """kafka-configs changes topic, broker and cluster configurations and reads them back."""
    create_topic(cluster.bootstrap_servers, "configured", partitions=1)
    tools = cluster.tools()

    for entity, setting in (
        (("--entity-type", "topics", "--entity-name", "configured"), "retention.ms=86400000"),
        (("--entity-type", "brokers", "--entity-name", "1"), "log.cleaner.threads=2"),
        (("--entity-type", "brokers", "--entity-default"), "message.max.bytes=2097152"),
    ):
        servers = ("--bootstrap-server", cluster.bootstrap_servers)
        tools.output("kafka-configs", *servers, "--alter", *entity, "--add-config", setting)
        assert setting in tools.output("kafka-configs", *servers, "--describe", *entity)
        name = setting.split("=")[0]
        tools.output("kafka-configs", *servers, "--alter", *entity, "--delete-config", name)
        assert setting not in tools.output("kafka-configs", *servers, "--describe", *entity)


def test_configs_by_controller(cluster: Cluster) -> None:
    """kafka-configs --bootstrap-controller."""
    tools, controllers = cluster.tools(), ("--bootstrap-controller", cluster.bootstrap_controllers)
    entity = ("--entity-type", "brokers", "--entity-default")

    tools.output(
        "kafka-configs", *controllers, "--alter", *entity, "--add-config", "message.max.bytes=2097153"
    )
    assert "message.max.bytes=2097153" in tools.output("kafka-configs", *controllers, "--describe", *entity)
    tools.output("kafka-configs", *controllers, "--alter", *entity, "--delete-config", "message.max.bytes")


def test_configs_of_a_controller(cluster: Cluster) -> None:
    """A limit of connections of its own id, which is described with its source and can be deleted."""
    tools, controllers = cluster.tools(), ("--bootstrap-controller", cluster.bootstrap_controllers)
    entity = ("--entity-type", "brokers", "--entity-name", str(cluster.controller.node_id))
    tools.output("kafka-configs", *controllers, "--alter", *entity, "--add-config", "max.connections=5000")
    described = tools.output("kafka-configs", *controllers, "--describe", *entity)
    assert (
        "max.connections=5000 sensitive=false synonyms={DYNAMIC_BROKER_CONFIG:max.connections=5000"
        in described
    )
    tools.output("kafka-configs", *controllers, "--alter", *entity, "--delete-config", "max.connections")


def test_loggers_of_a_controller(cluster: Cluster) -> None:
    """kafka-configs lists levels and sets them; those of loggers that do not exist are refused."""
    tools, controllers = cluster.tools(), ("--bootstrap-controller", cluster.bootstrap_controllers)
    entity = ("--entity-type", "broker-loggers", "--entity-name", str(cluster.controller.node_id))
    tools.output("kafka-configs", *controllers, "--alter", *entity, "--add-config", "root=INFO")
    assert "root=INFO" in tools.output("kafka-configs", *controllers, "--describe", *entity)
    refused = tools.run("kafka-configs", *controllers, "--alter", *entity, "--add-config", "no.such=DEBUG")
    assert "no.such" in refused.output


@pytest.mark.parametrize("door", ["--bootstrap-server", "--bootstrap-controller"])
def test_metadata_quorum(cluster: Cluster, door: str) -> None:
    """kafka-metadata-quorum describe, --status and --replication: one leader, three observers."""
    address = cluster.bootstrap_servers if door == "--bootstrap-server" else cluster.bootstrap_controllers
    tools, controller_id = cluster.tools(), cluster.controller.node_id

    status = tools.output("kafka-metadata-quorum", door, address, "describe", "--status")
    assert re.search(rf"LeaderId:\s+{controller_id}\b", status)
    assert re.search(rf"ClusterId:\s+{re.escape(cluster.cluster_id)}\b", status)
    assert re.search(r"HighWatermark:\s+[1-9]\d*", status)

    replication = tools.output("kafka-metadata-quorum", door, address, "describe", "--replication")
    roles = {
        int(line.split()[0]): line.split()[-1] for line in replication.splitlines() if line[:1].isdigit()
    }
    assert roles == {controller_id: "Leader", 1: "Observer", 2: "Observer", 3: "Observer"}


@pytest.mark.parametrize("door", ["--bootstrap-server", "--bootstrap-controller"])
def test_features(cluster: Cluster, door: str) -> None:
    """kafka-features describe: the newest metadata.version is finalized."""
    address = cluster.bootstrap_servers if door == "--bootstrap-server" else cluster.bootstrap_controllers
    described = cluster.tools().output("kafka-features", door, address, "describe")
    levels = dict(re.findall(r"Feature: (\S+)\s.*FinalizedVersionLevel: (\S+)", described))
    assert levels["metadata.version"] == "4.3-IV0"
    assert levels["kraft.version"] == "1"
    assert levels["transaction.version"] == "2"


def test_cluster_tool(cluster: Cluster) -> None:
    """kafka-cluster prints the cluster id and the endpoints, through brokers and controller."""
    tools = cluster.tools()
    by_broker = tools.output("kafka-cluster", "cluster-id", "--bootstrap-server", cluster.bootstrap_servers)
    assert cluster.cluster_id in by_broker
    endpoints = tools.output(
        "kafka-cluster", "list-endpoints", "--bootstrap-controller", cluster.bootstrap_controllers
    )
    assert str(cluster.controller.port) in endpoints


def test_leader_election_and_reassignment(cluster: Cluster) -> None:
    """kafka-reassign-partitions moves a partition; kafka-leader-election makes its first replica lead."""
    create_topic(cluster.bootstrap_servers, "moved", partitions=1, replicas=2)
    tools, servers = cluster.tools(), ("--bootstrap-server", cluster.bootstrap_servers)
    plan = cluster.directory / "plan.json"
    plan.write_text('{"version":1,"partitions":[{"topic":"moved","partition":0,"replicas":[3,1]}]}')

    tools.output("kafka-reassign-partitions", *servers, "--reassignment-json-file", str(plan), "--execute")
    await_result(
        lambda: (
            "is completed"
            in tools.output(
                "kafka-reassign-partitions", *servers, "--reassignment-json-file", str(plan), "--verify"
            )
        ),
        "the reassignment is complete",
        60.0,
    )
    tools.run("kafka-leader-election", *servers, "--election-type", "preferred", "--all-topic-partitions")
    described = tools.output("kafka-topics", *servers, "--describe", "--topic", "moved")
    assert re.search(r"Leader: 3\s+Replicas: 3,1", described)


def test_acls_need_an_authorizer(cluster: Cluster) -> None:
    """Without an authorizer, kafka-acls gets SECURITY_DISABLED."""
    result = cluster.tools().run("kafka-acls", "--bootstrap-server", cluster.bootstrap_servers, "--list")
    assert "No Authorizer is configured" in result.output


def test_scram_and_quotas(cluster: Cluster) -> None:
    """kafka-configs writes SCRAM credentials and client quotas."""
    tools, servers = cluster.tools(), ("--bootstrap-server", cluster.bootstrap_servers)
    user = ("--entity-type", "users", "--entity-name", "alice")

    tools.output(
        "kafka-configs", *servers, "--alter", *user, "--add-config", "SCRAM-SHA-256=[password=secret]"
    )
    tools.output("kafka-configs", *servers, "--alter", *user, "--add-config", "producer_byte_rate=1048576")
    described = tools.output("kafka-configs", *servers, "--describe", *user)
    assert "SCRAM-SHA-256=iterations=4096" in described
    assert "producer_byte_rate=1048576" in described
    tools.output("kafka-configs", *servers, "--alter", *user, "--delete-config", "SCRAM-SHA-256")
    tools.output("kafka-configs", *servers, "--alter", *user, "--delete-config", "producer_byte_rate")
