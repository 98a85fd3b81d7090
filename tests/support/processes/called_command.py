"""A command of kraftctl in this process: its exit status and both of its outputs."""

from __future__ import annotations

import contextlib
import io
from dataclasses import dataclass

from kraftctl.cli import main


@dataclass(frozen=True)
class CalledCommand:
    """The result of a command."""

    status: int
    output: str
    errors: str


def call_command(*arguments: str) -> CalledCommand:
    output, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        try:
            status = main(list(arguments))
        except SystemExit as ended:
            status = int(ended.code or 0)
    return CalledCommand(status, output.getvalue(), errors.getvalue())
