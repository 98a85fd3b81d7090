"""The exported tables and their history as temporary views: exactly the files in the manifests."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.errors import AnalysisException

from kraftctl_spark.datasource.spark_schema import spark_type
from kraftctl_spark.history import DIRECTORY
from kraftctl_spark.history.damage import read_file
from kraftctl_spark.history.history_manifest import HistoryManifest, read_manifest
from kraftctl_spark.history.known_ranges import KnownRange, decode_ranges
from kraftctl_spark.history.not_known import NotKnown, decode_not_known
from kraftctl_spark.history.schema import OF_THE_LOG, SCHEMAS
from kraftctl_spark.log.local_path import local_path
from kraftctl_spark.rows.tables import table_schemas
from kraftctl_spark.tables.manifest import ExportRefusedError, Manifest
from kraftctl_spark.tables.output import Output
from kraftctl_spark.tables.table_files import TableFile
from kraftctl_spark.views.log import HISTORY, LogHistory, UnknownPointError
from kraftctl_spark.views.registered_views import RegisteredViews

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

VERIFY_CHECKSUMS = "parquet.page.verify-checksum.enabled"
"""Without it, Spark reads many damaged pages as other values."""

log = logging.getLogger(__name__)


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


def open_tables(
    spark: SparkSession,
    directory: Path,
    prefix: str = "",
    history: Path | None = None,
    tables: Iterable[str] | None = None,
) -> tuple[list[Manifest], LogHistory]:
    """Registers the history and the tables, or these of them, whatever has their names.

    Returns the manifests and the log.

    The history is read first: the tables never end before it. ExportRefusedError without one, or when it is
    that of another cluster; a warning when it ends before the tables.
    """
    output = directory / DIRECTORY if history is None else history
    if Output(directory).position().offset == 0:
        raise UnknownPointError(f"{directory} holds no committed batch yet: run kraftctl-export first")
    versions, known, not_known = _open_history(spark, directory, output, prefix)

    def read(manifests: list[Manifest]) -> list[Manifest]:
        for name, frame in table_frames(spark, directory, manifests, tables).items():
            frame.createOrReplaceTempView(f"`{prefix}{name}`")
        return manifests

    manifests = Output(directory).read(read)
    last = manifests[-1]
    if versions.cluster_id != last.cluster_id or versions.end > last.end:
        raise ExportRefusedError(
            f"{output} is the history of cluster {versions.cluster_id} up to offset {versions.end}, but "
            f"{directory} has that of cluster {last.cluster_id} up to {last.end}"
        )
    if versions.end < last.end:
        log.warning(
            "the views end where the history in %s ends, at offset %d; the tables end at offset %d: "
            "kraftctl-export history --tables %s continues it",
            *(output, versions.end - 1, last.end - 1, directory),
        )
    found = LogHistory(known, versions.end, prefix=prefix, not_known=not_known)
    if found.is_lost:
        log.warning(
            "nothing is known from offset %d on, because of records that were not understood: see not_known",
            found.last.end_offset,
        )
    return manifests, found


def _open_history(
    spark: SparkSession, directory: Path, output: Path, prefix: str
) -> tuple[HistoryManifest, tuple[KnownRange, ...], tuple[NotKnown, ...]]:
    """Registers its tables, as of one moment."""
    while True:
        manifest = read_manifest(output)
        if manifest is None:
            flag = "" if output == directory / DIRECTORY else f" --output {output}"
            raise ExportRefusedError(
                f"{output} holds no history, which the views are made of: kraftctl-export history "
                f"--tables {directory}{flag} computes it, and run --history continues it with each batch"
            )
        try:
            frames = _frames(spark, output, SCHEMAS, manifest.files)
            ranges, not_known = (
                read_file(output / file.path)
                for table in OF_THE_LOG
                for file in manifest.of(table, still_open=True)
            )
        except FileNotFoundError:
            if read_manifest(output) == manifest:
                raise
            continue  # A commit replaced it meanwhile.
        for name, frame in frames.items():
            frame.createOrReplaceTempView(f"`{prefix}{HISTORY}{name}`")
        return manifest, tuple(decode_ranges(ranges)), tuple(decode_not_known(not_known))


def table_frames(
    spark: SparkSession, directory: Path, manifests: list[Manifest], tables: Iterable[str] | None = None
) -> dict[str, DataFrame]:
    """Returns every table, or these, with the files of these manifests; FileNotFoundError if one was
    deleted.
    """
    files = tuple(file for manifest in manifests for file in manifest.files)
    schemas = {name: table_schemas()[name] for name in tables or table_schemas()}
    return _frames(spark, directory, schemas, files)


def _frames(
    spark: SparkSession, directory: Path, schemas: Mapping[str, pa.Schema], files: tuple[TableFile, ...]
) -> dict[str, DataFrame]:
    paths: dict[str, list[str]] = {name: [] for name in schemas}
    for file in files:
        if file.table in paths:
            paths[file.table].append(str(directory.absolute() / file.path))
    frames = {}
    for name, of_table in paths.items():
        try:
            frames[name] = _table(spark, schemas[name], of_table)
        except AnalysisException as error:
            if error.getCondition() != "PATH_NOT_FOUND":
                raise
            raise FileNotFoundError(str(error)) from error
    return frames


def _table(spark: SparkSession, schema: pa.Schema, paths: list[str]) -> DataFrame:
    if paths:
        columns = ", ".join(f"`{field.name}` {sql_type(field.type)}" for field in schema)
        return spark.read.schema(columns).option(VERIFY_CHECKSUMS, True).parquet(*paths)
    nulls = ", ".join(f"CAST(NULL AS {sql_type(field.type)}) AS `{field.name}`" for field in schema)
    return spark.sql(f"SELECT {nulls} WHERE false")


def sql_type(kind: pa.DataType) -> str:
    """Returns Spark's name of the type, with quoted field names."""
    if pa.types.is_struct(kind):
        return f"STRUCT<{', '.join(f'`{field.name}`: {sql_type(field.type)}' for field in kind)}>"
    if pa.types.is_list(kind):
        return f"ARRAY<{sql_type(kind.value_type)}>"
    return spark_type(kind).simpleString()
