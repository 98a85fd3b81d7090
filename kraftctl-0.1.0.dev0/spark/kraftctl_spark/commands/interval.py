"""Durations as flags, in Spark's format; Spark itself would refuse a mistyped one after its start only."""

from __future__ import annotations

import argparse
import re

_UNITS_MS = {"millisecond": 1, "second": 1000, "minute": 60_000, "hour": 3_600_000, "day": 86_400_000}
_PART = rf"\d+ (?:{'|'.join(_UNITS_MS)})s?"
_INTERVAL = re.compile(rf"{_PART}(?: {_PART})*")


def interval(text: str) -> str:
    """Checks an argument as its `type=`; returns the text itself, in Spark's format."""
    if not _INTERVAL.fullmatch(text):
        raise argparse.ArgumentTypeError(f"{text!r}: write it like '30 seconds' or '1 hour 30 minutes'")
    return text


def seconds_of(text: str) -> float:
    """Returns the seconds of a checked interval."""
    return interval_ms(text) / 1000


def interval_ms(text: str) -> int:
    """Checks an argument as its `type=`; returns milliseconds."""
    words = interval(text).split()
    return sum(
        int(number) * _UNITS_MS[unit.removesuffix("s")]
        for number, unit in zip(words[::2], words[1::2], strict=True)
    )
