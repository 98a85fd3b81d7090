"""Decodes records again, from the bytes in `records`, that an earlier release did not understand.

The batch is written once more, with a revision, and replaces itself as in a compaction. What a release has
redacted for safety stays without bytes, and is not understood.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from kraftctl_protocol.batch_framing import CONTROL_BIT, MAGIC
from kraftctl_protocol.control_record import encode_control_key
from kraftctl_protocol.record_batch import BatchHeader, Record, RecordBatch
from kraftctl_spark.rows.decoder import decoder_name
from kraftctl_spark.rows.metadata_rows import UNDECODABLE_TYPE, MetadataRows
from kraftctl_spark.rows.redaction import redact
from kraftctl_spark.rows.tables import RECORDS, RowCounts, encode_tables, in_schema, table_schemas
from kraftctl_spark.tables.checked_file import CheckedFile
from kraftctl_spark.tables.export_tasks import SNAPSHOT_PREFIX
from kraftctl_spark.tables.file_schemas import has_files, is_later
from kraftctl_spark.tables.manifest import Manifest, Output
from kraftctl_spark.tables.new_fields import NewFields, new_fields_in, summed
from kraftctl_spark.tables.not_understood import NOT_UNDERSTOOD, TypedPlaces
from kraftctl_spark.tables.rows_in_order import RowsInOrder
from kraftctl_spark.tables.table_files import RangeWriter, TableFile, publish_files, range_name

log = logging.getLogger(__name__)

_KEPT = (
    "offset",
    "log_epoch",
    "timestamp",
    "aborted",
    "snapshot_end_offset",
    "snapshot_index",
    "batch_offset",
)
"""The columns of a place that no decoder changes."""


def decode_again(output: Output) -> int:
    """Decodes again what earlier releases did not understand; returns the number of batches.

    The caller holds `output.compacting`, and calls `output.remove_replaced` afterwards.
    """
    due = [one for one in output.manifests() if is_due(one) and not has_files(output, one, is_later)]
    for manifest in due:
        with ExitStack() as failed:
            failed.callback(output.remove_merge_leftovers)
            again = _Again(output, manifest).written()
            output.commit(again)
            failed.pop_all()
        before, after = (sum(one.counts.get(name, 0) for name in NOT_UNDERSTOOD) for one in (manifest, again))
        log.info(
            "decoded offsets %d to %d again: %d records were not understood, %d still are not",
            *(manifest.start, manifest.end - 1, before, after),
        )
    return len(due)


def is_due(manifest: Manifest) -> bool:
    """Returns whether another release wrote a batch in which it did not understand everything."""
    return manifest.decoder != decoder_name() and any(manifest.counts.get(name) for name in NOT_UNDERSTOOD)


class _Again:
    """A batch that is decoded again, one row group of its records at a time."""

    def __init__(self, output: Output, manifest: Manifest) -> None:
        self._output = output
        self._manifest = manifest
        self._place = "snapshot_index" if manifest.snapshot else "offset"
        self._counts = RowCounts()
        self._newly_redacted = 0
        self._new_fields: list[NewFields] = []
        self._typed = TypedPlaces(output.directory, manifest, self._place)
        self._typed_rows = {
            table: RowsInOrder(self._groups(table), self._place)
            for table in table_schemas()
            if table != RECORDS
        }

    def written(self) -> Manifest:
        """Returns the manifest of the files that have it decoded again."""
        manifest, output = self._manifest, self._output
        revision = manifest.revision + 1
        prefix = SNAPSHOT_PREFIX if manifest.snapshot else ""
        name = prefix + range_name(manifest.start, manifest.end - 1, revision)
        with RangeWriter(output.directory, name, output.hook, has_secrets=manifest.secrets) as writer:
            for rows in self._groups(RECORDS):
                writer.add(self._merged(rows))
            staged = writer.finish()
        assert _rows(one.file for one in staged) >= _rows(manifest.files), "no row is lost"
        return replace(
            manifest,
            files=publish_files(output.directory, staged, output.hook),
            counts=self._new_counts(),
            revision=revision,
            decoder=decoder_name(),
            new_fields=tuple(summed(self._new_fields)),
        )

    def _new_counts(self) -> dict[str, int]:
        """Returns counts: what was not understood is counted again, and more may be redacted."""
        again, before = self._counts.to_dict(), self._manifest.counts
        redacted = before.get("redacted", 0) + self._newly_redacted
        return {**before, **{name: again[name] for name in NOT_UNDERSTOOD}, "redacted": redacted}

    def _decoded(self, rows: pa.Table) -> dict[str, pa.Table]:
        """Returns the rows of all tables for those of some records that are decoded again.

        Where some have new fields, those are all: which ones an earlier release did not know is in no file.
        """
        everything = bool(self._manifest.counts.get("newer_fields"))
        chosen = rows if everything else rows.filter(pc.invert(self._typed.has(rows)))
        lost = pc.is_null(chosen.column("payload"))
        self._count_lost(chosen.filter(lost))
        chosen = chosen.filter(pc.invert(lost))
        return self._again(chosen) if chosen.num_rows else {}

    def _count_lost(self, rows: pa.Table) -> None:
        """Counts records whose bytes were redacted."""
        undecodable = rows.column("type").to_pylist().count(UNDECODABLE_TYPE)
        self._counts.undecodable += undecodable
        self._counts.unknown += rows.num_rows - undecodable

    def _again(self, before: pa.Table) -> dict[str, pa.Table]:
        """Returns the rows of tables for some rows of `records`."""
        rows = MetadataRows()
        for batch in _batches(before):
            rows.add(batch)
        was_redacted = before.column("redacted").to_pylist()
        if not self._manifest.secrets:
            redact(rows, before={place for place, redacted in enumerate(was_redacted) if redacted})
        self._counts.add(rows)
        self._newly_redacted += sum(not was_redacted[place] for place in rows.redacted)
        made = encode_tables(rows, self._manifest.cluster_id)
        found = {name: _at_places_of(before, encoded) for name, encoded in made.items()}
        if rows.newer_fields:
            self._new_fields += new_fields_in(found[RECORDS], self._place)
        return found

    def _merged(self, rows: pa.Table) -> dict[str, pa.Table]:
        """Returns some records, and the rows of all tables up to the last of these, as they are now."""
        new, found = self._decoded(rows), {}
        last = rows.column(self._place)[-1].as_py()
        beside = {table: before.up_to(last) for table, before in self._typed_rows.items()}
        for table, parts in {RECORDS: [rows], **beside}.items():
            if table in new:
                places = new[table].column(self._place).combine_chunks()
                kept = [one.filter(pc.invert(pc.is_in(one.column(self._place), places))) for one in parts]
                found[table] = pa.concat_tables([*kept, new[table]]).sort_by(self._place)
            elif parts:
                found[table] = pa.concat_tables(parts)
        return found

    def _groups(self, table: str) -> Iterator[pa.Table]:
        for file in self._manifest.files:
            if file.table == table:
                source = CheckedFile(self._output.directory / file.path)
                for group in range(source.num_row_groups):
                    yield in_schema(source.read_row_group(group), table_schemas()[table])


def _rows(files: Iterable[TableFile]) -> Counter[str]:
    """Returns the number of rows by table."""
    found: Counter[str] = Counter()
    for file in files:
        found[file.table] += file.rows
    return found


def _batches(before: pa.Table) -> Iterator[RecordBatch]:
    """Yields a batch for each row, at the row's number: a control record has no frame that says its type."""
    columns = (before.column(name).to_pylist() for name in ("is_control", "type_id", "payload"))
    for number, (is_control, type_id, payload) in enumerate(zip(*columns, strict=True)):
        key = encode_control_key(type_id) if is_control and type_id is not None else None
        header = BatchHeader(
            base_offset=number,
            size_bytes=0,
            partition_leader_epoch=0,
            magic=MAGIC,
            crc=0,
            attributes=CONTROL_BIT if is_control else 0,
            last_offset_delta=0,
            base_timestamp_ms=0,
            max_timestamp_ms=0,
            producer_id=-1,
            producer_epoch=-1,
            base_sequence=-1,
            records_count=1,
        )
        yield RecordBatch(header, [Record(number, 0, key, payload)])


def _at_places_of(before: pa.Table, encoded: pa.Table) -> pa.Table:
    """Gives encoded rows, whose offsets are the numbers of rows, the places of those rows."""
    numbers = encoded.column("offset")
    redacted = pc.fill_null(before.column("redacted").take(numbers), False)
    columns = {name: before.column(name).take(numbers) for name in _KEPT}
    columns["redacted"] = pc.or_(redacted, encoded.column("redacted"))
    return pa.Table.from_arrays(
        [columns.get(name, encoded.column(name)) for name in encoded.column_names], schema=encoded.schema
    )
