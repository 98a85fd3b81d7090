"""SQL conditions and expressions for the period of a report."""

from __future__ import annotations

from kraftctl_spark.report.period import Period


class Clauses:
    """For tables with `start_time` and `end_time`, unless other columns are named."""

    def __init__(self, period: Period) -> None:
        self._period = period
        self.overlap = self.overlapping("start_time", "end_time")
        self.start_ms = self.start_of("start_time")
        self.end_ms = f"least(unix_millis(end_time), {period.end_ms}L)"
        self.duration_ms = f"greatest(0L, {self.end_ms} - {self.start_ms})"

    def start_of(self, start: str) -> str:
        return f"greatest(unix_millis({start}), {self._period.start_ms}L)"

    def overlapping(self, start: str, end: str) -> str:
        """Whether an interval overlaps the period."""
        return (
            f"unix_millis({start}) < {self._period.end_ms} AND unix_millis({end}) >= {self._period.start_ms}"
        )

    def moment(self, time: str) -> str:
        """Whether a moment is in the period."""
        return (
            f"unix_millis({time}) >= {self._period.start_ms} AND unix_millis({time}) < {self._period.end_ms}"
        )

    def bucket(self, time: str) -> str:
        """Start of the bucket of a moment."""
        return f"(unix_millis({time}) - unix_millis({time}) % {self._period.bucket_ms})"

    def steps(self, what: str, table: str) -> str:
        """+1 where a state starts, -1 where it ends, by bucket; a state at the end of the log continues."""
        going_on = "ended_by = 'end'"
        return f"""
            SELECT '{what}' AS what, side.bucket_ms AS bucket_ms, sum(side.step) AS step FROM (
                SELECT explode(array(
                    struct({self.bucket("start_time")} AS bucket_ms, 1 AS step),
                    struct({self.bucket("end_time")} AS bucket_ms,
                           CASE WHEN {going_on} THEN 0 ELSE -1 END AS step)
                )) AS side FROM {table}
            ) GROUP BY 1, 2"""


def partition_name() -> str:
    """`orders-3`; just the topic where `partition_id` is -1."""
    return "CASE WHEN partition_id >= 0 THEN concat(topic, '-', partition_id) ELSE topic END"
