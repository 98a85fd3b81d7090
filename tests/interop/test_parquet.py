"""Every committed record of the shared cluster is in Parquet, as Kafka's own tool shows it."""

from __future__ import annotations

import re

import pytest

from kraftctl_spark.tables.output import Output
from tests.spark.typed_check import compare_export_with_dump
from tests.support.processes.clients import create_topic
from tests.support.processes.kafka import Cluster, await_result
from tests.support.processes.spark_export import ExportJob

pytestmark = [pytest.mark.interop, pytest.mark.spark]


def high_watermark(cluster: Cluster) -> int:
    status = cluster.tools().output(
        "kafka-metadata-quorum",
        "--bootstrap-controller",
        cluster.bootstrap_controllers,
        "describe",
        "--status",
    )
    found = re.search(r"HighWatermark:\s+(\d+)", status)
    assert found is not None, status
    return int(found.group(1))


def test_the_export_holds_every_committed_record(cluster: Cluster, export_job: ExportJob) -> None:
    """The job has run during the previous tests, across a kill of the controller."""
    create_topic(cluster.bootstrap_servers, "last-of-all", partitions=3)
    end_offset = high_watermark(cluster)

    def exported() -> bool:
        return Output(export_job.output).position().offset >= end_offset

    await_result(exported, f"offset {end_offset - 1} is exported", 120.0, interval_s=1.0)
    export_job.terminate()
    assert compare_export_with_dump(export_job.output, cluster.controller.log_directory) >= end_offset
