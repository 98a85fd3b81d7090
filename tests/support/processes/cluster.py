"""A running cluster seen from outside: who is live, and what is in its metadata log."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from confluent_kafka.admin import AdminClient

from tests.support.processes.clients import admin_client, live_brokers
from tests.support.processes.kafka import Cluster, await_result, dump_log

JAVA_CONTROLLER = os.environ.get("KRAFTCTL_INTEROP_CONTROLLER") == "java"
"""Java's controller in place of kraftctl: a failure is then a fault of the test."""

RECORD_LINE = re.compile(r"^\| offset: (\d+) .* payload: (\{.*\})$")


@dataclass
class DumpedRecord:
    """One metadata record as kafka-dump-log prints it; `data` has Kafka's JSON names."""

    offset: int
    type: str
    version: int
    data: dict


def metadata_records(metadata_directory: Path) -> list[DumpedRecord]:
    """All data records of the segments in a `__cluster_metadata-0` directory, decoded by Kafka."""
    segments = sorted(metadata_directory.glob("*.log"))
    records = []
    for line in dump_log(*segments).splitlines():
        if found := RECORD_LINE.match(line):
            payload = json.loads(found.group(2))
            records.append(
                DumpedRecord(int(found.group(1)), payload["type"], payload["version"], payload["data"])
            )
    return records


def partition_epochs(records: list[DumpedRecord]) -> dict[tuple[str, int], tuple[int, int]]:
    """(topic id, partition) -> (leader epoch, partition epoch), as PartitionRegistration.merge has it."""
    epochs: dict[tuple[str, int], tuple[int, int]] = {}
    for record in records:
        if record.type == "PARTITION_RECORD":
            key = (record.data["topicId"], record.data["partitionId"])
            epochs[key] = (record.data["leaderEpoch"], record.data["partitionEpoch"])
        elif record.type == "PARTITION_CHANGE_RECORD":
            key = (record.data["topicId"], record.data["partitionId"])
            leader_epoch, partition_epoch = epochs[key]
            moved = "leader" in record.data and record.data["leader"] != -2
            epochs[key] = (leader_epoch + moved, partition_epoch + 1)
        elif record.type == "REMOVE_TOPIC_RECORD":
            epochs = {key: value for key, value in epochs.items() if key[0] != record.data["topicId"]}
    return epochs


def await_live(cluster: Cluster, expected: set[int], *, timeout_s: float = 30.0) -> None:
    """Waits until the running brokers agree with the controller on the unfenced brokers."""
    running = [broker for broker in cluster.brokers if broker.running]
    for broker in running:
        await_result(
            partial(_live_brokers_are, admin_client(broker.address), expected),
            f"{broker.name} knows that {sorted(expected)} are unfenced",
            timeout_s,
        )


def _live_brokers_are(admin: AdminClient, expected: set[int]) -> bool:
    return live_brokers(admin) == expected


def all_follow(described: str, cluster: Cluster) -> bool:
    """Whether `describe --replication` has a leader, and all others fetch from it without a great lag."""
    rows = [line.split() for line in described.splitlines() if line[:1].isdigit()]
    roles = sorted(row[-1] for row in rows if int(row[3]) < 10)
    followers = ["Follower"] * (len(cluster.controllers) - 1)
    return roles == [*followers, "Leader", *["Observer"] * len(cluster.brokers)]
