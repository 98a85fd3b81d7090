"""Removes raw records that are older than a time: the first batches lose their files, in one commit.

They stay in the commits as one batch without files, which says what there was. The last batch stays as it is,
however old: it says where the log ends.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc

from kraftctl_spark.rows.tables import RECORDS
from kraftctl_spark.tables.checked_file import CheckedFile
from kraftctl_spark.tables.commit import EXPIRED
from kraftctl_spark.tables.compaction import recent_times_ms
from kraftctl_spark.tables.decoding_again import is_due
from kraftctl_spark.tables.expired import Expired, joined
from kraftctl_spark.tables.file_schemas import has_files, is_later
from kraftctl_spark.tables.manifest import ExportRefusedError, Manifest
from kraftctl_spark.tables.not_understood import decoders_of
from kraftctl_spark.tables.output import Output
from kraftctl_spark.tables.table_files import TableFile


@dataclass(frozen=True)
class ExpiryPlan:
    """The batches that are replaced by one without files."""

    replaced: tuple[Manifest, ...]
    """All from the first one on; the first of them may have lost its files before."""
    by: Manifest
    kept: tuple[Manifest, ...]
    """The batches behind them, of which the last one has the end of the log."""
    first_time_us: int | None
    """The time of the first record behind them."""

    @property
    def files(self) -> list[TableFile]:
        return [file for one in self.replaced for file in one.files]

    @property
    def with_files(self) -> list[Manifest]:
        """Returns the batches whose records go now."""
        return [one for one in self.replaced if one.expired is None]


def plan_expiry(output: Output, before_ms: int) -> ExpiryPlan | None:
    """Returns what can go because every record of it is older; None for nothing.

    ExportRefusedError for a damaged file, or for records that this release would decode again. A record
    without a time counts as old as what follows it.
    """
    found = output.read(lambda live: _planned(output, live, before_ms))
    for one in () if found is None else found.with_files:
        if is_due(one) and not has_files(output, one, is_later):
            raise ExportRefusedError(
                f"offsets {one.start} to {one.end - 1} of {output.where} have records that an earlier "
                "release did not understand: kraftctl-export compact decodes them again, and "
                f"{output.history_command} continues the history with them. Do both first"
            )
    return found


def expire(output: Output, expiry: ExpiryPlan, in_history: bool) -> None:
    """Commits it. The caller holds `output.compacting`, and calls `output.remove_replaced` afterwards.

    ExportRefusedError if one of the batches was replaced meanwhile, or if what is `in_history` is not.
    """
    assert expiry.by.expired is not None
    expired = replace(expiry.by.expired, in_history=in_history)
    output.replace(expiry.replaced, replace(expiry.by, expired=expired), EXPIRED)


def _planned(output: Output, live: list[Manifest], before_ms: int) -> ExpiryPlan | None:
    gone, last_us = 0, None
    for number, batch in enumerate(live[:-1], 1):
        if batch.expired is not None:
            last_us = batch.expired.last_time_us
            continue
        times = _times_us(output, batch)
        newest = pc.max(times).as_py()
        if newest is not None and newest >= before_ms * 1000:
            break
        if newest is not None:
            gone, last_us = number, times[-1].as_py()
    if not gone:
        return None
    following = _times_us(output, live[gone])
    return ExpiryPlan(
        tuple(live[:gone]),
        _without_files(live[:gone], before_ms, last_us),
        tuple(live[gone:]),
        following[0].as_py() if len(following) else None,
    )


def _without_files(replaced: list[Manifest], before_ms: int, last_time_us: int | None) -> Manifest:
    last = replaced[-1]
    counts: Counter[str] = Counter()
    decoders = set()
    for one in replaced:
        counts.update(one.counts if one.expired is None else one.expired.counts)
        decoders |= decoders_of(one)
    return Manifest(
        cluster_id=last.cluster_id,
        start=0,
        end=last.end,
        epoch=last.epoch,
        files=(),
        counts={"records": 0},
        high_watermark=last.high_watermark,
        missing=tuple(offset for one in replaced for offset in one.missing),
        secrets=any(one.secrets for one in replaced),  # A history may have them still.
        batches=sum(one.batches for one in replaced),
        batch_times_ms=recent_times_ms(replaced),
        expired=Expired(
            before_ms,
            last_time_us,
            dict(counts),
            tuple(sorted(decoders)),
            tuple(found for one in replaced for found in one.snapshots),
            joined(found for one in replaced for found in one.with_secrets),
        ),
    )


def _times_us(output: Output, batch: Manifest) -> pa.ChunkedArray:
    """Returns the times of its records that have one, in their order."""
    columns = (
        CheckedFile(output.sources / file.path).read(columns=["timestamp"]).column(0)
        for file in batch.files
        if file.table == RECORDS
    )
    chunks = [chunk for column in columns for chunk in column.cast(pa.int64()).drop_null().chunks]
    return pa.chunked_array(chunks, pa.int64())
