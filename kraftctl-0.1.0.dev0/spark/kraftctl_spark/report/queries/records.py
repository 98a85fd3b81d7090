"""Which types of records were written to the log."""

from __future__ import annotations

from kraftctl_spark.report.contents import RecordCount
from kraftctl_spark.report.queries.query import Query


def types(query: Query) -> tuple[RecordCount, ...]:
    """Counts records of the log: those in a snapshot were first written at another time."""
    within = query.within
    return query.db.all(
        RecordCount,
        f"""SELECT {within.bucket("epoch_ms(timestamp)")} AS bucket_ms, type, count(*) AS records
            FROM raw_records WHERE "offset" IS NOT NULL AND {within.during("timestamp")}
            GROUP BY 1, 2 ORDER BY 1, 2""",
    )
