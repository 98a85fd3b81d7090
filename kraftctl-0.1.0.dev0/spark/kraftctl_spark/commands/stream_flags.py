"""The flags of a query that follows the log: its schedule, the size of its batches, and where it runs."""

from __future__ import annotations

import argparse

from kraftctl_spark.commands.interval import interval, seconds_of
from kraftctl_spark.commands.master_flag import add_master
from kraftctl_spark.commands.path_flag import path_flag
from kraftctl_spark.commands.whole_number import whole_number
from kraftctl_spark.engines.batch_schedule import BatchSchedule


def add_stream_flags(parser: argparse.ArgumentParser, pause: str, offsets: int) -> None:
    """Adds the flags with these defaults for the pause between batches and the offsets per batch."""
    parser.add_argument(
        "--checkpoint", type=path_flag, help="directory of Spark's progress [OUTPUT/_checkpoint]"
    )
    parser.add_argument("--available-now", action="store_true", help="stop when caught up")
    parser.add_argument("--interval", type=interval, default=pause, help=f"pause between batches [{pause}]")
    parser.add_argument(
        "--max-offsets-per-trigger",
        type=whole_number(1),
        default=offsets,
        help=f"maximum of offsets in one batch, the most that is repeated after a crash [{offsets}]",
    )
    add_master(parser)


def schedule_of(options: argparse.Namespace) -> BatchSchedule:
    """Returns the schedule of batches that these flags give."""
    return BatchSchedule(
        offsets_per_trigger=options.max_offsets_per_trigger,
        interval=options.interval,
        interval_s=seconds_of(options.interval),
        available_now=options.available_now,
    )
