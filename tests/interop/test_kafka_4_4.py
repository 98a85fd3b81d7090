"""Kafka's tools raise a cluster from 4.3 to 4.4: controllers of kraftctl and of 4.4.0, a broker of 4.4.0."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

import pytest

from kraftctl.dev.cluster import Cluster
from kraftctl.dev.nodes import Controller, JavaController, KraftctlController
from kraftctl.dev.polling import await_result
from kraftctl.dev.settings import replication_for
from kraftctl.dev.tools import ToolResult
from kraftctl_protocol.generated.unregister_controller_record import UnregisterControllerRecord
from kraftctl_protocol.metadata_record import decode_metadata_record
from kraftctl_protocol.record_batch import read_batches
from tests.support.processes.clients import consume, create_topic, produce
from tests.support.processes.kafka import kafka
from tests.support.processes.mixed_quorum import have_caught_up, make_lead

pytestmark = [pytest.mark.interop, pytest.mark.long]

KAFKA_4_4 = "4.4.0"
ACLS = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """At metadata.version 4.3: two controllers of kraftctl, one of Kafka 4.4.0."""
    settings = {**replication_for(1), **ACLS}
    with Cluster(
        kafka(KAFKA_4_4),
        tmp_path_factory.mktemp("4.4"),
        brokers=1,
        controllers=3,
        controller_kafkas=[kafka(KAFKA_4_4)],
        release_version="4.3",
        controller_settings=settings,
        broker_settings=settings,
    ) as started:
        yield started


def run(cluster: Cluster, tool: str, *arguments: str) -> ToolResult:
    return cluster.tools().run(tool, "--bootstrap-server", cluster.bootstrap_servers, *arguments)


def unregistrations(controller: Controller) -> list[int]:
    """Whom the records in its log unregister, in order."""
    found: list[int] = []
    for segment in sorted(controller.metadata_directory.glob("*.log")):
        for batch in read_batches(segment.read_bytes(), partial_tail=True):
            for entry in [] if batch.header.is_control else batch.records:
                record = decode_metadata_record(entry.value or b"").record
                if isinstance(record, UnregisterControllerRecord):
                    found.append(record.controller_id)
    return found


def test_a_network_is_refused_below_its_level(cluster: Cluster) -> None:
    refused = run(cluster, "kafka-acls", *ACL)
    assert "UnsupportedVersionException" in refused.output


ACL = (
    "--add",
    "--allow-principal",
    "User:a",
    "--allow-host",
    "10.0.0.0/8",
    "--operation",
    "Read",
    "--topic",
    "t",
)


def test_kafka_features_raises_the_release_and_not_back(cluster: Cluster) -> None:
    upgraded = run(cluster, "kafka-features", "upgrade", "--release-version", "4.4")
    assert upgraded.exit_code == 0, upgraded.output
    described = run(cluster, "kafka-features", "describe").output
    levels = dict(re.findall(r"Feature: (\S+)\s.*FinalizedVersionLevel: (\S+)", described))
    assert (levels["metadata.version"], levels["share.version"]) == ("4.4-IV2", "2"), described
    for level in (30, 32):
        lowered = run(cluster, "kafka-features", "downgrade", "--feature", f"metadata.version={level}")
        assert lowered.exit_code != 0
        assert "might delete metadata" in lowered.output


def test_the_broker_serves_and_returns(cluster: Cluster) -> None:
    (broker,) = cluster.brokers
    create_topic(cluster.bootstrap_servers, "at-4.4", partitions=2, replicas=1)
    produce(cluster.bootstrap_servers, "at-4.4", [b"value"] * 100, transactional_id="writer")
    broker.stop()
    broker.start()
    assert len(consume(cluster.bootstrap_servers, "at-4.4", 100)) == 100
    created = run(cluster, "kafka-acls", *ACL)
    assert created.exit_code == 0, created.output
    assert "host=10.0.0.0/8" in run(cluster, "kafka-acls", "--list", "--topic", "t").output


@pytest.mark.parametrize("kind", [KraftctlController, JavaController])
def test_a_controller_is_unregistered_by_whoever_leads(cluster: Cluster, kind: type[Controller]) -> None:
    """All have the record; the one that was meant is alive, and registers again."""
    leader = make_lead(cluster, kind)
    other = next(each for each in cluster.controllers if each is not leader)
    assert "ControllerIdNotRegisteredException" in unregister(cluster, 3999).output
    own = unregister(cluster, leader.node_id)
    assert "InvalidRequestException" in own.output, own.output
    before = len(unregistrations(leader))
    done = unregister(cluster, other.node_id)
    assert done.exit_code == 0, done.output
    assert unregistrations(leader)[before:] == [other.node_id]
    await_result(partial(have_caught_up, cluster.controllers), "all follow", 30.0)
    for controller in cluster.controllers:
        assert unregistrations(controller) == unregistrations(leader)


def unregister(cluster: Cluster, controller_id: int) -> ToolResult:
    return cluster.tools().run(
        "kafka-cluster",
        "unregister-controller",
        "--id",
        str(controller_id),
        "--bootstrap-controller",
        cluster.bootstrap_controllers,
    )
