"""Spark's master as a flag; Spark itself would refuse an unknown one with a stack trace."""

from __future__ import annotations

import argparse
import re

_MASTER = re.compile(r"local(\[(\*|\d+)(, ?\d+)?\])?|local-cluster\[.*\]|yarn|(spark|k8s)://.+", re.DOTALL)


def add_master(parser: argparse.ArgumentParser) -> None:
    """Adds the flag, for every command that starts Spark."""
    parser.add_argument("--master", type=_master, help="Spark master [as configured, else local[*]]")


def _master(text: str) -> str:
    if not _MASTER.fullmatch(text):
        raise argparse.ArgumentTypeError(
            f"{text!r} is no Spark master: local[2], local[*,4], spark://host:7077, yarn or k8s://https://..."
        )
    return text
