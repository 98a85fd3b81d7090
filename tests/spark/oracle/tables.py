"""Registers the typed tables for the oracle's views."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from kraftctl_spark.tables.manifest import Manifest, Output
from kraftctl_spark.views.tables import table_frames
from tests.spark.oracle.log import Log, log_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def open_tables(spark: SparkSession, directory: Path, prefix: str = "") -> Log:
    """As `prefix` + name, whatever has these names."""

    def read(manifests: list[Manifest]) -> Log:
        for name, frame in table_frames(spark, directory, manifests).items():
            frame.createOrReplaceTempView(f"`{prefix}{name}`")
        return replace(log_of(directory, manifests), prefix=prefix)

    return Output(directory).read(read)
