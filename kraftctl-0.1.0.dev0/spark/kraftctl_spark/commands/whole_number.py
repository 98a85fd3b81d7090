"""Whole numbers as flags: a mistyped one is refused immediately, with the flag and the allowed values."""

from __future__ import annotations

import argparse
from collections.abc import Callable


def whole_number(least: int) -> Callable[[str], int]:
    """Returns a check for `type=` of an argument."""

    def parse(text: str) -> int:
        number = int(text) if text.removeprefix("-").isdecimal() else least - 1
        if number < least:
            raise argparse.ArgumentTypeError(f"{text}: give a whole number, {least} or more")
        return number

    return parse
