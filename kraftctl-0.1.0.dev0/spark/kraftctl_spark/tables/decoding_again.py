"""Decodes records again, from the bytes in `records`, that an earlier release did not understand.

The batch is written once more, with a revision, and replaces itself as in a compaction. What a release has
redacted for safety stays without bytes, and is not understood.
"""

from __future__ import annotations

import logging
from contextlib import ExitStack
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from kraftctl_spark.rows.decoder import decoder_name
from kraftctl_spark.rows.metadata_rows import UNDECODABLE_TYPE
from kraftctl_spark.tables.commit import DECODED_AGAIN
from kraftctl_spark.tables.file_schemas import has_files, is_later
from kraftctl_spark.tables.manifest import Manifest
from kraftctl_spark.tables.new_fields import summed
from kraftctl_spark.tables.not_understood import NOT_UNDERSTOOD, TypedPlaces
from kraftctl_spark.tables.output import Output
from kraftctl_spark.tables.rewritten_batch import RewrittenBatch

log = logging.getLogger(__name__)


def decode_again(output: Output) -> int:
    """Decodes again what earlier releases did not understand; returns the number of batches.

    The caller holds `output.compacting`, and calls `output.remove_replaced` afterwards.
    """
    due = [one for one in output.manifests() if is_due(one) and not has_files(output, one, is_later)]
    for manifest in due:
        with ExitStack() as failed:
            failed.callback(output.remove_merge_leftovers)
            again = _Again(output, manifest).written()
            output.replace([manifest], again, DECODED_AGAIN)
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


class _Again(RewrittenBatch):
    """A batch that is decoded again."""

    def __init__(self, output: Output, manifest: Manifest) -> None:
        super().__init__(output, manifest)
        self._typed = TypedPlaces(output.sources, manifest, self._place)

    def _described(self, manifest: Manifest) -> Manifest:
        """Counts again what was not understood; more may be redacted."""
        again, before = self._counts.to_dict(), manifest.counts
        redacted = before.get("redacted", 0) + self._newly_redacted
        return replace(
            manifest,
            counts={**before, **{name: again[name] for name in NOT_UNDERSTOOD}, "redacted": redacted},
            decoder=decoder_name(),
            new_fields=tuple(summed(self._new_fields)),
        )

    def _changed(self, rows: pa.Table) -> dict[str, pa.Table]:
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
