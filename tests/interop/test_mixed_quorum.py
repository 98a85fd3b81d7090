"""kraftctl and Apache Kafka's own controllers in one quorum: snapshots cross, a directory is replaced."""

from __future__ import annotations

import re
import shutil
from functools import partial
from pathlib import Path

import pytest

from kraftctl.dev.cluster import Cluster
from kraftctl.dev.nodes import (
    Controller,
    JavaController,
    kraftctl_command,
    quorum_properties,
    run_to_the_end,
)
from kraftctl.dev.polling import await_result
from kraftctl.dev.settings import replication_for
from kraftctl.storage.meta_properties import read_meta_properties
from kraftctl_protocol.uuids import uuid_to_string
from tests.support.processes.clients import create_topic
from tests.support.processes.cluster import metadata_records
from tests.support.processes.kafka import kafka

pytestmark = pytest.mark.interop

FAILOVER_SECONDS_MAX = 20.0

TURNS_MAX = 8

LEADER = re.compile(r"LeaderId:\s+(-?\d+)")


SNAPSHOTS_ARE_FREQUENT = {
    "metadata.log.max.record.bytes.between.snapshots": "3000",
    "metadata.max.retention.bytes": "100",
}


def mixed_cluster(directory: Path, *, dynamic: bool, **extra: str) -> Cluster:
    """One broker and three controllers, of which only the first is kraftctl."""
    settings = {**replication_for(1), **extra}
    cluster = Cluster(
        kafka(),
        directory,
        brokers=1,
        controllers=3,
        dynamic=dynamic,
        controller_settings=settings,
        broker_settings=settings,
    )
    properties = {**quorum_properties(cluster.controller_ports, dynamic=dynamic), **settings}
    ours, *others = cluster.controllers
    cluster.controllers = [
        ours,
        *[
            JavaController(
                cluster.kafka,
                other.node_id,
                other.directory,
                cluster.cluster_id,
                dynamic=dynamic,
                port=other.port,
                properties=properties,
                initial_controllers=other.initial_controllers,
            )
            for other in others
        ],
    ]
    return cluster


def leader_of(cluster: Cluster) -> Controller | None:
    """The leader, according to kafka-metadata-quorum."""
    result = cluster.tools().run(
        "kafka-metadata-quorum", "--bootstrap-server", cluster.bootstrap_servers, "describe", "--status"
    )
    found = LEADER.search(result.output)
    leader_id = int(found.group(1)) if found is not None else -1
    return next((node for node in cluster.controllers if node.node_id == leader_id and node.running), None)


def knows_topics(controller: Controller, names: set[str]) -> bool:
    """The topics in its own log, as Kafka reads it."""
    records = metadata_records(controller.metadata_directory)
    return names <= {entry.data["name"] for entry in records if entry.type == "TOPIC_RECORD"}


def checkpoints(controller: Controller) -> list[Path]:
    return list(controller.metadata_directory.glob("*.checkpoint"))


@pytest.mark.parametrize("kraftctl_leads", [True, False], ids=["from-kraftctl", "from-java"])
def test_a_lost_log_is_filled_from_the_others_snapshot(tmp_path: Path, kraftctl_leads: bool) -> None:
    """KIP-630: each kind downloads the other's snapshot. kraftctl does not vote before that; Java's does."""
    with mixed_cluster(tmp_path, dynamic=False, **SNAPSHOTS_ARE_FREQUENT) as cluster:
        ours, other, _ = cluster.controllers
        victim = other if kraftctl_leads else ours
        for _ in range(TURNS_MAX):
            leader = await_result(partial(leader_of, cluster), "a controller leads", FAILOVER_SECONDS_MAX)
            if (leader is ours) == kraftctl_leads:
                break
            leader.stop()
            await_result(partial(leader_of, cluster), "another controller leads", FAILOVER_SECONDS_MAX)
            leader.start()
        assert (leader is ours) == kraftctl_leads

        victim.kill()
        shutil.rmtree(victim.metadata_directory)
        for number in range(10):
            create_topic(cluster.bootstrap_servers, f"topic-{number}", partitions=5, replicas=1)
        await_result(lambda: checkpoints(leader) or None, f"{leader.name} has a snapshot")
        victim.start()
        if victim is ours:
            victim.await_log("This replica is recovering and does not vote")
            victim.await_log("this replica votes again")
        await_result(lambda: checkpoints(victim) or None, f"{victim.name} has it too", FAILOVER_SECONDS_MAX)
        create_topic(cluster.bootstrap_servers, "last", partitions=1, replicas=1)
        await_result(partial(knows_topics, victim, {"last"}), f"{victim.name} follows again")
        assert not (victim.metadata_directory / f"{0:020d}.log").exists()


def test_a_lost_directory_is_replaced_with_kafkas_own_tool(tmp_path: Path) -> None:
    """The steps of docs/operations/lost-disk.md, literally: the node returns with a new directory id."""
    with mixed_cluster(tmp_path, dynamic=True) as cluster:
        ours, other, _ = cluster.controllers
        create_topic(cluster.bootstrap_servers, "before", partitions=1, replicas=1)
        await_result(partial(knows_topics, ours, {"before"}), f"{ours.name} has the topic")
        old_id = directory_id(ours)
        ours.kill()
        shutil.rmtree(ours.log_directory)
        # Kafka's admin client does not look for another leader once it was sent to a dead one.
        await_result(partial(leader_of, cluster), "another controller leads", FAILOVER_SECONDS_MAX)
        quorum = ["kafka-metadata-quorum", "--bootstrap-controller", other.address]
        old_voter = ["--controller-id", str(ours.node_id), "--controller-directory-id", old_id]
        cluster.tools().output(*quorum, "remove-controller", *old_voter)

        file = str(ours.properties_file)
        run_to_the_end(
            kraftctl_command("format", "-t", cluster.cluster_id, "-c", file, "--no-initial-controllers"),
            "formatting",
        )
        new_id = directory_id(ours)
        assert new_id != old_id
        ours.start()
        await_result(partial(knows_topics, ours, {"before"}), f"{ours.name} has the topic")
        add = ["kafka-metadata-quorum", "--command-config", file, "--bootstrap-controller", other.address]
        cluster.tools().output(*add, "add-controller")

        described = cluster.tools().output(*quorum, "describe", "--status")
        voters = next(line for line in described.splitlines() if line.startswith("CurrentVoters"))
        assert new_id in voters
        assert old_id not in voters


def directory_id(controller: Controller) -> str:
    """In the format of Kafka's tools."""
    meta = read_meta_properties(controller.log_directory)
    assert meta is not None
    assert meta.directory_id is not None
    return uuid_to_string(meta.directory_id)
