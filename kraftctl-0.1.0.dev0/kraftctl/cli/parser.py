"""The argument parser of `kraftctl`, and its exit status for wrong arguments."""

from __future__ import annotations

import argparse
import sys
from typing import NoReturn

KAFKAS_USAGE_STATUS = 1
"""Kafka's tools end with 1, whether the arguments or the operation are wrong."""


class Parser(argparse.ArgumentParser):
    """A parser; a command that replaces one of Kafka's tools sets `usage_status` to Kafka's."""

    usage_status = 2
    needs: tuple[tuple[str, ...], ...] = ()
    """Flags of which the command needs one of each group, and says so itself: they may precede it."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(self.usage_status, f"{self.prog}: error: {message}\n")


class KafkaToolParser(Parser):
    """The parser for sub-commands of a command that replaces one of Kafka's tools."""

    usage_status = KAFKAS_USAGE_STATUS
