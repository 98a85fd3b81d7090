"""Progress of an export, from its manifests: position, lag, amounts, and anything unusual."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

import pyarrow as pa

from kraftctl_protocol.generated.index import record_class
from kraftctl_spark.rows.metadata_rows import UNDECODABLE_TYPE, UNKNOWN_TYPE
from kraftctl_spark.rows.tables import RECORDS, table_schemas
from kraftctl_spark.tables.checked_file import CheckedFile
from kraftctl_spark.tables.expired import joined
from kraftctl_spark.tables.forgot import ForgottenName
from kraftctl_spark.tables.manifest import HOUR_MS, Manifest
from kraftctl_spark.tables.not_understood import not_understood
from kraftctl_spark.tables.output import Output
from kraftctl_spark.tables.output_state import raw_start

MICROS_PER_MS = 1_000


@dataclass
class TableProgress:
    """The live manifests' sums for a table."""

    rows: int = 0
    files: int = 0
    bytes: int = 0

    def add(self, rows: int, size_bytes: int) -> None:
        self.rows += rows
        self.files += 1
        self.bytes += size_bytes


@dataclass
class Progress:
    """Everything that `kraftctl-export status` shows. Times are ms since 1970; None without any rows."""

    cluster_id: str | None
    offset: int
    """The tables have everything before this offset."""
    epoch: int
    high_watermark: int | None
    """The high watermark of the last batch."""
    lag_records: int
    """The committed offsets that were not exported by the last batch."""
    last_timestamp_ms: int | None
    """The timestamp of the last record in the tables."""
    last_commit_at_ms: int | None
    lag_ms: int | None
    """The age of the last record when it was committed to the tables."""
    since_last_commit_ms: int | None
    commit_number: int
    """The number of the last commit; -1 without any."""
    batches: int
    batches_last_hour: int
    manifests: int
    total: TableProgress
    tables: dict[str, TableProgress]
    unknown: int
    """Records of a type or version that this release does not know; their bytes are in `records`."""
    unknown_types: dict[str, int]
    """The same by `type id/version`."""
    newer_fields: int
    """Records with tagged fields that this release does not know; these fields are only in `records`."""
    undecodable: int
    redacted: int
    aborted: int
    snapshots: list[tuple[int, int]]
    """Ranges [start, end) that come from a snapshot, because the log had been deleted."""
    gaps: list[tuple[int, int]]
    """Those of them that follow on other rows: what changed there is not known."""
    missing: list[int]
    """Offsets that no leader returns; only offset 0 is possible."""
    not_understood: list[dict[str, Any]] = field(default_factory=list)
    """What this release did not understand, by kind: since which offset, until which one, why, and how many
    records. A history does not know `tables` behind the first one, null: all of them, up to the snapshot that
    has them; null: there is none."""
    with_secrets: list[tuple[int, int]] = field(default_factory=list)
    """Ranges [start, end) that were written with --include-secrets."""
    raw_start: int = 0
    """The tables have records from this offset on; those before it have expired."""
    raw_start_timestamp_ms: int | None = None
    """The time of the first record of the tables."""
    expired: dict[str, Any] | None = None
    """What has expired: the time before which all of it was, that of the last record, and the counts."""
    forgotten: list[ForgottenName] = field(default_factory=list)
    """Names that were replaced by pseudonyms, in the order of their commits."""

    def to_dict(self) -> dict[str, Any]:
        """Returns the progress as a JSON object."""
        return asdict(self)


def progress(output: Output, now_ms: int | None = None) -> Progress:
    """Reads the manifests, the end of `records`, and the types of unknown records if there are any."""
    at_ms = time.time_ns() // 1_000_000 if now_ms is None else now_ms
    return output.read(lambda live: _progress(output, live, at_ms))


def _progress(output: Output, live: list[Manifest], now_ms: int) -> Progress:
    last = live[-1] if live else None
    tables = {name: TableProgress() for name in table_schemas()}
    total = TableProgress()
    counts: Counter[str] = Counter()
    for manifest in live:
        counts.update(manifest.counts)
        for file in manifest.files:
            tables.setdefault(file.table, TableProgress()).add(file.rows, file.bytes)
            total.add(file.rows, file.bytes)
    commits = [at_ms for one in live for at_ms in one.commit_times_ms]
    last_commit_at_ms = max(commits, default=None)
    last_timestamp_ms = _timestamp_ms(output, live, -1)
    snapshots = [found for one in live for found in one.snapshots]
    return Progress(
        cluster_id=last.cluster_id if last else None,
        offset=last.end if last else 0,
        epoch=last.epoch if last else 0,
        high_watermark=last.high_watermark if last else None,
        lag_records=last.lag if last else 0,
        last_timestamp_ms=last_timestamp_ms,
        last_commit_at_ms=last_commit_at_ms,
        lag_ms=_between(last_timestamp_ms, last_commit_at_ms),
        since_last_commit_ms=_between(last_commit_at_ms, now_ms),
        commit_number=output.commit_number,
        batches=sum(manifest.batches for manifest in live),
        batches_last_hour=sum(now_ms - at_ms < HOUR_MS for at_ms in commits),
        manifests=len(live),
        total=total,
        tables={name: table for name, table in tables.items() if table.files},
        unknown=counts["unknown"],
        unknown_types=_unknown_types(output, live),
        newer_fields=counts["newer_fields"],
        undecodable=counts["undecodable"],
        redacted=counts["redacted"],
        aborted=counts["aborted"],
        snapshots=snapshots,
        gaps=[(start, end) for start, end in snapshots if start],
        missing=[offset for one in live for offset in one.missing],
        not_understood=_not_understood(output, live, [end - 1 for _, end in snapshots]),
        with_secrets=list(joined(found for one in live for found in one.with_secrets)),
        raw_start=raw_start(live),
        raw_start_timestamp_ms=_timestamp_ms(output, live, 0),
        expired=_expired(live),
        forgotten=list(output.log.state().forgotten),
    )


def _between(earlier_ms: int | None, later_ms: int | None) -> int | None:
    return None if earlier_ms is None or later_ms is None else max(0, later_ms - earlier_ms)


def _expired(live: list[Manifest]) -> dict[str, Any] | None:
    expired = live[0].expired if live else None
    if expired is None:
        return None
    last_us = expired.last_time_us
    last_ms = None if last_us is None else last_us // MICROS_PER_MS
    return {"before_ms": expired.before_ms, "last_timestamp_ms": last_ms, **expired.counts}


def _timestamp_ms(output: Output, live: list[Manifest], index: int) -> int | None:
    """Returns the timestamp of the first record in the tables, or of the last one; None if it is no date."""
    paths = [file.path for one in live for file in one.files if file.table == RECORDS]
    if not paths:
        return None
    source = CheckedFile(output.sources / paths[index])
    stamps = source.read_row_group(index % source.num_row_groups, columns=["timestamp"]).column("timestamp")
    micros: int | None = stamps[index].cast(pa.int64()).as_py()
    return None if micros is None else micros // MICROS_PER_MS


def _not_understood(output: Output, live: list[Manifest], snapshots: list[int]) -> list[dict[str, Any]]:
    """Returns all kinds in the order of their first records; of a snapshot, those are at its end. Behind the
    next of `snapshots`, it is known again.
    """
    found: dict[tuple[str, str, int | None], dict[str, Any]] = {}
    for manifest in live:
        for one in not_understood(output.sources, manifest):
            since = manifest.end - 1 if manifest.snapshot else one.place
            until = min((offset for offset in snapshots if offset > since), default=None)
            new: dict[str, Any] = {"since_offset": since, "until_offset": until, "reason": one.reason}
            new |= {"subject": one.subject, "records": 0, "tables": one.lost}
            found.setdefault((one.reason, one.subject, until), new)["records"] += one.records
    return list(found.values())


def _unknown_types(output: Output, live: list[Manifest]) -> dict[str, int]:
    found: Counter[str] = Counter()
    columns = ["type", "type_id", "record_version", "is_control"]
    for manifest in live:
        if not manifest.counts.get("unknown"):
            continue
        for file in manifest.files:
            if file.table == RECORDS:
                rows = CheckedFile(output.sources / file.path).read(columns=columns)
                kinds = rows.group_by(columns).aggregate([([], "count_all")]).to_pylist()
                found.update({_name(kind): kind["count_all"] for kind in kinds if not _is_understood(kind)})
    return dict(sorted(found.items()))


def _name(kind: dict[str, Any]) -> str:
    return f"{'control ' if kind['is_control'] else ''}{kind['type_id']}/{kind['record_version']}"


def _is_understood(kind: dict[str, Any]) -> bool:
    """Decides like `metadata_rows.py`; undecodable records are counted elsewhere."""
    if kind["type"] in (UNKNOWN_TYPE, UNDECODABLE_TYPE) or kind["is_control"]:
        return bool(kind["type"] != UNKNOWN_TYPE)
    known = record_class(kind["type_id"])
    return known is not None and known.LOWEST_VERSION <= kind["record_version"] <= known.HIGHEST_VERSION
