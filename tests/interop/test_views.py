"""State and history views of the shared cluster, compared with Kafka's image and kafka-dump-log."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource
from confluent_kafka.cimpl import NewTopic
from pyspark.sql import SparkSession

from kraftctl_protocol.record_batch import read_batches
from kraftctl_spark.history import DIRECTORY
from kraftctl_spark.history.history_tables import HistoryTables
from kraftctl_spark.rows.record_names import column_name
from kraftctl_spark.tables.output import Output
from kraftctl_spark.views import register_views
from tests.interop.test_parquet import high_watermark
from tests.spark.compared_rows import compare_rows
from tests.spark.history_truth import ANSWERED, Event, HistoryTruth
from tests.spark.typed_export import exporting
from tests.spark.view_check import compare_state, kafka_states, local_spark, view_rows
from tests.support.parquet_check import CLASSES, DumpedRecord, expected_struct, read_dump
from tests.support.processes.clients import admin_client, create_topic
from tests.support.processes.kafka import Cluster, await_result

pytestmark = [pytest.mark.interop, pytest.mark.java, pytest.mark.spark]

SEED = 4
OFFSETS_COMPARED = 2
"""More of them, of a log with all that is hard, are in tests/spark/test_views.py."""
TOPIC = "looked-at"


@pytest.fixture
def spark() -> Iterator[SparkSession]:
    with local_spark() as session:
        yield session


@pytest.mark.long
def test_views_of_what_brokers_went_through(cluster: Cluster, spark: SparkSession, tmp_path: Path) -> None:
    """Everything that earlier tests have done, and changes that are always included."""
    live_through(cluster, tmp_path)
    end = high_watermark(cluster)
    host, _, port = cluster.bootstrap_controllers.split(",")[0].rpartition(":")
    directory = tmp_path / "tables"
    with exporting(
        directory, (host, int(port)), include_secrets=True, cluster_id=cluster.cluster_id
    ) as exporter:
        exporter.export_to(end, 0)
    end = Output(directory).position().offset
    dumped = [record for record in read_dump(cluster.controller.log_directory) if record.offset < end]
    truth = HistoryTruth(map(event, dumped), dumped[-1].timestamp_ms)
    HistoryTables(directory, directory / DIRECTORY).catch_up()
    register_views(spark, directory)
    rows = view_rows(spark, ANSWERED)
    for name in ANSWERED:
        compare_rows(name, rows[name], truth.rows[name])
    assert len([row for row in rows["topic_history"] if row["topic"] == TOPIC]) == 2
    audited = [row for row in rows["config_audit"] if row["resource_name"] == TOPIC]
    changes = [(row["old_value"], row["new_value"], row["cause"]) for row in audited]
    assert sorted(changes, key=str) == sorted(
        [(None, "1", "set"), ("1", "2", "set"), ("2", None, "topic deleted")], key=str
    )
    (move,) = [row for row in rows["reassignments"] if row["topic"] == TOPIC]
    assert (move["old_replicas"], move["new_replicas"], move["outcome"]) == ([1, 2], [3, 1], "completed")
    compare_random_states(cluster, spark, directory, end, tmp_path)


def compare_random_states(
    cluster: Cluster, spark: SparkSession, directory: Path, end: int, scratch: Path
) -> None:
    values = {
        record.offset: record.value
        for segment in sorted(cluster.controller.metadata_directory.glob("*.log"))
        for batch in read_batches(segment.read_bytes())
        if not batch.header.is_control
        for record in batch.records
        if record.value is not None and record.offset < end
    }
    offsets = random.Random(SEED).sample(range(end), OFFSETS_COMPARED)
    for offset, state in kafka_states(values, offsets, scratch / "records.txt").items():
        compare_state(spark, directory, state, offset=offset)


def event(record: DumpedRecord) -> Event:
    message = CLASSES[record.name]
    value = expected_struct(message, record.data, record.version)
    return Event(record.offset, record.timestamp_ms, record.epoch, column_name(message), value)


def live_through(cluster: Cluster, scratch: Path) -> None:
    """A topic is configured, moved, deleted and created again with its name."""
    admin = admin_client(cluster.bootstrap_servers)
    admin.create_topics([NewTopic(TOPIC, 1, replica_assignment=[[1, 2]])])[TOPIC].result(20)
    for value in ("1", "2"):
        set_retention(admin, value)
    reassign(cluster, scratch, [3, 1])
    admin.delete_topics([TOPIC])[TOPIC].result(20)
    await_result(lambda: TOPIC not in admin.list_topics(timeout=20).topics, "the topic is gone")
    create_topic(cluster.bootstrap_servers, TOPIC, partitions=2, replicas=3)


def set_retention(admin: AdminClient, value: str) -> None:
    entry = ConfigEntry("retention.ms", value, incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ConfigResource.Type.TOPIC, TOPIC, incremental_configs=[entry])
    for future in admin.incremental_alter_configs([resource]).values():
        future.result(20)


def reassign(cluster: Cluster, scratch: Path, replicas: list[int]) -> None:
    """Moves the topic's only partition, and waits until it is there."""
    plan = scratch / "reassignment.json"
    partition = {"topic": TOPIC, "partition": 0, "replicas": replicas}
    plan.write_text(json.dumps({"version": 1, "partitions": [partition]}))
    server = ("--bootstrap-server", cluster.bootstrap_servers, "--reassignment-json-file", str(plan))
    cluster.tools().output("kafka-reassign-partitions", *server, "--execute")
    admin = admin_client(cluster.bootstrap_servers)

    def moved() -> bool:
        found = admin.list_topics(TOPIC, timeout=20).topics[TOPIC].partitions[0]
        return sorted(found.isrs) == sorted(found.replicas) == sorted(replicas)

    await_result(moved, f"{TOPIC} is on {replicas}")
