"""`kraftctl-export expire` removes raw records that are older than a time; the history stays."""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from kraftctl_protocol.counted_text import counted, one_or_many
from kraftctl_spark.commands import history
from kraftctl_spark.commands.interval import interval_ms
from kraftctl_spark.commands.keep_removed import add_keep_removed, keep_removed_ms
from kraftctl_spark.commands.output_flag import add_output_flags, output_of
from kraftctl_spark.commands.path_flag import path_flag

if TYPE_CHECKING:
    from kraftctl_spark.history.history_tables import HistoryTables
    from kraftctl_spark.stores.durable import Hook
    from kraftctl_spark.tables.expiry import ExpiryPlan
    from kraftctl_spark.tables.output import Output

NEEDED = ("pyarrow",)

BESIDE = "the history stays, and cannot be computed again"
APART = f"{BESIDE}: no name in it can be forgotten any more, because it is not beside the tables"
NONE = "no history has these records: none can be computed any more"

BUSY_WAIT_S = 60.0
"""Another process may write the history this long: that is one batch."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_output_flags(parser)
    parser.add_argument(
        "--raw-before",
        required=True,
        metavar="TIME",
        help="2026-08-31T00:00:00Z, 2026-08-31 for its beginning in UTC, or an age: 90d, '12 hours'",
    )
    parser.add_argument(
        "--execute", action="store_true", help="do it; without this flag, only say what would be done"
    )
    of_history = parser.add_mutually_exclusive_group()
    of_history.add_argument(
        "--history", type=path_flag, help=f"directory of the versions [OUTPUT/{history.DIRECTORY}]"
    )
    of_history.add_argument(
        "--without-history",
        action="store_true",
        help="where there is no history, do it all the same: what these records did is not known any more "
        "then, and no history or report can be computed",
    )
    add_keep_removed(parser)


def run(options: argparse.Namespace, hook: Hook) -> int:
    """Returns the exit code; ExportRefusedError where something would be lost that the history lacks."""
    from kraftctl_spark.tables.expiry import expire, plan_expiry

    before_ms = _before_ms(options.raw_before)
    with output_of(options, hook) as output, ExitStack() as held:
        output.check_exists()
        kept = _history(options, output, held)
        held.enter_context(output.compacting(wait=True) if options.execute else output.undisturbed())
        expiry = plan_expiry(output, before_ms)
        if expiry is None:
            print(f"nothing to remove: {_why_nothing(output, before_ms)}")
            return 0
        in_history = kept is not None and kept.check_has(expiry.by.end)
        of_history = APART if kept is not None else NONE
        of_history = BESIDE if in_history else of_history
        print("\n".join(_lines(expiry, before_ms, of_history, executed=options.execute)))
        if options.execute:
            expire(output, expiry, in_history)
            output.remove_old_uploads()
            removed = output.remove_replaced(keep_removed_ms(options, output))
            print(f"done in commit {output.commit_number}: {removed} files are deleted now")
    return 0


def _before_ms(text: str) -> int:
    """Returns a time that is not in the future; ExportRefusedError for a text that is none."""
    from kraftctl_spark.report.period import parse_time
    from kraftctl_spark.tables.manifest import ExportRefusedError

    now_ms = time.time_ns() // 1_000_000
    try:
        if re.fullmatch(r"\d+d", text):
            text = f"{text[:-1]} days"
        if re.fullmatch(r"\d+ [a-z].*", text):
            return max(0, now_ms - interval_ms(text))
        if re.fullmatch(r"\d{4}-\d{2}-\d{2}", text):
            date.fromisoformat(text)
            text += "T00:00:00Z"
        found = parse_time(text)
    except (ValueError, argparse.ArgumentTypeError) as error:
        raise ExportRefusedError(
            f"--raw-before: {error}. Write an age such as 90d or '12 hours', a date such as 2026-08-31, or a "
            "time such as 2026-08-31T00:00:00Z"
        ) from error
    if found > now_ms:
        raise ExportRefusedError(f"--raw-before {text} is in the future: give a time that has passed")
    return found


def _history(options: argparse.Namespace, output: Output, held: ExitStack) -> HistoryTables | None:
    """Returns the history, which nothing else writes then; None where there may be none.

    ExportRefusedError where it must not lack.
    """
    from kraftctl_spark.history.history_tables import HistoryTables
    from kraftctl_spark.tables.manifest import ExportRefusedError

    if output.is_stored and options.history:
        raise ExportRefusedError(
            f"--history {options.history}: the history of {output.where} is beside its tables. Omit the flag"
        )
    place: Path = options.history or output.directory / history.DIRECTORY
    kept = HistoryTables(output, place)
    if options.without_history:
        if kept.has_any():
            raise ExportRefusedError(
                f"{kept.where} has a history, or the commits of {output.where} have one, perhaps of another "
                f"release: {output.history_command} continues it, or computes it again. Do that first, and "
                "omit --without-history"
            )
        return None
    if not kept.is_there():
        elsewhere = "" if output.is_stored else "; if it is elsewhere, --history DIR"
        raise ExportRefusedError(
            f"{kept.where} has no history of this release{elsewhere}. Nothing else says what the raw records "
            f"of {output.where} did: {output.history_command} computes it. With --without-history, they are "
            "removed all the same; then, no history, report or restore of that time is possible any more"
        )
    if options.execute:
        held.enter_context(kept.locked(BUSY_WAIT_S))
    return kept


def _why_nothing(output: Output, before_ms: int) -> str:
    batches = [one for one in output.manifests() if one.expired is None]
    if len(batches) > 1:
        return f"each batch but the last has a record from {_shown(before_ms)} or later"
    if not batches:
        return "there is no batch"
    return "the only batch has the end of the log, and stays however old its records are"


def _lines(expiry: ExpiryPlan, before_ms: int, of_history: str, *, executed: bool) -> Iterator[str]:
    from kraftctl_spark.tables.not_understood import NOT_UNDERSTOOD

    going, end = expiry.with_files, expiry.by.end
    records = sum(one.counts["records"] for one in going)
    size = sum(file.bytes for file in expiry.files)
    yield (
        f"{'removes' if executed else 'would remove'} offsets {going[0].start} to {end - 1}: "
        f"{records} records, all before {_shown(before_ms)}, {len(expiry.files)} files with {size} bytes"
    )
    begins = "" if expiry.first_time_us is None else f", {_shown(expiry.first_time_us // 1000)}"
    yield f"raw records begin at offset {end} then{begins}"
    yield _kept(expiry, before_ms)
    yield of_history
    unknown = sum(one.counts.get(name, 0) for one in going for name in NOT_UNDERSTOOD)
    if unknown:
        yield f"{unknown} of these records were not understood, and no later release can decode them again"
    if not executed:
        yield "nothing was done: --execute does it"


def _kept(expiry: ExpiryPlan, before_ms: int) -> str:
    files = sum(len(one.files) for one in expiry.kept)
    stay = f"{counted(files, 'file')} {one_or_many(files, 'stays', 'stay')}"
    if len(expiry.kept) == 1:
        return f"{stay}: of the batch with the end of the log"
    return f"{stay}: of batches with records from {_shown(before_ms)} or later, or with the end of the log"


def _shown(time_ms: int) -> str:
    from kraftctl_spark.report.period import at

    return at(time_ms).isoformat(timespec="milliseconds").replace("+00:00", "Z")
