"""The exported tables as temporary views: exactly the files in the manifests, in this release's schema."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.errors import AnalysisException

from kraftctl_spark.datasource.spark_schema import spark_type
from kraftctl_spark.log.local_path import local_path
from kraftctl_spark.rows.tables import table_schemas
from kraftctl_spark.tables.manifest import Manifest, Output
from kraftctl_spark.views.log import Log, log_of
from kraftctl_spark.views.registered_views import RegisteredViews

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def register_tables(spark: SparkSession, directory: Path | str, prefix: str = "") -> list[str]:
    """Registers every table of the export, including those without rows; returns their names.

    Files of an older release get nulls for the columns that they lack. ExportRefusedError when the manifests
    do not cover the log, NameTakenError when a name is that of something else.
    """
    path = local_path(directory)

    def read(manifests: list[Manifest]) -> None:
        cluster_id = manifests[-1].cluster_id if manifests else ""
        views = RegisteredViews(spark, cluster_id, at_point=False, prefix=prefix)
        views.check(table_schemas())
        for name, frame in table_frames(spark, path, manifests).items():
            views.register(name, frame)

    Output(path).read(read)
    return [f"{prefix}{name}" for name in table_schemas()]


def open_tables(spark: SparkSession, directory: Path, prefix: str = "") -> tuple[list[Manifest], Log]:
    """Registers the tables, whatever has their names; returns their manifests and log, as of one moment."""

    def read(manifests: list[Manifest]) -> tuple[list[Manifest], Log]:
        for name, frame in table_frames(spark, directory, manifests).items():
            frame.createOrReplaceTempView(f"`{prefix}{name}`")
        return manifests, replace(log_of(directory, manifests), prefix=prefix)

    return Output(directory).read(read)


def table_frames(spark: SparkSession, directory: Path, manifests: list[Manifest]) -> dict[str, DataFrame]:
    """Every table with the files of these manifests; FileNotFoundError if one was deleted."""
    files: dict[str, list[str]] = {name: [] for name in table_schemas()}
    for manifest in manifests:
        for file in manifest.files:
            files[file.table].append(str(directory.absolute() / file.path))
    frames = {}
    for name, paths in files.items():
        try:
            frames[name] = _table(spark, table_schemas()[name], paths)
        except AnalysisException as error:
            if error.getCondition() != "PATH_NOT_FOUND":
                raise
            raise FileNotFoundError(str(error)) from error
    return frames


def _table(spark: SparkSession, schema: pa.Schema, paths: list[str]) -> DataFrame:
    if paths:
        columns = ", ".join(f"`{field.name}` {sql_type(field.type)}" for field in schema)
        return spark.read.schema(columns).parquet(*paths)
    nulls = ", ".join(f"CAST(NULL AS {sql_type(field.type)}) AS `{field.name}`" for field in schema)
    return spark.sql(f"SELECT {nulls} WHERE false")


def sql_type(kind: pa.DataType) -> str:
    """Spark's name of the type, with quoted field names."""
    if pa.types.is_struct(kind):
        return f"STRUCT<{', '.join(f'`{field.name}`: {sql_type(field.type)}' for field in kind)}>"
    if pa.types.is_list(kind):
        return f"ARRAY<{sql_type(kind.value_type)}>"
    return spark_type(kind).simpleString()
