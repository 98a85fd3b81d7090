"""What only the history of an export says of what is not known, as its status lists it.

What records were about that the log never set, no table has; nor what was not understood in records that have
expired.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kraftctl_spark.history import DIRECTORY
from kraftctl_spark.history.known_ranges import KnownRange, decode_ranges
from kraftctl_spark.history.not_known import NotKnown, decode_not_known
from kraftctl_spark.history.reader import read_versions
from kraftctl_spark.history.schema import KNOWN_RANGES, NOT_KNOWN
from kraftctl_spark.history.stored_history import history_log
from kraftctl_spark.history.versions.quarantine import NOT_SET
from kraftctl_spark.tables.not_understood import NEW_FIELDS
from kraftctl_spark.tables.output import Output

Listed = dict[str, Any]


def with_history(listed: Iterable[Listed], output: Output, raw_start: int) -> list[Listed]:
    """Returns what is listed, with what only the history has: nothing more without one.

    ExportRefusedError for a damaged one.
    """
    history = history_log(output.directory / DIRECTORY, output)
    if history.read() is None:
        return list(listed)
    rows = decode_not_known(read_versions(history, NOT_KNOWN))
    ranges = decode_ranges(read_versions(history, KNOWN_RANGES))
    begun = [row for row in rows if row.reason != NOT_SET and row.start_offset < raw_start]
    expired = listed_of(begun, ranges)
    never_set = [_listed(row) for row in rows if row.reason == NOT_SET and row.end_offset is None]
    here = [one for one in listed if _what(one) not in expired]
    return [*expired.values(), *here, *never_set]


def listed_of(rows: Iterable[NotKnown], ranges: Iterable[KnownRange]) -> dict[tuple[Any, ...], Listed]:
    """Returns what began in these rows, by what it is; that of later ones of its kind is in it.

    A row without a table is of none of them within a range, and of all of them elsewhere.
    """
    found: dict[tuple[Any, ...], Listed] = {}
    known = [(one.start_offset, one.end_offset) for one in ranges]
    for row in rows:
        one = _listed(row)
        listed = found.setdefault(_what(one), one)
        if row.history_table is not None:
            if listed["tables"] is not None:
                listed["tables"] = (*listed["tables"], row.history_table)
        elif row.reason != NEW_FIELDS and not any(start <= row.start_offset < end for start, end in known):
            listed["tables"] = None
    return found


def _listed(row: NotKnown) -> Listed:
    return {
        "since_offset": row.start_offset,
        "until_offset": row.end_offset,
        "reason": row.reason,
        "subject": row.subject,
        "records": row.records,
        "tables": (),
    }


def _what(one: Listed) -> tuple[Any, ...]:
    return one["reason"], one["subject"], one["until_offset"]
