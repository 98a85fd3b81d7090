"""`kraftctl-export status` shows how far the tables go and what is in them, from their commits.

What records were about that the log never set, and what was not understood in records that have expired, only
a history knows: it says that where there is one.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from kraftctl_spark.commands.output_flag import add_output_flags, output_of

if TYPE_CHECKING:
    from kraftctl_spark.publish.publication_state import PublicationState
    from kraftctl_spark.stores.durable import Hook
    from kraftctl_spark.tables.progress import Progress

NEEDED = ("pyarrow",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_output_flags(parser)
    parser.add_argument("--json", action="store_true", help="for programs: one JSON object")


def run(options: argparse.Namespace, hook: Hook) -> int:
    """Returns the exit code; ExportRefusedError for a directory without tables."""
    from kraftctl_spark.history.known_to_history import with_history
    from kraftctl_spark.publish.publication_state import publication_states
    from kraftctl_spark.tables.progress import progress

    with output_of(options, hook) as output:
        output.check_exists()
        found, published = progress(output), publication_states(output.log.store)
        found.not_understood = with_history(found.not_understood, output, found.raw_start)
    if options.json:
        states = {name: asdict(state) for name, state in published.items()}
        print(json.dumps({**found.to_dict(), "published": states}))
    else:
        print("\n".join([*lines(found), *published_lines(published)]))
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
    yield f"commit           {found.commit_number}"
    yield f"batches          {found.batches}, {found.batches_last_hour} of them in the last hour"
    yield (
        f"size             {found.total.rows} rows, {found.total.bytes} bytes, {found.total.files} files, "
        f"{found.manifests} manifests"
    )
    yield f"raw records      {_raw(found)}"
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
    for one in found.forgotten:
        done = f"finished {_time(one.finished_at_ms)}" if one.finished_at_ms else "NOT FINISHED: repeat it"
        yield f"forgotten        {one.kind} {one.pseudonym} by commit {one.number}, {done}"
    yield ""
    yield f"{'table':40}{'rows':>12}{'files':>8}{'bytes':>14}"
    for name, table in found.tables.items():
        yield f"{name:40}{table.rows:>12}{table.files:>8}{table.bytes:>14}"


def published_lines(published: dict[str, PublicationState]) -> Iterator[str]:
    """Yields a line for each format, and one for what keeps failing."""
    for name, state in published.items():
        yield f"as {name:14}up to offset {state.offset}, at {_time(state.published_at_ms)}"
        if state.failing_since_ms is not None:
            yield f"{'':17}fails since {_time(state.failing_since_ms)}: {state.failure}"


def _raw(found: Progress) -> str:
    begins = f"from offset {found.raw_start} on, {_time(found.raw_start_timestamp_ms)}"
    if found.expired is None:
        return begins
    lost = _expired_unknowns(found)
    unknown = f", {lost} of them not understood" if lost else ""
    before = _time(found.expired["before_ms"])
    return f"{begins}; {found.expired['records']} before {before} have expired{unknown}"


def _unknown_types(found: Progress) -> str:
    kinds = ", ".join(f"type/version {name}: {count}" for name, count in found.unknown_types.items())
    return f" ({kinds})" if kinds else ""


def _not_understood(found: Progress) -> str:
    from kraftctl_spark.tables.changed_tables import lost_text

    listed = (
        f"{one['subject']} since offset {one['since_offset']} ({one['reason']}, {one['records']} records"
        f"{_until(one['until_offset'])}){lost_text(one['tables'])}"
        for one in found.not_understood
    )
    gone = _expired_unknowns(found)
    nothing = (
        f"{gone} records that have expired: see the history"
        if gone
        else "nothing: all records are understood"
    )
    return "; ".join(listed) or nothing


def _until(offset: int | None) -> str:
    """Returns from where on it is known again, because a snapshot says it."""
    return "" if offset is None else f", until {offset}"


def _expired_unknowns(found: Progress) -> int:
    if found.expired is None:
        return 0
    return sum(found.expired.get(name, 0) for name in ("unknown", "undecodable", "newer_fields"))


def _ranges(ranges: list[tuple[int, int]]) -> str:
    return ", ".join(f"offsets {start} to {end - 1}" for start, end in ranges) or "none"


def _seconds(duration_ms: int | None) -> str:
    return "?" if duration_ms is None else f"{duration_ms / 1000:.1f} s"


def _time(at_ms: int | None) -> str:
    return (
        "?" if at_ms is None else datetime.fromtimestamp(at_ms / 1000, UTC).isoformat(timespec="milliseconds")
    )
