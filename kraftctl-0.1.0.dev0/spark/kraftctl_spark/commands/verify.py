"""`kraftctl-export verify` proves that nothing in an output was changed or removed since it was committed."""

from __future__ import annotations

import argparse
import re
from typing import TYPE_CHECKING

from kraftctl_spark.commands.output_flag import add_output_flags, output_of
from kraftctl_spark.commands.whole_number import whole_number

if TYPE_CHECKING:
    from kraftctl_spark.stores.durable import Hook

NEEDED = ("pyarrow",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_output_flags(parser)
    parser.add_argument(
        "--at",
        type=whole_number(0),
        help="number of a commit that an earlier `verify` printed, with --sha256: shows that everything up "
        "to it is still what it was",
    )
    parser.add_argument("--sha256", type=_sha256, help="the hash that was printed with that number")


def _sha256(text: str) -> str:
    if not re.fullmatch(r"[0-9a-fA-F]{64}", text):
        raise argparse.ArgumentTypeError(f"{text}: give the 64 hexadecimal digits that `verify` printed")
    return text.lower()


def run(options: argparse.Namespace, hook: Hook) -> int:
    """Returns 0 if everything is what was committed, 1 otherwise; ExportRefusedError without an output."""
    from kraftctl_spark.tables.commit_log import COMMITS, numbers_in
    from kraftctl_spark.tables.manifest import ExportRefusedError
    from kraftctl_spark.tables.verification import verify

    if (options.at is None) != (options.sha256 is None):
        raise ExportRefusedError("--at and --sha256 are one pair: give both, or none")
    with output_of(options, hook) as output:
        if not numbers_in(output.log.store, COMMITS):
            output.check_exists()
        found = verify(output.log.store, options.at, options.sha256)
    for line in (*found.problems, *found.notes):
        print(line)
    print(f"{found.number + 1} commits, {found.files} files with {found.bytes} bytes")
    if found.problems:
        print(f"problems: {len(found.problems)}")
        return 1
    print("no commit and no file was changed, removed or added")
    if found.number >= 0:
        print(f"write this down elsewhere: --at {found.number} --sha256 {found.sha256}")
    return 0
