"""The wide table: the rows of `format("kraft")`, appended by Spark's own Parquet sink."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql import SparkSession

from kraftctl_spark.datasource.batch_schedule import BatchSchedule
from kraftctl_spark.log.log_location import LogLocation
from kraftctl_spark.tables.manifest import MANIFESTS, ExportRefusedError

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

SPARK_METADATA = "_spark_metadata"
"""Spark's list of the files that are in the table."""


def check_output(output: Path, checkpoint: Path) -> None:
    """Refuses a directory that has rows without a checkpoint, or a checkpoint without the rows.

    Without its checkpoint a query counts its batches from 0 again, and Spark's file sink silently drops every
    batch whose number it has already written.
    """
    if (output / MANIFESTS).exists():
        raise ExportRefusedError(f"{output} holds tables of kraftctl-export: choose another directory")
    has_rows = (output / SPARK_METADATA).exists()
    has_progress = _has_files(checkpoint / "commits")
    if has_rows and not _has_files(checkpoint / "offsets"):
        raise ExportRefusedError(
            f"{output} holds an export, but its checkpoint {checkpoint} is missing: choose a new directory"
        )
    if has_progress and not has_rows:
        raise ExportRefusedError(
            f"{checkpoint} says that rows were written, but {output} does not contain them: remove it"
        )


def _has_files(directory: Path) -> bool:
    return directory.is_dir() and any(entry.name.isdecimal() for entry in directory.iterdir())


def start_query(
    spark: SparkSession,
    *,
    location: LogLocation,
    cluster_id: str | None,
    output: Path,
    checkpoint: Path,
    schedule: BatchSchedule,
) -> StreamingQuery:
    """Starts the query and returns it."""
    reader = (
        spark.readStream.format("kraft")
        .options(**location.options())
        .option("maxOffsetsPerTrigger", schedule.offsets_per_trigger)
    )
    if cluster_id is not None:
        reader = reader.option("clusterId", cluster_id)
    writer = (
        reader.load()
        .writeStream.format("parquet")
        .option("path", str(output))
        .option("checkpointLocation", str(checkpoint))
        .queryName("kraftctl-export")
    )
    return schedule.start(writer)


def progress_line(progress: Mapping[str, Any]) -> str | None:
    """Returns the log line for a batch of `format("kraft")`; None for an empty batch."""
    source = progress["sources"][0]
    end, latest = (json.loads(source.get(name) or "null") for name in ("endOffset", "latestOffset"))
    if not progress["numInputRows"] or not end or not latest:
        return None
    return (
        f"batch {progress['batchId']}: {progress['numInputRows']} records up to offset {end['offset'] - 1}, "
        f"{progress['processedRowsPerSecond']:.0f} records/s; lag {latest['offset'] - end['offset']} records"
    )
