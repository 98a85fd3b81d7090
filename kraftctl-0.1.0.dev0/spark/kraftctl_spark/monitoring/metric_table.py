"""Every metric of a running export: its name, type, meaning and labels.

What is served and spark/METRICS.md are made of this table.
"""

from __future__ import annotations

from typing import Final

from kraftctl_security.exposition import COUNTER, GAUGE, HISTOGRAM, ONE, Metric

HISTORY, COMPACTION, WORKER, PUBLICATION = "history", "compaction", "worker", "publication"
FAILURES: Final = (HISTORY, COMPACTION, WORKER, PUBLICATION)
"""The kinds of failures that do not end an export."""

DURATION_BOUNDS_S: Final = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)


def _metric(
    key: str, kind: str, meaning: str, labels: tuple[str, ...] = (), cardinality: str = ONE
) -> Metric:
    return Metric(key, (f"kraftctl_export_{key}",), kind, meaning, labels, cardinality)


METRICS: Final = (
    _metric("info", GAUGE, "1, with what is exported and how", ("cluster_id", "engine")),
    _metric("offset", GAUGE, "Everything before this offset is in the tables"),
    _metric(
        "raw_start_offset", GAUGE, "The tables have records from this offset on; earlier ones have expired"
    ),
    _metric("high_watermark", GAUGE, "The end of what was committed in the log at the last batch"),
    _metric("lag_records", GAUGE, "Committed offsets that the last batch left out"),
    _metric(
        "lag_seconds", GAUGE, "How old the last record was when the last batch of this process was committed"
    ),
    _metric("last_commit_timestamp_seconds", GAUGE, "When the last batch was committed, since 1970"),
    _metric("commit_number", GAUGE, "The number of the last batch's commit, once this process has made one"),
    _metric("batches_total", COUNTER, "Batches that this process has committed"),
    _metric("records_total", COUNTER, "Records in these batches"),
    _metric("last_batch_duration_seconds", GAUGE, "How long the last batch took, to its commit"),
    _metric("batch_duration_seconds", HISTOGRAM, "How long batches took, to their commits"),
    _metric(
        "failures_total",
        COUNTER,
        "Failures that did not end the export: history, compaction and publication follow later, and the work"
        " of a worker that ended is done again",
        ("kind",),
        "4",
    ),
    _metric("unknown_records", GAUGE, "Records in the tables that this release does not know"),
    _metric("newer_fields_records", GAUGE, "Records in the tables with fields that it does not know"),
    _metric("undecodable_records", GAUGE, "Records in the tables that cannot be decoded"),
    _metric("table_rows", GAUGE, "Rows of a table", ("table",), "record types"),
)
