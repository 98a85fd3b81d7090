"""`kraftctl explain` beside real brokers, with controllers of kraftctl and of Kafka."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from functools import partial
from typing import Any
from urllib.request import urlopen

import pytest
from confluent_kafka.admin import NewTopic

from kraftctl.dev.nodes import kraftctl_command
from kraftctl.dev.ports import free_port
from kraftctl.dev.settings import replication_for
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
    """Two brokers: a topic on the second alone, and one on both that needs both."""
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
            NewTopic("pair", 1, replica_assignment=[[1, 2]], config={"min.insync.replicas": "2"}),
        ]
        admin = admin_client(made.bootstrap_servers)
        for created in admin.create_topics(topics).values():
            created.result(20)
        yield made


def explained(source: list[str], *subject: str) -> dict[str, Any]:
    """The explanation as JSON."""
    done = subprocess.run(
        kraftctl_command("explain", *subject, *source, "--output", "json"),
        capture_output=True,
        text=True,
        timeout=60.0,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    assert done.returncode == (0 if found["healthy"] else 10), (found, done.stderr)
    return found


def is_healthy(source: list[str], expected: bool, *subject: str) -> bool:
    return explained(source, *subject)["healthy"] == expected


def test_a_broker_that_is_killed_and_one_that_is_stopped(cluster: Cluster) -> None:
    source = ["--bootstrap-controllers", cluster.bootstrap_controllers]
    files = ["--directory", str(cluster.controller.log_directory)]
    second = cluster.broker(2)
    await_live(cluster, {1, 2})
    for subject in (
        ["partition", "solo-0"],
        ["topic", "pair"],
        ["broker", "2"],
        ["quorum"],
        ["reassignment"],
    ):
        assert explained(source, *subject)["healthy"], explained(source, *subject)

    second.kill()
    fenced = partial(is_healthy, source, False, "partition", "solo-0")
    await_result(fenced, "solo-0 has no leader", FENCED_SECONDS_MAX)
    (record,) = [
        record
        for record in metadata_records(cluster.controller.metadata_directory)
        if record.type == "BROKER_REGISTRATION_CHANGE_RECORD"
        and (record.data["brokerId"], record.data.get("fenced")) == (2, 1)
    ]
    for where in (source, files):
        found = explained(where, "partition", "solo-0")
        assert found["statement"]["text"] == "solo-0 has no leader"
        assert found["causes"][0]["text"] == "its only replica, broker 2, is fenced"
        assert found["causes"][0]["offset"] == record.offset
        assert found["next_step"] == "start broker 2; it is elected when it is unfenced"
    expired, last_fetch = (cause["text"] for cause in explained(source, "broker", "2")["causes"])
    assert expired.startswith("its session seems to have expired (broker.session.timeout.ms)"), expired
    assert last_fetch.startswith("the last fetch of broker 2 was "), last_fetch
    listener = cluster.controller.properties.get("kraftctl.operate.listeners")
    if listener is not None:
        status = cluster.directory / "status.json"
        status.write_bytes(urlopen(f"{listener}/status.json", timeout=10.0).read())
        known = explained(source, "broker", "2", "--status", str(status))["causes"][0]["text"]
        assert known.startswith("broker 2 has no session with the active controller; its last fetch was "), (
            known
        )
    pair = explained(source, "topic", "pair")
    assert pair["statement"]["text"] == "1 of 1 partition of pair is under min.insync.replicas"
    assert pair["causes"][0]["text"] == "pair-0: broker 2 is fenced"

    second.start()
    await_result(partial(is_healthy, source, True, "topic", "pair"), "pair is in sync", FENCED_SECONDS_MAX)
    second.stop()
    stopped = explained(source, "broker", "2")
    assert stopped["statement"]["text"] == "Broker 2 is fenced"
    assert stopped["causes"][0]["text"].startswith("it was in its controlled shutdown: it stopped in order")
