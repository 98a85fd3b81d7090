"""SQL conditions and expressions for the period of a report."""

from __future__ import annotations

from kraftctl_spark.report.period import Period, at


class Clauses:
    """The conditions for tables of versions, unless other columns are named; open ones extend to
    `log_end_ms`.

    In plots, whose bars must not end before the plot, they extend to `latest_ms`: the two differ only where
    the clock of a former leader was ahead.
    """

    def __init__(self, period: Period, log_end_ms: int, latest_ms: int) -> None:
        self._period = period
        self.began_ms = "epoch_ms(valid_from_time)"
        self.ended_ms = (
            f"CASE WHEN valid_to_offset IS NULL THEN {log_end_ms} ELSE epoch_ms(valid_to_time) END"
        )
        # What began in the period may have ended before it, by the clock of another leader.
        self.overlap = (
            f"(valid_from_time < {moment(period.end_ms)} "
            f"AND (valid_to_offset IS NULL OR valid_to_time >= {moment(period.start_ms)} "
            f"OR valid_from_time >= {moment(period.start_ms)}))"
        )
        self.start_ms = self.within(self.began_ms)
        # Where the clock of a new leader is behind, no time has passed, as in the views.
        self.end_ms = self.within(f"greatest({self.began_ms}, {self.ended_ms})")
        self.drawn_end_ms = (
            f"CASE WHEN valid_to_offset IS NULL THEN {self.within(str(latest_ms))} ELSE {self.end_ms} END"
        )

    def within(self, time_ms: str) -> str:
        """Returns a time, or the nearer end of the period."""
        return f"least(greatest({time_ms}, {self._period.start_ms}), {self._period.end_ms})"

    def during(self, time: str) -> str:
        """Returns a condition: the moment is in the period."""
        return f"({time} >= {moment(self._period.start_ms)} AND {time} < {moment(self._period.end_ms)})"

    def bucket(self, time_ms: str, width_ms: int | None = None) -> str:
        """Returns the start of the bucket of a moment."""
        return f"({time_ms}) - ({time_ms}) % {width_ms or self._period.bucket_ms}"


def moment(time_ms: int) -> str:
    """Returns a literal: Parquet's statistics are compared with one."""
    return f"TIMESTAMPTZ '{at(time_ms).isoformat(timespec='milliseconds')}'"


def text_of(ids: str) -> str:
    """Returns values as text: `1, 2, 3`."""
    return f"array_to_string({ids}, ', ')"


def partition_name(topic: str = "topic", partition_id: str = "partition_id") -> str:
    """Returns `orders-3`; just the topic where `partition_id` is -1."""
    return f"CASE WHEN {partition_id} >= 0 THEN {topic} || '-' || {partition_id} ELSE {topic} END"
