"""The offset of a place whose records have expired: one at which the history has the same state.

Only what has an event changes the state, so that of the last event is that of the place.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from kraftctl_spark.history.known_ranges import KnownRange, decode_ranges
from kraftctl_spark.history.reader import read_versions
from kraftctl_spark.history.schema import EVENTS, KNOWN_RANGES
from kraftctl_spark.history.versions.events import GAP_BEGINS
from kraftctl_spark.tables.manifest import ExportRefusedError


def expired_offset(history: Path, offset: int) -> tuple[int, int | None]:
    """Returns the last offset that counts, and the time of the last event: a batch counts as a whole."""
    events = _events(history)
    begun = pc.coalesce(events.column("batch_offset"), events.column("offset"))
    last = pc.max(events.column("offset").filter(pc.less_equal(begun, offset))).as_py()
    found = offset if last is None else max(last, offset)
    return found, _time_us(events, found)


def expired_time(history: Path, first_us: int, time_us: int) -> tuple[int, int | None]:
    """Returns the same for a time that lasts from the first to the second one: of one in a gap, the first
    offset that is not known.

    ExportRefusedError for one before everything.
    """
    events = _events(history)
    ranges = decode_ranges(read_versions(history, KNOWN_RANGES))
    earlier = pc.fill_null(pc.less_equal(events.column("time"), time_us), False)
    places = events.column("offset").filter(earlier).to_pylist()
    places += [one.start_offset for one in ranges if _is_before(one.start_time_us, time_us)]
    places += [one.end_offset - 1 for one in ranges if _is_before(one.end_time_us, time_us)]
    if not places:
        raise ExportRefusedError(f"what was at that time is not known: the history in {history} begins later")
    found = max(places)
    return (found + 1 if any(_ends(one, found, first_us) for one in ranges) else found), _time_us(
        events, found
    )


def _events(history: Path) -> pa.Table:
    found = read_versions(history, EVENTS).select(["offset", "time", "batch_offset", "kind"])
    found = found.filter(pc.not_equal(found.column("kind"), GAP_BEGINS))
    return found.set_column(1, "time", found.column("time").cast(pa.int64()))


def _is_before(one_us: int | None, time_us: int) -> bool:
    return one_us is not None and one_us <= time_us


def _ends(one: KnownRange, offset: int, time_us: int) -> bool:
    """Returns whether a range has ended at a time that is later than its last record."""
    return offset == one.end_offset - 1 and one.end_time_us is not None and one.end_time_us < time_us


def _time_us(events: pa.Table, offset: int) -> int | None:
    found: int | None = pc.max(
        events.column("time").filter(pc.less_equal(events.column("offset"), offset))
    ).as_py()
    return found
