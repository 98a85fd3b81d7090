"""`kraftctl explain` beside real brokers, with controllers of kraftctl and of Kafka."""

from __future__ import annotations

import contextlib
import io
import json
import signal
from collections.abc import Iterator
from functools import partial
from typing import Any
from urllib.request import urlopen

import pytest
from confluent_kafka.admin import NewTopic

from kraftctl.cli import main
from kraftctl.dev.nodes import KraftctlController
from kraftctl.dev.ports import free_port
from kraftctl.dev.settings import replication_for
from kraftctl.server.process.clock import Clock
from kraftctl_admin.admin_client import AdminClient
from kraftctl_admin.client_config import parse_client_config
from kraftctl_protocol.errors import error_of
from kraftctl_protocol.generated.alter_partition_reassignments_request import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from kraftctl_protocol.generated.alter_partition_reassignments_response import (
    AlterPartitionReassignmentsResponse,
)
from kraftctl_protocol.generated.unregister_broker_request import UnregisterBrokerRequest
from kraftctl_protocol.generated.unregister_broker_response import UnregisterBrokerResponse
from tests.support.processes.clients import admin_client
from tests.support.processes.cluster import await_live, metadata_records
from tests.support.processes.kafka import Cluster, await_result, kafka

pytestmark = [pytest.mark.interop, pytest.mark.slow, pytest.mark.timeout(280)]

FENCED_SECONDS_MAX = 60.0


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(False, id="kraftctl"),
        pytest.param(True, id="java", marks=pytest.mark.long),
    ],
)
def cluster(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Two brokers: a topic on the second alone, one on each, and one on both that needs both.

    The tests follow one after the other.
    """
    operated = {} if request.param else {"kraftctl.operate.listeners": f"http://127.0.0.1:{free_port()}"}
    with Cluster(
        kafka(),
        tmp_path_factory.mktemp("explain"),
        brokers=2,
        java_controller=request.param,
        controller_settings={**replication_for(2), **operated},
        broker_settings=replication_for(2),
    ) as made:
        topics = [
            NewTopic("solo", 1, replica_assignment=[[2]]),
            NewTopic("mixed", 2, replica_assignment=[[2], [1]]),
            NewTopic("pair", 1, replica_assignment=[[1, 2]], config={"min.insync.replicas": "2"}),
        ]
        admin = admin_client(made.bootstrap_servers)
        for created in admin.create_topics(topics).values():
            created.result(20)
        yield made


def explained(source: list[str], *subject: str) -> dict[str, Any]:
    """The explanation as JSON."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        status = main(["explain", *subject, *source, "--output", "json"])
    found: dict[str, Any] = json.loads(output.getvalue())
    assert status == (0 if found["healthy"] else 10), found
    return found


def is_healthy(source: list[str], expected: bool, *subject: str) -> bool:
    return explained(source, *subject)["healthy"] == expected


def waits_for_readers(source: list[str]) -> bool:
    found = explained(source, "broker", "2")
    return found["statement"]["text"] == "Broker 2 is in controlled shutdown" and found["causes"][0][
        "text"
    ].startswith("all active brokers have to read up to offset ")


def check_first(source: list[str], subject: str, statement: str, cause: str) -> dict[str, Any]:
    """Checks the beginning of the first cause; that of the statement, if there is no cause."""
    found = explained(source, *subject.split())
    assert found["statement"]["text"] == statement
    first = found["causes"][0] if found["causes"] else found["statement"]
    assert first["text"].startswith(cause), found
    return found


def source_of(cluster: Cluster) -> list[str]:
    return ["--bootstrap-controllers", cluster.bootstrap_controllers]


def controller_client(cluster: Cluster) -> AdminClient:
    controllers = [("127.0.0.1", each.port) for each in cluster.controllers]
    return AdminClient(controllers, to_controllers=True, config=parse_client_config({}), clock=Clock())


def reassign(cluster: Cluster, topic: str, index: int, replicas: list[int]) -> None:
    partition = ReassignablePartition(partition_index=index, replicas=replicas)
    request = AlterPartitionReassignmentsRequest(
        topics=[ReassignableTopic(name=topic, partitions=[partition])]
    )
    with controller_client(cluster) as client:
        response = client.call(
            request,
            AlterPartitionReassignmentsResponse,
            lambda got: (error_of(got.error_code), got.error_message),
        )
    assert response.responses[0].partitions[0].error_code == 0, response


def unregister(cluster: Cluster, broker_id: int) -> None:
    with controller_client(cluster) as client:
        client.call(
            UnregisterBrokerRequest(broker_id=broker_id),
            UnregisterBrokerResponse,
            lambda got: (error_of(got.error_code), got.error_message),
        )


def test_a_healthy_cluster_and_a_feature_that_cannot_be_raised(cluster: Cluster) -> None:
    source, controller = source_of(cluster), cluster.controller
    await_live(cluster, {1, 2})
    for subject in ("partition solo-0", "topic pair", "broker 2", "reassignment"):
        assert explained(source, *subject.split())["healthy"], explained(source, *subject.split())
    leads = f"Nothing is wrong: controller {controller.node_id} leads epoch "
    for subject in ("quorum", f"controller {controller.node_id}"):
        assert explained(source, *subject.split())["statement"]["text"].startswith(leads)
    is_java = not isinstance(controller, KraftctlController)
    check_first(
        source,
        "feature metadata.version --level 33",
        "metadata.version cannot be raised from 30 (4.3-IV0) to 33 (4.4-IV2)",
        f"{f'controller {controller.node_id}' if is_java else 'broker 1'} supports levels 7 to 30 of",
    )


def test_a_broker_is_killed(cluster: Cluster) -> None:
    source = source_of(cluster)
    files = ["--directory", str(cluster.controller.log_directory)]
    second = cluster.broker(2)
    second.kill()
    fenced = partial(is_healthy, source, False, "partition", "solo-0")
    await_result(fenced, "solo-0 has no leader", FENCED_SECONDS_MAX)
    (record,) = [
        record
        for record in metadata_records(cluster.controller.metadata_directory)
        if record.type == "BROKER_REGISTRATION_CHANGE_RECORD"
        and (record.data["brokerId"], record.data.get("fenced")) == (2, 1)
    ]
    cause = "its only replica, broker 2, is fenced"
    for where in (source, files):
        found = check_first(where, "partition solo-0", "solo-0 has no leader", cause)
        assert found["causes"][0]["offset"] == record.offset
        assert found["next_step"] == "start broker 2; it is elected when it is unfenced"
    expired, last_fetch = (each["text"] for each in explained(source, "broker", "2")["causes"])
    assert expired.startswith("its session seems to have expired (broker.session.timeout.ms)"), expired
    assert last_fetch.startswith("the last fetch of broker 2 was "), last_fetch
    listener = cluster.controller.properties.get("kraftctl.operate.listeners")
    if listener is not None:
        status = cluster.directory / "status.json"
        status.write_bytes(urlopen(f"{listener}/status.json", timeout=10.0).read())
        without = "broker 2 has no session with the active controller; its last fetch was "
        check_first([*source, "--status", str(status)], "broker 2", "Broker 2 is fenced", without)
    under = "1 of 1 partition of pair is under min.insync.replicas"
    check_first(source, "topic pair", under, "pair-0: broker 2 is fenced")
    under = "pair-0 has 1 of 2 replicas in sync, and min.insync.replicas is 2 (topic): acks=all is refused"
    check_first(source, "partition pair-0", under, "broker 2 is fenced")


def test_a_reassignment_to_a_broker_that_is_dead(cluster: Cluster) -> None:
    source = source_of(cluster)
    reassign(cluster, "mixed", 1, [2])
    moved = "mixed-1 is being reassigned, adding [2] and removing [1],"
    for subject in ("reassignment", "reassignment mixed-1"):
        found = check_first(source, subject, moved, "broker 2, which is being added, is fenced")
        assert found["next_step"].startswith("start broker 2; otherwise kafka-reassign-partitions --cancel")
    check_first(
        source,
        "partition mixed-1",
        "mixed-1 is led by broker 1, not by its preferred leader, broker 2,",
        "broker 2 is being added by a reassignment, and is not in sync yet",
    )
    found = check_first(
        source,
        "topic mixed",
        "1 of 2 partitions of mixed has no leader",
        "mixed-0: its only replica, broker 2, is fenced",
    )
    assert found["facts"][1:] == ["1 is being reassigned", "1 is not led by its preferred leader"]
    cluster.broker(2).start()
    for healed in (("topic", "pair"), ("reassignment",), ("topic", "mixed")):
        await_result(partial(is_healthy, source, True, *healed), f"{healed} is well", FENCED_SECONDS_MAX)


def test_a_broker_is_stopped_and_unregistered(cluster: Cluster) -> None:
    source, second = source_of(cluster), cluster.broker(2)
    assert second.process is not None
    cluster.broker(1).pause()
    second.process.signal(signal.SIGTERM)
    await_result(partial(waits_for_readers, source), "broker 2 leaves", FENCED_SECONDS_MAX)
    alone = explained(source, "partition", "solo-0")
    cluster.broker(1).resume()
    second.stop()
    assert alone["causes"][0]["text"] == "its only replica, broker 2, is in controlled shutdown"
    assert alone["next_step"].startswith("start broker 2 when it has stopped; it is elected")
    stopped = "it was in its controlled shutdown: it stopped in order"
    check_first(source, "broker 2", "Broker 2 is fenced", stopped)
    unregister(cluster, 2)
    check_first(source, "broker 2", "Broker 2 is unregistered", "Broker 2 is unregistered")
    found = check_first(
        source, "partition solo-0", "solo-0 has no leader", "its only replica, broker 2, is unregistered"
    )
    assert found["next_step"] == "start broker 2, which registers it; it is elected when it is unfenced"
    admin = admin_client(cluster.bootstrap_servers)
    admin.delete_topics(["mixed"])["mixed"].result(20)
    check_first(source, "topic mixed", "Topic mixed is deleted", "Topic mixed is deleted")
