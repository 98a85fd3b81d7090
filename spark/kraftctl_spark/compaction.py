"""Merges the files of many small batches into one per table, and swaps them by one manifest.

The new manifest covers the range of the old ones, which stop to count at its rename. Their files stay for a
grace period, for readers that are at it; a later compaction deletes them.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq

from kraftctl_spark.manifest import Manifest, Output
from kraftctl_spark.table_files import ROWS_PER_GROUP, RangeWriter, TableFile, range_name
from kraftctl_spark.tables import in_schema, table_schemas

RECORDS_PER_MERGE = 5_000_000
"""Files are merged up to about this many records each."""


@dataclass(frozen=True)
class Compacted:
    """What a compaction did."""

    merged_manifests: int
    files_before: int
    files_after: int
    files_removed: int

    def __str__(self) -> str:
        return (
            f"{self.merged_manifests} batches with {self.files_before} files became {self.files_after}; "
            f"{self.files_removed} files that had been replaced before were removed"
        )


def compact(output: Output, grace_ms: int) -> Compacted:
    """The caller holds the output's lock."""
    output.remove_leftovers()
    merged = before = after = 0
    for run in _runs(output.manifests()):
        manifest = _merge(output, run)
        output.commit(manifest)
        merged += len(run)
        before += sum(len(one.files) for one in run)
        after += len(manifest.files)
    removed = output.remove_replaced(grace_ms, time.time_ns() // 1_000_000)
    return Compacted(merged, before, after, removed)


def _runs(manifests: list[Manifest]) -> Iterator[list[Manifest]]:
    """Neighbours that become one; a snapshot's rows stay by themselves."""
    run: list[Manifest] = []
    records = 0
    for manifest in manifests:
        size = manifest.counts["records"]
        if run and (manifest.snapshot or records + size > RECORDS_PER_MERGE):
            if len(run) > 1:
                yield run
            run, records = [], 0
        if not manifest.snapshot:
            run.append(manifest)
            records += size
    if len(run) > 1:
        yield run


def _merge(output: Output, run: list[Manifest]) -> Manifest:
    first, last = run[0], run[-1]
    files: list[TableFile] = []
    for table, schema in table_schemas().items():
        sources = [file for one in run for file in one.files if file.table == table]
        if not sources:
            continue
        with RangeWriter(output.directory, range_name(first.start, last.end - 1)) as writer:
            for group in _row_groups(output, sources, schema):
                writer.write_tables({table: group})
            files += writer.finish()
    counts: Counter[str] = Counter()
    for one in run:
        counts.update(one.counts)
    return Manifest(
        cluster_id=last.cluster_id,
        start=first.start,
        end=last.end,
        epoch=last.epoch,
        files=tuple(files),
        counts=dict(counts),
        high_watermark=last.high_watermark,
        missing=tuple(offset for one in run for offset in one.missing),
        secrets=any(one.secrets for one in run),
    )


def _row_groups(output: Output, files: list[TableFile], schema: pa.Schema) -> Iterator[pa.Table]:
    """Small files become one group; large ones pass through group by group."""
    held: list[pa.Table] = []
    rows = 0
    for file in files:
        source = pq.ParquetFile(output.directory / file.path)
        for index in range(source.num_row_groups):
            held.append(in_schema(source.read_row_group(index), schema))
            rows += held[-1].num_rows
            if rows >= ROWS_PER_GROUP:
                yield pa.concat_tables(held)
                held, rows = [], 0
    if held:
        yield pa.concat_tables(held)
