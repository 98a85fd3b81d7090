"""The values of the metrics of a running export. Batches change them, the listener's threads read them."""

from __future__ import annotations

import bisect
import threading
from collections import Counter

from kraftctl_security.exposition import Buckets, Samples, parts
from kraftctl_spark.monitoring.metric_table import DURATION_BOUNDS_S, FAILURES, METRICS
from kraftctl_spark.tables.exporter import Committed
from kraftctl_spark.tables.progress import Progress

NOT_UNDERSTOOD = {
    "unknown": "unknown_records",
    "newer_fields": "newer_fields_records",
    "undecodable": "undecodable_records",
}
"""The metrics of the counts of a batch."""


class ExportMetrics:
    """The values, as of now."""

    def __init__(self, cluster_id: str, engine: str) -> None:
        self._lock = threading.Lock()
        self._labels = (cluster_id, engine)
        self._values: dict[str, int | float] = {"batches_total": 0, "records_total": 0}
        self._values |= dict.fromkeys(NOT_UNDERSTOOD.values(), 0)
        self._rows: Counter[str] = Counter()
        self._failures = Counter(dict.fromkeys(FAILURES, 0))
        self._durations = [0] * (len(DURATION_BOUNDS_S) + 1)
        self._duration_s = 0.0

    def begin_with(self, before: Progress) -> None:
        """Notes what is in the tables already."""
        with self._lock:
            values = self._values
            values["offset"], values["lag_records"] = before.offset, before.lag_records
            values["raw_start_offset"] = before.raw_start
            for count, metric in NOT_UNDERSTOOD.items():
                values[metric] = getattr(before, count)
            if before.high_watermark is not None and before.last_commit_at_ms is not None:
                values["high_watermark"] = before.high_watermark
                values["last_commit_timestamp_seconds"] = before.last_commit_at_ms / 1000
            self._rows = Counter({name: table.rows for name, table in before.tables.items()})

    def committed(self, batch: Committed) -> None:
        """Counts a batch that has been committed."""
        manifest = batch.manifest
        with self._lock:
            values = self._values
            values["offset"], values["high_watermark"] = manifest.end, manifest.high_watermark
            values["lag_records"], values["lag_seconds"] = manifest.lag, batch.lag_ms / 1000
            values["last_commit_timestamp_seconds"] = batch.at_ms / 1000
            values["commit_number"], values["raw_start_offset"] = batch.number, batch.raw_start
            values["batches_total"] += 1
            values["records_total"] += manifest.counts["records"]
            values["last_batch_duration_seconds"] = batch.took_s
            self._durations[bisect.bisect_left(DURATION_BOUNDS_S, batch.took_s)] += 1
            self._duration_s += batch.took_s
            for count, metric in NOT_UNDERSTOOD.items():
                values[metric] += manifest.counts.get(count, 0)
            for file in manifest.files:
                self._rows[file.table] += file.rows

    def failed(self, kind: str) -> None:
        """Notes a failure of one of `FAILURES`, which does not end the export."""
        with self._lock:
            self._failures[kind] += 1

    def text(self) -> str:
        """Returns the text of Prometheus."""
        with self._lock:
            samples: Samples = {key: [((), value)] for key, value in self._values.items()}
            samples["info"] = [(self._labels, 1)]
            samples["failures_total"] = [((kind,), count) for kind, count in self._failures.items()]
            samples["table_rows"] = [((table,), rows) for table, rows in sorted(self._rows.items())]
            found = Buckets(DURATION_BOUNDS_S, tuple(self._durations), self._duration_s)
            samples["batch_duration_seconds"] = [((), found)]
        return "".join(parts(samples, METRICS))
