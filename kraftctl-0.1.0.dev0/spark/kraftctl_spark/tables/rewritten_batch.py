"""Writes a committed batch once more, some of its records decoded again from their bytes, with a revision.

What is left of a batch is read one row group of its records at a time. No row gets lost.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from kraftctl_protocol.batch_framing import CONTROL_BIT, MAGIC
from kraftctl_protocol.control_record import encode_control_key
from kraftctl_protocol.record_batch import BatchHeader, Record, RecordBatch
from kraftctl_spark.rows.metadata_rows import MetadataRows
from kraftctl_spark.rows.redaction import redact
from kraftctl_spark.rows.tables import RECORDS, RowCounts, encode_tables, in_schema, table_schemas
from kraftctl_spark.tables.checked_file import CheckedFile
from kraftctl_spark.tables.export_tasks import SNAPSHOT_PREFIX
from kraftctl_spark.tables.manifest import Manifest
from kraftctl_spark.tables.new_fields import NewFields, new_fields_in
from kraftctl_spark.tables.output import Output
from kraftctl_spark.tables.rows_in_order import RowsInOrder
from kraftctl_spark.tables.table_files import RangeWriter, TableFile, range_name

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


class RewrittenBatch:
    """A batch that is written again."""

    def __init__(self, output: Output, manifest: Manifest) -> None:
        self._output = output
        self._manifest = manifest
        self._place = "snapshot_index" if manifest.snapshot else "offset"
        self._counts = RowCounts()
        self._newly_redacted = 0
        self._new_fields: list[NewFields] = []
        self._typed_rows = {
            table: RowsInOrder(self._groups(table), self._place)
            for table in table_schemas()
            if table != RECORDS
        }

    @abstractmethod
    def _changed(self, rows: pa.Table) -> dict[str, pa.Table]:
        """Returns the new rows of all tables for those of some records that change."""

    @abstractmethod
    def _described(self, manifest: Manifest) -> Manifest:
        """Returns the manifest of the new files with all else that has changed."""

    def written(self) -> Manifest:
        """Returns the manifest of the new files, which have their names."""
        manifest, output = self._manifest, self._output
        revision = manifest.revision + 1
        prefix = SNAPSHOT_PREFIX if manifest.snapshot else ""
        name = prefix + range_name(manifest.start, manifest.end - 1, revision)
        with RangeWriter(output.directory, name, output.hook, has_secrets=manifest.secrets) as writer:
            for rows in self._groups(RECORDS):
                writer.add(self._merged(rows))
            staged = writer.finish()
        assert _rows(one.file for one in staged) >= _rows(manifest.files), "no row is lost"
        return self._described(replace(manifest, files=output.publish(staged), revision=revision))

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
        new, found = self._changed(rows), {}
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
                source = CheckedFile(self._output.sources / file.path)
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
