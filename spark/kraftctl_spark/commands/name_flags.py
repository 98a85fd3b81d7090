"""The flags with the name that is to be forgotten: as an argument, or in a file, which other accounts of the
machine do not see in its list of processes.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from kraftctl_protocol.counted_text import counted
from kraftctl_spark.commands.path_flag import path_flag

STANDARD_INPUT = Path("-")

BYTE_ORDER_MARK = "\ufeff"
"""Editors put it in front of a file. It is no white space."""


def add_name_flags(parser: argparse.ArgumentParser) -> None:
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--principal", metavar="TYPE:NAME", help="a principal, such as User:alice")
    what.add_argument("--topic", help="a topic, by its name")
    for flag, one in (("--principal-file", "principal"), ("--topic-file", "topic")):
        what.add_argument(
            flag,
            type=path_flag,
            metavar="FILE",
            help=f"a file whose only line is the {one}, - for standard input: every account of a machine can "
            "list arguments",
        )


def name_of(options: argparse.Namespace) -> tuple[bool, str]:
    """Returns whether it is a topic, and the name; ExportRefusedError for a file without exactly one line,
    and for white space at an end of the name.
    """
    for is_topic, flag, name in ((True, "--topic", options.topic), (False, "--principal", options.principal)):
        if name is not None:
            return is_topic, _without_blanks(flag, name)
    is_topic = options.topic_file is not None
    flag = "--topic-file" if is_topic else "--principal-file"
    file = options.topic_file if is_topic else options.principal_file
    return is_topic, _without_blanks(f"{flag} {file}", _only_line(flag, file))


def _without_blanks(flag: str, name: str) -> str:
    """Refuses a name that no record has, although it looks like one of them. The name is not written."""
    from kraftctl_spark.tables.manifest import ExportRefusedError

    for place, one in (("begins", name[:1]), ("ends", name[-1:])):
        if one.isspace() or one == BYTE_ORDER_MARK:
            raise ExportRefusedError(
                f"{flag}: the name {place} with white space or a mark that is not seen (U+{ord(one):04X}): "
                "repeat it without that"
            )
    return name


def _only_line(flag: str, file: Path) -> str:
    from kraftctl_spark.tables.manifest import ExportRefusedError

    try:
        text = sys.stdin.read() if file == STANDARD_INPUT else file.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise ExportRefusedError(f"{flag} {file} cannot be read: {error}") from error
    lines = text.splitlines()
    if len(lines) != 1 or not lines[0]:
        raise ExportRefusedError(
            f"{flag} {file} has {counted(len(lines), 'line')}: write exactly one, with the name"
        )
    return lines[0]
