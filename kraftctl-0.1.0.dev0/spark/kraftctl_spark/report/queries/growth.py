"""How many topics, partitions and brokers there were at the end of each bucket."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kraftctl_spark.report.clauses import moment
from kraftctl_spark.report.contents import Gap, Size
from kraftctl_spark.report.period import Period
from kraftctl_spark.report.queries.query import Query

TABLES = ("topics", "partitions", "brokers")


@dataclass(frozen=True)
class Step:
    """A change of a number in a bucket, or before the first bucket."""

    what: str
    bucket_ms: int
    step: int


def growth(query: Query) -> tuple[Size, ...]:
    """Counts versions that began minus those that ended by then: of one thing, at most one is valid.

    Versions that began and ended before the period are left out: they add nothing.
    """
    before_ms, end = query.period.buckets()[0], moment(query.period.end_ms)

    def steps(table: str, time: str, step: int) -> str:
        bucket = query.within.bucket(f"greatest(epoch_ms({time}), {before_ms})")
        columns = f"'{table}' AS what, {bucket} AS bucket_ms, {step} AS step"
        return f"SELECT {columns} FROM {table} WHERE {time} < {end} AND {query.within.overlap}"

    sides = [
        steps(table, *side) for table in TABLES for side in (("valid_from_time", 1), ("valid_to_time", -1))
    ]
    found = query.db.all(
        Step,
        f"""SELECT what, bucket_ms, sum(step) AS step FROM ({" UNION ALL ".join(sides)})
            GROUP BY 1, 2 ORDER BY 1, 2""",
    )
    return sizes(query.period, found, query.all_gaps, query.lost)


def sizes(
    period: Period, steps: Sequence[Step], gaps: Sequence[Gap], lost: Mapping[str, Sequence[Gap]]
) -> tuple[Size, ...]:
    """Returns None where a bucket ends in a gap; `lost` has those of tables that have others than the log."""
    before_ms = period.buckets()[0]
    totals = dict.fromkeys(TABLES, 0)
    by_bucket: dict[int, list[Step]] = {}
    for step in steps:
        by_bucket.setdefault(max(step.bucket_ms, before_ms), []).append(step)
    found = []
    for bucket_ms in period.buckets():
        for step in by_bucket.get(bucket_ms, ()):
            totals[step.what] += step.step
        end_ms = min(bucket_ms + period.bucket_ms, period.end_ms)
        known = {
            table: None
            if any(gap.start_ms < end_ms <= gap.end_ms for gap in lost.get(table, gaps))
            else total
            for table, total in totals.items()
        }
        found.append(Size(bucket_ms, **known))
    return tuple(found)
