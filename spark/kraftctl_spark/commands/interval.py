"""The pause between batches as a flag; Spark itself would refuse a mistyped one only after it has started."""

from __future__ import annotations

import argparse
import re

_PART = r"\d+ (?:millisecond|second|minute|hour|day)s?"
_INTERVAL = re.compile(rf"{_PART}(?: {_PART})*")


def interval(text: str) -> str:
    """Checks an argument as its `type=`; returns the text itself, in Spark's format."""
    if not _INTERVAL.fullmatch(text):
        raise argparse.ArgumentTypeError(f"{text!r}: write it like '30 seconds' or '1 hour 30 minutes'")
    return text
