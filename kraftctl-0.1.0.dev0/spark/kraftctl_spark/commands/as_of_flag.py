"""`--as-of`: an offset or a time of the tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kraftctl_spark.history.log_files import PastPlace

HELP = "an offset, whose batch is the last one, or 2026-11-21T12:00:00Z [the end]"


def past_place(text: str | None) -> PastPlace:
    """Returns the place; ExportRefusedError for a text that is none."""
    from kraftctl_protocol.asked_time import span_ms_of
    from kraftctl_spark.history.log_files import PastPlace
    from kraftctl_spark.report.period import parse_time
    from kraftctl_spark.tables.manifest import ExportRefusedError

    if text is None:
        return PastPlace()
    if text.isdecimal():
        return PastPlace(offset=int(text))
    try:
        return PastPlace(time_ms=parse_time(text), span_ms=span_ms_of(text))
    except ValueError as error:
        raise ExportRefusedError(f"--as-of: {error}, or an offset") from error
