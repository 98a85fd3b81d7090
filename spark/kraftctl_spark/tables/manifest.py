"""One committed batch of an export: a range of offsets, its files, and all that is known about it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from kraftctl_spark.tables.expired import Expired, Ranges
from kraftctl_spark.tables.new_fields import NewFields
from kraftctl_spark.tables.table_files import TableFile, range_name

RESTORE = "restore it from a backup, or export to a new directory"
"""The advice for a file that is damaged or missing."""
HOUR_MS = 3_600_000


class ExportRefusedError(Exception):
    """Continuing would lose or duplicate rows; the message says what to do."""


@dataclass(frozen=True)
class Manifest:
    """One committed batch: offsets [start, end) are in these files.

    It has 17 fields, because readers get everything about a batch from one file.
    """

    cluster_id: str
    start: int
    end: int
    epoch: int
    """The epoch of the last record of the range."""
    files: tuple[TableFile, ...]
    counts: dict[str, int]
    """The counts of `RowCounts`; `records` is the number of rows of the `records` table."""
    high_watermark: int
    """The high watermark when the batch began."""
    snapshot: bool = False
    """Whether the rows are those of the snapshot that ends at `end`, because the log had been deleted."""
    missing: tuple[int, ...] = ()
    """Offsets that no leader returns; only offset 0 is possible."""
    secrets: bool = False
    """Whether secrets were not redacted."""
    batches: int = 1
    """The number of batches that were merged into it."""
    revision: int = 0
    """The number of times that exactly this range was written again, with columns of later releases."""
    decoder: str = field(default="", compare=False)
    """The release's `decoder_name`, of the one that understood the fewest; empty for old releases."""
    committed_at_ms: int = field(default=0, compare=False)
    new_fields: tuple[NewFields, ...] = ()
    """The records that `counts` has as `newer_fields`; empty, too, where only their bytes say which."""
    batch_times_ms: tuple[int, ...] = field(default=(), compare=False)
    """The commit times, after a merge, of its last batch and of the batches in the hour before it."""
    expired: Expired | None = None
    """What there was, where its records were removed because of their age; it has no files then."""

    @property
    def name(self) -> str:
        return range_name(self.start, self.end - 1, self.revision)

    @property
    def snapshots(self) -> Ranges:
        """Returns its ranges that came from a snapshot, also where the records have expired."""
        if self.expired is not None:
            return self.expired.snapshots
        return ((self.start, self.end),) if self.snapshot else ()

    @property
    def with_secrets(self) -> Ranges:
        """Returns its ranges in which secrets were not redacted, also where the records have expired."""
        if self.expired is not None:
            return self.expired.with_secrets
        return ((self.start, self.end),) if self.secrets else ()

    @property
    def commit_times_ms(self) -> tuple[int, ...]:
        """Returns the commit times of its batches, as far as they are still known."""
        return self.batch_times_ms or (self.committed_at_ms,)

    @property
    def lag(self) -> int:
        """Returns the number of committed offsets that were not exported yet."""
        return max(0, self.high_watermark - self.end)

    def to_dict(self) -> dict[str, Any]:
        """Returns it as a JSON object."""
        new_fields = [asdict(one) for one in self.new_fields]
        found = {**vars(self), "files": [file.to_dict() for file in self.files], "new_fields": new_fields}
        expired = found.pop("expired")  # Without it, a batch has the bytes that earlier releases hashed.
        return found if expired is None else {**found, "expired": expired.to_dict()}


@dataclass(frozen=True)
class Position:
    """The position of the export: everything before `offset` is in the tables."""

    offset: int = 0
    epoch: int = 0
    cluster_id: str | None = None
