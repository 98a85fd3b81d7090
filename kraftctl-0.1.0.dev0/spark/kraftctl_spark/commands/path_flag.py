"""Paths as flags: a location that is not a path of the file system is refused immediately."""

from __future__ import annotations

import argparse
from pathlib import Path

from kraftctl_spark.log.local_path import local_path


def path_flag(text: str) -> Path:
    """Checks an argument as its `type=` and returns the path."""
    try:
        return local_path(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
