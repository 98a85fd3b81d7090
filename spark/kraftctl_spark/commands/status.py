"""`kraftctl-export status` shows how far the tables go and what is in them, from their manifests alone."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from kraftctl_spark.commands.path_flag import path_flag

if TYPE_CHECKING:
    from kraftctl_spark.tables.durable import Hook
    from kraftctl_spark.tables.progress import Progress

NEEDED = ("pyarrow",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--output", required=True, type=path_flag, help="directory of the tables")
    parser.add_argument("--json", action="store_true", help="for programs: one JSON object")


def run(options: argparse.Namespace, hook: Hook) -> int:
    """Returns the exit code; ExportRefusedError for a directory without tables."""
    from kraftctl_spark.tables.manifest import Output
    from kraftctl_spark.tables.progress import progress

    output = Output(options.output)
    output.check_exists()
    found = progress(output)
    print(json.dumps(found.to_dict()) if options.json else "\n".join(lines(found)))
    return 0


def lines(found: Progress) -> Iterator[str]:
    """Yields the lines of the status for people."""
    if found.cluster_id is None:
        yield "nothing has been committed yet"
        return
    yield f"cluster          {found.cluster_id}"
    yield f"position         offset {found.offset}, epoch {found.epoch}"
    yield f"high watermark   {found.high_watermark}, as the last batch saw it"
    yield f"behind           {found.lag_records} records; the last one was {_seconds(found.lag_ms)} old"
    yield f"last record      {_time(found.last_timestamp_ms)}"
    yield f"last commit      {_time(found.last_commit_at_ms)}, {_seconds(found.since_last_commit_ms)} ago"
    yield f"batches          {found.batches}, {found.batches_last_hour} of them in the last hour"
    yield (
        f"size             {found.total.rows} rows, {found.total.bytes} bytes, {found.total.files} files, "
        f"{found.manifests} manifests"
    )
    yield f"unknown          {found.unknown}{_unknown_types(found)}"
    yield f"newer fields     in {found.newer_fields} records"
    yield f"not understood   {_not_understood(found)}"
    yield f"undecodable      {found.undecodable}"
    yield f"redacted         {found.redacted}"
    yield f"aborted          {found.aborted}"
    yield f"snapshots        {_ranges(found.snapshots)}"
    yield f"gaps             {_ranges(found.gaps)}"
    yield f"missing offsets  {', '.join(map(str, found.missing)) or 'none'}"
    yield f"with secrets     {_ranges(found.with_secrets)}"
    yield ""
    yield f"{'table':40}{'rows':>12}{'files':>8}{'bytes':>14}"
    for name, table in found.tables.items():
        yield f"{name:40}{table.rows:>12}{table.files:>8}{table.bytes:>14}"


def _unknown_types(found: Progress) -> str:
    kinds = ", ".join(f"type/version {name}: {count}" for name, count in found.unknown_types.items())
    return f" ({kinds})" if kinds else ""


def _not_understood(found: Progress) -> str:
    from kraftctl_spark.tables.changed_tables import lost_text

    listed = (
        f"{one['subject']} since offset {one['since_offset']} ({one['reason']}, {one['records']} records)"
        f"{lost_text(one['tables'])}"
        for one in found.not_understood
    )
    return "; ".join(listed) or "nothing: all records are understood"


def _ranges(ranges: list[tuple[int, int]]) -> str:
    return ", ".join(f"offsets {start} to {end - 1}" for start, end in ranges) or "none"


def _seconds(duration_ms: int | None) -> str:
    return "?" if duration_ms is None else f"{duration_ms / 1000:.1f} s"


def _time(at_ms: int | None) -> str:
    return (
        "?" if at_ms is None else datetime.fromtimestamp(at_ms / 1000, UTC).isoformat(timespec="milliseconds")
    )
