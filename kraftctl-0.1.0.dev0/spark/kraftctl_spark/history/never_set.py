"""What the records of a history are about that the log never set, as the status of an export lists it."""

from __future__ import annotations

from typing import Any

from kraftctl_spark.history import DIRECTORY
from kraftctl_spark.history.not_known import decode_not_known
from kraftctl_spark.history.reader import read_versions
from kraftctl_spark.history.schema import NOT_KNOWN
from kraftctl_spark.history.stored_history import history_log
from kraftctl_spark.history.versions.quarantine import NOT_SET
from kraftctl_spark.tables.output import Output


def never_set(output: Output) -> list[dict[str, Any]]:
    """Returns those that are not known now, none without a history; ExportRefusedError for a damaged one."""
    history = history_log(output.directory / DIRECTORY, output)
    if history.read() is None:
        return []
    return [
        {
            "since_offset": row.start_offset,
            "reason": row.reason,
            "subject": row.subject,
            "records": row.records,
            "tables": (),
        }
        for row in decode_not_known(read_versions(history, NOT_KNOWN))
        if row.reason == NOT_SET and row.end_offset is None
    ]
