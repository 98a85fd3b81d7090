"""A file with a valid checksum and corrupt content, and how the start on it must end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.support.corrupt_directory import RUNNING, CorruptDirectory

Make = Callable[[CorruptDirectory], object]


@dataclass(frozen=True)
class CorruptCase:
    """`refused` is a pattern for the error line, `accepted` one for the log of a controller that runs.

    One of the two is given. `static`: in a quorum whose voters are configured. It runs when its log contains
    `until`.
    """

    name: str
    make: Make
    refused: str = ""
    accepted: str = ""
    static: bool = False
    until: str = RUNNING
