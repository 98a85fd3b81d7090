"""Compares Spark's checkpoint of a typed export with the tables."""

from __future__ import annotations

import json
from pathlib import Path

from kraftctl_observer.log_reader import LogReader
from kraftctl_spark.datasource.source import KraftOffset
from kraftctl_spark.rows.log_rows import rows_of_log
from kraftctl_spark.rows.transactions import BEGIN
from kraftctl_spark.tables.manifest import ExportRefusedError, Position


def last_committed(checkpoint: Path) -> KraftOffset | None:
    """Returns the end of the last batch that Spark has committed; None for a new checkpoint."""
    commits = checkpoint / "commits"
    done = [int(path.name) for path in commits.iterdir() if path.name.isdecimal()] if commits.is_dir() else []
    if not done:
        return None
    planned = checkpoint / "offsets" / str(max(done))
    try:
        return KraftOffset.from_dict(json.loads(planned.read_text().splitlines()[2]))
    except (OSError, IndexError, ValueError) as error:
        raise ExportRefusedError(
            f"{checkpoint} cannot be understood ({error}): remove it; the manifests say how far the tables go"
        ) from error


def check_checkpoint(checkpoint: Path, position: Position, reader: LogReader) -> None:
    """Refuses a checkpoint of other tables, or of tables that have lost their end.

    A checkpoint that is behind or missing does no harm: nothing in the tables is written again.
    """
    done = last_committed(checkpoint)
    if done is None:
        return
    if done.cluster != reader.cluster_id():
        raise ExportRefusedError(
            f"{checkpoint} belongs to cluster {done.cluster}, but the log to "
            f"{reader.cluster_id()}: name the right controllers, or another checkpoint directory"
        )
    if done.offset > position.offset and not _begins_transaction(position, done.offset, reader):
        raise ExportRefusedError(
            f"{checkpoint} says that everything before offset {done.offset} was written, but the tables end "
            f"at {position.offset}: if this is the right output directory, and it has lost files, remove the "
            f"checkpoint; the export then continues at {position.offset}"
        )


def _begins_transaction(position: Position, end: int, reader: LogReader) -> bool:
    """Returns whether the tables correctly end there: before a transaction that was open."""
    place = reader.position(position.offset, position.epoch)
    if place.snapshot is not None or place.high_watermark <= position.offset:
        return False
    last = min(end, position.offset + 1)
    batches = reader.read(position.offset, position.epoch, last)
    return any(rows.find((BEGIN,)) for rows in rows_of_log(batches, position.offset, last))
