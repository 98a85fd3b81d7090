"""Tables as a release before a type, a version or a field wrote them: their bytes, but not what they mean."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from kraftctl_protocol.message import Message
from kraftctl_spark.rows.record_names import column_name
from kraftctl_spark.rows.tables import RECORDS
from kraftctl_spark.tables.json_fields import read_as
from kraftctl_spark.tables.manifest import Manifest
from kraftctl_spark.tables.parquet_options import parquet_options
from tests.spark.rewritten import rewrite

DECODER = "that of an earlier release"


def forget(tables: Path, message: type[Message], reason: str) -> None:
    """Changes the files and the commits of an export in place."""

    def forgotten(batch: Manifest) -> Manifest:
        manifest = {**batch.to_dict(), "decoder": DECODER}
        if reason == "new fields":
            _forget_field(tables, manifest, message)
        else:
            _forget_rows(tables, manifest, message, reason)
        return read_as(Manifest, json.loads(json.dumps(manifest)))

    rewrite(tables, forgotten)


def _forget_rows(tables: Path, manifest: dict[str, Any], message: type[Message], reason: str) -> None:
    for file in [one for one in manifest["files"] if one["table"] == RECORDS]:
        rows = pq.read_table(tables / file["path"])
        of_type = pc.equal(rows.column("type"), message.NAME)
        count = pc.sum(of_type).as_py() or 0
        name = {"unknown type": "Unknown", "undecodable": "Undecodable"}.get(reason, message.NAME)
        replaced = pc.if_else(of_type, name, rows.column("type"))
        _write(tables, file, rows.set_column(rows.column_names.index("type"), "type", replaced))
        manifest["counts"]["undecodable" if reason == "undecodable" else "unknown"] += count
    gone = [one for one in manifest["files"] if one["table"] == column_name(message)]
    for file in gone:
        (tables / file["path"]).unlink()
    manifest["files"] = [one for one in manifest["files"] if one not in gone]


def _forget_field(tables: Path, manifest: dict[str, Any], message: type[Message]) -> None:
    for file in [one for one in manifest["files"] if one["table"] == column_name(message)]:
        rows = pq.read_table(tables / file["path"])
        last = rows.schema.field(rows.num_columns - 1)
        default = pa.scalar(0 if pa.types.is_integer(last.type) else None, last.type)
        _write(tables, file, rows.set_column(rows.num_columns - 1, last, pa.repeat(default, rows.num_rows)))
        manifest["counts"]["newer_fields"] += rows.num_rows


def _write(tables: Path, file: dict[str, Any], rows: pa.Table) -> None:
    path = tables / file["path"]
    size = pq.ParquetFile(path).metadata.row_group(0).num_rows
    pq.write_table(rows, path, row_group_size=size, **parquet_options(rows.schema))
