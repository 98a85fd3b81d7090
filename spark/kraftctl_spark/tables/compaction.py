"""Merges the files of many small batches into one per table, and replaces them with one manifest.

The new manifest covers the range of the old ones and replaces them with its rename. Their files are then
deleted, because a reader of the bare directory would find their rows twice; or after a grace period, for slow
readers that use the manifests. An export may append at the same time.

Files without the columns of this release are written again, merged or by themselves: other engines take the
columns of a table from its first file. Batches with fields or tables of a later release stay as they are:
those would be lost.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import pyarrow as pa

from kraftctl_spark.rows.decoder import decoder_name
from kraftctl_spark.rows.tables import in_schema, table_schemas
from kraftctl_spark.tables.checked_file import CheckedFile
from kraftctl_spark.tables.commit import MERGE
from kraftctl_spark.tables.decoding_again import decode_again
from kraftctl_spark.tables.export_tasks import SNAPSHOT_PREFIX
from kraftctl_spark.tables.file_schemas import has_files, is_later, is_old
from kraftctl_spark.tables.kept_removed import keep_ms_of
from kraftctl_spark.tables.manifest import HOUR_MS, ExportRefusedError, Manifest
from kraftctl_spark.tables.new_fields import NewFields, summed
from kraftctl_spark.tables.not_understood import NOT_UNDERSTOOD
from kraftctl_spark.tables.output import Output
from kraftctl_spark.tables.table_files import (
    ROWS_PER_GROUP,
    RangeWriter,
    StagedFile,
    TableFile,
    range_name,
)

log = logging.getLogger(__name__)

RECORDS_PER_MERGE = 5_000_000
"""Files are merged up to about this many records each."""


@dataclass(frozen=True)
class Compacted:
    """The result of a compaction."""

    merged_manifests: int
    files_before: int
    files_after: int
    files_removed: int

    def __str__(self) -> str:
        return (
            f"{self.merged_manifests} batches with {self.files_before} files became {self.files_after}; "
            f"{self.files_removed} files that had been replaced were removed"
        )


def compact(output: Output, grace_ms: int, spare_large: bool = False) -> Compacted:
    """Compacts while the caller holds `output.compacting`; an export may run at the same time.

    With `spare_large`, a file larger than everything that could be added to it is not merged. Frequent
    compactions use this, so that a row is not copied each time; of files with old columns, one run at a time
    is written again.
    """
    output.remove_merge_leftovers()
    output.remove_old_uploads()
    decode_again(output)
    removed = output.remove_replaced(grace_ms)
    merged = before = after = 0
    renewed = False
    for whole in _runs(output):
        run = _small(whole) if spare_large else whole
        spared = whole[: -len(run)] if len(run) > 1 else whole
        if not (renewed and spare_large) and any(has_files(output, one, is_old) for one in spared):
            run, renewed = whole, True
        elif len(run) < 2:
            continue
        with ExitStack() as failed:
            failed.callback(output.remove_merge_leftovers)
            manifest = _merge(output, run)
            output.replace(run, manifest, MERGE)
            failed.pop_all()
        removed += output.remove_replaced(grace_ms)
        merged += len(run)
        before += sum(len(one.files) for one in run)
        after += len(manifest.files)
    return Compacted(merged, before, after, removed)


def _runs(output: Output) -> Iterator[list[Manifest]]:
    """Yields consecutive manifests to merge: a snapshot's is alone, redacted ones are not with
    unredacted ones.
    """
    run: list[Manifest] = []
    records = 0
    for manifest in output.manifests():
        size = manifest.counts["records"]
        later = manifest.expired is not None or has_files(output, manifest, is_later)
        if run and (later or _are_apart(run[-1], manifest) or records + size > RECORDS_PER_MERGE):
            yield run
            run, records = [], 0
        if not later:
            run.append(manifest)
            records += size
    if run:
        yield run


def _are_apart(one: Manifest, following: Manifest) -> bool:
    return one.snapshot or following.snapshot or one.secrets != following.secrets


def _small(run: list[Manifest]) -> list[Manifest]:
    """Returns the end of a run that is worth merging; one manifest if none is."""
    first = 0
    while len(run) - first > 1 and _records(run[first : first + 1]) > _records(run[first + 1 :]):
        first += 1
    return run[first:]


def _records(manifests: list[Manifest]) -> int:
    return sum(manifest.counts["records"] for manifest in manifests)


def _merge(output: Output, run: list[Manifest]) -> Manifest:
    first, last = run[0], run[-1]
    revision = first.revision + 1 if len(run) == 1 else 0
    name = (SNAPSHOT_PREFIX if first.snapshot else "") + range_name(first.start, last.end - 1, revision)
    staged: list[StagedFile] = []
    for table, schema in table_schemas().items():
        sources = [file for one in run for file in one.files if file.table == table]
        if not sources:
            continue
        with RangeWriter(output.directory, name, output.hook, has_secrets=run[-1].secrets) as writer:
            for group in _row_groups(output, sources, schema):
                writer.write_tables({table: group})
            staged += writer.finish()
    counts: Counter[str] = Counter()
    for one in run:
        counts.update(one.counts)
    return Manifest(
        cluster_id=last.cluster_id,
        start=first.start,
        end=last.end,
        epoch=last.epoch,
        files=output.publish(staged),
        counts=dict(counts),
        high_watermark=last.high_watermark,
        snapshot=last.snapshot,
        missing=tuple(offset for one in run for offset in one.missing),
        secrets=last.secrets,
        batches=sum(one.batches for one in run),
        revision=revision,
        batch_times_ms=recent_times_ms(run),
        decoder=_decoder(run),
        new_fields=_new_fields(run),
    )


def _new_fields(run: list[Manifest]) -> tuple[NewFields, ...]:
    """Returns those of all of them, or none where one manifest does not list its own."""
    if any(one.counts.get("newer_fields") and not one.new_fields for one in run):
        return ()
    return tuple(summed(found for one in run for found in one.new_fields))


def _decoder(run: list[Manifest]) -> str:
    """Returns the decoder of what was not understood; none for several, so that it is decoded again."""
    found = {one.decoder for one in run if any(one.counts.get(name) for name in NOT_UNDERSTOOD)}
    return found.pop() if len(found) == 1 else "" if found else decoder_name()


def recent_times_ms(manifests: list[Manifest]) -> tuple[int, ...]:
    """Returns commit times of their last batch and of the batches in the hour before it."""
    times_ms = sorted(at_ms for one in manifests for at_ms in one.commit_times_ms)
    return tuple(at_ms for at_ms in times_ms if times_ms[-1] - at_ms < HOUR_MS)


def _row_groups(output: Output, files: list[TableFile], schema: pa.Schema) -> Iterator[pa.Table]:
    """Makes one row group of small files; large files are copied row group by row group."""
    held: list[pa.Table] = []
    rows = 0
    for file in files:
        source = CheckedFile(output.sources / file.path)
        for index in range(source.num_row_groups):
            held.append(in_schema(source.read_row_group(index), schema))
            rows += held[-1].num_rows
            if rows >= ROWS_PER_GROUP:
                yield pa.concat_tables(held)
                held, rows = [], 0
    if held:
        yield pa.concat_tables(held)


class RegularCompaction:
    """Compacts after a given number of batches of an export, in the same process."""

    def __init__(
        self, output: Output, batches: int, keep_ms: int | None, failed: Callable[[], None] = lambda: None
    ) -> None:
        """Takes how long replaced files are kept: see `keep_ms_of`."""
        self._output = output
        self._batches = batches
        self._keep_ms = keep_ms
        self._failed = failed
        self._done = 0

    def after_batch(self) -> None:
        """Compacts if it is due. A full disk, or a damaged file, does not stop the export: merging can
        wait.
        """
        self._done += 1
        if not self._batches or self._done < self._batches:
            return
        self._done = 0
        with self._output.compacting(wait=False) as alone:
            if not alone:
                log.info("another process compacts %s, or makes a report of it", self._output.where)
                return
            try:
                keep_ms = keep_ms_of(self._output, self._keep_ms)
                log.info("%s", compact(self._output, keep_ms, spare_large=True))
            except (ExportRefusedError, OSError, pa.ArrowInvalid) as error:
                log.warning("small files are not merged for now: %s", error)
                self._failed()
